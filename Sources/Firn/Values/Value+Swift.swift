import FirnTable
import Foundation

extension UUID {
    package init(_ identifier: Identifier) {
        self = withUnsafeBytes(of: (identifier.high.bigEndian, identifier.low.bigEndian)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

extension Identifier {
    package init(_ uuid: UUID) {
        self = withUnsafeBytes(of: uuid.uuid) {
            Identifier(
                high: UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }
}

extension Value {
    package init(_ value: AnyRealmValue) {
        self =
            switch value {
            case .none: .null
            case .int(let x): .int(Int64(x))
            case .bool(let x): .bool(x)
            case .float(let x): .float(x)
            case .double(let x): .double(x)
            case .string(let x): .string(x)
            case .data(let x): .data([UInt8](x))
            case .date(let x): .date(Timestamp(x))
            case .objectId(let x): .objectID(x.identifier)
            case .decimal128(let x): .decimal(x.modelDecimal)
            case .uuid(let x): .uuid(Identifier(x))
            // A managed object becomes a link to its row. An unmanaged object has no value until it is added to a realm.
            case .object(let x): x._access.map { Value(linkTo: $0.name, x._rowID) } ?? .null
            case .list(let x): .list(x.map { Value($0) })
            case .dictionary(let x): .map(x.asKeyValueSequence().map { Entry($0.key, Value($0.value)) })
            }
    }
}

extension AnyRealmValue {
    /// Returns nil for links and collections, which need their realm.
    package init?(_ value: Value) {
        switch value {
        case .null: self = .none
        case .bool(let x): self = .bool(x)
        case .int(let x): self = .int(Int(x))
        case .float(let x): self = .float(x)
        case .double(let x): self = .double(x)
        case .string(let x): self = .string(x)
        case .data(let x): self = .data(Data(x))
        case .date(let x): self = .date(Date(x))
        case .decimal(let x): self = .decimal128(Decimal128(x))
        case .objectID(let x): self = .objectId(ObjectId(x))
        case .uuid(let x): self = .uuid(UUID(x))
        case .link, .list, .set, .map, .object: return nil
        }
    }
}

/// Returns the Swift value for untyped access: Bool, Int, Float, Double, String, Data, Date, Decimal128, ObjectId, UUID; nil for null.
/// Lists and sets are
/// `[Any?]`, maps and embedded objects `[String: Any?]`. A link is its row id (Int64), which callers that know the table resolve to an
/// object.
package func swiftValue(of value: Value) -> Any? {
    switch value {
    case .null: nil
    case .bool(let x): x
    case .int(let x): Int(x)
    case .float(let x): x
    case .double(let x): x
    case .string(let x): x
    case .data(let x): Data(x)
    case .date(let x): Date(x)
    case .decimal(let x): Decimal128(x)
    case .objectID(let x): ObjectId(x)
    case .uuid(let x): UUID(x)
    case .link(let x): x
    case .list(let x), .set(let x): x.map(swiftValue(of:))
    case .map(let x), .object(let x): Dictionary(x.map { ($0.key, swiftValue(of: $0.value)) }, uniquingKeysWith: { $1 })
    }
}
