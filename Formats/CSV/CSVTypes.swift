import FirnTable

extension ScalarKind {
    var isNumber: Bool { self == .int || self == .double || self == .float || self == .decimal }
}

extension ColumnType {
    /// Whether text cells can be read as this type.
    var isReadFromCells: Bool {
        guard collection == .none else { return false }
        switch kind {
        case .bool, .int, .float, .double, .string, .date, .decimal, .objectID, .uuid, .link: return true
        case .data, .any, .embedded: return false
        }
    }
}
