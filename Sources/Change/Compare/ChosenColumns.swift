import FirnBytes
import FirnTable

/// Chooses the key columns and the compared columns.
struct ChosenColumns {
    let key: [ColumnPairing]
    let compared: [ColumnPairing]

    init(_ old: any Table, _ new: any Table, _ options: DifferenceOptions) throws(FirnError) {
        for name in options.key { try Self.require(name, old, new, options) }
        var names = options.key
        if names.isEmpty { names = Self.stored(new.type, other: old.type) ?? Self.stored(old.type, other: new.type) ?? [] }
        if names.isEmpty { throw try Self.missingKey(old, new, options) }
        try options.checkNames(old, new, key: names)
        key = names.map { options.pairing($0, old: old, new: new, isKey: true) }
        for pairing in key {
            if case .wholeRows = options.matching { break }
            for type in [pairing.old.column.type, pairing.new.column.type] where type.isCollection || type.kind == .embedded {
                throw FirnError(
                    .usage, "the column \"\(pairing.name)\" cannot be a key: its type is \(type.name)",
                    advice: "choose columns with one value in each row")
            }
        }
        let common = new.type.columns.map(\.name).filter { old.type.index(of: $0) != nil }
        compared = common.filter { !names.contains($0) && options.compares($0) }.map {
            options.pairing($0, old: old, new: new, isKey: false)
        }
    }

    private static func require(_ name: String, _ old: any Table, _ new: any Table, _ options: DifferenceOptions) throws(FirnError) {
        for (table, side) in [(old, DifferenceSide.old), (new, .new)] where table.type.index(of: name) == nil {
            throw FirnError(
                .usage, "the key column \"\(name)\" does not exist", at: .init(file: options.name(side)),
                advice: Suggestion.question(for: name, among: table.type.columns.map(\.name)) ?? listing(table.type))
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

    /// Whether the options or one of the types have a key by which rows can be matched.
    static func haveKey(_ old: any Table, _ new: any Table, _ options: DifferenceOptions) -> Bool {
        !options.key.isEmpty || stored(new.type, other: old.type) != nil || stored(old.type, other: new.type) != nil
    }

    private static func missingKey(_ old: any Table, _ new: any Table, _ options: DifferenceOptions) throws(FirnError) -> FirnError {
        let guess = try KeyGuess(old, new, options).names
        let advice =
            guess.map { "choose one with --key; unique in both files: --key " + $0.joined(separator: ",") }
            ?? "name the columns that identify a row: --key NAME[,NAME…]"
        return FirnError(.usage, "the files have no key by which their rows can be matched", advice: advice)
    }
}
