import FirnBytes
import FirnTable

/// A table some of whose columns have other names.
final class RenamedTable: WrappedTable {
    let base: any Table
    let type: TypeSchema
    let schema: Schema

    /// - Parameter names: The new names, by the names in `base`. No two columns of the result have the same name.
    init(_ base: any Table, _ names: [String: String]) {
        self.base = base
        var type = base.type, schema = base.schema
        for i in type.columns.indices {
            if let name = names[type.columns[i].name] { type.columns[i].name = name }
            if let name = type.columns[i].originalTextOf.flatMap({ names[$0] }) { type.columns[i].originalTextOf = name }
        }
        for i in schema.types.indices where schema.types[i].name == type.name { schema.types[i] = type }
        self.type = type
        self.schema = schema
    }

    func segment(_ index: Int) throws(Damage) -> any Segment { try base.segment(index) }
}

extension TableDifference {
    /// Returns the old table of a difference with the columns of `options.renamed` under their new names.
    ///
    /// - Throws: `FirnError.usage` if a column does not exist, or if two columns would have the same name.
    package static func renamed(old: any Table, new: any Table, options: DifferenceOptions) throws(FirnError) -> any Table {
        guard !options.renamed.isEmpty else { return old }
        var names: [String: String] = [:]
        for (before, after) in options.renamed {
            try require(before, old, options.oldName)
            try require(after, new, options.newName)
            names[before] = after
        }
        for column in old.type.columns where names[column.name] == nil && names.values.contains(column.name) {
            throw FirnError(
                .usage, "a column would be renamed to \"\(column.name)\", which exists", at: .init(file: options.oldName),
                advice: "rename \"\(column.name)\" too")
        }
        return RenamedTable(old, names)
    }

    private static func require(_ name: String, _ table: any Table, _ file: String) throws(FirnError) {
        guard table.type.index(of: name) == nil else { return }
        let names = table.type.columns.map(\.name)
        throw FirnError(
            .usage, "the column \"\(name)\" does not exist", at: .init(file: file),
            advice: Suggestion.question(for: name, among: names) ?? "the columns are: " + names.listed())
    }
}
