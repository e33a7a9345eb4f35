import FirnBytes
import FirnExchange
import FirnTable

/// The columns and the key that `ShapedReader` passes on, step by step from those of its source.
struct RowShape {
    private let schema: Schema
    /// The type of the source's rows.
    private let root: TypeSchema
    /// The type of the rows that are passed on.
    private(set) var type: TypeSchema
    /// The selected columns, and fields of objects; nil for all.
    private(set) var kept: [FieldPath]?
    /// The original texts of fields that are columns now; their columns follow those of `kept`.
    private(set) var fieldTexts: [FieldTexts] = []
    /// The fields of objects that are columns of the key, by their path in the rows that are passed on.
    private(set) var keyFields: [FieldPath] = []

    /// `name`: the name of the type that is passed on.
    init(_ root: TypeSchema, in schema: Schema, named name: String) {
        self.schema = schema
        self.root = root
        type = root
        type.name = name
    }

    /// Selects columns and fields by name, with the original texts of the columns.
    mutating func select(_ columns: [String]) throws(FirnError) {
        var paths = try columns.map { (column) throws(FirnError) in
            guard let path = FieldPath.find(column, in: root, schema) else { throw unknownColumn(column, of: root) }
            return path
        }
        let companions = root.companions, named = Set(columns)
        for path in paths where path.path.count == 1 {
            guard let companion = companions[path.path[0]], !named.contains(root.columns[companion].name) else { continue }
            paths.append(FieldPath(path: [companion], name: root.columns[companion].name, described: root.columns[companion]))
        }
        kept = paths
    }

    /// Selects the fields of all selected objects, instead of the objects.
    mutating func flatten() {
        let leaves = FieldPath.leaves(of: root, in: schema)
        guard let paths = kept else {
            kept = leaves
            return
        }
        kept = paths.flatMap { path in
            let inner = leaves.filter { $0.path.starts(with: path.path) }
            return inner.isEmpty ? [path] : inner
        }
    }

    /// Makes the selected columns the columns of the type. `names`: those that were selected by name.
    mutating func applySelection(names: [String]) throws(FirnError) {
        guard let paths = kept else { return }
        // The texts within objects are divided among the fields, and are no column without the objects.
        let whole = Set(paths.filter { $0.path.count == 1 }.map { $0.path[0] }), named = Set(names)
        let kept = paths.filter { path in
            guard path.path.count == 1, let target = root.companionTarget(path.path[0]), root.hasPartTexts(target) else { return true }
            return whole.contains(target) || named.contains(path.name)
        }
        self.kept = kept
        let empty = Batch(root, in: schema)
        type.columns = try kept.map { (path) throws(FirnError) in try column(path, among: kept, empty) }
        let plain = type.columns
        for (index, path) in kept.enumerated() {
            guard let texts = FieldTexts(path.path, of: root, in: schema) else { continue }
            fieldTexts.append(texts)
            type.columns.append(texts.schema(of: plain[index], in: type))
        }
        // Fields have no id in the type of the rows.
        if kept.contains(where: { $0.path.count > 1 }) { numberColumns() }
        let positions = root.key.map { column in kept.firstIndex { $0.path == [column] } }
        type.key = positions.contains(nil) ? [] : positions.compactMap(\.self)
        // The envelope refers to positions of columns.
        type.envelope = nil
    }

    private func column(_ path: FieldPath, among kept: [FieldPath], _ empty: Batch) throws(FirnError) -> ColumnSchema {
        if path.path.count == 1, path.name == root.columns[path.path[0]].name { return root.columns[path.path[0]] }
        var column = path.schema(try path.column(of: empty).type)
        if path.path.count == 1, let target = root.companionTarget(path.path[0]) {
            column.originalTextOf = kept.first { $0.path == [target] }?.name
            column.otherAttributes = root.columns[path.path[0]].otherAttributes
        }
        return column
    }

    private mutating func numberColumns() {
        for index in type.columns.indices { type.columns[index].id = UInt32(index) }
    }

    /// Sets the key. Fields of objects in it become columns.
    mutating func setKey(_ names: [String]) throws(FirnError) {
        for name in names where type.index(of: name) == nil {
            guard let field = FieldPath.find(name, in: type, schema), let copy = try field.keyColumn(of: type, schema) else { continue }
            keyFields.append(field)
            type.columns.append(copy)
        }
        if !keyFields.isEmpty { numberColumns() }
        type.key = try names.map { (name) throws(FirnError) in try type.position(of: name) }
    }

    /// The schema of the source with the type that is passed on.
    var result: Schema {
        var schema = schema, named = type
        named.name = root.name
        for i in schema.types.indices where schema.types[i].name == root.name { schema.types[i] = named }
        return schema.renaming(root.name, to: type.name)
    }
}
