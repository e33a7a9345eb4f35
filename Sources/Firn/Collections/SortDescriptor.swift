/// A key path to sort by, and a direction.
public struct SortDescriptor: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The key path: names of properties separated by points.
    public let keyPath: String
    /// Whether to sort in ascending order.
    public let ascending: Bool

    /// Sorts by a key path.
    public init(keyPath: String, ascending: Bool = true) {
        self.keyPath = keyPath
        self.ascending = ascending
    }

    /// Sorts by a Swift key path.
    public init<Root: ObjectBase>(keyPath: PartialKeyPath<Root>, ascending: Bool = true) {
        self.init(keyPath: KeyPathRecorder.path(keyPath), ascending: ascending)
    }

    /// Sorts by a property of a projection.
    public init<Root: ProjectionObservable>(keyPath: PartialKeyPath<Root>, ascending: Bool = true) {
        self.init(keyPath: KeyPathRecorder.path(keyPath), ascending: ascending)
    }

    /// Sorts by a key path in ascending order.
    public init(stringLiteral value: String) { self.init(keyPath: value) }

    /// Returns the descriptor with the opposite direction.
    public func reversed() -> SortDescriptor { SortDescriptor(keyPath: keyPath, ascending: !ascending) }
}

extension SortDescriptor: CustomStringConvertible {
    /// The key path and the direction.
    public var description: String { "SortDescriptor(keyPath: \(keyPath), direction: \(ascending ? "ascending" : "descending"))" }
}
