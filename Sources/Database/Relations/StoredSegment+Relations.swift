import FirnBytes
import FirnCodecs
import FirnTable

/// Columns that others of the same segment follow from (`docs/format/model.md`, "Relations").
extension StoredSegment {
    /// Opens the column that the chunk at position `entryPosition` refers to. `type` is that of the chunk.
    func source(of relation: Relation, at entryPosition: Int, type: ColumnType, memory: MemoryScope) throws(Damage) -> RelationSource {
        do throws(Damage) {
            guard relation.column < header.entries.count, relation.column != entryPosition else {
                throw Damage("it refers to itself, or to a column that does not exist")
            }
            let bytes = try chunkBytes(relation.column), parts = try Chunk.split(bytes)
            // A reference never leads to another one, so there are no cycles.
            guard !parts.contains(where: { $0.kind == .relation || $0.kind == .lengths || $0.kind == .tags }) else {
                throw Damage("it refers to a column that refers to another one, or has no single values")
            }
            let position = relation.column
            if relation.kind == .copy {
                return .chunk(
                    try ChunkReader(
                        bytes, type: type, rowCount: rowCount, sharedText: try shared(position, .text), sharedKeys: [], memory: memory,
                        presence: { (reference) throws(Damage) in try self.presence(reference, of: position) }))
            }
            guard let codes = try codes(of: parts) else { throw Damage("it refers to a column without codes") }
            return .codes(codes, present: try validity(of: parts, at: position))
        } catch {
            let id = relation.column < header.entries.count ? header.entries[relation.column].columnID : nil
            let name = id.flatMap(self.type.index(ofID:)).map { self.type.columns[$0].name } ?? "?"
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

    /// Returns the position of the column that the chunk at `entryPosition` follows from, or nil if it has no relation.
    func relationSource(of entryPosition: Int) throws(Damage) -> Int? {
        try Relation.source(of: try chunkBytes(entryPosition), rowCount: rowCount)
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
