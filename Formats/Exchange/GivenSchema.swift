import FirnModel

/// A schema that an input is to be read by, where it is known beforehand.
package struct GivenSchema: Sendable {
    /// The type of the rows and the types that its columns lead to.
    package var schema: Schema
    /// The name of the type of the rows.
    package var rows: String

    package init(_ schema: Schema, rows: String) {
        precondition(schema[rows] != nil, "give a schema that holds the type of the rows")
        self.schema = schema
        self.rows = rows
    }

    package var type: TypeSchema { schema[rows]! }
}
