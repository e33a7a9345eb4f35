import Foundation

/// The maximum number of elements in a `description`.
private let shownCount = 100

extension RealmCollection {
    /// A text with at most 100 elements.
    public var description: String { _text(within: false) }

    /// Returns a text with at most 100 elements. If `isWithin` is true, a collection of objects shows only their number. Used by the
    /// members of collections; not for direct use.
    public func _text(within isWithin: Bool) -> String {
        let name = "\(Swift.type(of: self))".prefix { $0 != "<" } + "<\(Element.self)>"
        if isInvalidated { return "\(name) (invalidated)" }
        return shown(name, count, isWithin && Element._elementShape.target != nil) { "[\($0)] \(shown(self[$0], isWithin))" }
    }
}

extension Map: CustomStringConvertible {
    /// A text with at most 100 entries.
    public var description: String { _text(within: false) }

    func _text(within isWithin: Bool) -> String {
        let name = "Map<\(Key.self), \(Value.self)>"
        if isInvalidated { return "\(name) (invalidated)" }
        let keys = keys
        return shown(name[...], keys.count, isWithin && Value._elementShape.target != nil) {
            "[\(keys[$0]._name)]: \(self[keys[$0]].map { shown($0, isWithin) } ?? "(null)")"
        }
    }
}

private func shown<Element: RealmCollectionValue>(_ element: Element, _ isWithin: Bool) -> String {
    switch element._firnUntyped {
    case nil: "(null)"
    case let object as ObjectBase where isWithin: "\(object._typeName) <object>"
    case let value as AnyRealmValue where isWithin: value.textWithin
    case let some?: "\(some)"
    }
}

extension AnyRealmValue {
    /// The description within the description of an object: values of any type can lead back to it.
    var textWithin: String {
        switch self {
        case .object(let object): "\(object._typeName) <object>"
        case .list(let list): list._text(within: true)
        case .dictionary(let dictionary): dictionary._text(within: true)
        default: description
        }
    }
}

/// Returns the description of a collection. Within an object's description, collections of objects show only their count, because their
/// objects would show further collections.
private func shown(_ name: some StringProtocol, _ count: Int, _ isCounted: Bool, _ line: (Int) -> String) -> String {
    if isCounted { return "\(name) <\(count) objects>" }
    var lines = (0..<min(count, shownCount)).map { "\t" + line($0).replacingOccurrences(of: "\n", with: "\n\t") }
    if count > shownCount { lines.append("\t... \(count - shownCount) objects skipped.") }
    return "\(name) (\n" + lines.joined(separator: ",\n") + "\n)"
}
