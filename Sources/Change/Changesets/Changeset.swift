import FirnBytes
import FirnTable

/// A changeset: converts one set of rows to another and back. For each type it has the old and the new side of the rows and cells that
/// differ. It is stored as described in docs/format/changes.md.
package struct Changeset: Sendable {
    /// One type on the old or the new side.
    package struct Side: Sendable {
        package let name: String
        /// The content hash of all rows of the type, by the key of the changes.
        package let hash: Hash128
        /// The rows that differ; nil if none do.
        let table: (any Table)?
        /// The type's own key.
        let primaryKey: [String]
        /// The columns that may not be null; nil means those that may not be null in `table`.
        let required: Set<String>?
        let names: SideNames
    }

    /// The changes of one type.
    package struct Part: Sendable {
        /// The columns by which rows are matched; empty if rows are matched by position.
        package let key: [String]
        /// The number of changed rows, which are the first ones of both tables.
        package let pairs: Int
        /// Nil if the type does not exist on that side.
        package fileprivate(set) var before: Side?
        package fileprivate(set) var after: Side?
        /// Whether cells that are null on both sides are really null; otherwise such cells are unchanged.
        let isWhole: Bool
        /// Whether the part has all rows of both sides, and none is paired.
        let isReplacing: Bool
        /// The edits of nested cells, which are null on both sides; nil if there are none.
        var edits: ReadEdits?

        package var name: String { (before ?? after)!.name }
        package var removed: Int { (before?.table?.rowCount ?? pairs) - pairs }
        package var added: Int { (after?.table?.rowCount ?? pairs) - pairs }
        var isUnchanged: Bool { before?.table == nil && after?.table == nil }

        fileprivate var changesNothing: Bool {
            guard let before, let after else { return false }
            if isUnchanged { return true }
            let old = before.types { $0 }, new = after.types { $0 }
            guard before.hash == after.hash, before.primaryKey == after.primaryKey, before.required == after.required, pairs == 0,
                added == 0, removed == 0, let was = old.first, let becomes = new.first
            else { return false }
            return was.hasShape(of: becomes, in: Schema(old), other: Schema(new))
        }
    }

    package let parts: [Part]
    /// The name of the file in messages.
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

    /// Whether applying the changes would change nothing.
    package var isEmpty: Bool { parts.allSatisfy(\.changesNothing) }

    /// The changes in the opposite direction.
    package var reversed: Changeset {
        Changeset(
            parts: parts.map { part in
                var copy = part
                swap(&copy.before, &copy.after)
                copy.edits = part.edits?.reversed
                return copy
            }, name: name)
    }

    /// The version of files with edits of nested cells; files without them have version 2.
    static let version: Int64 = 3
    /// The maximum number of types; no schema of a file has more.
    static let maximumTypes = 131_072
    static let facts = TypeSchema(
        "changes",
        columns: [
            ColumnSchema("version", ColumnType(.int)), ColumnSchema("type", ColumnType(.string)),
            ColumnSchema("key", ColumnType(.string, collection: .list)),
            ColumnSchema("pairs", ColumnType(.int)), ColumnSchema("whole", ColumnType(.bool, optional: false)),
            ColumnSchema("oldHash", ColumnType(.string)), ColumnSchema("newHash", ColumnType(.string)),
        ])
    /// The type of the rows `old` and `new`, which describe each type of one side.
    static func sideFacts(_ side: String) -> TypeSchema {
        TypeSchema(
            side,
            columns: [
                ColumnSchema("name", ColumnType(.string, optional: true)), ColumnSchema("key", ColumnType(.string, collection: .list)),
                ColumnSchema("primaryKey", ColumnType(.string, collection: .list)), ColumnSchema("pairs", ColumnType(.int)),
                ColumnSchema("required", ColumnType(.string, collection: .list)),
                ColumnSchema("hash", ColumnType(.string)),
            ])
    }

    /// The columns of the one row of `changes`, in order.
    package static var columnNames: [String] { facts.columns.map(\.name) }
}

/// The names that types of one side have in a changes file.
struct SideNames: Sendable {
    let side: String
    static let old = SideNames(side: "old"), new = SideNames(side: "new")

    func type(_ name: String) -> String { "\(side).\(name)" }
    func key(_ name: String) -> String { "\(side)Key.\(name)" }
    /// Returns the name of the type that a type of the changes file represents; nil if it does not belong to this side.
    func bareType(_ name: String) -> String? { name.hasPrefix("\(side).") ? String(name.dropFirst(side.utf8.count + 1)) : nil }
    func bareKey(_ name: String) -> String? { name.hasPrefix("\(side)Key.") ? String(name.dropFirst(side.utf8.count + 4)) : nil }
}

extension Changeset.Side {
    /// Returns the type of the rows as in an ordinary file, then the embedded types, each before the types that contain it. `rename`
    /// returns the name of a type there.
    func types(_ rename: (String) -> String) -> [TypeSchema] {
        guard let table else { return [] }
        return ([table.type] + table.schema.embedded(from: table.type)).enumerated().map { i, type in
            var copy = type
            copy.name = i == 0 ? rename(name) : names.bareType(type.name) ?? type.name
            for c in copy.columns.indices {
                copy.columns[c].id = 0
                if i == 0, let required { copy.columns[c].type.isOptional = !required.contains(copy.columns[c].name) }
                guard let target = copy.columns[c].type.target else { continue }
                copy.columns[c].type.target =
                    copy.columns[c].type.kind == .link ? rename(names.bareKey(target) ?? target) : names.bareType(target) ?? target
            }
            if i == 0 { copy.key = primaryKey.compactMap { copy.index(of: $0) } }
            return copy
        }
    }
}

extension Hash128 {
    /// Parses the text that `description` returns.
    init?(hexadecimal text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 32, let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16) else {
            return nil
        }
        self.init(low: low, high: high)
    }
}

extension TypeSchema {
    /// The columns of the type's own key.
    var keyNames: [String] { key.map { columns[$0].name } }

    /// Whether rows of one type fit the other, apart from nulls: both have the same columns in any order, also within objects.
    func hasShape(of other: TypeSchema, in schema: Schema, other otherSchema: Schema, inside: Set<String> = []) -> Bool {
        let own = visibleColumns
        return own.count == other.visibleColumns.count
            && own.allSatisfy { hasColumn(columns[$0], of: other, in: schema, other: otherSchema, inside: inside) }
    }

    /// Whether the other type has a column with the same name and shape.
    func hasColumn(_ column: ColumnSchema, of other: TypeSchema, in schema: Schema, other otherSchema: Schema, inside: Set<String> = [])
        -> Bool
    {
        guard let columnPosition = other.index(of: column.name) else { return false }
        let twin = other.columns[columnPosition]
        guard twin.type.kind == column.type.kind, twin.type.collection == column.type.collection else { return false }
        guard column.type.kind == .embedded else { return twin.type.target == column.type.target }
        guard let target = column.type.target.flatMap({ schema[$0] }), let otherTarget = twin.type.target.flatMap({ otherSchema[$0] })
        else { return false }
        return inside.contains(target.name)
            || target.hasShape(of: otherTarget, in: schema, other: otherSchema, inside: inside.union([target.name]))
    }
}

extension Schema {
    /// Returns the embedded types that the columns of a type contain, each before the types that contain it, if there is such an order.
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
