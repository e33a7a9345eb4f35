import FirnBytes
import FirnTable

/// Collects the rows that the links of one side of a changes file refer to: `oldKey.NAME`, `newKey.NAME`.
final class LinkedRowKeys {
    private let names: SideNames
    private let file: String
    private var targets: [String: Target] = [:]

    private final class Target {
        let table: any Table
        /// By row id: the number of the row among the collected ones; nil if the row does not exist.
        var numbers: [Int64: Int64?] = [:]
        var rows: [Int64] = []
        init(_ table: any Table) { self.table = table }
    }

    init(_ names: SideNames, file: String) {
        self.names = names
        self.file = file
    }

    /// Adds the types that the links of a table can refer to. Throws if their rows cannot be identified by key or position.
    func add(_ table: any Table) throws(FirnError) {
        let type = table.type, named: Set<String>
        do throws(Damage) { named = try table.namedTargets() } catch { throw FirnError(error, in: file) }
        for (path, target) in table.schema.links(of: type).columns {
            try add(target, of: table) { refusal("\"\(type.name).\(path)\"", target, $0) }
        }
        for target in named.sorted() where table.schema[target] != nil {
            try add(target, of: table) { refusal("\"\(type.name)\", which has values of type any,", target, $0) }
        }
    }

    private func add(_ target: String, of table: any Table, _ refusal: (String) -> FirnError) throws(FirnError) {
        guard targets[target] == nil else { return }
        let found: (any Table)?
        do throws(Damage) { found = try table.related(target) } catch { throw FirnError(error, in: file) }
        guard let found else { throw refusal("whose rows are not available") }
        if let fault = try fault(found) { throw refusal(fault) }
        targets[target] = Target(found)
    }

    private func refusal(_ column: String, _ target: String, _ why: String) -> FirnError {
        FirnError(
            .unsupported, "changes of \(column) cannot be written: it has links to \"\(target)\", \(why)", at: .init(file: file),
            advice: "give \"\(target)\" a key of plain values")
    }

    /// Returns why the rows of a type cannot be identified outside their file; nil if they can.
    private func fault(_ table: any Table) throws(FirnError) -> String? {
        let type = table.type
        if type.isEmbedded { return "which is an embedded type" }
        if type.key.contains(where: { [.link, .embedded].contains(type.columns[$0].type.kind) }) {
            return "whose key contains links or objects"
        }
        return try table.hasNamedLinks(type.keyNames, file) ? "whose key contains links or objects" : nil
    }

    var types: [TypeSchema] {
        targets.sorted { $0.key < $1.key }.map { name, target in
            let type = target.table.type
            let columns =
                type.key.isEmpty
                ? [ColumnSchema("row", ColumnType(.int))]
                : type.key.map { position in
                    var column = type.columns[position]
                    column.id = 0
                    column.indexes = []
                    return column
                }
            return TypeSchema(names.key(name), columns: columns, key: Array(columns.indices))
        }
    }

    /// Returns the type and the number of a collected row for a link; the row is nil if it does not exist. A link of a value of type any to
    /// an unknown type is returned unchanged.
    func link(_ type: String, _ row: Int64) throws(FirnError) -> (type: String, row: Int64?) {
        guard let target = targets[type] else { return (type, row) }
        if let known = target.numbers[row] { return (names.key(type), known) }
        var number: Int64?
        if try location(of: row, in: target.table) != nil {
            number = Int64(target.rows.count)
            target.rows.append(row)
        }
        target.numbers[row] = .some(number)
        return (names.key(type), number)
    }

    private func location(of row: Int64, in table: any Table) throws(FirnError) -> RowLocation? {
        do throws(Damage) { return try table.liveLocation(of: row) } catch { throw FirnError(error, in: file) }
    }

    /// The types without key that links refer to.
    var keyless: [any Table] {
        targets.sorted { $0.key < $1.key }.map(\.value).filter { $0.table.type.key.isEmpty && !$0.rows.isEmpty }.map(\.table)
    }

    func write(_ write: (String, Batch) throws(FirnError) -> Void) throws(FirnError) {
        let types = types
        for type in types {
            let target = targets[names.bareKey(type.name)!]!, reader = RowReader(target.table, name: file), key = target.table.type.key
            var start = 0
            while start < target.rows.count {
                let end = min(start + segmentSize, target.rows.count)
                var batch = Batch(type, in: Schema([type]))
                for row in target.rows[start..<end] {
                    guard let location = try location(of: row, in: target.table) else {
                        throw .damaged(file, what: "a row that disappeared while it was read", byte: 0)
                    }
                    if key.isEmpty { batch.columns[0].append(.int(Int64(try reader.number(location) - 1))) }
                    for (i, column) in key.enumerated() { batch.columns[i].append(try reader.value(location, column)) }
                }
                batch.count = end - start
                try write(type.name, batch)
                start = end
            }
        }
    }
}
