import FirnBytes
import FirnTable

/// A column of rows, or a field of the objects in one.
struct FieldPath {
    /// The position of the column, then those of the fields in the objects.
    var path: [Int]
    /// The name of the column that it becomes.
    var name: String
    /// The column or the field.
    var described: ColumnSchema

    /// Returns the schema of the column that it becomes, whose type is `type`.
    func schema(_ type: ColumnType) -> ColumnSchema {
        var column = ColumnSchema(name, type, notation: described.notation)
        if !described.otherAttributes.isEmpty { column.otherAttributes = described.otherAttributes }
        return column
    }

    /// Returns the values of the field in a batch.
    func column(of batch: Batch) throws(FirnError) -> Column {
        do throws(Damage) { return try batch.columns[path[0]].field(path.dropFirst()) } catch { throw FirnError(error, in: name) }
    }

    /// Finds a path such as `birth.place`: a column of that name, or a field of the objects in a column. Returns nil if there is none.
    static func find(_ name: String, in type: TypeSchema, _ schema: Schema) -> FieldPath? {
        guard let path = find(name[...], in: type, schema, depth: 0) else { return nil }
        return FieldPath(path: path.path, name: name, described: path.described)
    }

    private static func find(_ name: Substring, in type: TypeSchema, _ schema: Schema, depth: Int) -> (
        path: [Int], described: ColumnSchema
    )? {
        if let position = type.index(of: String(name)) { return ([position], type.columns[position]) }
        guard depth < Column.maximumNesting else { return nil }
        for (position, column) in type.columns.enumerated() where column.type.kind == .embedded && name.hasPrefix(column.name + ".") {
            guard let target = column.type.target.flatMap({ schema[$0] }),
                let rest = find(name.dropFirst(column.name.count + 1), in: target, schema, depth: depth + 1)
            else { continue }
            return ([position] + rest.path, rest.described)
        }
        return nil
    }

    /// Returns a path for each field that is not an object, with names such as `birth.place`. A dot within a name is written after a
    /// backslash. Collections stay whole.
    static func leaves(of type: TypeSchema, in schema: Schema) -> [FieldPath] {
        var leaves: [FieldPath] = []
        func add(_ type: TypeSchema, _ path: [Int], _ names: [String]) {
            for (position, column) in type.columns.enumerated() {
                let names = names + [column.name.replacing("\\", with: "\\\\").replacing(".", with: "\\.")]
                if column.type.kind == .embedded, !column.type.isCollection, path.count < Column.maximumNesting,
                    let target = column.type.target.flatMap({ schema[$0] }), !target.columns.isEmpty
                {
                    add(target, path + [position], names)
                } else {
                    leaves.append(FieldPath(path: path + [position], name: names.joined(separator: "."), described: column))
                }
            }
        }
        add(type, [], [])
        return leaves
    }

    /// Splits a name at its dots: the reverse of the names that `leaves` makes.
    static func parts(of name: String) -> [String] {
        var parts = [""], isEscaped = false
        for character in name.unicodeScalars {
            if !isEscaped, character == "\\" {
                isEscaped = true
                continue
            }
            if !isEscaped, character == "." {
                parts.append("")
            } else {
                parts[parts.count - 1].unicodeScalars.append(character)
            }
            isEscaped = false
        }
        // Names that begin or end with a dot, or have two in a row, are names and not paths.
        return parts.contains("") ? [name] : parts
    }
}
