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

    /// Returns the values of a key path, one for each element, through links: `owner.name`. A path that begins with `@count`, `@sum.age`,
    /// `@min.age`,
    /// `@max.age` or `@avg.age` returns one aggregate over all elements.
    public func value(forKeyPath path: String) -> Any? {
        guard path.hasPrefix("@") else { return gathered { $0.value(forKeyPath: path) } }
        let name = path.dropFirst().prefix { $0 != "." }, rest = path.dropFirst(name.count + 2)
        if name == "count" {
            precondition(rest.isEmpty, "@count must be the end of the key path: \"\(path)\"")
            return count
        }
        let functions: [Substring: Aggregate.Function] = ["sum": .sum, "min": .min, "max": .max, "avg": .avg]
        guard let function = functions[name] else {
            preconditionFailure("unknown operator \"@\(name)\": collections have @count, @sum, @min, @max and @avg")
        }
        precondition(!rest.isEmpty, "@\(name) needs a property, or \"self\" for primitive elements: @\(name).age")
        return swiftValue(of: figure(function, String(rest)))
    }

    private func gathered(_ content: (ObjectBase) -> Any?) -> Any? {
        let values: [Any?] = Array(self).map { element in
            if let object = element._object { return content(object) }
            return element._untypedElement
        }
        guard self is MutableSet<Element> || Element.self == DynamicElement.self && source.holdsSet else { return values }
        return Set(values.map { unwrapped($0) as? AnyHashable })
    }

    /// Sets a property of every element. Traps if the elements are not objects.
    public func setValue(_ value: Any?, forKey key: String) {
        if let core = source.core { core.requireTransaction("set the \"\(key)\" of \(Element.self) objects") }
        // Copied first, because setting a property can remove elements from the collection.
        for element in Array(self) {
            guard let object = element._object else {
                preconditionFailure("only objects have properties to set: the elements are of type \(Element.self)")
            }
            object[key] = value
        }
    }
}

extension List where Element: ObjectBase {
    /// A property of the elements, within key paths only: `\Person.dogs.name` is "dogs.name".
    public subscript<T>(dynamicMember keyPath: KeyPath<Element, T>) -> T { recorded(keyPath, by: recorder) }
}

extension MutableSet where Element: ObjectBase {
    /// A property of the elements, within key paths only: `\Dog.friends.name` is "friends.name".
    public subscript<T>(dynamicMember keyPath: KeyPath<Element, T>) -> T { recorded(keyPath, by: recorder) }
}

extension LinkingObjects {
    /// A property of the elements, within key paths only: `\Dog.owners.name` is "owners.name".
    public subscript<T>(dynamicMember keyPath: KeyPath<Element, T>) -> T { recorded(keyPath, by: recorder) }
}

private func recorded<Element: ObjectBase, T>(_ keyPath: KeyPath<Element, T>, by recorder: KeyPathRecorder?) -> T {
    guard let recorder else {
        preconditionFailure(
            "a collection's elements have properties in key paths only (\\Person.dogs.name): use map { $0.name } or value(forKey:) to read their values"
        )
    }
    return unsafeDowncast(recorder.object(Element.self), to: Element.self)[keyPath: keyPath]
}
