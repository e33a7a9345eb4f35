/// A key path and a direction.
public struct SortDescriptor: Hashable, Sendable, ExpressibleByStringLiteral {
    public let keyPath: String
    public let ascending: Bool

    public init(keyPath: String, ascending: Bool = true) {
        self.keyPath = keyPath
        self.ascending = ascending
    }

    public init<Root: ObjectBase>(keyPath: PartialKeyPath<Root>, ascending: Bool = true) {
        self.init(keyPath: KeyPathRecorder.path(keyPath), ascending: ascending)
    }

    /// By what a property of a projection shows.
    public init<Root: ProjectionObservable>(keyPath: PartialKeyPath<Root>, ascending: Bool = true) {
        self.init(keyPath: KeyPathRecorder.path(keyPath), ascending: ascending)
    }

    public init(stringLiteral value: String) { self.init(keyPath: value) }

    public func reversed() -> SortDescriptor { SortDescriptor(keyPath: keyPath, ascending: !ascending) }
}
