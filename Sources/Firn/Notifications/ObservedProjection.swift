import FirnBytes
import FirnChange
import FirnDatabase
import FirnQuery
import FirnTable

/// An observed projection. Changes are reported under the projection's property names.
struct ObservedProjection<T: ProjectionObservable>: Observed {
    enum Difference {
        case changed([PropertyChange])
        case deleted
    }
    typealias Wanted = (property: ProjectionSchema.Property, path: String)

    let projection: T
    let access: TypeAccess
    let core: RealmCore
    let wanted: [Wanted]

    /// The projection's object must be managed.
    init(_ projection: T, _ wanted: [Wanted]) {
        self.projection = projection
        access = projection.rootObject._managedAccess
        core = access.core
        self.wanted = wanted
    }

    var rootType: String? { access.name }
    var defaultKeyPaths: [String]? { wanted.map(\.path) }
    var names: PropertyNames { access.names }
    var hasInitial: Bool { false }
    func state() {}

    func difference(from old: Void, to new: Void, _ versions: VersionChanges, _ filter: KeyPathFilter?) throws(Damage) -> Difference? {
        let row = projection.rootObject._rowID
        if try versions.new.table(named: access.name)?.location(of: row) == nil { return .deleted }
        var changed: [ProjectionSchema.Property] = []
        for (property, path) in wanted where !changed.contains(where: { $0.name == property.name }) {
            guard let filter = try? KeyPathFilter(root: access.name, in: versions.new.schema, keyPaths: [path], names: names),
                try versions.modifiedRows(filter, among: .rows([row])).contains(row)
            else { continue }
            changed.append(property)
        }
        guard !changed.isEmpty else { return nil }
        let before = try? RealmCore(core.file, core.configuration, .none, snapshot: versions.old)
        let was = before?.object(row, like: access)
        return .changed(
            changed.map { property in
                PropertyChange(
                    name: property.name, oldValue: was.flatMap { shown(property, $0) }, newValue: shown(property, projection.rootObject))
            })
    }

    /// Returns the value of a property; nil for collections, as for objects.
    private func shown(_ property: ProjectionSchema.Property, _ object: ObjectBase) -> Any? {
        let value = unwrapped(object[keyPath: property.keyPath])
        if value is any _AnyCollection || value is any RealmCollection || value is any AnyProjectedCollection { return nil }
        return value
    }

    var end: Difference? { .deleted }
    func isLast(_ difference: Difference) -> Bool { if case .deleted = difference { true } else { false } }

    func moved(to core: RealmCore) -> ObservedProjection? {
        core.object(projection.rootObject._rowID, like: access).map {
            ObservedProjection(T(projecting: $0._typed(T.Root.self)), wanted)
        }
    }

    func change(_ difference: Difference?) -> ObjectChange<T> {
        switch difference {
        case .changed(let properties)?: .change(projection, properties)
        default: .deleted
        }
    }
}
