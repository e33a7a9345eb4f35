import FirnBytes
import FirnTable

/// Finds a key for two tables without one: columns that are unique in both tables, and whose values most rows have in common.
///
/// Single columns are tried first, then pairs and longer combinations of the first columns. Columns that are not compared are never part of
/// a key.
struct KeyGuess {
    /// The columns of the key; nil if none was found.
    private(set) var names: [String]?
    /// If none was found: a column that is unique but for a few rows of one table, and the number of these.
    private(set) var nearly: (name: String, rows: Int)?

    private let old: any Table
    private let new: any Table
    private let options: DifferenceOptions
    private var mostCommon = 0

    /// A column that is tried is unique but for at most one row in so many.
    private static let nearlyShare = 100
    /// The numbers of leading columns that combinations are made of.
    private static let pairedColumns = 6
    private static let combinedColumns = 8

    init(_ old: any Table, _ new: any Table, _ options: DifferenceOptions) throws(FirnError) {
        (self.old, self.new, self.options) = (old, new, options)
        let names = new.type.columns.map(\.name).filter {
            !options.ignore.contains($0) && options.tolerances[$0] == nil && old.type.index(of: $0) != nil
        }
        let exact = names.filter { isPossible($0, inexact: false) }, inexact = names.filter { isPossible($0, inexact: true) }
        // A key of one column with nearly all values in common is not improved upon.
        for name in exact + inexact where !isSettled(shares: 1, of: 1) { try attempt([name]) }
        if !isSettled(shares: 1, of: 2) {
            for names in KeyGuess.combinations(exact) where !isSettled(shares: 1, of: 1) { try attempt(names) }
        }
        if self.names != nil { nearly = nil }
    }

    private static func combinations(_ names: [String]) -> [[String]] {
        var found: [[String]] = []
        let paired = names.prefix(pairedColumns)
        for (i, first) in paired.enumerated() {
            for second in paired.dropFirst(i + 1) { found.append([first, second]) }
        }
        if names.count > 2 { for count in 3...max(3, min(names.count, combinedColumns)) { found.append(Array(names.prefix(count))) } }
        return found
    }

    /// Whether values of a column can identify a row. Doubles are inexact.
    private func isPossible(_ name: String, inexact: Bool) -> Bool {
        let types = [old, new].compactMap { table in table.type.index(of: name).map { table.type.columns[$0].type } }
        let isInexact = types.contains { $0.kind == .float || $0.kind == .double }
        return isInexact == inexact && types.allSatisfy { !$0.isCollection && $0.kind != .embedded && $0.kind != .any }
    }

    /// Whether the key that was found has at least a share of the keys of the smaller table in common with the other.
    private func isSettled(shares: Int, of whole: Int) -> Bool {
        let least = min(old.rowCount, new.rowCount)
        return names != nil && mostCommon * whole >= least * shares
    }

    /// Takes the columns as key if they are unique, and have more values in common than the best ones so far.
    private mutating func attempt(_ names: [String]) throws(FirnError) {
        let key = names.map { ColumnPairing($0, old: old, new: new) }
        let isEmpty = old.rowCount == 0 || new.rowCount == 0
        guard let common = try commonKeys(key), common > mostCommon || isEmpty && self.names == nil else { return }
        (self.names, mostCommon) = (names, common)
    }

    /// Returns the number of keys that both tables have; nil if a key occurs twice in one of them. Compares only hashes, which is enough for
    /// a guess.
    private mutating func commonKeys(_ key: [ColumnPairing]) throws(FirnError) -> Int? {
        guard try !repeats(key, new, .new) else { return nil }
        let threads = options.execution.threads
        let newHashes = try KeyHashes(of: new, .new, key: key, options: options), newRows = newHashes.table(threads: threads)
        let oldHashes = try KeyHashes(of: old, .old, key: key, options: options), oldRows = oldHashes.table(threads: threads)
        let repeated = max(newRows.suspects.count, oldRows.suspects.count)
        guard repeated == 0 else {
            if key.count == 1, nearly == nil, repeated * KeyGuess.nearlyShare <= min(old.rowCount, new.rowCount) {
                nearly = (key[0].name, repeated)
            }
            return nil
        }
        return withExtendedLifetime((newHashes, oldHashes)) {
            (0..<newHashes.count).reduce(0) { sum, row in
                sum + (newHashes.isChosen(row) && oldRows.first(newHashes.hashes[row]) != KeyHashTable.none ? 1 : 0)
            }
        }
    }

    /// Whether more than a few rows of the first segment repeat a key, so that the others need not be read.
    private func repeats(_ key: [ColumnPairing], _ table: any Table, _ side: DifferenceSide) throws(FirnError) -> Bool {
        guard table.segmentCount > 1 else { return false }
        let chosen = try askedRows(table, side, 0, options)
        do throws(Damage) {
            let segment = try table.segment(0), count = segment.rowCount
            guard count <= segmentSize else { throw Damage("a segment of \(count) rows") }
            let hashes = UnsafeMutablePointer<UInt64>.allocate(capacity: max(count, 1))
            defer { hashes.deallocate() }
            try hashKeys(segment, side, key, chosen, mask: options.execution.hashMask, into: hashes)
            var isChosen: (@Sendable (Int) -> Bool)?
            if let chosen { isChosen = { chosen[$0] } }
            let repeated = KeyHashTable(hashes, count: count, threads: 1, isChosen: isChosen).suspects.count
            return repeated * KeyGuess.nearlyShare > count
        } catch { throw FirnError(error, in: options.name(side)) }
    }
}
