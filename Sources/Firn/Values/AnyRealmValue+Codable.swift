import Foundation

/// Null, booleans, integers, fractions and text are encoded plainly: null, true, 3, 2.5, "text". Other values are encoded as an object of
/// one field whose name is the type, such as `{"$objectId": "507f1f77bcf86cd799439011"}`, so that type and value survive a round trip.
/// Dates and data follow the strategies of the coder. A plain whole number is decoded as an integer.
extension AnyRealmValue: Codable {
    private enum Tag: String, CodingKey {
        case float = "$float", double = "$double", data = "$data", date = "$date", objectId = "$objectId", decimal128 = "$decimal128",
            uuid = "$uuid"
    }

    /// Decodes a plain value, an array, a dictionary or a value with its type name.
    public init(from decoder: any Decoder) throws {
        if let tagged = try? decoder.container(keyedBy: Tag.self) {
            // Keys of dictionaries never begin with "$".
            if tagged.allKeys.isEmpty, let entries = try? [String: AnyRealmValue](from: decoder),
                !entries.keys.contains(where: { $0.hasPrefix("$") })
            {
                self = .fromDictionary(entries)
            } else {
                self = try AnyRealmValue(tagged: tagged)
            }
            return
        }
        if var elements = try? decoder.unkeyedContainer() {
            var found: [AnyRealmValue] = []
            while !elements.isAtEnd { found.append(try elements.decode(AnyRealmValue.self)) }
            self = .fromArray(found)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .none
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let int = try? container.decode(Int.self) {
            self = .int(int)
        } else if let double = try? container.decode(Double.self) {
            self = .double(double)
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    private init(tagged container: KeyedDecodingContainer<Tag>) throws {
        guard container.allKeys.count == 1, let tag = container.allKeys.first else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: container.codingPath,
                    debugDescription: "an object must have one field that names the type of the value, such as \"$date\""))
        }
        self =
            switch tag {
            case .float: .float(try Float(container.real(tag)))
            case .double: .double(try container.real(tag))
            case .data: .data(try container.decode(Data.self, forKey: tag))
            case .date: .date(try container.decode(Date.self, forKey: tag))
            case .objectId: .objectId(try container.decode(ObjectId.self, forKey: tag))
            case .decimal128: .decimal128(try container.decode(Decimal128.self, forKey: tag))
            case .uuid: .uuid(try container.decode(UUID.self, forKey: tag))
            }
    }

    /// Encodes the value.
    ///
    /// - Throws: `EncodingError` if the value is or contains an object.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .none:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let x): try encode(x, to: encoder)
        case .int(let x): try encode(x, to: encoder)
        case .string(let x): try encode(x, to: encoder)
        // A whole number would be decoded as an integer, and not every format has infinities.
        case .double(let x) where x.isFinite && x.rounded() != x: try encode(x, to: encoder)
        case .double(let x): try encode(x.description, tag: .double, to: encoder)
        case .float(let x): try encode(x.description, tag: .float, to: encoder)
        case .data(let x): try encode(x, tag: .data, to: encoder)
        case .date(let x): try encode(x, tag: .date, to: encoder)
        case .objectId(let x): try encode(x, tag: .objectId, to: encoder)
        case .decimal128(let x): try encode(x, tag: .decimal128, to: encoder)
        case .uuid(let x): try encode(x, tag: .uuid, to: encoder)
        case .list(let x):
            var container = encoder.unkeyedContainer()
            for element in x { try container.encode(element) }
        case .dictionary(let x): try encode(Dictionary(x.asKeyValueSequence().map { ($0.key, $0.value) }) { $1 }, to: encoder)
        case .object:
            throw EncodingError.invalidValue(
                self,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription: "an object cannot be encoded as a value of any type: encode it as an instance of its class"))
        }
    }

    private func encode(_ value: some Encodable, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }

    private func encode(_ value: some Encodable, tag: Tag, to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Tag.self)
        try container.encode(value, forKey: tag)
    }
}

extension KeyedDecodingContainer {
    /// Decodes a number, or a number as text.
    fileprivate func real(_ key: Key) throws -> Double {
        if let number = try? decode(Double.self, forKey: key) { return number }
        guard let number = Double(try decode(String.self, forKey: key)) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "not a number")
        }
        return number
    }
}
