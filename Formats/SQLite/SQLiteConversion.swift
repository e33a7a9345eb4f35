import CSQLiteLibrary
import FirnBytes
import FirnTable

/// How the values of a column that SQLite cannot hold are read: from the texts and numbers that `SQLiteWriter` writes for them.
struct SQLiteConversion {
    var column: ColumnSchema
    private let empty: Column
    private let schema: Schema

    /// Returns nil if values of the planned kind are never those of the column.
    init?(_ column: ColumnSchema, from plan: SQLitePlan, in schema: Schema) {
        let kind = plan.column.type.kind, isText = kind == .string || kind == .any
        let fits =
            switch column.type.kind {
            case _ where column.type.isCollection: isText
            case .any: true
            case .float, .double: kind == .double || kind == .int || isText
            case .decimal, .uuid, .objectID, .embedded: isText
            case .date: kind == .date || isText
            default: kind == column.type.kind
            }
        guard fits else { return nil }
        self.column = column
        self.schema = schema
        empty = Column(column, in: schema)
    }

    /// Whether the values are taken as they are.
    func isTrivial(_ plan: SQLitePlan) -> Bool {
        column.type.kind == plan.column.type.kind && !column.type.isCollection && column.type.kind != .any
    }

    /// Returns the values of the column, and the number of those that are none of it, which are null in the result.
    func values(_ source: Column) -> (column: Column, misfits: Int) {
        if !column.type.isCollection, source.type.kind == column.type.kind, column.type.kind != .any {
            var same = source
            same.type = column.type
            return (same, 0)
        }
        var out = empty, misfits = 0
        out.type.isOptional = out.type.isOptional || source.present != nil
        for row in 0..<source.count {
            guard source.isPresent(row) else {
                out.appendNull()
                continue
            }
            guard let value = value(source.value(at: row)), out.append(value) else {
                misfits += 1
                out.appendNull()
                continue
            }
        }
        return (out, misfits)
    }

    private func value(_ value: Value) -> Value? {
        if column.type.isCollection || column.type.kind == .embedded {
            guard case .string(let text) = value else { return nil }
            return SQLiteJSON(Array(text.utf8))?.value(of: column.type, in: schema)
        }
        switch (column.type.kind, value) {
        case (.any, .string(let text)): return SQLiteTagged.value(of: text)
        case (.any, _): return value
        case (.date, .date): return value
        case (.date, .string(let text)): return SQLiteJSON.string(text).value(of: column.type, in: schema)
        case (.double, .double), (.double, .int): return value
        case (.double, .string("NaN")): return .double(.nan)
        case (.float, .double(let x)): return Double(Float(x)) == x ? .float(Float(x)) : nil
        case (.float, .int(let x)): return Float(exactly: x).map { .float($0) }
        case (.float, .string("NaN")): return .float(.nan)
        case (.decimal, .string(let text)): return Decimal(text).flatMap { $0.description == text ? .decimal($0) : nil }
        case (.uuid, .string(let text)): return Identifier(uuidText: text).map { .uuid($0) }
        case (.objectID, .string(let text)): return Identifier(objectIDText: text).map { .objectID($0) }
        default: return nil
        }
    }
}

extension SQLiteSource {
    /// Applies what the table `_firn` says about the columns, if every value fits it.
    mutating func apply(_ records: SQLiteRecords, _ connection: SQLiteConnection, _ budget: MemoryBudget) throws(FirnError) {
        guard !records.isEmpty else { return }
        let embedded = Schema(records.embeddedTypes), name = table.name
        for i in plans.indices {
            let column = plans[i].column, attributes = records.attributes(name, column.name)
            if let type = records.columnType(name, column.name) {
                var wanted = ColumnSchema(column.name, type)
                wanted.type.isOptional = type.isOptional || (column.type.isOptional && type.kind != .any)
                wanted.otherAttributes = attributes
                if let target = type.target, type.kind == .embedded, embedded[target] == nil { continue }
                if let conversion = SQLiteConversion(wanted, from: plans[i], in: embedded) {
                    conversions[i] = conversion
                } else if rows > 0 {
                    notes.append("column \"\(name).\(column.name)\" is \(column.type.name), and was \(type.name) when Firn wrote it")
                }
            } else {
                plans[i].column.otherAttributes += attributes
            }
            if let notation = records.notation(name, column.name) {
                if conversions[i] == nil { plans[i].column.notation = notation } else { conversions[i]?.column.notation = notation }
            }
        }
        ownAttributes = records.attributes(name, nil)
        try dropMisfits(connection, budget)
        for i in conversions.keys { plans[i].remark = nil }
    }

    /// Reads the rows once more, and drops the conversions of columns in which a value does not fit.
    private mutating func dropMisfits(_ connection: SQLiteConnection, _ budget: MemoryBudget) throws(FirnError) {
        let tested = conversions.filter { !$0.value.isTrivial(plans[$0.key]) }
        guard !tested.isEmpty else { return }
        var misfits: [Int: Int] = [:]
        let scan = try SQLiteScan(self, connection, budget: budget)
        while let batch = try scan.next() {
            for (i, conversion) in tested { misfits[i, default: 0] += conversion.values(batch.columns[i]).misfits }
        }
        for (i, count) in misfits.sorted(by: { $0.key < $1.key }) where count > 0 {
            let column = plans[i].column
            notes.append(
                "column \"\(table.name).\(column.name)\" is \(column.type.name): \(count) value\(count == 1 ? " is" : "s are") not \(conversions[i]?.column.type.name ?? ""), as when Firn wrote it"
            )
            conversions[i] = nil
        }
    }
}
