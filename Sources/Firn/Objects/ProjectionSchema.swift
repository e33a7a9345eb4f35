import FirnDatabase
import FirnTable
import Synchronization

/// The properties that a projection class declares, with their key paths from the root object. Read once for each class.
final class ProjectionSchema: @unchecked Sendable {
    struct Property {
        /// The name in the projection.
        let name: String
        /// The key path from the root object.
        let keyPath: AnyKeyPath
        /// The key path as names: "address.city".
        let path: String
    }

    let name: String
    /// The properties in the order of declaration, those of superclasses first.
    let properties: [Property]

    private static let known: Mutex<[ObjectIdentifier: ProjectionSchema]> = Mutex([:])

    static func of(_ projection: any _ProjectionBase.Type) -> ProjectionSchema {
        let id = ObjectIdentifier(projection)
        if let schema = known.withLock({ $0[id] }) { return schema }
        let schema = ProjectionSchema(projection)
        return known.withLock { known in
            if let first = known[id] { return first }
            known[id] = schema
            return schema
        }
    }

    private init(_ projection: any _ProjectionBase.Type) {
        name = "\(projection)"
        var found: [Property] = []
        var mirror: Mirror? = Mirror(reflecting: projection._projecting(projection._rootClass._make()))
        while let level = mirror {
            found =
                level.children.compactMap { child in
                    guard let projected = child.value as? any AnyProjected, let label = child.label,
                        let path = KeyPathRecorder.recorded(projected.shown, root: projection._rootClass)
                    else { return nil }
                    return Property(name: label.first == "_" ? String(label.dropFirst()) : label, keyPath: projected.shown, path: path)
                } + found
            mirror = level.superclassMirror
        }
        properties = found
    }

    subscript(name: some StringProtocol) -> Property? { properties.first { $0.name == name } }

    /// Converts key paths with the projection's names to those of the root object. Other names are those of the root object already.
    func rooted(_ keyPaths: [String]) -> [String] {
        keyPaths.map { path in
            let name = path.prefix { $0 != "." }
            return self[name].map { $0.path + path.dropFirst(name.count) } ?? path
        }
    }
}

/// `@Projected` of any types.
protocol AnyProjected {
    var shown: AnyKeyPath { get }
}

extension Projected: AnyProjected {
    var shown: AnyKeyPath { keyPath }
}

extension RealmCollectionValue {
    /// Converts key paths of the elements to those of the stored objects.
    static func rooted(_ keyPaths: [String]?) -> [String]? {
        guard let keyPaths, let projection = self as? any _ProjectionBase.Type else { return keyPaths }
        return ProjectionSchema.of(projection).rooted(keyPaths)
    }
}
