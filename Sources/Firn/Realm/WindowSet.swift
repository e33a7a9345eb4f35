import FirnBytes
import FirnModel

/// The last decoded vector of each column of a type. For one thread at a time.
final class WindowSet {
    let pointers: UnsafeMutablePointer<ColumnWindow>
    /// What the vectors were decoded into.
    private(set) var columns: [Column]

    init(columns types: [ColumnSchema]) {
        columns = types.map { column in
            var type = column.type
            if type.kind == .embedded { type.kind = .link }
            return Column(type)
        }
        pointers = .allocate(capacity: max(1, types.count))
        pointers.initialize(repeating: ColumnWindow(), count: max(1, types.count))
    }

    deinit {
        for i in columns.indices {
            pointers[i].words?.deallocate()
            pointers[i].reals?.deallocate()
            pointers[i].present?.deallocate()
        }
        pointers.deallocate()
    }

    func forget() { for i in columns.indices { forget(i) } }

    func forget(_ column: Int) {
        pointers[column].key = -1
        pointers[column].missed = -1
    }

    func isPresent(_ row: Int, _ column: Int) -> Bool {
        guard let present = pointers[column].present else { return true }
        return present[row >> 6] >> UInt64(row & 63) & 1 != 0
    }

    /// True if the vector is decoded now. The first time that a vector is asked for it is not: a single value costs less by itself.
    func load(_ segment: Int, _ vector: Int, _ column: Int, from table: any RowTable) throws(Damage) -> Bool {
        let key = segment << 32 | vector
        if pointers[column].key == key { return true }
        // Collections may be long: never a thousand for one.
        if columns[column].type.isCollection { return false }
        if pointers[column].missed != key {
            pointers[column].missed = key
            return false
        }
        pointers[column].key = -1
        let segment = try table.segment(segment)
        try segment.storedColumn(column).read(vector: vector, into: &columns[column])
        guard columns[column].count == segment.rows(ofVector: vector).count else { throw Damage("a vector of the wrong length") }
        copy(column)
        pointers[column].key = key
        return true
    }

    /// Where the fast path finds words, reals and presence.
    private func copy(_ column: Int) {
        let values = columns[column]
        switch values.type.kind {
        case .bool, .int, .link:
            let words = pointers[column].words ?? .allocate(capacity: vectorSize)
            pointers[column].words = words
            values.words.withUnsafeBufferPointer { if let base = $0.baseAddress { words.update(from: base, count: min($0.count, vectorSize)) } }
        case .float, .double:
            let reals = pointers[column].reals ?? .allocate(capacity: vectorSize)
            pointers[column].reals = reals
            values.reals.withUnsafeBufferPointer { if let base = $0.baseAddress { reals.update(from: base, count: min($0.count, vectorSize)) } }
        default: break
        }
        pointers[column].present?.deallocate()
        pointers[column].present = nil
        if let present = values.present {
            let words = UnsafeMutablePointer<UInt64>.allocate(capacity: vectorSize / 64)
            words.initialize(repeating: 0, count: vectorSize / 64)
            for (i, word) in present.words.enumerated() { words[i] = word }
            pointers[column].present = words
        }
        // The fast path reads null as zero.
        if let present = values.present, let words = pointers[column].words { for row in 0..<values.count where !present[row] { words[row] = 0 } }
        if let present = values.present, let reals = pointers[column].reals { for row in 0..<values.count where !present[row] { reals[row] = 0 } }
    }
}
