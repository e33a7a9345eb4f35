import Dispatch
import FirnChange
import FirnDatabase
import FirnTable

extension ProjectionObservable {
    /// Calls `block` after each commit that changed the value of one of the projection's properties, through links too, and once when the
    /// object is deleted. Changes are reported under the projection's property names. See `observe` of objects.
    ///
    /// `keyPaths` are the properties to observe, by the projection's names. If they are nil or empty, all properties that it declares with
    /// `@Projected` are observed.
    public func observe(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void)
        -> NotificationToken
    {
        observing { try tryObserve(keyPaths: keyPaths, on: queue, block) }
    }

    /// Observes the projection, for Swift key paths.
    @_disfavoredOverload
    public func observe(keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void)
        -> NotificationToken
    {
        observing { try observed(wanted(keyPaths)).observe(nil, on: queue) { block($0.change($1)) } }
    }

    /// Observes the projection as `observe` does.
    ///
    /// - Throws: `Realm.Error` where `observe` traps.
    public func tryObserve(keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void)
        throws -> NotificationToken
    {
        try observed(wanted(keyPaths)).observe(nil, on: queue) { block($0.change($1)) }
    }

    /// Observes the projection on an actor. See `RealmCollection.observe`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observingOnActor(actor, nil, { try observed(wanted(keyPaths)) }, { $0.change($1) }, block)
    }

    /// Observes the projection on an actor, for Swift key paths.
    @_disfavoredOverload
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Self>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observingOnActor(actor, nil, { try observed(wanted(keyPaths)) }, { $0.change($1) }, block)
    }

    /// Returns the changes that `observe` reports, as a sequence. The projections in the changes are of frozen objects. The sequence ends
    /// after `.deleted`.
    public func changes(keyPaths: [String]? = nil) -> RealmChanges<ObjectChange<Self>> {
        RealmChanges(nil, { try observed(wanted(keyPaths)) }) { target, difference in target.frozen().change(difference) }
    }

    /// Returns the projection of the frozen object after each change of it.
    func values(_ keyPaths: [String]?) -> RealmChanges<Self> {
        RealmChanges(nil, { try observed(wanted(keyPaths)) }) { target, difference in
            if case .deleted? = difference { nil } else { target.frozen().projection }
        }
    }

    func observed(_ wanted: [ObservedProjection<Self>.Wanted]) throws -> ObservedProjection<Self> {
        guard let core = rootObject._core else {
            throw Realm.Error(.invalidInput, "Only projections of objects which are managed by a Realm support change notifications.")
        }
        if !core.isFrozen { rootObject._settled() }
        return ObservedProjection(self, wanted)
    }

    private func wanted(_ keyPaths: [String]?) throws -> [ObservedProjection<Self>.Wanted] {
        let schema = ProjectionSchema.of(Self.self)
        guard let keyPaths, !keyPaths.isEmpty else { return observable(schema) }
        return try keyPaths.map { path in
            let name = path.prefix { $0 != "." }
            guard let property = schema[name] else {
                throw Realm.Error(.invalidInput, "Property \"\(name)\" in KeyPath \"\(path)\" is not a valid property in \(schema.name).")
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
            guard !found.isEmpty else {
                throw Realm.Error(.invalidInput, "KeyPath \"\(path)\" does not lead through a @Projected property of \(schema.name).")
            }
            return found.map { ($0, path) }
        }
    }

    /// Returns all properties except those that are computed from the object: no column of the file shows when they change.
    private func observable(_ schema: ProjectionSchema) -> [ObservedProjection<Self>.Wanted] {
        guard let access = rootObject._access, let core = rootObject._core else { return [] }
        return schema.properties.filter { (try? KeyPathFilter(root: access.name, in: core.schema, keyPaths: [$0.path])) != nil }.map {
            ($0, $0.path)
        }
    }
}
