// Lets the compiler synthesize `Codable` for object classes. Values go through containers, because coders treat dates and data specially
// there.

extension Persisted: Decodable where Value: Decodable {
    /// Decodes the property of an unmanaged object.
    public init(from decoder: any Decoder) throws {
        self.init(options: PersistedOptions(rawValue: 0), state: .value(try decoder.singleValueContainer().value(Value.self)))
    }
}

extension SingleValueDecodingContainer {
    /// Decodes a value. A number that an integer type cannot hold is an error that names it: Foundation reports that the data is not valid
    /// JSON.
    func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do { return try decode(type) } catch {
            guard let wanted = (type as? any DecodedInteger.Type)?.integerName else { throw error }
            let number: String
            if let whole = try? decode(Int64.self) {
                number = "\(whole)"
            } else if let real = try? decode(Double.self) {
                number = "\(real)"
            } else {
                throw error
            }
            throw DecodingError.dataCorruptedError(in: self, debugDescription: "the number \(number) does not fit in \(wanted)")
        }
    }
}

/// An integer type, or an optional one.
private protocol DecodedInteger {
    static var integerName: String? { get }
}

extension DecodedInteger where Self: FixedWidthInteger { fileprivate static var integerName: String? { "\(Self.self)" } }
extension Int: DecodedInteger {}
extension Int8: DecodedInteger {}
extension Int16: DecodedInteger {}
extension Int32: DecodedInteger {}
extension Int64: DecodedInteger {}
extension Optional: DecodedInteger {
    fileprivate static var integerName: String? { (Wrapped.self as? any DecodedInteger.Type)?.integerName }
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
