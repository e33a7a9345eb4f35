import FirnBytes
import FirnTable

/// A schema that is known before an input is read, and by which it is read.
package struct GivenSchema: Sendable {
    /// The type of the rows and the types that its columns refer to.
    package var schema: Schema
    /// The name of the type of the rows.
    package var rows: String

    package init(_ schema: Schema, rows: String) {
        trap(unless: schema[rows] != nil, "give a schema that contains the type of the rows")
        self.schema = schema
        self.rows = rows
    }

    package var type: TypeSchema { schema[rows]! }
}
