import FirnBytes
import FirnTable
import Synchronization

/// The rows of a file that is stored in groups (row groups, batches) as segments: each segment is a part of one group.
package struct PartedRows: Sendable {
    /// The rows of a segment.
    package struct Part: Sendable {
        package var group: Int
        /// The rows within the group.
        package var rows: Range<Int>
        /// The position of the first row in the table.
        package var firstRow: Int
    }

    /// The segments of a group: all but the last have `size` rows.
    private struct Group {
        var group: Int
        var firstSegment: Int
        var rows: Range<Int>
        var size: Int
    }

    private var groups: [Group] = []
    package private(set) var segmentCount = 0

    package init() {}

    /// Adds a group that is not empty, whose rows follow those of the groups before it.
    package mutating func add(group: Int, rows: Range<Int>, size: Int) {
        groups.append(Group(group: group, firstSegment: segmentCount, rows: rows, size: size))
        segmentCount += (rows.count - 1) / size + 1
    }

    package func part(ofSegment index: Int) throws(Damage) -> Part {
        guard index >= 0, index < segmentCount else { throw Damage("no segment \(index)") }
        let group = groups[last { $0.firstSegment <= index }], start = (index - group.firstSegment) * group.size
        return Part(
            group: group.group, rows: start..<min(start + group.size, group.rows.count), firstRow: group.rows.lowerBound + start)
    }

    package func segmentIndex(of rowID: Int64) -> Int? {
        guard rowID >= 0, rowID < Int64(groups.last?.rows.upperBound ?? 0) else { return nil }
        let group = groups[last { Int64($0.rows.lowerBound) <= rowID }]
        return group.firstSegment + (Int(rowID) - group.rows.lowerBound) / group.size
    }

    /// Returns the position of the last group for which a condition holds that holds for the first ones.
    private func last(_ holds: (Group) -> Bool) -> Int {
        var low = 0, high = groups.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if holds(groups[middle]) { low = middle } else { high = middle }
        }
        return low
    }
}

/// The segments of a table that were used last.
package final class HeldSegments<Item: Segment>: Sendable {
    private let held: Mutex<[(index: Int, segment: Item)]> = Mutex([])
    private let maximum: Int

    package init(maximum: Int) { self.maximum = maximum }

    package func segment(_ index: Int, _ make: () throws(Damage) -> Item) throws(Damage) -> Item {
        try held.withLock { (held) throws(Damage) in
            if let known = held.firstIndex(where: { $0.index == index }) {
                let found = held.remove(at: known)
                held.append(found)
                return found.segment
            }
            let segment = try make()
            held.append((index, segment))
            if held.count > maximum { held.removeFirst() }
            return segment
        }
    }
}

/// A segment of a table of parted rows.
package protocol PartSegment: Segment {
    var part: PartedRows.Part { get }
    var readers: [any PartColumn] { get }
}

extension PartSegment {
    package var rowCount: Int { part.rows.count }
    package var live: Bits? { nil }
    package func rowID(at position: Int) throws(Damage) -> Int64 { Int64(part.firstRow + position) }
    package func position(of rowID: Int64) throws(Damage) -> Int? {
        rowID >= Int64(part.firstRow) && rowID < Int64(part.firstRow + rowCount) ? Int(rowID) - part.firstRow : nil
    }

    package func column(_ index: Int) throws(Damage) -> any ColumnReader {
        guard readers.indices.contains(index) else { throw Damage("no column \(index)") }
        return readers[index]
    }

    package func column(path: [Int]) throws(Damage) -> any ColumnReader {
        guard let first = path.first, readers.indices.contains(first) else { throw Damage("no column at this path") }
        if path.count == 1 { return readers[first] }
        return MemoryColumnReader(try readers[first].decoded().field(path.dropFirst()))
    }
}

/// A column of such a segment.
package protocol PartColumn: ColumnReader {
    /// Returns all values.
    func decoded() throws(Damage) -> Column
}

/// A column that is decoded as a whole when it is first read.
package protocol DecodedColumn: PartColumn {
    var held: OnceDecoded { get }
    func decode() throws(Damage) -> Column
}

extension DecodedColumn {
    private func memory() throws(Damage) -> MemoryColumnReader { try held.reader { () throws(Damage) in try decode() } }

    package func decoded() throws(Damage) -> Column { try memory().column }
    package func wholeColumn() throws(Damage) -> Column? {
        if let known = held.known { return known.column }
        return try decode()
    }
    package func read(vector: Int, into column: inout Column) throws(Damage) { try memory().read(vector: vector, into: &column) }
    package func value(at row: Int) throws(Damage) -> Value { try memory().value(at: row) }
    package func search(_ range: SoughtRange, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> SearchOutcome {
        try memory().search(range, vector: vector, into: out)
    }
    package func numbers(vector: Int, only rows: UnsafeBufferPointer<Int32>?, into room: NumberRoom) throws(Damage) -> Bool {
        try memory().numbers(vector: vector, only: rows, into: room)
    }
}

/// The reader of a column that is made once.
package final class OnceOpened: Sendable {
    private let held: Mutex<(any ColumnReader)?> = Mutex(nil)

    package init() {}

    /// The reader, if it has been made.
    package var known: (any ColumnReader)? { held.withLock { $0 } }

    package func reader(_ make: () throws(Damage) -> any ColumnReader) throws(Damage) -> any ColumnReader {
        try held.withLock { (held) throws(Damage) in
            if let held { return held }
            let reader = try make()
            held = reader
            return reader
        }
    }
}

/// A column that is made once.
package final class OnceDecoded: Sendable {
    private let held: Mutex<MemoryColumnReader?> = Mutex(nil)

    package init() {}

    /// The column, if it has been made.
    package var known: MemoryColumnReader? { held.withLock { $0 } }

    package func reader(_ make: () throws(Damage) -> Column) throws(Damage) -> MemoryColumnReader {
        try held.withLock { (held) throws(Damage) in
            if let held { return held }
            let reader = MemoryColumnReader(try make())
            held = reader
            return reader
        }
    }
}

extension Damage {
    /// The damage that a reader of a file reported.
    package init(reported error: FirnError) {
        if error.code == .outOfMemory {
            self.init(error.message, beyondMemory: true)
        } else if let byte = error.location?.byte {
            self.init(error.message, inFileAt: byte)
        } else {
            self.init(error.message, isUnread: error.code == .inputOutput)
        }
    }
}

extension FirnError {
    /// The error for a mapped file that became shorter.
    package static func truncated(_ name: String) -> FirnError {
        FirnError(.inputOutput, "the file was truncated while it was read", at: .init(file: name), advice: "run it again")
    }
}
