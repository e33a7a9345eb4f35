import FirnModel
import FirnQuery

/// What can be compared for sorting, and what is left of equal elements. Results of results are one query: filters come first, then what orders and
/// thins out, in the order that it was asked for.
extension RealmCollection {
    /// By several keys, the first before the second and so on; without keys the order stays. Sorting is stable: elements with equal keys keep
    /// their order. Ascending, nil comes first, and elements whose key lies behind a missing link come last.
    public func sorted<S: Sequence>(by sortDescriptors: S) -> Results<Element> where S.Element == SortDescriptor {
        Results(managedSource("sorted").sorted(sortDescriptors.map { ($0.keyPath, $0.ascending) }))
    }

    /// Primitive elements, each once, the first of each.
    public func distinct() -> Results<Element> where Element: _HasPersistedType {
        precondition(!Element._isObject, "objects are distinct by what their properties hold: distinct(by: [\"name\"])")
        return distinct(by: ["self"])
    }

    /// The first element of each combination of values, in the order of the collection. Elements whose value lies behind a missing link are left out.
    public func distinct<S: Sequence>(by keyPaths: S) -> Results<Element> where S.Element == String {
        Results(managedSource("distinct", instead: "a Set of it").distinct(Array(keyPaths)))
    }
}

extension RealmCollection where Element: SortableType {
    /// Primitive elements in their own order.
    public func sorted(ascending: Bool = true) -> Results<Element> { sorted(by: [SortDescriptor(keyPath: "self", ascending: ascending)]) }
}

extension RealmCollection where Element: KeypathSortable {
    /// By a property, or by one that links lead to: `owner.name`.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }
}

extension RealmCollection where Element: ObjectBase {
    /// By a property, or by one that links lead to: `\.owner?.name`.
    public func sorted<T: _HasPersistedType>(by keyPath: KeyPath<Element, T>, ascending: Bool = true) -> Results<Element> where T.PersistedType: SortableType {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// As `distinct(by:)` with names.
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
        do throws(QueryError) {
            let syntax = QuerySyntax(.constant(true), descriptors: [try descriptor()])
            // Bound once for its errors; no row is read.
            _ = try QueryRun(request(syntax, []), table: emptyTable())
            return appending(syntax, [])
        } catch { preconditionFailure("Cannot use \(action) with this key path: \(error)") }
    }
}

/// Values of maps that may have lost their object.
extension Optional: KeypathSortable where Wrapped: KeypathSortable {}
