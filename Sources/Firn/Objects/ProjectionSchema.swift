import FirnModel
import Synchronization

/// What the declarations of a projection's class say: which of its properties shows what of the root object. Read once for each class.
final class ProjectionSchema: @unchecked Sendable {
    struct Property {
        /// As the projection calls it.
        let name: String
        /// From the root object.
        let keyPath: AnyKeyPath
        /// The same by names: "address.city".
        let path: String
    }

    let name: String
    /// In the order of declaration, those of super classes first.
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
        var mirror: Mirror? = Mirror(reflecting: projection._projecting(projection._rootClass.init()))
        while let level = mirror {
            found = level.children.compactMap { child in
                guard let projected = child.value as? any AnyProjected, let label = child.label,
                      let path = KeyPathRecorder.recorded(projected.shown, root: projection._rootClass) else { return nil }
                return Property(name: label.first == "_" ? String(label.dropFirst()) : label, keyPath: projected.shown, path: path)
            } + found
            mirror = level.superclassMirror
        }
        properties = found
    }

    subscript(name: some StringProtocol) -> Property? { properties.first { $0.name == name } }

    /// Key paths by the projection's names as those of the root object; what the projection does not have is the root object's own.
    func rooted(_ keyPaths: [String]) -> [String] {
        keyPaths.map { path in
            let name = path.prefix { $0 != "." }
            return self[name].map { $0.path + path.dropFirst(name.count) } ?? path
        }
    }
}

/// `@Projected` of whatever types.
protocol AnyProjected {
    var shown: AnyKeyPath { get }
}

extension Projected: AnyProjected {
    var shown: AnyKeyPath { keyPath }
}

extension RealmCollectionValue {
    /// Key paths from the elements as those from the objects that are stored.
    static func rooted(_ keyPaths: [String]?) -> [String]? {
        guard let keyPaths, let projection = self as? any _ProjectionBase.Type else { return keyPaths }
        return ProjectionSchema.of(projection).rooted(keyPaths)
    }
}
