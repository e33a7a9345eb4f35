import FirnBytes
import FirnDatabase
import FirnQuery
import FirnTable
import Foundation

/// Access by property name.
extension RealmCollection {
    /// Returns the values of a key, one for each element, as an array in the collection's order (of a `MutableSet`: as a
    /// `Set<AnyHashable?>`). Objects return the property; primitive elements return themselves under "self". For "@count" and other
    /// operators see `value(forKeyPath:)`.
    public func value(forKey key: String) -> Any? {
        if key.hasPrefix("@") { return value(forKeyPath: key) }
        return gathered { $0[key] }
    }

    /// Returns the values of a key path, one for each element, through links: `owner.name`. A path that begins with an operator returns one
    /// value for all elements: `@count`, `@sum.age`, `@min.age`, `@max.age` or `@avg.age`; `@unionOfObjects.name`, an array of the values that
    /// are not nil, and `@distinctUnionOfObjects.name`, each of them once; and for a property that is a collection, `@unionOfArrays.toys` and
    /// `@distinctUnionOfArrays.toys`, an array of the elements of all of them.
    public func value(forKeyPath path: String) -> Any? {
        guard path.hasPrefix("@") else { return gathered { $0.value(forKeyPath: path) } }
        if let union = CollectionUnion(path) { return union.values(of: values(forKeyPath: union.path)) }
        let name = path.dropFirst().prefix { $0 != "." }, rest = path.dropFirst(name.count + 2)
        if name == "count" {
            trap(unless: rest.isEmpty, "@count must be the end of the key path: \"\(path)\"")
            return count
        }
        let functions: [Substring: Aggregate.Function] = ["sum": .sum, "min": .min, "max": .max, "avg": .avg]
        guard let function = functions[name] else {
            trap(
                "unknown operator \"@\(name)\": collections have @count, @sum, @min, @max, @avg, @unionOfObjects, @distinctUnionOfObjects, @unionOfArrays and @distinctUnionOfArrays"
            )
        }
        trap(unless: !rest.isEmpty, "@\(name) needs a property, or \"self\" for primitive elements: @\(name).age")
        return swiftValue(of: figure(function, String(rest)))
    }

    /// Returns the values of a key path in the order of the elements.
    func values(forKeyPath path: String) -> [Any?] { values { $0.value(forKeyPath: path) } }

    private func values(_ content: (ObjectBase) -> Any?) -> [Any?] {
        Array(self).map { element in
            if let object = element._firnObject { return content(object) }
            return element._firnUntyped
        }
    }

    private func gathered(_ content: (ObjectBase) -> Any?) -> Any? {
        let values = values(content)
        guard self is MutableSet<Element> || Element.self == DynamicElement.self && source.holdsSet else { return values }
        return Set(values.map { unwrapped($0) as? AnyHashable })
    }

    /// Sets a property of every element. Traps if the elements are not objects.
    public func setValue(_ value: Any?, forKey key: String) {
        if let core = source.core { core.requireTransaction("set the \"\(key)\" of \(Element.self) objects") }
        // Copied first, because setting a property can remove elements from the collection.
        for element in Array(self) {
            guard let object = element._firnObject else {
                trap("only objects have properties to set: the elements are of type \(Element.self)")
            }
            object[key] = value
        }
    }
}

/// An operator of key paths that collects the values of all elements.
struct CollectionUnion {
    /// The key path of the values.
    let path: String
    private let isDistinct: Bool
    /// Whether the values are collections, whose elements are collected.
    private let isNested: Bool

    /// Returns nil if the path does not begin with such an operator.
    init?(_ path: String) {
        let name = path.dropFirst().prefix { $0 != "." }
        switch name {
        case "unionOfObjects": (isDistinct, isNested) = (false, false)
        case "distinctUnionOfObjects": (isDistinct, isNested) = (true, false)
        case "unionOfArrays", "unionOfSets": (isDistinct, isNested) = (false, true)
        case "distinctUnionOfArrays", "distinctUnionOfSets": (isDistinct, isNested) = (true, true)
        default: return nil
        }
        self.path = String(path.dropFirst(name.count + 2))
        trap(unless: !self.path.isEmpty, "@\(name) needs a property, or \"self\" for primitive elements: @\(name).name")
    }

    /// Returns the values that are not nil, in the order of the elements.
    func values(of contents: [Any?]) -> [Any] {
        var found = contents.compactMap(unwrapped)
        if isNested { found = found.flatMap { CollectionUnion.elements(of: $0, path) } }
        guard isDistinct else { return found }
        var seen: Set<AnyHashable> = []
        return found.filter { one in
            guard let key = one as? AnyHashable else {
                trap("the values of \"\(path)\" cannot be compared with each other: use the operator that is not distinct")
            }
            return seen.insert(key).inserted
        }
    }

    private static func elements(of value: Any, _ path: String) -> [Any] {
        let elements: [Any?]
        switch value {
        case let collection as any _AnyCollection: elements = collection._untypedElements
        case let collection as any RealmCollection: elements = untyped(collection)
        case let array as [Any?]: elements = array
        case let set as Set<AnyHashable?>: elements = set.map { $0?.base }
        default: trap("the values of \"\(path)\" are not collections: use @unionOfObjects or @distinctUnionOfObjects")
        }
        return elements.compactMap(unwrapped)
    }

    private static func untyped(_ collection: some RealmCollection) -> [Any?] { collection.map(\._firnUntyped) }
}

extension List where Element: ObjectBase {
    /// A property of the elements, within key paths only: `\Person.dogs.name` is "dogs.name".
    public subscript<T>(dynamicMember keyPath: KeyPath<Element, T>) -> T { recorded(keyPath, of: self) }
}

extension MutableSet where Element: ObjectBase {
    /// A property of the elements, within key paths only: `\Dog.friends.name` is "friends.name".
    public subscript<T>(dynamicMember keyPath: KeyPath<Element, T>) -> T { recorded(keyPath, of: self) }
}

extension LinkingObjects {
    /// A property of the elements, within key paths only: `\Dog.owners.name` is "owners.name".
    public subscript<T>(dynamicMember keyPath: KeyPath<Element, T>) -> T { recorded(keyPath, of: self) }
}

private func recorded<Element: ObjectBase, T>(_ keyPath: KeyPath<Element, T>, of collection: some RecordedCollection) -> T {
    guard let recorder = collection.recorder else {
        trap(
            "a collection's elements have properties in key paths only (\\Person.dogs.name): use map { $0.name } or value(forKey:) to read their values"
        )
    }
    recorder.touch(collection.recordedInstance)
    return recorder.object(Element.self)._typed(Element.self)[keyPath: keyPath]
}
