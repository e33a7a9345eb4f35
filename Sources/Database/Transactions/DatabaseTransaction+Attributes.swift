import FirnBytes
import FirnTable

/// Changing the attributes of a schema: logical types and metadata of applications.
extension DatabaseTransaction {
    /// Gives the file, and the types and columns that have the same names in `wanted`, the attributes that they have there. Rows stay as
    /// they are.
    /// - Throws: `.schema` if there are too many attributes, or too long ones.
    package func setAttributes(like wanted: Schema) throws(FirnError) {
        checkOpen()
        var whole = schema
        whole.takeAttributes(of: wanted)
        do throws(Damage) { try whole.validate() } catch { throw FirnError(.schema, error.what, at: .init(file: database.path)) }
        try adoptAttributes(whole)
    }

    /// Replaces the schema by one that differs only in its attributes.
    func adoptAttributes(_ whole: Schema) throws(FirnError) {
        guard whole != schema else { return }
        for type in tables.keys.sorted() { try writeEdits(type) }
        try finishBulk()
        schema = whole
        schemaIsNew = true
        forgetReadable()
        for table in tables.values { table.begin() }
    }
}

extension Schema {
    /// Whether the file, and the types and columns that both schemas have, have the same attributes.
    package func hasAttributes(of other: Schema) -> Bool {
        var same = self
        same.takeAttributes(of: other)
        return same == self
    }

    /// Takes over the attributes of the file, and those of types and columns with the same names.
    mutating func takeAttributes(of other: Schema) {
        otherAttributes = other.otherAttributes
        for i in types.indices {
            if let twin = other[types[i].name] { types[i].takeAttributes(of: twin) }
        }
    }
}

extension TypeSchema {
    /// Takes over the attributes of the type, and those of columns with the same names.
    mutating func takeAttributes(of other: TypeSchema) {
        otherAttributes = other.otherAttributes
        // The positions are looked up first, because each change of a column discards the index of names.
        let twins = columns.map { other.index(of: $0.name) }
        for (i, twin) in twins.enumerated() {
            guard let twin, columns[i].otherAttributes != other.columns[twin].otherAttributes else { continue }
            columns[i].otherAttributes = other.columns[twin].otherAttributes
        }
    }
}
