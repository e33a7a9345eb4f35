import FirnBytes
import FirnTable

/// Inserting, changing and deleting rows together with their embedded objects.
extension DatabaseTransaction {
    /// Inserts one row and returns its row id. `values` has a value for each column of the type; embedded objects are `.object`.
    /// - Throws: `.schema` if a value does not fit its column, `.duplicateKey` if a row has the key already. Then nothing is inserted.
    @discardableResult
    package func insert(_ type: String, _ values: [Value]) throws(FirnError) -> Int64 {
        try insert(index(of: type), values)
    }

    private func insert(_ type: Int, _ values: [Value]) throws(FirnError) -> Int64 {
        trap(
            unless: values.count == schema.types[type].columns.count, "give a value for each column of type \"\(schema.types[type].name)\"")
        for (column, value) in zip(schema.types[type].columns, values) { try check(value, column) }
        // Checked before the embedded objects are written.
        let key = try freeKey(type) { values[$0] }
        var stored: [Value] = []
        stored.reserveCapacity(values.count)
        for (column, value) in zip(schema.types[type].columns, values) { stored.append(try store(value, column)) }
        return try table(type).append(free: key) { columns in
            for (i, value) in stored.enumerated() where !columns[i].append(value) { columns[i].appendNull() }
        }
    }

    /// Throws `.schema` unless the value fits its column, including all fields of embedded objects. Changes nothing: a rejected value must
    /// not leave some of its objects in the file.
    private func check(_ value: Value, _ column: ColumnSchema) throws(FirnError) {
        // A function, because printing a value is slow.
        func refusal() -> FirnError { FirnError(.schema, "column \"\(column.name)\" takes \(column.type.name), not \(value)") }
        guard column.type.kind == .embedded, !value.isNull else {
            if column.type.kind == .embedded ? column.type.isOptional : Column(column.type).fits(value) { return }
            throw refusal()
        }
        var element = column
        element.type = column.type.element
        switch (column.type.collection, value) {
        case (.none, .object(let entries)):
            let target = schema.types[index(of: column.type.target!)]
            for (i, entry) in entries.enumerated() {
                try check(entry.value, target.columns[try columnPosition(of: i, in: entries, target)])
            }
        case (.list, .list(let values)): for value in values { try check(value, element) }
        case (.map, .map(let entries)): for entry in entries { try check(entry.value, element) }
        default: throw refusal()
        }
    }

    /// Returns the field of entry `i` of an object, by its name or, if it has none, by its position.
    private func columnPosition(of i: Int, in entries: [Value.Entry], _ target: TypeSchema) throws(FirnError) -> Int {
        guard let columnPosition = target.columnPosition(of: i, in: entries) else {
            throw FirnError(.schema, "type \"\(target.name)\" has no column \"\(entries[i].key)\"")
        }
        return columnPosition
    }

    /// Returns a checked value in stored form: embedded objects are inserted into their own type.
    private func store(_ value: Value, _ column: ColumnSchema) throws(FirnError) -> Value {
        column.type.kind == .embedded ? try embed(value, column) : value
    }

    private func embed(_ value: Value, _ column: ColumnSchema) throws(FirnError) -> Value {
        let target = index(of: column.type.target!)
        switch value {
        case .object(let entries):
            let fields = schema.types[target].columns
            var values = Array(repeating: Value.null, count: fields.count)
            for (i, entry) in entries.enumerated() {
                values[try columnPosition(of: i, in: entries, schema.types[target])] = entry.value
            }
            for (i, field) in fields.enumerated() where values[i].isNull && !field.type.isOptional {
                values[i] = Column.absentValue(field.type)
            }
            return .link(try insert(target, values))
        case .list(let elements):
            return .list(try elements.mapTyped { (element) throws(FirnError) in try embed(element, column) })
        case .map(let entries):
            return .map(try entries.mapTyped { (entry) throws(FirnError) in Value.Entry(entry.key, try embed(entry.value, column)) })
        default: return value
        }
    }

    /// Sets one value of a row. Embedded objects that it replaces are deleted.
    /// - Throws: `.schema` if there is no such column or the value does not fit it, `.notFound` if there is no such row, `.duplicateKey` if
    /// another
    ///   row has the new key.
    package func update(_ type: String, rowID: Int64, column name: String, _ value: Value) throws(FirnError) {
        let type = index(of: type)
        guard let columnPosition = schema.types[type].index(of: name) else {
            throw FirnError(.schema, "type \"\(schema.types[type].name)\" has no column \"\(name)\"")
        }
        let column = schema.types[type].columns[columnPosition], table = table(type)
        try check(value, column)
        guard column.type.kind == .embedded else { return try table.set(rowID, columnPosition, value) }
        let old = try table.storedValue(rowID, columnPosition)
        try deleteEmbedded(in: old, column)
        try table.set(rowID, columnPosition, try store(value, column))
    }

    /// Deletes one row and its embedded objects. Throws `.notFound` if there is no such row.
    package func delete(_ type: String, rowID: Int64) throws(FirnError) { try delete(index(of: type), rowID) }

    private func delete(_ type: Int, _ rowID: Int64) throws(FirnError) {
        let table = table(type)
        for (columnPosition, column) in schema.types[type].columns.enumerated() where column.type.kind == .embedded {
            try deleteEmbedded(in: try table.storedValue(rowID, columnPosition), column)
        }
        try table.delete(rowID)
    }

    private func deleteEmbedded(in value: Value, _ column: ColumnSchema) throws(FirnError) {
        let target = index(of: column.type.target!)
        switch value {
        case .link(let rowID): try delete(target, rowID)
        case .list(let values): for case .link(let rowID) in values { try delete(target, rowID) }
        case .map(let entries): for entry in entries { if case .link(let rowID) = entry.value { try delete(target, rowID) } }
        default: break
        }
    }
}
