import CSQLite
import FirnBytes
import FirnDisk
import FirnTable

/// The vectors of a table, numbered across all segments.
final class VectorNumbers {
    /// The number of each segment's first vector.
    let first: [Int]
    /// The segment of each vector.
    private let segments: [UInt32]
    var count: Int { segments.count }

    init(_ table: any Table) throws(Damage) {
        var first: [Int] = [], segments: [UInt32] = []
        for number in 0..<table.segmentCount {
            first.append(segments.count)
            for _ in 0..<(try table.segment(number).vectorCount) { segments.append(UInt32(number)) }
        }
        self.first = first
        self.segments = segments
    }

    subscript(_ number: Int) -> (segment: Int, vector: Int) {
        let segment = Int(segments[number])
        return (segment, number - first[segment])
    }

    func position(ofSpot spot: UInt32) -> UInt64 {
        let (segment, vector) = self[Int(spot) / vectorSize]
        return UInt64(segment) << 32 | UInt64(vector * vectorSize + Int(spot) % vectorSize)
    }

    func number(ofPosition position: UInt64) -> Int { first[Int(position >> 32)] + Int(position & 0xFFFF_FFFF) / vectorSize }
}

/// Decoded vectors of columns, which are kept between look-ups. When they exceed a number of bytes, all of them are released.
final class VectorStore {
    private static let maximumBytes = min(max(256 << 20, Machine.memory / 8), MemoryBudget.process.limit / 4)
    private let numbers: VectorNumbers
    private let width: Int
    /// The vectors of each column, or null. The C side reads values from here.
    let columns: UnsafeMutablePointer<UnsafeMutablePointer<firn_sql_column>?>
    private var buffers: [ColumnBuffer] = []
    private var bytes = 0

    init(_ numbers: VectorNumbers, width: Int) {
        self.numbers = numbers
        self.width = width
        columns = .allocate(capacity: width)
        columns.initialize(repeating: nil, count: width)
    }

    deinit {
        for i in 0..<width { columns[i]?.deallocate() }
        columns.deallocate()
    }

    func column(_ index: Int, number: Int, _ fill: (ColumnBuffer) throws(Damage) -> firn_sql_column) throws(Damage) -> firn_sql_column {
        if let column = columns[index], column[number].form != 0 { return column[number] }
        let buffer = ColumnBuffer(), filled = try fill(buffer)
        buffers.append(buffer)
        bytes += buffer.footprint
        if columns[index] == nil {
            columns[index] = .allocate(capacity: numbers.count)
            columns[index]!.initialize(repeating: firn_sql_column(), count: numbers.count)
            bytes += numbers.count * MemoryLayout<firn_sql_column>.stride
        }
        columns[index]![number] = filled
        return filled
    }

    /// Releases all vectors if they exceed the limit. Call it only if no column of the current rows is in use.
    func trim() {
        guard bytes > VectorStore.maximumBytes else { return }
        for i in 0..<width {
            columns[i]?.deallocate()
            columns[i] = nil
        }
        buffers = []
        bytes = 0
    }
}
