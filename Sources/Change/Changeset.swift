import FirnBytes
import FirnModel

/// What leads from one set of rows to another and back: for each type the rows and cells that are not the same, as they were and as they are. As a file:
/// docs/format/changes.md.
package struct Changeset: Sendable {
    /// A type as it was, or as it is.
    package struct Side: Sendable {
        package let name: String
        /// Content hash of all its rows, by the key of the changes.
        package let hash: Hash128
        /// The rows that differ; nil: none do.
        let table: (any Table)?
        /// The type's own key.
        let primaryKey: [String]
        /// Columns that may not be null; nil: those that may not be so in `table`.
        let required: Set<String>?
        let names: SideNames
    }

    /// The changes of one type.
    package struct Part: Sendable {
        /// The columns that tell rows apart; none: their order does.
        package let key: [String]
        /// How many rows are changed: the first ones of both tables.
        package let pairs: Int
        /// Nil: the type was not there, or is not.
        package fileprivate(set) var before: Side?
        package fileprivate(set) var after: Side?
        /// Cells that are null on both sides are so, and are not just the same.
        let isWhole: Bool
        /// All rows of both sides are there, and none is paired.
        let isReplacing: Bool
        /// What became of the parts of nested cells, which are null on both sides; nil: of none.
        var edits: ReadEdits?

        package var name: String { (before ?? after)!.name }
        package var removed: Int { (before?.table?.rowCount ?? pairs) - pairs }
        package var added: Int { (after?.table?.rowCount ?? pairs) - pairs }
        var isUnchanged: Bool { before?.table == nil && after?.table == nil }

        fileprivate var changesNothing: Bool {
            guard let before, let after else { return false }
            if isUnchanged { return true }
            let old = before.types { $0 }, new = after.types { $0 }
            guard before.hash == after.hash, before.primaryKey == after.primaryKey, before.required == after.required, pairs == 0, added == 0, removed == 0, let was = old.first, let becomes = new.first else { return false }
            return was.hasShape(of: becomes, in: Schema(old), other: Schema(new))
        }
    }

    package let parts: [Part]
    /// How messages name the file.
    let name: String

    init(parts: [Part], name: String) {
        self.parts = parts
        self.name = name
    }

    /// The one type of these changes; nil if there are several.
    package var single: Part? {
        let changed = parts.filter { !$0.isUnchanged }
        return changed.count == 1 ? changed[0] : parts.count == 1 ? parts[0] : nil
    }
    package var pairs: Int { parts.reduce(0) { $0 + $1.pairs } }
    package var removed: Int { parts.reduce(0) { $0 + $1.removed } }
    package var added: Int { parts.reduce(0) { $0 + $1.added } }

    /// Nothing becomes another: a file stays as it is.
    package var isEmpty: Bool { parts.allSatisfy(\.changesNothing) }

    /// What leads back.
    package var reversed: Changeset {
        Changeset(parts: parts.map { part in
            var copy = part
            swap(&copy.before, &copy.after)
            copy.edits = part.edits?.reversed
            return copy
        }, name: name)
    }

    /// Of files with edits of the parts of cells; those without are of version 2.
    static let version: Int64 = 3
    /// More types than this have no file's schema.
    static let mostTypes = 131_072
    static let facts = TypeSchema("changes", columns: [
        ColumnSchema("version", ColumnType(.int)), ColumnSchema("type", ColumnType(.string)), ColumnSchema("key", ColumnType(.string, collection: .list)),
        ColumnSchema("pairs", ColumnType(.int)), ColumnSchema("whole", ColumnType(.bool, optional: false)), ColumnSchema("oldHash", ColumnType(.string)), ColumnSchema("newHash", ColumnType(.string)),
    ])
    /// What the rows of `old` and `new` tell of a type.
    static func sideFacts(_ side: String) -> TypeSchema {
        TypeSchema(side, columns: [
            ColumnSchema("name", ColumnType(.string, optional: true)), ColumnSchema("key", ColumnType(.string, collection: .list)),
            ColumnSchema("primaryKey", ColumnType(.string, collection: .list)), ColumnSchema("pairs", ColumnType(.int)), ColumnSchema("required", ColumnType(.string, collection: .list)),
            ColumnSchema("hash", ColumnType(.string)),
        ])
    }

    /// What the one row of `changes` tells, in this order.
    package static var columnNames: [String] { facts.columns.map(\.name) }
}

/// How the types of one side are called in a file of changes.
struct SideNames: Sendable {
    let side: String
    static let old = SideNames(side: "old"), new = SideNames(side: "new")

    func type(_ name: String) -> String { "\(side).\(name)" }
    func key(_ name: String) -> String { "\(side)Key.\(name)" }
    /// What a type of the file stands for; nil if it is none of this side.
    func bareType(_ name: String) -> String? { name.hasPrefix("\(side).") ? String(name.dropFirst(side.utf8.count + 1)) : nil }
    func bareKey(_ name: String) -> String? { name.hasPrefix("\(side)Key.") ? String(name.dropFirst(side.utf8.count + 4)) : nil }
}

extension Changeset.Side {
    /// The type of the rows as a file has it, and the embedded ones, each before those that lead to it. `rename`: what a type is called there.
    func types(_ rename: (String) -> String) -> [TypeSchema] {
        guard let table else { return [] }
        return ([table.type] + table.schema.embedded(from: table.type)).enumerated().map { i, type in
            var copy = type
            copy.name = i == 0 ? rename(name) : names.bareType(type.name) ?? type.name
            for c in copy.columns.indices {
                copy.columns[c].id = 0
                if i == 0, let required { copy.columns[c].type.isOptional = !required.contains(copy.columns[c].name) }
                guard let target = copy.columns[c].type.target else { continue }
                copy.columns[c].type.target = copy.columns[c].type.kind == .link ? rename(names.bareKey(target) ?? target) : names.bareType(target) ?? target
            }
            if i == 0 { copy.key = primaryKey.compactMap { copy.index(of: $0) } }
            return copy
        }
    }
}

extension Hash128 {
    /// What `description` gives.
    init?(hexadecimal text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 32, let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16) else { return nil }
        self.init(low: low, high: high)
    }
}

extension TypeSchema {
    /// The columns of the type's own key.
    var keyNames: [String] { key.map { columns[$0].name } }

    /// Whether rows of one type fit into the other, whatever may be null: the same columns in any order, objects within them likewise.
    func hasShape(of other: TypeSchema, in schema: Schema, other otherSchema: Schema, inside: Set<String> = []) -> Bool {
        columns.count == other.columns.count && columns.allSatisfy { hasColumn($0, of: other, in: schema, other: otherSchema, inside: inside) }
    }

    /// Whether the other type has a column of that name and shape.
    func hasColumn(_ column: ColumnSchema, of other: TypeSchema, in schema: Schema, other otherSchema: Schema, inside: Set<String> = []) -> Bool {
        guard let place = other.index(of: column.name) else { return false }
        let twin = other.columns[place]
        guard twin.type.kind == column.type.kind, twin.type.collection == column.type.collection else { return false }
        guard column.type.kind == .embedded else { return twin.type.target == column.type.target }
        guard let target = column.type.target.flatMap({ schema[$0] }), let otherTarget = twin.type.target.flatMap({ otherSchema[$0] }) else { return false }
        return inside.contains(target.name) || target.hasShape(of: otherTarget, in: schema, other: otherSchema, inside: inside.union([target.name]))
    }
}

extension Schema {
    /// The embedded types that a type's columns lead to, each before those that lead to it where there is such an order.
    func embedded(from type: TypeSchema) -> [TypeSchema] {
        var found: [TypeSchema] = [], names: Set<String> = []
        func visit(_ type: TypeSchema) {
            for column in type.columns where column.type.kind == .embedded {
                guard let target = column.type.target.flatMap({ self[$0] }), names.insert(target.name).inserted else { continue }
                found.append(target)
                visit(target)
            }
        }
        visit(type)
        return found.reversed()
    }
}
