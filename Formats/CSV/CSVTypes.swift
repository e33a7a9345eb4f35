import FirnModel

/// A column's type in the words of an error.
struct ColumnTypeName {
    var kind: ScalarKind

    var words: String {
        switch kind {
        case .bool: "true or false"
        case .int, .link: "a whole number"
        case .float, .double, .decimal: "a number"
        case .date: "a date (such as 2016-09-29 or 2016-09-29T10:11:12Z)"
        case .uuid: "a UUID"
        case .objectID: "an object id"
        default: "a text"
        }
    }
}

extension ColumnType {
    /// Whether cells of text can be read as this type.
    var isReadFromCells: Bool {
        guard collection == .none else { return false }
        switch kind {
        case .bool, .int, .float, .double, .string, .date, .decimal, .objectID, .uuid, .link: return true
        case .data, .any, .embedded: return false
        }
    }
}
