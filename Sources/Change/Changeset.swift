import FirnBytes
import FirnModel

/// What leads from one table to another and back: the rows that are not the same in both, as they were and as they are. In a file it is three types:
///
///     changes   one row: version, type, key, pairs, whole, oldHash, newHash
///     old       rows as they were: first those that were changed, then those that were removed
///     new       rows as they are: first those that were changed, in the same order, then those that were added
///
/// `pairs` is the number of changed rows. Where the columns of the two differ otherwise than in what may be null, `whole` is true, no row is paired, and `old` and
/// `new` are all rows. The hashes are content hashes by the key. Embedded types are called after their side: `old.Address`, `new.Address`.
package struct Changeset: Sendable {
    package struct Side: Sendable {
        package var table: any Table
        package var hash: Hash128
        /// What the names of the embedded types begin with.
        var prefix: String
    }

    /// What the type was called.
    package var typeName: String
    package var key: [String]
    package var pairs: Int
    package var isWhole: Bool
    package var before: Side
    package var after: Side
    /// How messages name the file.
    var name: String

    package var removed: Int { isWhole ? before.table.rowCount : before.table.rowCount - pairs }
    package var added: Int { isWhole ? after.table.rowCount : after.table.rowCount - pairs }

    /// What leads back.
    package var reversed: Changeset {
        var copy = self
        swap(&copy.before, &copy.after)
        return copy
    }

    static let version: Int64 = 1
    static let facts = TypeSchema("changes", columns: [
        ColumnSchema("version", ColumnType(.int)), ColumnSchema("type", ColumnType(.string)), ColumnSchema("key", ColumnType(.string, collection: .list)),
        ColumnSchema("pairs", ColumnType(.int)), ColumnSchema("whole", ColumnType(.bool, optional: false)), ColumnSchema("oldHash", ColumnType(.string)), ColumnSchema("newHash", ColumnType(.string)),
    ])

    /// What the one row of `changes` tells, in this order.
    package static var columnNames: [String] { facts.columns.map(\.name) }

    /// Reads a file of changes; all of it is checked before any of it is used.
    package init(_ snapshot: DatabaseSnapshot, name: String) throws(FirnError) {
        func refusal(_ what: String) -> FirnError {
            FirnError(.notThisFormat, what, at: .init(file: name), advice: "'firn diff OLD NEW --changes FILE' writes what is expected")
        }
        guard let facts = snapshot.table(named: "changes"), let old = snapshot.table(named: "old"), let new = snapshot.table(named: "new"),
              facts.type.columns.map(\.name) == Changeset.facts.columns.map(\.name), facts.type.columns.map(\.type) == Changeset.facts.columns.map(\.type) else {
            throw refusal("it is no file of changes")
        }
        let rows: [Int64], row: [Value]
        do throws(Damage) {
            rows = try facts.liveRowIDs()
            row = try rows.first.map { (id) throws(Damage) in try facts.row(id) ?? [] } ?? []
        } catch { throw .damaged(name, what: error.what, byte: error.offset) }
        guard rows.count == 1, row.count == 7, case .int(let version) = row[0], case .string(let type) = row[1], case .list(let key) = row[2], case .int(let pairs) = row[3],
              case .bool(let whole) = row[4], case .string(let oldHash) = row[5], case .string(let newHash) = row[6] else { throw refusal("it is no file of changes") }
        guard version == Changeset.version else { throw FirnError(.unsupported, "changes of version \(version), which this program does not know", at: .init(file: name)) }
        guard let before = Hash128(hexadecimal: oldHash), let after = Hash128(hexadecimal: newHash), pairs >= 0, pairs <= min(old.rowCount, new.rowCount), !whole || pairs == 0 else {
            throw refusal("what it says of its rows is not so")
        }
        self.name = name
        typeName = type
        self.pairs = Int(pairs)
        isWhole = whole
        self.key = key.compactMap { if case .string(let name) = $0 { name } else { nil } }
        self.before = Side(table: old, hash: before, prefix: "old.")
        self.after = Side(table: new, hash: after, prefix: "new.")
        for side in [self.before, self.after] {
            guard !self.key.isEmpty, self.key.allSatisfy({ side.table.type.index(of: $0) != nil }) else { throw refusal("its key is none of its columns") }
            do throws(Damage) {
                // Rows are named by their places.
                for index in 0..<side.table.segmentCount where try side.table.segment(index).live != nil { throw Damage("deleted rows in a file of changes") }
            } catch { throw .damaged(name, what: error.what, byte: error.offset) }
        }
        guard whole || old.type.hasShape(of: new.type, in: old.schema, other: new.schema) else { throw refusal("its rows are of two shapes") }
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
    /// Whether rows of one type fit into the other, whatever may be null: the same columns in any order, objects within them likewise.
    func hasShape(of other: TypeSchema, in schema: Schema, other otherSchema: Schema, inside: Set<String> = []) -> Bool {
        guard columns.count == other.columns.count else { return false }
        return columns.allSatisfy { column in
            guard let place = other.index(of: column.name) else { return false }
            let twin = other.columns[place]
            guard twin.type.kind == column.type.kind, twin.type.collection == column.type.collection else { return false }
            guard column.type.kind == .embedded else { return twin.type.target == column.type.target }
            guard let target = column.type.target.flatMap({ schema[$0] }), let otherTarget = twin.type.target.flatMap({ otherSchema[$0] }) else { return false }
            return inside.contains(target.name) || target.hasShape(of: otherTarget, in: schema, other: otherSchema, inside: inside.union([target.name]))
        }
    }
}

extension Schema {
    /// The embedded types that a type's columns lead to, each before those that lead to it where there is such an order.
    func embedded(from type: TypeSchema) -> [TypeSchema] {
        var found: [TypeSchema] = []
        func visit(_ type: TypeSchema) {
            for column in type.columns where column.type.kind == .embedded {
                guard let target = column.type.target.flatMap({ self[$0] }), !found.contains(where: { $0.name == target.name }) else { continue }
                found.append(target)
                visit(target)
            }
        }
        visit(type)
        return found.reversed()
    }
}
