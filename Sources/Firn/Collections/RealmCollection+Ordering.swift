import FirnBytes
import FirnDatabase
import FirnQuery
import FirnTable

/// Sorting, and removal of duplicates. A query on results becomes one query: all filters come first, then sort and distinct clauses in the
/// order of the calls.
extension RealmCollection {
    /// Returns the elements sorted by several keys, the first key first; without keys the order does not change. The sort is stable. In
    /// ascending order null comes first, and elements whose key path leads through a missing link come last. Traps if a key path is not
    /// valid.
    public func sorted<S: Sequence>(by sortDescriptors: S) -> Results<Element> where S.Element == SortDescriptor {
        Results(managedSource("sorted").sorted(sortDescriptors.map { ($0.keyPath, $0.ascending) }))
    }

    /// Returns each distinct primitive element once.
    public func distinct() -> Results<Element> where Element: _HasPersistedType {
        trap(unless: !Element._isObject, "objects need key paths to be distinct by: use distinct(by: [\"name\"])")
        return distinct(by: ["self"])
    }

    /// Returns the first element for each combination of values, in the order of the collection. Elements whose key path leads through a
    /// missing link are left out. Traps if a key path is not valid.
    public func distinct<S: Sequence>(by keyPaths: S) -> Results<Element> where S.Element == String {
        Results(managedSource("distinct", instead: "a Set of it").distinct(Array(keyPaths)))
    }
}

extension RealmCollection where Element: SortableType {
    /// Returns primitive elements in their own order.
    public func sorted(ascending: Bool = true) -> Results<Element> { sorted(by: [SortDescriptor(keyPath: "self", ascending: ascending)]) }
}

extension RealmCollection where Element.PersistedType: SortableType {
    /// Returns enums and custom types in the order of their stored values.
    @_disfavoredOverload
    public func sorted(ascending: Bool = true) -> Results<Element> { sorted(by: [SortDescriptor(keyPath: "self", ascending: ascending)]) }
}

extension RealmCollection where Element: KeypathSortable {
    /// Returns the elements sorted by a property, which can be reached through links: `owner.name`.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Returns the elements sorted by a property, which can be reached through links: `\.owner?.name`.
    public func sorted<T: _HasPersistedType>(by keyPath: KeyPath<Element, T>, ascending: Bool = true) -> Results<Element>
    where T.PersistedType: SortableType {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// Returns the first element for each combination of values. See `distinct(by:)` with names.
    public func distinct<S: Sequence>(by keyPaths: S) -> Results<Element> where S.Element == PartialKeyPath<Element> {
        distinct(by: keyPaths.map { KeyPathRecorder.path($0) })
    }
}

extension _CollectionSource {
    func sorted(_ keys: [(path: String, ascending: Bool)]) -> _CollectionSource {
        guard !keys.isEmpty else { return self }
        return ordered("sorted") { () throws(QueryError) in
            var list: [SortKeySyntax] = []
            for key in keys { list.append(SortKeySyntax(try Parser.path(key.path), ascending: key.ascending)) }
            return .sort(list)
        }
    }

    func distinct(_ keyPaths: [String]) -> _CollectionSource {
        guard !keyPaths.isEmpty else { return self }
        return ordered("distinct") { () throws(QueryError) in
            var list: [PathSyntax] = []
            for path in keyPaths { list.append(try Parser.path(path)) }
            return .distinct(list)
        }
    }

    private func ordered(_ action: String, _ descriptor: () throws(QueryError) -> DescriptorSyntax) -> _CollectionSource {
        do {
            let syntax = QuerySyntax(.constant(true), descriptors: [try descriptor()])
            // Binds the query to report its errors now; no row is read.
            _ = try QueryRun(request(syntax, []), table: emptyTable())
            return appending(syntax, [])
        } catch { trap("Cannot use \(action) with this key path: \(error)") }
    }
}

/// Values of maps are optional if their object can have been deleted.
extension Optional: KeypathSortable where Wrapped: KeypathSortable {}
