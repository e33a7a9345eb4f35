import FirnTable

/// The name of a column's type, for errors.
package struct ColumnTypeName {
    package var kind: ScalarKind

    package init(kind: ScalarKind) { self.kind = kind }

    package var words: String {
        switch kind {
        case .bool: "true or false"
        case .int: "a whole number"
        case .link: "the number of a row (from 0)"
        case .float, .double, .decimal: "a number"
        case .date: "a date (such as 2016-09-29 or 2016-09-29T10:11:12Z)"
        case .uuid: "a UUID"
        case .objectID: "an object id"
        default: "a text"
        }
    }
}

extension ColumnType {
    /// The name of the type in remarks. The types of objects have names that the user did not choose.
    package var shownName: String {
        guard kind == .embedded else { return name }
        var shown = self
        shown.target = "object"
        return shown.name
    }
}
