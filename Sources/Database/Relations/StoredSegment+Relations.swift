import FirnBytes
import FirnCodecs
import FirnTable

/// Columns that others of the same segment follow from (`docs/format/model.md`, "Relations").
extension StoredSegment {
    /// Opens the column that the chunk at position `entryPosition` refers to. `type` is that of the chunk.
    func source(of relation: Relation, at entryPosition: Int, type: ColumnType, memory: MemoryScope) throws(Damage) -> RelationSource {
        let position = relation.column
        return try named(position) { () throws(Damage) in
            let parts = try sourceParts(position, of: entryPosition)
            if relation.kind == .copy {
                return .chunk(
                    try ChunkReader(
                        try chunkBytes(position), type: type, rowCount: rowCount, sharedText: try shared(position, .text), sharedKeys: [],
                        memory: memory, presence: { (reference) throws(Damage) in try self.presence(reference, of: position) }))
            }
            guard let codes = try codes(of: parts) else { throw Damage("it refers to a column without codes") }
            return .codes(codes, present: try validity(of: parts, at: position))
        }
    }

    /// Opens the columns that the chunk at position `entryPosition` is predicted from.
    func sources(of prediction: Prediction, at entryPosition: Int, memory: MemoryScope) throws(Damage) -> [PredictionSource] {
        switch prediction.rule {
        case .linear(let terms, _, _), .product(let terms, _, _):
            return try terms.mapTyped { (term) throws(Damage) in
                try named(term.column) { () throws(Damage) in
                    try numbers(of: term, parts: try sourceParts(term.column, of: entryPosition, mayBeMap: true), memory)
                }
            }
        case .last(let column, _, _, _):
            return [
                try named(column) { () throws(Damage) in
                    let parts = try sourceParts(column, of: entryPosition)
                    guard let codes = try codes(of: parts) else { throw Damage("it refers to a column without codes") }
                    return PredictionSource(numbers: .integers(codes), present: try validity(of: parts, at: column))
                }
            ]
        }
    }

    /// Opens the columns of which pieces are in the text of the chunk at position `entryPosition`.
    func sources(of pieces: Pieces, at entryPosition: Int, memory: MemoryScope) throws(Damage) -> [ChunkReader] {
        try pieces.terms.mapTyped { (term) throws(Damage) in
            let position = term.column
            return try named(position) { () throws(Damage) in
                _ = try sourceParts(position, of: entryPosition, mayBeMap: true)
                return try ChunkReader(
                    try chunkBytes(position), type: term.form.type, rowCount: rowCount, sharedText: try shared(position, .text),
                    sharedKeys: [], memory: memory, presence: { (reference) throws(Damage) in try self.presence(reference, of: position) },
                    related: { (relation) throws(Damage) in
                        guard relation.kind == .map else { throw Damage("it refers to a copy") }
                        return try self.source(of: relation, at: position, type: term.form.type, memory: memory)
                    })
            }
        }
    }

    /// Opens the numbers of a column with the streams `parts`, which may be a map.
    private func numbers(
        of term: Prediction.Term, parts: [(kind: StreamKind, bytes: UnsafeRawBufferPointer)], _ memory: MemoryScope
    ) throws(Damage) -> PredictionSource {
        var entries: MappedNumbers?, count = rowCount
        if let head = parts.first(where: { $0.kind == .relation })?.bytes {
            let map = try RelationReader(head, rowCount: rowCount) { (relation) throws(Damage) in
                guard relation.kind == .map else { throw Damage("it refers to a copy") }
                let others = try sourceParts(relation.column, of: term.column)
                guard let codes = try codes(of: others) else { throw Damage("it refers to a column without codes") }
                return .codes(codes, present: try validity(of: others, at: relation.column))
            }
            count = map.relation.entries
            let present = try parts.first { $0.kind == .elementPresent }
                .map { (part) throws(Damage) in try BooleansReader(part.bytes, count: count) }
            entries = MappedNumbers(map, present: present, memory: memory)
        }
        let present = try validity(of: parts, at: term.column)
        for part in parts {
            if part.kind == .words, term.form == nil {
                let integers = try IntegersReader(part.bytes, count: count)
                return PredictionSource(numbers: .integers(integers), present: present, entries: entries)
            }
            if part.kind == .reals, let form = term.form {
                let reals = try FloatsReader(part.bytes, count: count)
                return PredictionSource(numbers: .reals(reals, form), present: present, entries: entries)
            }
        }
        throw Damage("it refers to a column without such numbers")
    }

    /// Returns the streams of a column that the chunk at `entryPosition` may refer to.
    private func sourceParts(_ position: Int, of entryPosition: Int, mayBeMap: Bool = false) throws(Damage)
        -> [(kind: StreamKind, bytes: UnsafeRawBufferPointer)]
    {
        guard position < header.entries.count, position != entryPosition else {
            throw Damage("it refers to itself, or to a column that does not exist")
        }
        let parts = try Chunk.split(try chunkBytes(position))
        // Predictions and pieces lead to maps, and maps to columns without a relation, so there are no cycles.
        for part in parts {
            let isAllowed =
                part.kind == .relation
                ? mayBeMap && !Prediction.isPrediction(part.bytes) && !Pieces.arePieces(part.bytes)
                : part.kind != .lengths && part.kind != .tags
            guard isAllowed else { throw Damage("it refers to a column that refers to another one, or has no single values") }
        }
        return parts
    }

    /// Runs `body`. A `Damage` that it throws gets the name of the column at `position`, which it is about.
    private func named<R>(_ position: Int, _ body: () throws(Damage) -> R) throws(Damage) -> R {
        do throws(Damage) { return try body() } catch {
            let id = position < header.entries.count ? header.entries[position].columnID : nil
            let name = id.flatMap(type.index(ofID:)).map { type.columns[$0].name } ?? "?"
            throw error.explained("the column follows from \"\(name)\"")
        }
    }

    private func codes(of parts: [(kind: StreamKind, bytes: UnsafeRawBufferPointer)]) throws(Damage) -> IntegersReader? {
        for part in parts {
            switch part.kind {
            case .words: return try DictionaryCodes.ofIntegers(part.bytes, count: rowCount)
            case .reals: return try DictionaryCodes.ofFloats(part.bytes, count: rowCount)
            case .text: return try DictionaryCodes.ofText(part.bytes, count: rowCount)
            default: continue
            }
        }
        return nil
    }

    private func validity(of parts: [(kind: StreamKind, bytes: UnsafeRawBufferPointer)], at position: Int) throws(Damage)
        -> BooleansReader?
    {
        for part in parts {
            if part.kind == .present { return try BooleansReader(part.bytes, count: rowCount) }
            if part.kind == .presentLike { return try presence(try PresenceReference(part.bytes), of: position) }
        }
        return nil
    }

    /// Returns the positions of the columns that the chunk at `entryPosition` follows from; none if it has no relation.
    func relationSources(of entryPosition: Int) throws(Damage) -> [Int] {
        try Relation.sources(of: try chunkBytes(entryPosition), rowCount: rowCount)
    }

    /// Returns all rows of the chunk of a column, without its chunk overlay and the delta store.
    func chunkRows(_ index: Int) throws(Damage) -> Column {
        let raw = try chunkColumn(index)
        var all = Column(raw.type), scratch = Column(raw.type)
        for vector in 0..<vectorCount {
            try raw.read(vector: vector, into: &scratch)
            try all.hold(raw.memory, adding: scratch.footprint)
            all.append(contentsOf: scratch)
        }
        return all
    }
}
