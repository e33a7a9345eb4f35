import FirnBytes
import FirnTable

/// Rows whose groups are found together, because there are so many keys that their tables do not fit the processor's cache.
struct GroupRound {
    struct Vector {
        let segment: Int, vector: Int, count: Int, hits: Int

        /// If few rows are chosen, numbers are read for those only.
        var isSparse: Bool { hits &* 2 < count }
    }
    static let maximumRows = 1 << 18
    static let maximumBytes = 16 << 20

    private(set) var vectors: [Vector] = []
    /// 16 words for each vector.
    private var masks: [UInt64] = []
    /// The keys of the rows.
    private(set) var keys: [Column]
    private(set) var rows = 0

    init(_ types: [ColumnType]) { keys = types.map { Column($0) } }

    var isFull: Bool { rows >= GroupRound.maximumRows || keys.contains { $0.text.bytes.count >= GroupRound.maximumBytes } }
    /// The memory in use in bytes.
    var bytes: Int { keys.reduce(masks.count &* 8) { $0 &+ $1.footprint } }

    /// Notes a vector. Its keys must be appended as well.
    mutating func append(_ vector: Vector, _ mask: UnsafePointer<UInt64>) {
        vectors.append(vector)
        masks.append(contentsOf: UnsafeBufferPointer(start: mask, count: 16))
        rows += vector.hits
    }

    /// Appends the given rows of a vector of one key.
    mutating func append(_ column: Column, _ chosen: UnsafeBufferPointer<Int32>, to key: Int) {
        if chosen.count == column.count {
            keys[key].append(contentsOf: column)
        } else {
            keys[key].appendGathered(column, rows: chosen.map { Int($0) })
        }
        if vectors.isEmpty { GroupRound.reserve(&keys[key]) }
    }

    /// Makes room for a round whose rows are like those of the column. Growing step by step would touch twice the memory.
    static func reserve(_ column: inout Column) {
        guard column.count > 0 else { return }
        let bytes = max(1, column.text.bytes.count / column.count)
        column.reserve(rows: min(maximumRows, maximumBytes / bytes) + vectorSize)
    }

    func withMask(_ vector: Int, _ body: (UnsafePointer<UInt64>) throws(FirnError) -> Void) throws(FirnError) {
        let start = vector * 16
        try masks.withUnsafeBufferPointer { (masks) throws(FirnError) in try body(masks.baseAddress! + start) }
    }

    /// Removes all rows and keeps the memory.
    mutating func removeAll() {
        vectors.removeAll(keepingCapacity: true)
        masks.removeAll(keepingCapacity: true)
        for i in keys.indices { keys[i].removeAll() }
        rows = 0
    }
}
