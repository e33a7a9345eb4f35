import FirnBytes
import FirnTable

/// Chooses the key columns and the compared columns.
struct ChosenColumns {
    let key: [ColumnPairing]
    let compared: [ColumnPairing]

    init(_ old: any Table, _ new: any Table, _ options: DifferenceOptions) throws(FirnError) {
        for name in options.key { try Self.require(name, old, new, options) }
        for name in options.columns + options.ignore where old.type.index(of: name) == nil && new.type.index(of: name) == nil {
            throw FirnError(.usage, "neither file has a column \"\(name)\"", advice: Self.listing(new.type))
        }
        var names = options.key
        if names.isEmpty { names = Self.stored(new.type, other: old.type) ?? Self.stored(old.type, other: new.type) ?? [] }
        if names.isEmpty { throw try Self.missingKey(old, new, options) }
        key = names.map { ColumnPairing($0, old: old, new: new) }
        for pairing in key {
            for type in [pairing.old.column.type, pairing.new.column.type] where type.isCollection || type.kind == .embedded {
                throw FirnError(
                    .usage, "the column \"\(pairing.name)\" cannot be a key: its type is \(type.name)",
                    advice: "choose columns with one value in each row")
            }
        }
        let common = new.type.columns.map(\.name).filter { old.type.index(of: $0) != nil }
        compared = common.filter { !names.contains($0) && options.compares($0) }.map { ColumnPairing($0, old: old, new: new) }
    }

    private static func require(_ name: String, _ old: any Table, _ new: any Table, _ options: DifferenceOptions) throws(FirnError) {
        for (table, side) in [(old, DifferenceSide.old), (new, .new)] where table.type.index(of: name) == nil {
            throw FirnError(
                .usage, "the key column \"\(name)\" does not exist", at: .init(file: options.name(side)), advice: listing(table.type))
        }
    }

    private static func listing(_ type: TypeSchema) -> String {
        "the columns are: " + type.columns.map(\.name).listed()
    }

    /// Returns the key of a type, if the other type has all its columns.
    private static func stored(_ type: TypeSchema, other: TypeSchema) -> [String]? {
        let names = type.key.map { type.columns[$0].name }
        return names.isEmpty || names.contains { other.index(of: $0) == nil } ? nil : names
    }

    private static func missingKey(_ old: any Table, _ new: any Table, _ options: DifferenceOptions) throws(FirnError) -> FirnError {
        let guess = try KeyGuess.guess(old, new, options)
        let advice =
            guess.map { "choose one with --key; unique in both files: --key " + $0.joined(separator: ",") }
            ?? "name the columns that identify a row: --key NAME[,NAME…]"
        return FirnError(.usage, "the files have no key by which their rows can be matched", advice: advice)
    }
}

/// Proposes a key for two tables without one.
enum KeyGuess {
    /// Returns the first column, pair or triple of leading columns that is unique in both tables; nil if none of the candidates is.
    static func guess(_ old: any Table, _ new: any Table, _ options: DifferenceOptions) throws(FirnError) -> [String]? {
        let names = new.type.columns.map(\.name).filter { name in
            guard let other = old.type.index(of: name) else { return false }
            return [new.type.columns[new.type.index(of: name)!].type, old.type.columns[other].type].allSatisfy { type in
                !type.isCollection && ![.embedded, .any, .float, .double].contains(type.kind)
            }
        }.prefix(8)
        var candidates = names.map { [$0] }
        for (i, first) in names.prefix(4).enumerated() {
            for second in names.prefix(4).dropFirst(i + 1) { candidates.append([first, second]) }
        }
        if names.count >= 3 { candidates.append(Array(names.prefix(3))) }
        if names.count >= 4 { candidates.append(Array(names.prefix(4))) }
        for candidate in candidates {
            let key = candidate.map { ColumnPairing($0, old: old, new: new) }
            if try isUnique(key, new, .new, options), try isUnique(key, old, .old, options) { return candidate }
        }
        return nil
    }

    /// Compares only hashes, which is enough for a proposal.
    private static func isUnique(_ key: [ColumnPairing], _ table: any Table, _ side: DifferenceSide, _ options: DifferenceOptions)
        throws(FirnError) -> Bool
    {
        if try KeyOrder(table, side, key, options).isAscending() { return true }
        let hashes = try KeyHashes(of: table, side, key: key, options: options)
        return hashes.table(threads: options.execution.threads).suspects.isEmpty
    }
}
