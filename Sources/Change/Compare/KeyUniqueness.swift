import FirnBytes
import FirnTable
import FirnThreads

/// Checks that the keys of a table are unique, in bounded memory at any number of rows.
///
/// Keys that ascend from row to row are unique, and need no memory. Otherwise the rows are divided by the hash of their key, and the table is
/// read once for each part, so that the hashes of a part fit into `passBytes`.
package struct KeyUniqueness {
    private let table: any Table
    private let side: DifferenceSide
    private let key: [ColumnPairing]
    private let options: DifferenceOptions

    /// The memory for the hashes of a part, and for one row: its hash, its position, its slots, and room for growth.
    package static let standardPassBytes = 64 << 20
    private static let rowBytes = 24

    /// Throws `.duplicateKey`, with the rows, if two rows of a table have the same key. `options.newName` is the name of the table in messages.
    /// - Parameter passBytes: The memory for the hashes of a part of the keys.
    package static func check(_ table: any Table, options: DifferenceOptions, passBytes: Int = standardPassBytes) throws(FirnError) {
        try of(table, options).check(passBytes: passBytes)
    }

    /// The first key that several rows have, as text, with two of the rows, counted from 1, and the number of the other keys.
    package typealias Repeated = (key: String, earlier: Int, later: Int, others: Int)

    /// Returns the first key that several rows of a table have; nil if there is none.
    package static func firstRepeated(in table: any Table, options: DifferenceOptions) throws(FirnError) -> Repeated? {
        try of(table, options).repeated(passBytes: standardPassBytes)?.first()
    }

    private static func of(_ table: any Table, _ options: DifferenceOptions) throws(FirnError) -> KeyUniqueness {
        let table = VisibleTable.of(table)
        let resolved = try LinkResolution.pair(MemoryTable(table.type, schema: table.schema, batches: []), table)
        return KeyUniqueness(resolved.new, .new, key: try ChosenColumns(resolved.old, resolved.new, options).key, options: options)
    }

    init(_ table: any Table, _ side: DifferenceSide, key: [ColumnPairing], options: DifferenceOptions) {
        self.table = table
        self.side = side
        self.key = key
        self.options = options
    }

    func check(passBytes: Int = standardPassBytes) throws(FirnError) {
        if let repeated = try repeated(passBytes: passBytes) { throw try repeated.error() }
    }

    /// Returns the rows that repeat the key of an earlier row; nil if there are none.
    private func repeated(passBytes: Int) throws(FirnError) -> DuplicateKeys? {
        try KeyHashes.check(rows: table.rowCount, table.segmentCount, side, options)
        if try KeyOrder(table, side, key, options).isAscending() { return nil }
        var parts = 1
        while parts < 1 << 12, table.rowCount / parts * KeyUniqueness.rowBytes > passBytes { parts *= 2 }
        var repeated = DuplicateKeys(side, table, key: key, options: options)
        for part in 0..<parts { try check(UInt64(part), of: UInt64(parts), &repeated) }
        return repeated.found.isEmpty ? nil : repeated
    }

    /// The keys of a part: hashes, and the rows as segment << 16 | row.
    private struct Keys: Sendable {
        var hashes: [UInt64] = []
        var positions: [UInt32] = []
    }

    private func check(_ part: UInt64, of parts: UInt64, _ repeated: inout DuplicateKeys) throws(FirnError) {
        var all = Keys()
        all.hashes.reserveCapacity(table.rowCount / Int(parts) + table.rowCount / Int(parts) / 16)
        all.positions.reserveCapacity(all.hashes.capacity)
        let step = max(1, 4 * options.execution.threads)
        for first in stride(from: 0, to: table.segmentCount, by: step) {
            let found = try parallelMap(count: min(step, table.segmentCount - first), threads: options.threads(for: table)) {
                (i) throws(FirnError) in try keys(of: first + i, part, parts)
            }
            for keys in found {
                all.hashes.append(contentsOf: keys.hashes)
                all.positions.append(contentsOf: keys.positions)
            }
        }
        let positions = all.positions
        try all.hashes.withUnsafeBufferPointer { hashes throws(FirnError) in
            guard let base = hashes.baseAddress else { return }
            let index = KeyHashTable(base, count: hashes.count, threads: options.execution.threads, isChosen: nil)
            try repeated.settle(index, hash: { hashes[Int($0)] }, position: { positions[Int($0)] })
        }
    }

    private func keys(of number: Int, _ part: UInt64, _ parts: UInt64) throws(FirnError) -> Keys {
        let chosen = try askedRows(table, side, number, options)
        var out = Keys()
        do throws(Damage) {
            let segment = try table.segment(number), count = segment.rowCount
            guard count <= segmentSize else { throw Damage("a segment of \(count) rows") }
            let scratch = UnsafeMutablePointer<UInt64>.allocate(capacity: max(count, 1))
            defer { scratch.deallocate() }
            try hashKeys(segment, side, key, chosen, mask: options.execution.hashMask, into: scratch)
            for row in 0..<count where chosen?[row] ?? true {
                // The table of a part uses the lowest and the highest bits.
                guard scratch[row] >> 16 & (parts - 1) == part else { continue }
                out.hashes.append(scratch[row])
                out.positions.append(UInt32(number) << 16 | UInt32(row))
            }
        } catch { throw FirnError(error, in: options.name(side)) }
        return out
    }
}
