import FirnTable

/// Names that paths can use like those of columns. The name of a column has precedence over the same name here.
package struct PropertyNames: Sendable, Hashable {
    /// Properties that are the backlinks of a row.
    package var inverses: [QueryRequest.Inverse]
    /// The columns that have another name in code: for each type, the names of the columns by those in code.
    package var columns: [String: [String: String]]

    package init(inverses: [QueryRequest.Inverse] = [], columns: [String: [String: String]] = [:]) {
        self.inverses = inverses
        self.columns = columns
    }

    /// Returns the column of a type that a path means by a name; nil if there is none.
    package func column(_ name: String, in type: TypeSchema) -> Int? {
        type.index(of: name) ?? columns[type.name]?[name].flatMap { type.index(of: $0) }
    }
}
