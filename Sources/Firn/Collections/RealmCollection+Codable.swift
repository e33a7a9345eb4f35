extension RealmCollection where Element: Encodable {
    /// Encodes the elements as an array.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}

extension Results: Encodable where Element: Encodable {}
extension LinkingObjects: Encodable where Element: Encodable {}
extension AnyRealmCollection: Encodable where Element: Encodable {}
extension List: Encodable where Element: Encodable {}
extension MutableSet: Encodable where Element: Encodable {}
extension ResultsSection: Encodable where T: Encodable {}

/// Encodes an array of sections, each an array of its elements. The keys of the sections are not encoded.
extension SectionedResults: Encodable where SectionElement: Encodable {
    /// Encodes an array of sections, each an array of its elements.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for section in self { try container.encode(section) }
    }
}

private func decoded<Element: Decodable>(from decoder: any Decoder) throws -> [Element] {
    var container = try decoder.unkeyedContainer(), found: [Element] = []
    while !container.isAtEnd { found.append(try container.decode(Decoded<Element>.self).value) }
    return found
}

extension List: Decodable where Element: Decodable {
    /// Decodes an array into an unmanaged list.
    public convenience init(from decoder: any Decoder) throws { self.init(objectsIn: try decoded(from: decoder) as [Element]) }
}

extension MutableSet: Decodable where Element: Decodable {
    /// Decodes an array into an unmanaged set.
    public convenience init(from decoder: any Decoder) throws { self.init(objectsIn: try decoded(from: decoder) as [Element]) }
}

extension Map: Encodable where Value: Encodable {
    /// Encodes the entries as a dictionary.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: MapKey.self)
        for entry in self { try container.encode(entry.value, forKey: MapKey(entry.key._name)) }
    }
}

extension Map: Decodable where Value: Decodable {
    /// Decodes a dictionary into an unmanaged map.
    ///
    /// - Throws: `DecodingError` if a key begins with `$` or contains a point.
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: MapKey.self)
        for key in container.allKeys {
            if let wrong = Map.fault(inKey: key.stringValue) {
                throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: wrong)
            }
            updateValue(try container.decode(Decoded<Value>.self, forKey: key).value, forKey: Key(_name: key.stringValue))
        }
    }
}

/// An element that is decoded as `SingleValueDecodingContainer.value(_:)` decodes it.
private struct Decoded<Element: Decodable>: Decodable {
    let value: Element
    init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().value(Element.self) }
}

private struct MapKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}
