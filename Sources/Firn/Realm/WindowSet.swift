import FirnBytes
import FirnTable

/// The last decoded vector of each column of a type. Must be used by one thread at a time.
final class WindowSet {
    let pointers: UnsafeMutablePointer<ColumnWindow>
    /// The columns that the vectors were decoded into.
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
        for i in columns.indices { release(&pointers[i]) }
        pointers.deallocate()
    }

    private func release(_ window: inout ColumnWindow) {
        window.words?.deallocate()
        window.reals?.deallocate()
        window.present?.deallocate()
        window.extra?.deallocate()
        window.bytes?.deallocate()
        window.starts?.deallocate()
    }

    func forget() { for i in columns.indices { forget(i) } }

    func forget(_ column: Int) {
        pointers[column].key = -1
        pointers[column].missed = -1
    }

    /// Returns the value of a row of the decoded vector.
    func value(_ row: Int, _ column: Int) -> Value {
        // In place: copying a column would retain and release eight arrays.
        columns.withUnsafeBufferPointer { $0[column].value(at: row) }
    }

    /// Returns whether the vector is decoded. The first request for a vector does not decode it: a single value is cheaper to read by
    /// itself.
    func load(_ segment: Int, _ vector: Int, _ column: Int, from table: any RowTable) throws(Damage) -> Bool {
        let key = segment << 32 | vector
        if pointers[column].key == key { return true }
        // Collections may be long: never decodes 1,024 for one.
        if columns[column].type.isCollection { return false }
        if pointers[column].missed != key {
            pointers[column].missed = key
            return false
        }
        pointers[column].key = -1
        let segment = try table.segment(segment)
        try segment.storedColumn(column).read(vector: vector, into: &columns[column])
        guard columns[column].count == segment.rows(ofVector: vector).count else { throw Damage("a vector of the wrong length") }
        try copy(column)
        pointers[column].key = key
        return true
    }

    /// Copies values and presence to where the fast path reads them.
    private func copy(_ column: Int) throws(Damage) {
        let values = columns[column]
        switch values.type.kind {
        case .bool, .int, .link: copy(values.words, to: &pointers[column].words)
        case .float, .double: copy(values.reals, to: &pointers[column].reals)
        case .date, .decimal, .objectID, .uuid:
            copy(values.words, to: &pointers[column].words)
            copy(values.extra, to: &pointers[column].extra)
        case .string, .data: try copy(values.text, to: &pointers[column])
        default: break
        }
        pointers[column].present?.deallocate()
        pointers[column].present = nil
        guard let present = values.present else { return }
        let words = UnsafeMutablePointer<UInt64>.allocate(capacity: vectorSize / 64)
        words.initialize(repeating: 0, count: vectorSize / 64)
        for (i, word) in present.words.enumerated() { words[i] = word }
        pointers[column].present = words
        // The fast path reads null as zero.
        if let words = pointers[column].words { for row in 0..<values.count where !present[row] { words[row] = 0 } }
        if let reals = pointers[column].reals { for row in 0..<values.count where !present[row] { reals[row] = 0 } }
    }

    private func copy<T: BitwiseCopyable>(_ values: [T], to target: inout UnsafeMutablePointer<T>?) {
        let there = target ?? .allocate(capacity: vectorSize)
        target = there
        values.withUnsafeBufferPointer { if let base = $0.baseAddress { there.update(from: base, count: min($0.count, vectorSize)) } }
    }

    private func copy(_ text: Text, to window: inout ColumnWindow) throws(Damage) {
        let starts = window.starts ?? .allocate(capacity: vectorSize + 1)
        window.starts = starts
        var last = 0, isAscending = text.count <= vectorSize
        for (i, start) in text.offsets.prefix(vectorSize + 1).enumerated() {
            isAscending = isAscending && start >= last
            last = start
            starts[i] = start
        }
        guard isAscending, last <= text.bytes.count else { throw Damage("strings that end before they begin") }
        window.bytes?.deallocate()
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, text.bytes.count))
        text.bytes.withUnsafeBufferPointer { if let base = $0.baseAddress { bytes.update(from: base, count: $0.count) } }
        window.bytes = bytes
    }
}
