import Dispatch
import FirnChange
import FirnModel

extension ProjectionObservable {
    /// As `observe` of objects, with the projection's properties under its own names: `block` is called after every commit that changed what one of them
    /// shows, through links too, and once the object is deleted.
    ///
    /// - Parameter keyPaths: the properties that count, by the projection's names; nil or empty: all that it declares with `@Projected`.
    public func observe(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void) -> NotificationToken {
        observing { try tryObserve(keyPaths: keyPaths, on: queue, block) }
    }

    @_disfavoredOverload
    public func observe(keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void) -> NotificationToken {
        observing { try observed(wanted(keyPaths)).observe(nil, on: queue) { block($0.change($1)) } }
    }

    /// As `observe`, but throws `Realm.Error` where that traps.
    public func tryObserve(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void) throws -> NotificationToken {
        try observed(wanted(keyPaths)).observe(nil, on: queue) { block($0.change($1)) }
    }

    /// As `observe`, on an actor.
    public func observe<A: Actor>(keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
                                  _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void) async -> NotificationToken {
        await observingOnActor(actor, nil, { try observed(wanted(keyPaths)) }, { $0.change($1) }, block)
    }

    @_disfavoredOverload
    public func observe<A: Actor>(keyPaths: [PartialKeyPath<Self>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
                                  _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void) async -> NotificationToken {
        await observingOnActor(actor, nil, { try observed(wanted(keyPaths)) }, { $0.change($1) }, block)
    }

    /// As `observe`, as a sequence: the projections in the changes are of frozen objects. It ends after `.deleted`.
    public func changes(keyPaths: [String]? = nil) -> RealmChanges<ObjectChange<Self>> {
        RealmChanges(nil, { try observed(wanted(keyPaths)) }) { target, difference in target.frozen().change(difference) }
    }

    func observed(_ wanted: [ObservedProjection<Self>.Wanted]) throws -> ObservedProjection<Self> {
        guard let core = rootObject._core else { throw Realm.Error(.invalidInput, "Only projections of objects which are managed by a Realm support change notifications.") }
        if !core.isFrozen { rootObject._settled() }
        return ObservedProjection(self, wanted)
    }

    private func wanted(_ keyPaths: [String]?) throws -> [ObservedProjection<Self>.Wanted] {
        let schema = ProjectionSchema.of(Self.self)
        guard let keyPaths, !keyPaths.isEmpty else { return observable(schema) }
        return try keyPaths.map { path in
            let name = path.prefix { $0 != "." }
            guard let property = schema[name] else {
                throw Realm.Error(.invalidInput, "Property '\(name)' in KeyPath '\(path)' is not a valid property in \(schema.name).")
            }
            return (property, property.path + path.dropFirst(name.count))
        }
    }

    private func wanted(_ keyPaths: [PartialKeyPath<Self>]) throws -> [ObservedProjection<Self>.Wanted] {
        let schema = ProjectionSchema.of(Self.self)
        if keyPaths.isEmpty { return observable(schema) }
        return try keyPaths.flatMap { keyPath in
            let path = KeyPathRecorder.path(keyPath)
            let found = schema.properties.filter { path == $0.path || path.hasPrefix($0.path + ".") }
            guard !found.isEmpty else { throw Realm.Error(.invalidInput, "KeyPath '\(path)' leads through no @Projected property of \(schema.name).") }
            return found.map { ($0, path) }
        }
    }

    /// All but what is calculated from the object: no column of the file says when that changes.
    private func observable(_ schema: ProjectionSchema) -> [ObservedProjection<Self>.Wanted] {
        guard let access = rootObject._access, let core = rootObject._core else { return [] }
        return schema.properties.filter { (try? KeyPathFilter(root: access.name, in: core.schema, keyPaths: [$0.path])) != nil }.map { ($0, $0.path) }
    }
}
