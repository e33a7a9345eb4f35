import FirnBytes
import FirnCodecs
import FirnTable

/// Rows of a chunk with a relation to another column (`docs/format/model.md`, "Relations").
extension ChunkReader {
    /// Returns all entries, decoded. They stay in memory as long as the chunk is open.
    private func entries() throws(Damage) -> Column {
        if let known = decodedEntries.withLock({ $0 }) { return known }
        var all = Column(rawType), scratch = Column(rawType)
        for vector in 0..<(elementCount + vectorSize - 1) / vectorSize {
            let count = min(vectorSize, elementCount - vector * vectorSize)
            try readPayload(vector: vector, count: count, presence: elementPresent, into: &scratch)
            try all.hold(memory, adding: scratch.footprint)
            all.append(contentsOf: scratch)
        }
        all.normalise()
        decodedEntries.withLock { $0 = all }
        return all
    }

    /// Replaces the contents of `column` by the rows of a vector.
    func readRelated(_ relation: RelationReader, vector: Int, count: Int, into column: inout Column) throws(Damage) {
        let numbers: [Int64] = try Array(count: vectorSize) { (out) throws(Damage) in
            out.update(repeating: 0, count: vectorSize)
            try relation.entries(ofVector: vector, count: count, into: out)
        }
        if let original = relation.original {
            try original.read(vector: vector, into: &column)
            if numbers[..<count].contains(where: { $0 >= 0 }) { try splice(numbers[..<count], into: &column) }
        } else {
            try gather(numbers, count, into: &column)
        }
        guard let own = try ChunkReader.bits(present, vector: vector, count: count) else { return }
        if let inner = column.present {
            column.present = Bits(words: zip(own.words, inner.words).map { $0 & $1 }, count: count)
        } else {
            column.present = own
        }
        if text != nil { column.text.empty(where: column.present!) }
    }

    /// Replaces rows of a copy that have entries of their own.
    private func splice(_ numbers: ArraySlice<Int64>, into column: inout Column) throws(Damage) {
        let entries = try entries()
        var spliced = column.emptyCopy, next = 0
        try spliced.hold(memory, adding: column.footprint + entries.footprint)
        for (row, entry) in numbers.enumerated() where entry >= 0 {
            spliced.append(contentsOf: column, range: next..<row)
            spliced.append(contentsOf: entries, range: Int(entry)..<Int(entry) + 1)
            next = row + 1
        }
        spliced.append(contentsOf: column, range: next..<numbers.count)
        column = spliced
    }

    /// Replaces the contents of `column` by the entries of a map.
    private func gather(_ numbers: [Int64], _ count: Int, into column: inout Column) throws(Damage) {
        let entries = try entries()
        guard text == nil else {
            let rows = numbers[..<count].map { Int($0) }
            let bytes = entries.footprint(gathering: rows)
            guard Text.isBelievable(bytes, stored: storedBytes) else { throw Damage("a vector of text is too long") }
            column.removeAll()
            try column.hold(memory, adding: bytes)
            return column.appendGathered(entries, rows: rows)
        }
        column.count = count
        column.present = entries.present.map { present in
            var bits = Bits(repeating: false, count: count)
            for i in 0..<count where present[Int(numbers[i])] { bits[i] = true }
            return bits
        }
        if words != nil { try pick(entries.words, numbers, count, into: &column.words) }
        if extra != nil { try pick(entries.extra, numbers, count, into: &column.extra) }
        if reals != nil { try pick(entries.reals, numbers, count, into: &column.reals) }
    }

    private func pick<T: AdditiveArithmetic>(_ entries: [T], _ numbers: [Int64], _ count: Int, into out: inout [T]) throws(Damage) {
        try ChunkReader.fill(&out, count) { (out) throws(Damage) in
            entries.withUnsafeBufferPointer { entries in
                // Entries are checked: they are below the number of entries.
                for i in 0..<count { out[i] = entries[Int(truncatingIfNeeded: numbers[i])] }
            }
        }
    }

    /// Writes the dictionary codes of the rows of a vector of text.
    func readRelatedCodes(_ relation: RelationReader, vector: Int, into column: inout Column) throws(Damage) {
        let count = min(vectorSize, rowCount - vector * vectorSize), entryCodes = try codesOfEntries()
        column.count = count
        let numbers: [Int64] = try Array(count: vectorSize) { (out) throws(Damage) in
            out.update(repeating: 0, count: vectorSize)
            try relation.entries(ofVector: vector, count: count, into: out)
        }
        try pick(entryCodes, numbers, count, into: &column.words)
        var bits = try ChunkReader.bits(present, vector: vector, count: count)
        if let inner = try entries().present {
            var both = bits ?? Bits(repeating: true, count: count)
            for i in 0..<count where !inner[Int(numbers[i])] { both[i] = false }
            bits = both
        }
        column.present = bits
    }

    private func codesOfEntries() throws(Damage) -> [Int64] {
        if let known = decodedCodes.withLock({ $0 }) { return known }
        var codes: [Int64] = []
        for vector in 0..<(elementCount + vectorSize - 1) / vectorSize {
            let count = min(vectorSize, elementCount - vector * vectorSize)
            let part: [Int64] = try Array(count: vectorSize) { (out) throws(Damage) in
                out.update(repeating: 0, count: vectorSize)
                try text!.decodeCodes(vector: vector, into: out)
            }
            codes += part[..<count]
        }
        decodedCodes.withLock { $0 = codes }
        return codes
    }

    /// Returns the value of a row.
    func relatedValue(_ relation: RelationReader, at row: Int) throws(Damage) -> Value {
        guard let entry = try relation.entry(at: row) else { return try relation.original!.value(at: row) }
        return try element(at: entry)
    }

    /// Returns bounds of all rows.
    func zone(of relation: RelationReader) -> Zone {
        var zone = Zone(mayHaveNulls: present != nil || elementPresent != nil || relation.original != nil, allNull: false, bounds: .none)
        guard relation.original == nil, type.kind != .any, type.kind != .decimal else { return zone }
        if let bounds = words?.bounds() { zone.bounds = .words(bounds.0, bounds.1) }
        if let bounds = reals?.bounds() { zone.bounds = .reals(bounds.0, bounds.1) }
        return zone
    }
}
