import FirnBytes

/// The encoded form of a value, for values nested in `any` columns and for rows in the delta tree (`docs/format/model.md`, "Values").
///
///     tag u8, then: bool u8 · int, link signed varint · float u32 · double u64 · string, data varint length + bytes
///     · date signed varint + varint · decimal, uuid 16 B (high, low) · object id 8 B + 4 B · list, set varint count + values
///     · map, object varint count + (string, value)…
extension Value {
    /// The maximum depth of nested values; deeper nesting is damage.
    package static let maximumDepth = 128
    private static let objectTag: UInt8 = 23

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        encode(into: &writer)
        return writer.bytes
    }

    /// Appends the encoded form of the value.
    package func encode(into out: inout ByteWriter) {
        switch self {
        case .null: out.append(AnyTag.null)
        case .bool(let x):
            out.append(ScalarKind.bool.rawValue)
            out.append(x ? 1 : 0 as UInt8)
        case .int(let x):
            out.append(ScalarKind.int.rawValue)
            out.appendSignedVarint(x)
        case .link(let x):
            out.append(ScalarKind.link.rawValue)
            out.appendSignedVarint(x)
        case .float(let x):
            out.append(ScalarKind.float.rawValue)
            out.append(x.bitPattern)
        case .double(let x):
            out.append(ScalarKind.double.rawValue)
            out.append(x)
        case .string(let x):
            out.append(ScalarKind.string.rawValue)
            out.append(string: x)
        case .data(let x):
            out.append(ScalarKind.data.rawValue)
            out.append(lengthPrefixed: x)
        case .date(let x):
            out.append(ScalarKind.date.rawValue)
            out.appendSignedVarint(x.seconds)
            out.appendVarint(UInt64(UInt32(bitPattern: x.nanoseconds)))
        case .decimal(let x):
            out.append(ScalarKind.decimal.rawValue)
            out.append(x.high)
            out.append(x.low)
        case .uuid(let x):
            out.append(ScalarKind.uuid.rawValue)
            out.append(x.high)
            out.append(x.low)
        case .objectID(let x):
            out.append(ScalarKind.objectID.rawValue)
            out.append(x.high)
            out.append(UInt32(truncatingIfNeeded: x.low))
        case .list(let values), .set(let values):
            out.append(collectionTag)
            out.appendVarint(values.count)
            for value in values { value.encode(into: &out) }
        case .map(let entries), .object(let entries):
            if case .map = self { out.append(AnyTag.map) } else { out.append(Value.objectTag) }
            out.appendVarint(entries.count)
            for entry in entries {
                out.append(string: entry.key)
                entry.value.encode(into: &out)
            }
        }
    }

    /// Reads one value.
    /// - Throws: `Damage` if the bytes are not exactly one value.
    package init(encoded bytes: UnsafeRawBufferPointer) throws(Damage) {
        var reader = ByteReader(bytes)
        self = try Value(from: &reader)
        guard reader.isAtEnd else { throw Damage("bytes after the value", at: reader.position) }
    }

    /// Skips a value without creating it, and adds to `total` the memory that it would take outside of its own storage: elements and texts.
    package static func measure(_ reader: inout ByteReader, _ total: inout Int, depth: Int = 0) throws(Damage) {
        guard depth < Value.maximumDepth else { throw Damage("values nest too deep", at: reader.position) }
        let offset = reader.position, tag = try reader.read(UInt8.self)
        func text() throws(Damage) { total &+= 32 &+ (try reader.readLengthPrefixed().count) }
        switch tag {
        case AnyTag.null: break
        case ScalarKind.bool.rawValue: _ = try reader.read(UInt8.self)
        case ScalarKind.int.rawValue, ScalarKind.link.rawValue: _ = try reader.readSignedVarint()
        case ScalarKind.float.rawValue: _ = try reader.read(UInt32.self)
        case ScalarKind.double.rawValue: _ = try reader.readDouble()
        case ScalarKind.string.rawValue, ScalarKind.data.rawValue: try text()
        case ScalarKind.date.rawValue:
            _ = try reader.readSignedVarint()
            _ = try reader.readVarint()
        case ScalarKind.decimal.rawValue, ScalarKind.uuid.rawValue: _ = try reader.read(count: 16)
        case ScalarKind.objectID.rawValue: _ = try reader.read(count: 12)
        case AnyTag.list, AnyTag.set:
            let count = try reader.readCount(limit: reader.remaining)
            total &+= 32 &+ count &* MemoryLayout<Value>.stride
            for _ in 0..<count { try measure(&reader, &total, depth: depth + 1) }
        case AnyTag.map, Value.objectTag:
            let count = try reader.readCount(limit: reader.remaining)
            total &+= 32 &+ count &* MemoryLayout<Entry>.stride
            for _ in 0..<count {
                try text()
                try measure(&reader, &total, depth: depth + 1)
            }
        default: throw Damage("unknown value tag \(tag)", at: offset)
        }
    }

    package init(from reader: inout ByteReader, depth: Int = 0) throws(Damage) {
        guard depth < Value.maximumDepth else { throw Damage("values nest too deep", at: reader.position) }
        let offset = reader.position
        let tag = try reader.read(UInt8.self)
        switch tag {
        case AnyTag.null: self = .null
        case ScalarKind.bool.rawValue: self = .bool(try reader.read(UInt8.self) != 0)
        case ScalarKind.int.rawValue: self = .int(try reader.readSignedVarint())
        case ScalarKind.link.rawValue: self = .link(try reader.readSignedVarint())
        case ScalarKind.float.rawValue: self = .float(Float(bitPattern: try reader.read(UInt32.self)))
        case ScalarKind.double.rawValue: self = .double(try reader.readDouble())
        case ScalarKind.string.rawValue: self = .string(try reader.readString())
        case ScalarKind.data.rawValue: self = .data(Array(try reader.readLengthPrefixed()))
        case ScalarKind.date.rawValue:
            let seconds = try reader.readSignedVarint()
            let nanoseconds = try reader.readVarint()
            guard nanoseconds < 1_000_000_000 else { throw Damage("nanoseconds out of range", at: offset) }
            self = .date(Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds)))
        case ScalarKind.decimal.rawValue:
            let high = try reader.read(UInt64.self)
            self = .decimal(Decimal(high: high, low: try reader.read(UInt64.self)))
        case ScalarKind.uuid.rawValue:
            let high = try reader.read(UInt64.self)
            self = .uuid(Identifier(high: high, low: try reader.read(UInt64.self)))
        case ScalarKind.objectID.rawValue:
            let high = try reader.read(UInt64.self)
            self = .objectID(Identifier(high: high, low: UInt64(try reader.read(UInt32.self))))
        case AnyTag.list, AnyTag.set:
            let count = try reader.readCount(limit: reader.remaining)
            var values: [Value] = []
            for _ in 0..<count { values.append(try Value(from: &reader, depth: depth + 1)) }
            self = tag == AnyTag.list ? .list(values) : .set(values)
        case AnyTag.map, Value.objectTag:
            let count = try reader.readCount(limit: reader.remaining)
            var entries: [Entry] = []
            for _ in 0..<count {
                let key = try reader.readString()
                entries.append(Entry(key, try Value(from: &reader, depth: depth + 1)))
            }
            self = tag == AnyTag.map ? .map(entries) : .object(entries)
        default: throw Damage("unknown value tag \(tag)", at: offset)
        }
    }
}
