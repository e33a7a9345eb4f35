import Foundation

/// How many elements of a collection `description` shows.
private let shownCount = 100

extension RealmCollection {
    /// The elements, at most 100 of them.
    public var description: String { _text(within: false) }

    public func _text(within isWithin: Bool) -> String {
        let name = "\(Swift.type(of: self))".prefix { $0 != "<" } + "<\(Element.self)>"
        if isInvalidated { return "\(name) (invalidated)" }
        return shown(name, count, isWithin && Element._elementShape.target != nil) { "[\($0)] \(shown(self[$0]))" }
    }
}

extension Map: CustomStringConvertible {
    /// The entries, at most 100 of them.
    public var description: String { _text(within: false) }

    func _text(within isWithin: Bool) -> String {
        let name = "Map<\(Key.self), \(Value.self)>"
        if isInvalidated { return "\(name) (invalidated)" }
        let keys = keys
        return shown(name[...], keys.count, isWithin && Value._elementShape.target != nil) { "[\(keys[$0]._name)]: \(self[keys[$0]].map(shown) ?? "(null)")" }
    }
}

private func shown<Element: RealmCollectionValue>(_ element: Element) -> String { element._untypedElement.map { "\($0)" } ?? "(null)" }

/// Objects within objects' collections are counted: each would show as many again.
private func shown(_ name: some StringProtocol, _ count: Int, _ isCounted: Bool, _ line: (Int) -> String) -> String {
    if isCounted { return "\(name) <\(count) objects>" }
    var lines = (0..<min(count, shownCount)).map { "\t" + line($0).replacingOccurrences(of: "\n", with: "\n\t") }
    if count > shownCount { lines.append("\t... \(count - shownCount) objects skipped.") }
    return "\(name) (\n" + lines.joined(separator: ",\n") + "\n)"
}
