// Lets the compiler synthesize `Codable` for object classes. Values go through containers, because coders treat dates and data specially
// there.

extension Persisted: Decodable where Value: Decodable {
    /// Decodes the property of an unmanaged object.
    public init(from decoder: any Decoder) throws {
        self.init(options: PersistedOptions(rawValue: 0), state: .value(try decoder.singleValueContainer().decode(Value.self)))
    }
}

extension Persisted: Encodable where Value: Encodable {
    /// Encodes the property of an unmanaged object.
    /// - Throws: `EncodingError.invalidValue` for a managed object: the synthesized code passes only the property, which does not know its
    /// object.
    public func encode(to encoder: any Encoder) throws {
        guard column == unmanagedColumn else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription:
                        "Only unmanaged objects can be encoded by the code that the compiler synthesizes: encode object.detached(), or write encode(to:) for the class."
                ))
        }
        let value =
            switch state {
            case .unset: Value._initial()
            case .value(let value): value
            }
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension KeyedDecodingContainer {
    /// Decodes an optional property as nil if its key is missing, as for properties that are not `@Persisted`.
    public func decode<Wrapped: Decodable>(_ type: Persisted<Wrapped?>.Type, forKey key: Key) throws -> Persisted<Wrapped?>
    where Wrapped?: _Persistable {
        if let found = try decodeIfPresent(type, forKey: key) { return found }
        return Persisted(options: PersistedOptions(rawValue: 0), state: .value(nil))
    }
}
