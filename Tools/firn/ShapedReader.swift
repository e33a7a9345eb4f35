import FirnBytes
import FirnCommandLine
import FirnExchange
import FirnTable

/// Passes batches on with selected columns, another type name, another key, and at most a given number of rows.
final class ShapedReader: BatchReader {
    let schema: Schema
    private let source: any BatchReader
    /// The selected columns, and fields of objects; nil for all.
    private let kept: [FieldPath]?
    private let renamed: [String: String]
    private var left: Int
    private let isLimited: Bool
    private let isFlat: Bool
    /// The original texts of fields that are columns now; their columns follow those of `kept`.
    private let fieldTexts: [FieldTexts]
    /// The fields of objects that are columns of the key, by their path in the rows that are passed on.
    private let keyFields: [FieldPath]
    /// The number of objects that have no value in any of the columns that they become.
    private var emptyObjects = 0

    /// - Throws: `.usage` if a name does not exist in the schema, or a type must be chosen.
    init(_ source: any BatchReader, columns: [String], name: String?, key: [String], limit: Int?, isFlat: Bool = false) throws(FirnError) {
        self.source = source
        self.isFlat = isFlat
        left = limit ?? .max
        isLimited = limit != nil
        let roots = source.schema.roots
        // The schema can also have types that are only targets of links.
        let named = roots.first { $0.name == name }
        guard let root = named ?? roots.first else { throw FirnError(.schema, "the input has no rows and no columns") }
        guard roots.count == 1 || named != nil || (columns.isEmpty && name == nil && key.isEmpty && !isFlat) else {
            throw FirnError(
                .usage, "the input has several types: \(roots.map(\.name).listed())",
                advice: "choose one with FILE:Type")
        }
        var shape = RowShape(root, in: source.schema, named: name ?? root.name)
        if !columns.isEmpty { try shape.select(columns) }
        if isFlat { shape.flatten() }
        try shape.applySelection(names: columns)
        if !key.isEmpty { try shape.setKey(key) }
        let newName = shape.type.name, schema = shape.result
        // Objects whose fields became columns have no type any more.
        self.schema = isFlat ? schema.reachable(from: newName, throughLinks: true) : schema
        (kept, fieldTexts, keyFields) = (shape.kept, shape.fieldTexts, shape.keyFields)
        renamed = [root.name: newName]
    }

    var remarks: [String] {
        let keys = keyFields.map { field in
            "the key \"\(field.name)\" is a column with the values of that field; JSON output omits it"
        }
        let idle = isFlat && kept?.allSatisfy { $0.path.count == 1 } != false ? ["--flatten: no column contains objects"] : []
        guard emptyObjects > 0 else { return source.remarks + keys + idle }
        return source.remarks + keys + [
            "\(Quantity.count(emptyObjects, "object")) without any value: --nest makes \(emptyObjects == 1 ? "it" : "them") missing"
        ]
    }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        guard left > 0, let (name, rows) = try source.next() else { return nil }
        var batch = rows
        if isFlat { emptyObjects += rows.columns.reduce(0) { $0 + $1.emptyObjects } }
        if let kept {
            batch.columns = try kept.map { (path) throws(FirnError) in try path.column(of: rows) } + fieldTexts.map { $0.column(of: rows) }
        }
        if !keyFields.isEmpty {
            let rows = batch
            for field in keyFields { batch.columns.append(try field.column(of: rows)) }
        }
        if batch.count > left {
            batch.columns = batch.columns.map { $0.slice(0..<left) }
            batch.count = left
        }
        if isLimited { left -= batch.count }
        return (renamed[name] ?? name, batch)
    }
}

extension TypeSchema {
    /// Returns the position of a column. Throws `.usage`, with the nearest name, if there is none.
    func position(of column: String) throws(FirnError) -> Int {
        if let position = index(of: column) { return position }
        throw unknownColumn(column, of: self)
    }
}

extension Column {
    /// The number of objects in the column, and in the fields of its objects, that are present and have no value.
    fileprivate var emptyObjects: Int {
        guard type.kind == .embedded, !type.isCollection else { return 0 }
        let inner = children.reduce(0) { $0 + $1.emptyObjects }
        guard !children.isEmpty, children.allSatisfy(\.type.isOptional) else { return inner }
        return inner + (0..<count).count { row in isPresent(row) && !children.contains { $0.isPresent(row) } }
    }
}

extension FieldPath {
    /// Returns a column for the values of the field, which is a part of the key.
    /// - Throws: `.usage` if rows can have several values, or objects, in it.
    func keyColumn(of type: TypeSchema, _ types: Schema) throws(FirnError) -> ColumnSchema? {
        let values = try column(of: Batch(type, in: types)).type
        guard !values.isCollection, values.kind != .embedded else {
            throw FirnError(
                .usage, "\"\(name)\" cannot be a key: its type is \(values.shownName)", advice: "choose fields with one value in each row")
        }
        var column = schema(values)
        column.otherAttributes += [SchemaAttribute(TypeSchema.fieldCopyAttribute, Array(name.utf8))]
        return column
    }
}
