import FirnTable

/// The type of one value of a property.
public enum PropertyType: Int, Sendable, CaseIterable {
    case int = 0, bool, string, data, date, float, double
    /// A link to an object, or an embedded object.
    case object
    /// The inverse of a link: computed, never stored.
    case linkingObjects
    /// A value of any type, `AnyRealmValue`.
    case any
    case objectId, decimal128, UUID

    init(_ kind: ScalarKind) {
        self =
            switch kind {
            case .bool: .bool
            case .int: .int
            case .float: .float
            case .double: .double
            case .string: .string
            case .data: .data
            case .date: .date
            case .decimal: .decimal128
            case .objectID: .objectId
            case .uuid: .UUID
            case .any: .any
            case .link, .embedded: .object
            }
    }

    func scalarKind(isEmbedded: Bool) -> ScalarKind {
        switch self {
        case .bool: .bool
        case .int: .int
        case .float: .float
        case .double: .double
        case .string: .string
        case .data: .data
        case .date: .date
        case .decimal128: .decimal
        case .objectId: .objectID
        case .UUID: .uuid
        case .any: .any
        case .object, .linkingObjects: isEmbedded ? .embedded : .link
        }
    }
}
