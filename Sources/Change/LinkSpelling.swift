import FirnBytes
import FirnModel

/// How links are written where rows of two files are compared: by what their rows are known by in any file, which is their key, or, of types without key, how
/// many rows stand before them. Row ids mean nothing outside of their file.
struct LinkSpelling: Sendable {
    enum Form: Sendable, Hashable {
        /// The one value of a key that is never null, or a number of rows: columns of links become columns of this kind.
        case value(ScalarKind)
        /// All values of a key, as a list in an `any` value.
        case parts
        /// The same behind the names of the key's columns: where those are not the same in both files, no link is the same in both.
        case named
    }

    /// What a type is called where it comes from: files of changes have other names for it, and types that are none of anybody's.
    typealias Naming = @Sendable (String) -> String?

    private let forms: [String: Form]
    private let table: any Table
    private let bare: Naming

    private init(_ table: any Table, _ bare: @escaping Naming, _ forms: [String: Form]) {
        self.table = table
        self.bare = bare
        self.forms = forms
    }

    /// Nil: rows that are not at hand. Links to them are compared as they are.
    func form(_ target: String) -> Form? { forms[target] }
    func name(_ target: String) -> String { bare(target) ?? target }

    /// Both tables with their links spelled alike; a table that cannot hold links stays itself.
    static func pair(_ old: any Table, _ new: any Table, bareOld: @escaping Naming = { $0 }) throws(FirnError) -> (old: any Table, new: any Table) {
        let bareNew: Naming = { $0 }
        func mayHold(_ table: any Table) -> Bool { table.type.columns.contains { table.schema.mayHoldLinks($0.type) } }
        let oldMay = mayHold(old), newMay = mayHold(new)
        guard oldMay || newMay else { return (old, new) }
        let mine = try natural(old, bareOld), theirs = try natural(new, bareNew)
        func joint(_ own: [String: Target], _ other: [String: Target]) -> [String: Form] {
            let byName = Dictionary(other.values.map { ($0.bare, $0) }, uniquingKeysWith: { first, _ in first })
            return own.mapValues { target in
                guard let twin = byName[target.bare] else { return target.form }
                guard target.isKeyed(as: twin) || twin.isKeyed(as: target) else { return .named }
                return target.form == twin.form ? target.form : .parts
            }
        }
        return (oldMay ? SpelledTable(old, LinkSpelling(old, bareOld, joint(mine, theirs))) : old,
                newMay ? SpelledTable(new, LinkSpelling(new, bareNew, joint(theirs, mine))) : new)
    }

    /// A type that links lead to.
    private struct Target {
        let bare: String
        let form: Form
        let key: [String]
        /// It stands for a type of that name in a file of changes.
        let isStand: Bool

        /// Types without key have one column `row` in files of changes.
        func isKeyed(as other: Target) -> Bool { key == other.key || isStand && key == ["row"] && other.key.isEmpty }
    }

    private static func natural(_ table: any Table, _ bare: Naming) throws(FirnError) -> [String: Target] {
        var forms: [String: Target] = [:]
        do throws(Damage) {
            for type in table.schema.types {
                guard let name = bare(type.name), try table.related(type.name) != nil else { continue }
                forms[type.name] = Target(bare: name, form: natural(type), key: type.keyNames, isStand: name != type.name)
            }
        } catch { throw FirnError(error, in: table.type.name) }
        return forms
    }

    private static func natural(_ type: TypeSchema) -> Form {
        guard let first = type.key.first else { return .value(.int) }
        let column = type.columns[first].type
        guard type.key.count == 1, !column.isCollection, !column.isOptional, ![.any, .embedded, .link].contains(column.kind) else { return .parts }
        return .value(column.kind)
    }

    // MARK: Columns

    /// The column as it is spelled.
    func spelled(_ column: ColumnSchema) -> ColumnSchema {
        guard column.type.kind == .link, let target = column.type.target, let form = form(target) else { return column }
        var copy = column
        copy.type = spelled(column.type)
        if case .value = form, let type = table.schema[target], let key = type.key.first { copy.notation = type.columns[key].notation }
        return copy
    }

    /// Null also stands for a row that is not there.
    func spelled(_ type: ColumnType) -> ColumnType {
        guard type.kind == .link, let target = type.target, let form = form(target) else { return type }
        var copy = type
        copy.target = nil
        switch form {
        case .value(let kind): copy.kind = kind
        case .parts, .named: copy.kind = .any
        }
        if type.isCollection { copy.elementIsOptional = true } else { copy.isOptional = true }
        return copy
    }

    func spelled(_ schema: Schema) -> Schema {
        Schema(schema.types.map { type in
            var copy = type
            copy.columns = type.columns.map(spelled)
            return copy
        })
    }
}
