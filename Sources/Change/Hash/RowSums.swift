import FirnBytes
import FirnTable

/// The sum of the hashes of the values of each row of a segment.
final class RowSums {
    private let sums: UnsafeMutableBufferPointer<UInt128>
    private let cells: UnsafeMutablePointer<UInt128>

    /// - Parameter body: Called with the hashes of each vector of each column.
    init(
        _ table: any Table, _ index: Int, columns: [Int], _ hasher: CellHasher,
        each body: (_ column: Int, _ first: Int, _ hashes: UnsafeMutableBufferPointer<UInt128>) -> Void = { _, _, _ in }
    ) throws(Damage) {
        let segment = try table.segment(index), rows = segment.rowCount
        guard rows >= 0, rows <= segmentSize else { throw Damage("a segment of \(rows) rows") }
        sums = .allocate(capacity: max(rows, 1))
        sums.initialize(repeating: 0)
        cells = .allocate(capacity: vectorSize)
        cells.initialize(repeating: 0, count: vectorSize)
        let charge = MemoryCharge(table.memory)
        for column in columns {
            let schema = table.type.columns[column], reader = try segment.column(column)
            let codes = try Codes(reader, schema, most: rows)
            var values = codes == nil ? Column(schema, in: table.schema) : Column(ColumnType(.int, optional: schema.type.isOptional))
            for vector in 0..<segment.vectorCount where segment.live?.hasOne(inVector: vector) ?? true {
                let range = segment.rows(ofVector: vector)
                if let codes {
                    try reader.readCodes(vector: vector, into: &values)
                    guard values.count == range.count else { throw Damage("a vector of \(values.count) rows instead of \(range.count)") }
                    try codes.hashes(of: values, into: cells)
                } else {
                    try reader.read(vector: vector, into: &values)
                    guard values.count == range.count else { throw Damage("a vector of \(values.count) rows instead of \(range.count)") }
                    if values.type.isCollection || values.type.kind == .embedded {
                        try charge.grow(
                            to: values.elementCount * RowSums.elementBytes,
                            for: MemoryScope(table.memory, type: table.type.name, column: schema.name).name)
                    }
                    try hasher.hashes(of: values, schema, in: table.schema, into: cells)
                }
                for i in 0..<range.count { sums[range.lowerBound &+ i] &+= cells[i] }
                body(column, range.lowerBound, UnsafeMutableBufferPointer(start: cells, count: range.count))
            }
        }
    }

    /// The memory for each element and field while hashes are computed, in bytes.
    private static let elementBytes = 48

    deinit {
        sums.deallocate()
        cells.deallocate()
    }

    subscript(row: Int) -> UInt128 { sums[row] }
    var array: [UInt128] { Array(sums) }

    /// The hashes of the entries of a dictionary.
    private struct Codes {
        let entries: [UInt128]

        /// Returns nil if the values are not stored by dictionary, or if a shared dictionary has more entries than the segment has rows.
        init?(_ reader: any ColumnReader, _ schema: ColumnSchema, most: Int) throws(Damage) {
            guard !schema.type.isCollection, schema.type.kind == .string || schema.type.kind == .data,
                let dictionary = try reader.dictionary(),
                dictionary.count <= most
            else { return nil }
            entries = [UInt128](unsafeUninitializedCapacity: dictionary.count) { room, count in
                count = dictionary.count
                if let start = room.baseAddress {
                    dictionary.hashes(seed: CellHasher.seed(schema.type.kind, .none, schema.name), into: start)
                }
            }
        }

        func hashes(of codes: Column, into out: UnsafeMutablePointer<UInt128>) throws(Damage) {
            for row in 0..<codes.count {
                guard codes.isPresent(row) else {
                    out[row] = 0
                    continue
                }
                guard entries.indices.contains(Int(truncatingIfNeeded: codes.words[row])) else {
                    throw Damage("a code outside its dictionary")
                }
                out[row] = entries[Int(codes.words[row])]
            }
        }
    }
}

extension Column {
    /// The number of rows, together with the elements and fields of all of them.
    fileprivate var elementCount: Int { children.reduce(count) { $0 + $1.elementCount } }
}
