import CSQLiteLibrary
import FirnBytes
import FirnTable

/// A table, and how its rows are read.
struct SQLiteSource {
    var table: SQLiteTable
    var plans: [SQLitePlan]
    /// The number of rows.
    let rows: Int
    /// Whether the rows can be read from the pages of the file.
    var readsPages: Bool
    /// By position: the columns that are read as links, with the name and the rows of their target.
    var links: [Int: (target: String, keys: SQLiteKeys)] = [:]
    /// By position: the columns whose values SQLite cannot hold.
    var conversions: [Int: SQLiteConversion] = [:]
    /// The attributes of the type that are recorded in the database.
    var ownAttributes: [SchemaAttribute] = []
    /// What is reported about the table.
    var notes: [String] = []
    var remarks: [String] { plans.compactMap(\.remark) + notes }
    /// The positions of the key's columns; empty if the primary key has nulls.
    private let key: [Int]

    /// Reads the table once, to decide what its columns become.
    init(_ table: SQLiteTable, _ survey: SQLiteSurvey) throws(FirnError) {
        let (facts, rows, readsPages) = try survey.facts(of: table)
        self.table = table
        self.readsPages = readsPages
        self.rows = rows
        plans = zip(table.columns, facts).map { column, facts in column.plan(facts, in: table) }
        let primary = table.key
        // A key can be null in one row.
        if let null = primary.first(where: { facts[$0].nulls > 1 }) {
            // SQLite permits nulls in primary keys, and regards them as different.
            key = []
            notes.append(
                "table \"\(table.name)\" has no key: column \"\(table.columns[null].name)\" of its primary key is null in \(facts[null].nulls) rows"
            )
        } else {
            key = primary
        }
        let generated = table.columns.filter(\.isGenerated).map { "\"\($0.name)\"" }
        if !generated.isEmpty {
            notes.append(
                "table \"\(table.name)\": the values of generated columns are read, not their expressions: \(generated.listed())"
            )
        }
    }

    var type: TypeSchema {
        var columns = plans.map(\.column)
        for (i, conversion) in conversions { columns[i] = conversion.column }
        for i in columns.indices {
            if let link = links[i] { columns[i].type = ColumnType(.link, optional: true, target: link.target) }
            let declared = table.columns[i].declared
            if links[i] == nil, declared != SQLiteDeclaredType.standard(for: columns[i]) {
                columns[i].otherAttributes.append(SchemaAttribute(SQLiteDeclaredType.attribute, Array(declared.text.utf8)))
            }
        }
        var type = TypeSchema(table.name, columns: columns, key: key)
        type.otherAttributes = ownAttributes
        if let attribute = SQLiteTableFacts(table).attribute { type.otherAttributes.append(attribute) }
        return type
    }

    /// Converts columns, and makes links of those that are foreign keys.
    func converted(_ batch: Batch) -> Batch {
        var batch = batch
        for (position, conversion) in conversions { batch.columns[position] = conversion.values(batch.columns[position]).column }
        for (position, link) in links { batch.columns[position] = link.keys.links(batch.columns[position], target: link.target) }
        return batch
    }
}

/// What a table is in addition to its columns, in the form of an attribute of its type (`docs/format/model.md`). Permanent.
struct SQLiteTableFacts: Equatable {
    var isWithoutRowID = false
    var isStrict = false
    var sequence: (row: Int64, value: Int64)?
    var foreignKeys: [SQLiteTable.ForeignKey] = []

    static let attributeName = "sqlite-table"

    static func == (a: SQLiteTableFacts, b: SQLiteTableFacts) -> Bool { a.lines == b.lines }

    init(_ table: SQLiteTable) {
        guard table.kind == .table else { return }
        isWithoutRowID = !table.hasRowID
        isStrict = table.isStrict
        sequence = table.sequence
        foreignKeys = table.foreignKeys
    }

    init(_ type: TypeSchema) {
        guard let attribute = type.otherAttributes.first(where: { $0.name == SQLiteTableFacts.attributeName }),
            let text = String(validating: attribute.value, as: UTF8.self)
        else { return }
        for line in text.split(separator: "\n") {
            let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(SQLiteTableFacts.unescaped)
            switch words[0] {
            case "without-rowid": isWithoutRowID = true
            case "strict": isStrict = true
            case "autoincrement": if words.count == 3, let row = Int64(words[1]), let value = Int64(words[2]) { sequence = (row, value) }
            case "foreign-key":
                guard words.count >= 5, let count = Int(words[4]), count > 0, words.count == 5 + count || words.count == 5 + 2 * count
                else {
                    continue
                }
                foreignKeys.append(
                    .init(
                        target: words[1], columns: Array(words[5..<5 + count]), targetColumns: Array(words[(5 + count)...]),
                        onUpdate: words[2], onDelete: words[3]))
            default: break
            }
        }
    }

    private var lines: [String] {
        var lines: [String] = []
        if isWithoutRowID { lines.append("without-rowid") }
        if isStrict { lines.append("strict") }
        if let sequence { lines.append("autoincrement\t\(sequence.row)\t\(sequence.value)") }
        for key in foreignKeys {
            let words = [key.target, key.onUpdate, key.onDelete, "\(key.columns.count)"] + key.columns + key.targetColumns
            lines.append("foreign-key\t" + words.map(SQLiteTableFacts.escaped).joined(separator: "\t"))
        }
        return lines
    }

    /// Nil if there is nothing to keep.
    var attribute: SchemaAttribute? {
        let lines = lines
        return lines.isEmpty
            ? nil : SchemaAttribute(SQLiteTableFacts.attributeName, Array(lines.map { $0 + "\n" }.joined().utf8))
    }

    private static func escaped(_ word: String) -> String {
        word.replacing("\\", with: "\\\\").replacing("\t", with: "\\t").replacing("\n", with: "\\n")
    }

    private static func unescaped(_ word: Substring) -> String {
        var text = "", isEscaped = false
        for character in word.unicodeScalars {
            if isEscaped {
                text.unicodeScalars.append(character == "t" ? "\t" : character == "n" ? "\n" : character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
