import FirnBytes
import FirnTable
import FirnThreads

/// The order of the keys of a table: by the values of their columns, one after the other, in any total order.
struct KeyOrder {
    private let table: any Table
    private let side: DifferenceSide
    private let key: [ColumnPairing]
    private let options: DifferenceOptions

    init(_ table: any Table, _ side: DifferenceSide, _ key: [ColumnPairing], _ options: DifferenceOptions) {
        self.table = table
        self.side = side
        self.key = key
        self.options = options
    }

    /// The first key of each vector of a segment whose keys ascend, and the last key of the segment.
    private struct Ends: Sendable {
        var first: [Column]
        var last: [Column]
        var rowCount: Int
    }

    /// Whether the key of each row is above that of the row before. False if a value is null, or has no order that is compared here.
    func isAscending() throws(FirnError) -> Bool { try landmarks() != nil }

    /// Returns the first key of each vector; nil if the keys do not ascend (see `isAscending`). No row of the table is deleted then.
    func landmarks() throws(FirnError) -> KeyLandmarks? {
        guard !key.isEmpty, key.allSatisfy({ KeyOrder.hasOrder($0.end(side).column.type) }) else { return nil }
        let step = 4 * max(1, options.execution.threads)
        var last: [Column]?, landmarks = KeyLandmarks()
        for first in stride(from: 0, to: table.segmentCount, by: step) {
            let parts = try parallelMap(count: min(step, table.segmentCount - first), threads: options.threads(for: table)) {
                (i) throws(FirnError) -> Ends? in
                do throws(Damage) { return try ends(of: table.segment(first + i)) } catch { throw FirnError(error, in: options.name(side)) }
            }
            for part in parts {
                guard let part else { return nil }
                if part.first.isEmpty { continue }
                if let last, KeyOrder.compare(last, 0, part.first, 0) >= 0 { return nil }
                last = part.last
                landmarks.append(part.first, rowCount: part.rowCount)
            }
        }
        return landmarks
    }

    static func hasOrder(_ type: ColumnType) -> Bool {
        !type.isCollection && [.bool, .int, .float, .double, .string, .data, .date, .uuid, .objectID].contains(type.kind)
    }

    /// Returns the ends of a segment, without columns if it is empty; nil if its keys do not ascend.
    private func ends(of segment: any Segment) throws(Damage) -> Ends? {
        guard segment.live == nil else { return nil }
        var first: [Column] = [], last: [Column] = []
        let readers = try key.map { (pairing) throws(Damage) in try segment.column(pairing.end(side).index) }
        var columns = key.map { Column($0.end(side).column, in: $0.end(side).schema) }
        for vector in 0..<segment.vectorCount {
            for i in columns.indices {
                try readers[i].read(vector: vector, into: &columns[i])
                if let present = columns[i].present, !present.allSet { return nil }
            }
            let count = segment.rows(ofVector: vector).count
            guard count > 0, columns.allSatisfy({ $0.count == count }) else { return nil }
            if first.isEmpty { first = columns.map(\.emptyCopy) }
            for i in columns.indices { first[i].append(contentsOf: columns[i], range: 0..<1) }
            if !last.isEmpty, KeyOrder.compare(last, 0, columns, 0) >= 0 { return nil }
            guard KeyOrder.ascends(columns, count) else { return nil }
            last = columns.map { $0.slice(count - 1..<count) }
        }
        return Ends(first: first, last: last, rowCount: segment.rowCount)
    }

    /// Whether each of the first rows is above the one before it.
    private static func ascends(_ columns: [Column], _ count: Int) -> Bool {
        // For each row but the first: -1 if it is above the row before, 0 if they are equal in the columns so far, 1 if it is below.
        var orders = [Int8](repeating: 0, count: count - 1)
        for column in columns {
            switch column.type.kind {
            case .bool, .int: column.words.withUnsafeBufferPointer { words in fill(&orders) { order(words[$0], words[$0 &+ 1]) } }
            case .float, .double: column.reals.withUnsafeBufferPointer { reals in fill(&orders) { order(reals[$0], reals[$0 &+ 1]) } }
            default: fill(&orders) { compare(column, $0, column, $0 &+ 1) }
            }
        }
        return orders.allSatisfy { $0 < 0 }
    }

    @inline(__always)
    private static func fill(_ orders: inout [Int8], _ order: (Int) -> Int8) {
        for row in orders.indices where orders[row] == 0 { orders[row] = order(row) }
    }

    /// Returns -1 if the first value is below the second one, 1 if it is above, and 0 if they are equal or have no order.
    @inline(__always)
    private static func order<T: Comparable>(_ x: T, _ y: T) -> Int8 { x < y ? -1 : x > y ? 1 : 0 }

    static func compare(_ a: [Column], _ i: Int, _ b: [Column], _ j: Int) -> Int8 {
        for k in a.indices {
            let order = compare(a[k], i, b[k], j)
            if order != 0 { return order }
        }
        return 0
    }

    static func compare(_ a: Column, _ i: Int, _ b: Column, _ j: Int) -> Int8 {
        switch a.type.kind {
        case .bool, .int: return order(a.words[i], b.words[j])
        case .float, .double: return order(a.reals[i], b.reals[j])
        case .date, .uuid, .objectID:
            let first = order(a.words[i], b.words[j])
            return first != 0 ? first : order(a.extra[i], b.extra[j])
        default:
            return a.text.withBytes(i) { x in
                b.text.withBytes(j) { y in x.lexicographicallyPrecedes(y) ? -1 : x.elementsEqual(y) ? 0 : 1 }
            }
        }
    }
}
