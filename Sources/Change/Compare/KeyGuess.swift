import FirnBytes
import FirnTable

/// Finds a key for two tables without one.
enum KeyGuess {
    /// Returns the first column, pair or triple of leading columns that is unique in both tables, and that at least half of the rows of the
    /// smaller table have in common with the other; otherwise the unique one that most rows have in common. Returns nil if none of the
    /// candidates is unique and has a value in common.
    static func guess(_ old: any Table, _ new: any Table, _ options: DifferenceOptions) throws(FirnError) -> [String]? {
        var best: (names: [String], common: Int)?
        for names in candidates(old, new) {
            let key = names.map { ColumnPairing($0, old: old, new: new) }
            guard let common = try commonKeys(key, old, new, options) else { continue }
            if common * 2 >= min(old.rowCount, new.rowCount) { return names }
            if common > best?.common ?? 0 { best = (names, common) }
        }
        return best?.names
    }

    private static func candidates(_ old: any Table, _ new: any Table) -> [[String]] {
        let names = new.type.columns.filter { column in
            guard let other = old.type.index(of: column.name) else { return false }
            return [column.type, old.type.columns[other].type].allSatisfy { type in
                !type.isCollection && ![.embedded, .any, .float, .double].contains(type.kind)
            }
        }.map(\.name).prefix(8)
        var candidates = names.map { [$0] }
        for (i, first) in names.prefix(4).enumerated() {
            for second in names.prefix(4).dropFirst(i + 1) { candidates.append([first, second]) }
        }
        for count in 3...4 where names.count >= count { candidates.append(Array(names.prefix(count))) }
        return candidates
    }

    /// Returns the number of keys that both tables have; nil if a key occurs twice in one of them. Compares only hashes, which is enough for
    /// a guess.
    private static func commonKeys(_ key: [ColumnPairing], _ old: any Table, _ new: any Table, _ options: DifferenceOptions)
        throws(FirnError) -> Int?
    {
        let threads = options.execution.threads
        let newHashes = try KeyHashes(of: new, .new, key: key, options: options)
        guard newHashes.table(threads: threads).suspects.isEmpty else { return nil }
        let oldHashes = try KeyHashes(of: old, .old, key: key, options: options), table = oldHashes.table(threads: threads)
        guard table.suspects.isEmpty else { return nil }
        return withExtendedLifetime((newHashes, oldHashes)) {
            (0..<newHashes.count).reduce(0) { sum, row in
                sum + (newHashes.isChosen(row) && table.first(newHashes.hashes[row]) != KeyHashTable.none ? 1 : 0)
            }
        }
    }
}
