import FirnBytes
import FirnTable
import FirnThreads

/// The 64-bit hashes of the keys of all rows of a table, in order, and the rows that are compared.
final class KeyHashes: @unchecked Sendable {
    /// The number of the first row of each segment, and the number of all rows.
    let starts: [Int]
    /// One hash for each physical row. One thread writes a segment; afterwards they are only read.
    private(set) var hashes: UnsafeMutableBufferPointer<UInt64>
    /// The rows that are compared, by segment; nil means all.
    var chosen: [Bits?]
    /// The charge for the hashes and for the table that is made of them.
    private let charge: MemoryCharge

    var count: Int { starts[starts.count - 1] }

    /// Hashes the key columns of every row of a table.
    init(of table: any Table, _ side: DifferenceSide, key: [ColumnPairing], options: DifferenceOptions) throws(FirnError) {
        let segments = table.segmentCount
        var starts = [0]
        for i in 0..<segments {
            do throws(Damage) {
                let count = try table.segment(i).rowCount
                guard count <= segmentSize else { throw Damage("a segment of \(count) rows") }
                starts.append(starts[i] + count)
            } catch { throw FirnError(error, in: options.name(side)) }
        }
        try KeyHashes.check(rows: starts[segments], segments, side, options)
        self.starts = starts
        do throws(Damage) {
            charge = try table.memory.holding(
                starts[segments] * KeyHashes.rowBytes, for: "comparing the rows of type \"\(table.type.name)\"")
        } catch {
            throw FirnError(error, in: options.name(side))
        }
        hashes = .allocate(capacity: max(starts[segments], 1))
        chosen = []
        let out = Hashes(start: hashes.baseAddress!), offsets = starts
        chosen = try parallelMap(count: segments, threads: options.threads(for: table)) { i throws(FirnError) in
            try options.execution.progress(0)
            let chosen = try chosenRows(table, side, i, options)
            do throws(Damage) {
                try hashKeys(table.segment(i), side, key, chosen, mask: options.execution.hashMask, into: out.start + offsets[i])
            } catch { throw FirnError(error, in: options.name(side)) }
            return chosen
        }
    }

    /// The memory for a row in bytes: its hash, its slots in a table with a load of two thirds, and the data about its pair.
    private static let rowBytes = 24

    /// Throws if there are too many rows: they are numbered in 32 bits, by segment and position.
    static func check(rows: Int, _ segments: Int, _ side: DifferenceSide, _ options: DifferenceOptions) throws(FirnError) {
        guard rows < Int(UInt32.max), segments <= 1 << 16 else {
            throw FirnError(
                .unsupported,
                "\(options.name(side)) has \(rows) rows in \(segments) segments; diff supports at most 4,294,967,294 in 65,536",
                advice: segments > 1 << 16
                    ? "'firn compact \(options.name(side))' merges them into full segments" : "compare parts of the files with --where")
        }
    }

    private struct Hashes: @unchecked Sendable { let start: UnsafeMutablePointer<UInt64> }

    deinit { hashes.deallocate() }

    /// Whether a segment has so many rows, all of which are compared.
    func hasAll(ofSegment number: Int, _ count: Int) -> Bool {
        number < chosen.count && chosen[number] == nil && starts[number + 1] - starts[number] == count
    }

    func isChosen(_ flat: Int) -> Bool {
        let segment = segment(of: flat)
        return chosen[segment].map { $0[flat - starts[segment]] } ?? true
    }

    /// Returns a table of the chosen rows by hash. It refers to these hashes, which must outlive it.
    func table(threads: Int) -> KeyHashTable {
        var test: (@Sendable (Int) -> Bool)?
        if chosen.contains(where: { $0 != nil }) { test = { self.isChosen($0) } }
        return KeyHashTable(UnsafePointer(hashes.baseAddress!), count: count, threads: threads, isChosen: test)
    }

    func segment(of flat: Int) -> Int { starts.segment(ofRow: flat) }

    /// Returns segment << 16 | row.
    func position(of flat: Int) -> UInt32 {
        let segment = segment(of: flat)
        return UInt32(segment) << 16 | UInt32(flat - starts[segment])
    }

    func flat(_ position: UInt32) -> Int { starts[Int(position >> 16)] &+ Int(position & 0xFFFF) }
}

/// Returns the live rows of a segment that are requested and not known to be equal in both tables; nil means all.
func chosenRows(_ table: any Table, _ side: DifferenceSide, _ index: Int, _ options: DifferenceOptions) throws(FirnError) -> Bits? {
    guard let shared = options.scope.shared.mayDiffer(side, index) else { return try askedRows(table, side, index, options) }
    if shared.noneSet { return shared }
    return shared.intersection(try askedRows(table, side, index, options))
}

/// Returns the live rows of a segment that are requested; nil means all.
func askedRows(_ table: any Table, _ side: DifferenceSide, _ index: Int, _ options: DifferenceOptions) throws(FirnError) -> Bits? {
    let live: Bits?, count: Int
    do throws(Damage) {
        let segment = try table.segment(index)
        live = segment.live
        count = segment.rowCount
    } catch { throw FirnError(error, in: options.name(side)) }
    guard let asked = try options.scope.rows?(side, table, index) else { return live }
    trap(unless: asked.count == count, "DifferenceOptions.Scope.rows must return one bit for each row of the segment")
    return asked.intersection(live)
}

extension Bits {
    /// Returns the bits that are set in both; nil stands for all bits.
    func intersection(_ other: Bits?) -> Bits {
        guard let other else { return self }
        return Bits(words: zip(words, other.words).map { $0 & $1 }, count: count)
    }

    func hasOne(inVector vector: Int) -> Bool {
        for word in words[(vector * vectorSize / 64)..<min((vector + 1) * vectorSize / 64, words.count)] where word != 0 { return true }
        return false
    }
}

/// Writes the hash of each row's key to `out`, at least for the chosen rows (nil means all).
func hashKeys(
    _ segment: any Segment, _ side: DifferenceSide, _ key: [ColumnPairing], _ chosen: Bits?, mask: UInt64,
    into out: UnsafeMutablePointer<UInt64>
) throws(Damage) {
    let count = segment.rowCount
    out.initialize(repeating: 0, count: count)
    let vectors = (0..<segment.vectorCount).filter { chosen?.hasOne(inVector: $0) ?? true }
    if vectors.isEmpty { return }
    for pairing in key {
        let end = pairing.end(side), reader = try segment.column(end.index)
        if case .text = pairing.mode, let dictionary = try reader.dictionary() {
            let entries = (0..<dictionary.count).map { dictionary.withBytes($0, hashBytes) }
            var codes = Column(ColumnType(.int, optional: end.column.type.isOptional))
            for vector in vectors {
                try reader.readCodes(vector: vector, into: &codes)
                let target = out + vector * vectorSize
                entries.withUnsafeBufferPointer { entries in
                    codes.words.withUnsafeBufferPointer { words in
                        // A code outside its dictionary is damage that the comparison of values will find.
                        ColumnPairing.fold(codes, target) {
                            words[$0] >= 0 && words[$0] < entries.count ? entries[Int(truncatingIfNeeded: words[$0])] : 0
                        }
                    }
                }
            }
        } else if let all = try reader.wholeColumn() {
            guard all.count == count else { throw Damage("a column has \(all.count) rows of \(count)") }
            pairing.fold(all, side, into: out)
        } else {
            var column = Column(end.column, in: end.schema)
            for vector in vectors {
                try reader.read(vector: vector, into: &column)
                pairing.fold(column, side, into: out + vector * vectorSize)
            }
        }
    }
    if mask != .max { for i in 0..<count { out[i] &= mask } }
}
