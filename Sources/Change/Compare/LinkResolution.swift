import FirnBytes
import FirnTable

/// How links are written when rows of two files are compared: as what identifies their rows in any file. That is the key or, for types
/// without key, the number of rows before the row. Row ids have no meaning outside their file.
struct LinkResolution: Sendable {
    enum Form: Sendable, Hashable {
        /// The only value of a key that is never null, or a number of rows. Columns of links become columns of this kind.
        case value(ScalarKind)
        /// All values of a key, as a list in a value of type any.
        case parts
        /// All values of a key after the names of its columns. If these differ between the files, no link is equal in both.
        case named
    }

    /// Returns the original name of a type, which has another name in changes files; nil for types that do not represent a type of the
    /// original file.
    typealias Naming = @Sendable (String) -> String?

    private let forms: [String: Form]
    private let table: any Table
    private let bare: Naming

    private init(_ table: any Table, _ bare: @escaping Naming, _ forms: [String: Form]) {
        self.table = table
        self.bare = bare
        self.forms = forms
    }

    /// Returns nil if the rows are not available. Links to them are compared by row id.
    func form(_ target: String) -> Form? { forms[target] }
    func name(_ target: String) -> String { bare(target) ?? target }

    /// Returns both tables with link-resolved columns in the same form; a table that cannot contain links is returned unchanged.
    static func pair(_ old: any Table, _ new: any Table, bareOld: @escaping Naming = { $0 }) throws(FirnError) -> (
        old: any Table, new: any Table
    ) {
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
        return (
            oldMay ? LinkResolvedTable(old, LinkResolution(old, bareOld, joint(mine, theirs))) : old,
            newMay ? LinkResolvedTable(new, LinkResolution(new, bareNew, joint(theirs, mine))) : new
        )
    }

    /// A type that links refer to.
    private struct Target {
        let bare: String
        let form: Form
        let key: [String]
        /// Whether it represents a type of the original file, in a changes file.
        let isStand: Bool

        /// Whether the keys are the same. Types without key have one column `row` in changes files.
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
        guard type.key.count == 1, !column.isCollection, !column.isOptional, ![.any, .embedded, .link].contains(column.kind) else {
            return .parts
        }
        return .value(column.kind)
    }

    // MARK: Columns

    /// Returns the link-resolved column.
    func resolved(_ column: ColumnSchema) -> ColumnSchema {
        guard column.type.kind == .link, let target = column.type.target, let form = form(target) else { return column }
        var copy = column
        copy.type = resolved(column.type)
        if case .value = form, let type = table.schema[target], let key = type.key.first { copy.notation = type.columns[key].notation }
        return copy
    }

    /// Returns the link-resolved type. It is optional, because null also represents a row that does not exist.
    func resolved(_ type: ColumnType) -> ColumnType {
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

    func resolved(_ schema: Schema) -> Schema {
        Schema(
            schema.types.map { type in
                var copy = type
                copy.columns = type.columns.map(resolved)
                return copy
            })
    }
}
