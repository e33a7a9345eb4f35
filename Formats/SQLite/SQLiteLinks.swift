import CSQLiteLibrary
import FirnBytes
import FirnTable

/// The rows of a table by the value of its key, to which foreign keys refer.
final class SQLiteKeys: Sendable {
    private let integers: [Int64: Int]
    private let texts: [String: Int]
    private let charge: MemoryCharge?

    /// The approximate memory of an entry.
    private static let entryBytes = 64

    init(_ scan: SQLiteScan, column: Int, rows: Int, _ budget: MemoryBudget, _ name: String) throws(FirnError) {
        var integers: [Int64: Int] = [:], texts: [String: Int] = [:], row = 0
        let charge = MemoryCharge(budget)
        guard charge.take(rows * SQLiteKeys.entryBytes) else {
            throw FirnError.beyondMemory("the keys of table \"\(name)\"", rows * SQLiteKeys.entryBytes, budget)
        }
        self.charge = charge
        while let batch = try scan.next() {
            let keys = batch.columns[column]
            for i in 0..<batch.count where keys.isPresent(i) {
                if keys.type.kind == .int { integers[keys.words[i]] = row + i } else { texts[keys.text.string(i)] = row + i }
            }
            row += batch.count
        }
        self.integers = integers
        self.texts = texts
    }

    /// Returns the row of a value that is not null; nil if there is none.
    func row(_ column: Column, _ i: Int) -> Int? { column.type.kind == .int ? integers[column.words[i]] : texts[column.text.string(i)] }

    /// Returns the links that the values of a column are. Every value has a row.
    func links(_ column: Column, target: String) -> Column {
        var links = Column(ColumnType(.link, optional: true, target: target))
        for i in 0..<column.count {
            if column.isPresent(i), let row = row(column, i) { links.append(.link(Int64(row))) } else { links.appendNull() }
        }
        return links
    }
}

/// Makes links of foreign keys.
struct SQLiteLinker {
    private let connection: SQLiteConnection
    private let budget: MemoryBudget
    private(set) var sources: [SQLiteSource]
    private(set) var remarks: [String] = []
    private var keys: [Int: SQLiteKeys] = [:]

    init(_ sources: [SQLiteSource], _ connection: SQLiteConnection, _ budget: MemoryBudget) throws(FirnError) {
        self.sources = sources
        self.connection = connection
        self.budget = budget
        for i in sources.indices { try link(i) }
    }

    private mutating func link(_ index: Int) throws(FirnError) {
        var kept: [SQLiteTable.ForeignKey] = []
        for key in sources[index].table.foreignKeys {
            if let reason = try refusal(key, index) {
                kept.append(key)
                remarks.append(
                    "column \"\(sources[index].table.name).\(key.columns.joined(separator: ", "))\" keeps the values of its foreign key: \(reason)"
                )
            }
        }
        sources[index].table.foreignKeys = kept
    }

    /// Makes a column of links of a foreign key. Returns why it cannot be one; nil if it is one now.
    private mutating func refusal(_ key: SQLiteTable.ForeignKey, _ index: Int) throws(FirnError) -> String? {
        let source = sources[index]
        guard key.columns.count == 1 else { return "it has several columns" }
        let name = SQLiteFormat.folded(key.columns[0]), wanted = SQLiteFormat.folded(key.target)
        guard let position = source.table.columns.firstIndex(where: { SQLiteFormat.folded($0.name) == name }),
            let target = sources.firstIndex(where: { SQLiteFormat.folded($0.table.name) == wanted })
        else { return "there is no table \"\(key.target)\"" }
        guard source.table.columns[position].keyPosition == 0 else { return "it is a part of the primary key" }
        guard source.links[position] == nil else { return "it has another foreign key, which is a link" }
        let other = sources[target], primary = other.table.key
        guard primary.count == 1,
            key.targetColumns.isEmpty
                || SQLiteFormat.folded(key.targetColumns[0]) == SQLiteFormat.folded(other.table.columns[primary[0]].name)
        else { return "it does not refer to a primary key of one column" }
        let kinds = (source.plans[position].column.type.kind, other.plans[primary[0]].column.type.kind)
        guard kinds.0 == kinds.1, kinds.0 == .int || kinds.0 == .string else {
            return
                "its type is \(source.plans[position].column.type.name), and that of the key is \(other.plans[primary[0]].column.type.name)"
        }
        let rows = try keys(of: target, column: primary[0])
        var missing = 0, first = ""
        let scan = try SQLiteScan(source, connection, budget: budget)
        while let batch = try scan.next() {
            let values = batch.columns[position]
            for i in 0..<batch.count where values.isPresent(i) && rows.row(values, i) == nil {
                if missing == 0 { first = canonicalText(values.value(at: i)) }
                missing += 1
            }
        }
        guard missing == 0 else {
            return "\(missing == 1 ? "a value has" : "\(missing) values have") no row in \"\(other.table.name)\" (first: \"\(first)\")"
        }
        sources[index].links[position] = (other.table.name, rows)
        return nil
    }

    private mutating func keys(of target: Int, column: Int) throws(FirnError) -> SQLiteKeys {
        if let known = keys[target] { return known }
        let source = sources[target]
        let scan = try SQLiteScan(source, connection, budget: budget)
        let made = try SQLiteKeys(scan, column: column, rows: source.rows, budget, source.table.name)
        keys[target] = made
        return made
    }
}
