import FirnBytes
import FirnTable
import FirnThreads

/// The rows that two versions of one table share, as far as the segments can prove it. They are equal and need no comparison, so the work
/// is proportional to the changes. Only their keys are read, to check that no other row has one of them.
///
/// Used only if the key is the table's own. Two shared rows with the same key are not found. If the writers of both files keep keys unique
/// (`Table.hasUniqueKeys`), the keys of shared rows are not read either.
struct SharedRows: Sendable {
    private var old: [Bits?] = []
    private var new: [Bits?] = []
    /// The sizes of the segments of both tables, so that they need not be opened again.
    private(set) var sizes: (old: [Size], new: [Size]) = ([], [])

    struct Size: Sendable {
        var rows: Int
        var live: Int
        /// The id of the first row, if there is one.
        var first: Int64?

        init(_ segment: any Segment) throws(Damage) {
            rows = segment.rowCount
            live = segment.liveCount
            first = rows > 0 ? try segment.rowID(at: 0) : nil
        }
    }

    init() {}

    init(_ old: any Table, _ new: any Table, key: [String], _ options: DifferenceOptions) throws(FirnError) {
        let own = new.type.key.map { new.type.columns[$0].name }
        guard own == key, old.type.columns == new.type.columns, old.type.key == new.type.key, old.schema == new.schema else { return }
        sizes = (try Self.sizes(old, .old, options), try Self.sizes(new, .new, options))
        self.old = Array(repeating: nil, count: sizes.old.count)
        self.new = Array(repeating: nil, count: sizes.new.count)
        let aligned = alignedSegments()
        let found = try parallelMap(count: aligned.count, threads: options.execution.threads) {
            k throws(FirnError) -> (old: Bits, new: Bits)? in
            // If the segments cannot be read here, the comparison of all rows will fail and report the error.
            guard let before = try? old.segment(aligned[k].old), let after = try? new.segment(aligned[k].new),
                let bits = try? after.rowsThatMayDiffer(from: before)
            else { return nil }
            return (bits.count == before.rowCount ? bits : bits.slice(0..<before.rowCount), bits)
        }
        for (pair, bits) in zip(aligned, found) {
            self.old[pair.old] = bits?.old
            self.new[pair.new] = bits?.new
        }
    }

    private static func sizes(_ table: any Table, _ side: DifferenceSide, _ options: DifferenceOptions) throws(FirnError) -> [Size] {
        try parallelMap(count: table.segmentCount, threads: options.threads(for: table)) { i throws(FirnError) in
            do throws(Damage) { return try Size(try table.segment(i)) } catch { throw FirnError(error, in: options.name(side)) }
        }
    }

    /// Returns the segments that begin with the same row.
    private func alignedSegments() -> [(old: Int, new: Int)] {
        var pairs: [(old: Int, new: Int)] = [], i = 0, j = 0
        while i < sizes.old.count, j < sizes.new.count {
            guard let first = sizes.old[i].first else {
                i += 1
                continue
            }
            guard let second = sizes.new[j].first else {
                j += 1
                continue
            }
            if first == second, sizes.old[i].rows <= sizes.new[j].rows { pairs.append((i, j)) }
            if first <= second { i += 1 }
            if second <= first { j += 1 }
        }
        return pairs
    }

    var isEmpty: Bool { new.allSatisfy { $0 == nil } }

    /// Whether a shared row has the hash of the key of a row that may differ: a row in `index`, or one with a hash in `added`.
    func hasKeyOfOther(_ table: any Table, _ key: [ColumnPairing], _ index: KeyIndex, _ added: [UInt64], _ options: DifferenceOptions)
        throws(FirnError) -> Bool
    {
        if isEmpty { return false }
        let index = index.table()
        if index.isEmpty && added.isEmpty { return false }
        return try added.withUnsafeBufferPointer { hashes throws(FirnError) in
            let others = try hashes.baseAddress.map { base throws(FirnError) in
                KeyHashTable(base, count: hashes.count, threads: 1, isChosen: nil)
            }
            let found = try parallelMap(count: new.count, threads: options.execution.threads) { i throws(FirnError) -> Bool in
                guard let bits = new[i] else { return false }
                let same = Bits(words: bits.words.map { ~$0 }, count: bits.count).intersection(try askedRows(table, .new, i, options))
                return try Self.hasKey(table, i, same, key, index, others, options)
            }
            return found.contains(true)
        }
    }

    private static func hasKey(
        _ table: any Table, _ number: Int, _ rows: Bits, _ key: [ColumnPairing], _ index: KeyHashTable, _ others: KeyHashTable?,
        _ options: DifferenceOptions
    ) throws(FirnError) -> Bool {
        let scratch = UnsafeMutablePointer<UInt64>.allocate(capacity: max(rows.count, 1))
        defer { scratch.deallocate() }
        do throws(Damage) {
            try hashKeys(try table.segment(number), .new, key, rows, mask: options.execution.hashMask, into: scratch)
        } catch { throw FirnError(error, in: options.newName) }
        for (w, word) in rows.words.enumerated() {
            var rest = word
            while rest != 0 {
                let hash = scratch[w &* 64 &+ rest.trailingZeroBitCount]
                if index.first(hash) != KeyHashTable.none { return true }
                if let others, others.first(hash) != KeyHashTable.none { return true }
                rest &= rest &- 1
            }
        }
        return false
    }

    /// Returns the positions of the segments that have rows which may differ.
    func changedSegments(_ side: DifferenceSide) -> [Int] {
        let list = side == .old ? old : new
        return list.indices.filter { !(list[$0]?.noneSet ?? false) }
    }

    /// Returns the shared rows of some segments.
    func only(old: [Int], new: [Int]) -> SharedRows {
        var part = SharedRows()
        part.old = old.map { self.old[$0] }
        part.new = new.map { self.new[$0] }
        part.sizes = (old.map { sizes.old[$0] }, new.map { sizes.new[$0] })
        return part
    }

    /// Returns the rows of a segment that may differ; nil means all.
    func mayDiffer(_ side: DifferenceSide, _ segment: Int) -> Bits? {
        let list = side == .old ? old : new
        return segment < list.count ? list[segment] : nil
    }

    /// Returns the number of shared rows that are live and requested.
    func count(_ table: any Table, _ options: DifferenceOptions, in segments: [Int]? = nil) throws(FirnError) -> Int {
        // Segments in which no row may differ, and which need not be opened.
        if let segments, options.scope.rows == nil { return segments.reduce(0) { $0 + sizes.new[$1].live } }
        var count = 0
        for i in segments ?? Array(new.indices) {
            guard let bits = new[i] else { continue }
            let same = Bits(words: bits.words.map { ~$0 }, count: bits.count)
            count += same.intersection(try askedRows(table, .new, i, options)).ones
        }
        return count
    }
}
