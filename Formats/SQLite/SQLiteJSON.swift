import FirnBytes
import FirnExchange
import FirnTable

/// A value of JSON, as it is stored in a column of texts.
indirect enum SQLiteJSON {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([SQLiteJSON])
    case object([Member])

    struct Member {
        let key: String
        let value: SQLiteJSON
    }

    /// Returns nil if the bytes are not one value of JSON.
    init?(_ bytes: [UInt8]) {
        var parser = Parser(bytes: bytes)
        guard let value = parser.value(depth: 0), parser.isAtEnd else { return nil }
        self = value
    }

    private struct Parser {
        let bytes: [UInt8]
        var at = 0

        private static let maximumDepth = 100

        init(bytes: [UInt8]) { self.bytes = bytes }

        var isAtEnd: Bool {
            mutating get {
                skipSpace()
                return at == bytes.count
            }
        }

        private mutating func skipSpace() { while at < bytes.count, [32, 9, 10, 13].contains(bytes[at]) { at += 1 } }

        /// Skips white space, and a byte if it is the next one.
        private mutating func take(_ byte: UInt8) -> Bool {
            skipSpace()
            guard at < bytes.count, bytes[at] == byte else { return false }
            at += 1
            return true
        }

        private mutating func take(word: StaticString) -> Bool {
            let count = word.utf8CodeUnitCount, word = "\(word)"
            guard at + count <= bytes.count, bytes[at..<at + count].elementsEqual(word.utf8) else { return false }
            at += count
            return true
        }

        mutating func value(depth: Int) -> SQLiteJSON? {
            skipSpace()
            guard at < bytes.count, depth < Parser.maximumDepth else { return nil }
            switch bytes[at] {
            case UInt8(ascii: "{"): return object(depth)
            case UInt8(ascii: "["): return array(depth)
            case UInt8(ascii: "\""): return string().map { .string($0) }
            case UInt8(ascii: "t"): return take(word: "true") ? .bool(true) : nil
            case UInt8(ascii: "f"): return take(word: "false") ? .bool(false) : nil
            case UInt8(ascii: "n"): return take(word: "null") ? .null : nil
            default:
                let start = at
                while at < bytes.count, "+-.eE0123456789".utf8.contains(bytes[at]) { at += 1 }
                let text = String(decoding: bytes[start..<at], as: UTF8.self)
                return Double(text) == nil ? nil : .number(text)
            }
        }

        private mutating func array(_ depth: Int) -> SQLiteJSON? {
            at += 1
            var values: [SQLiteJSON] = []
            if take(UInt8(ascii: "]")) { return .array([]) }
            repeat {
                guard let value = value(depth: depth + 1) else { return nil }
                values.append(value)
            } while take(UInt8(ascii: ","))
            return take(UInt8(ascii: "]")) ? .array(values) : nil
        }

        private mutating func object(_ depth: Int) -> SQLiteJSON? {
            at += 1
            var members: [Member] = []
            if take(UInt8(ascii: "}")) { return .object([]) }
            repeat {
                skipSpace()
                guard at < bytes.count, bytes[at] == UInt8(ascii: "\""), let key = string(), take(UInt8(ascii: ":")),
                    let value = value(depth: depth + 1)
                else { return nil }
                members.append(Member(key: key, value: value))
            } while take(UInt8(ascii: ","))
            return take(UInt8(ascii: "}")) ? .object(members) : nil
        }

        private mutating func string() -> String? {
            at += 1
            var units: [UInt8] = []
            while at < bytes.count {
                let byte = bytes[at]
                at += 1
                if byte == UInt8(ascii: "\"") { return String(validating: units, as: UTF8.self) }
                guard byte == UInt8(ascii: "\\") else {
                    units.append(byte)
                    continue
                }
                guard at < bytes.count else { return nil }
                let escape = bytes[at]
                at += 1
                let plain: [UInt8: UInt8] = [34: 34, 92: 92, 47: 47, 98: 8, 102: 12, 110: 10, 114: 13, 116: 9]
                if let byte = plain[escape] {
                    units.append(byte)
                } else {
                    guard escape == UInt8(ascii: "u"), let scalar = scalar() else { return nil }
                    units.append(contentsOf: String(Character(scalar)).utf8)
                }
            }
            return nil
        }

        /// Reads the digits of `\u0041`, and of a second one that completes a pair.
        private mutating func scalar() -> Unicode.Scalar? {
            func unit(_ at: Int) -> UInt32? {
                guard at + 4 <= bytes.count else { return nil }
                return UInt32(String(decoding: bytes[at..<at + 4], as: UTF8.self), radix: 16)
            }
            guard let high = unit(at) else { return nil }
            at += 4
            guard 0xD800...0xDBFF ~= high else { return Unicode.Scalar(high) }
            guard at + 6 <= bytes.count, bytes[at] == UInt8(ascii: "\\"), bytes[at + 1] == UInt8(ascii: "u"), let low = unit(at + 2),
                0xDC00...0xDFFF ~= low
            else { return nil }
            at += 6
            return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        }
    }
}

extension SQLiteJSON {
    /// Returns the value that this is in a column of a type; nil if it is none.
    func value(of type: ColumnType, in schema: Schema, depth: Int = 0) -> Value? {
        if case .null = self { return type.isOptional || (type.kind == .any && !type.isCollection) ? .null : nil }
        guard depth < Value.maximumDepth else { return nil }
        switch (type.collection, self) {
        case (.list, .array(let elements)), (.set, .array(let elements)):
            let values = elements.compactMap { $0.value(of: type.element, in: schema, depth: depth + 1) }
            guard values.count == elements.count else { return nil }
            return type.collection == .list ? .list(values) : .set(Value.distinctSorted(values))
        case (.map, .object(let members)):
            let entries = members.compactMap { member in
                member.value.value(of: type.element, in: schema, depth: depth + 1).map { Value.Entry(member.key, $0) }
            }
            return entries.count == members.count ? .map(entries) : nil
        case (.none, _):
            if type.kind == .any { return SQLiteTagged.value(self, depth: depth) }
            return type.kind == .embedded ? embedded(type, in: schema, depth) : single(type.kind)
        default: return nil
        }
    }

    private func embedded(_ type: ColumnType, in schema: Schema, _ depth: Int) -> Value? {
        guard let target = type.target.flatMap({ schema[$0] }) else { return nil }
        if target.isBare {
            return value(of: target.columns[0].type, in: schema, depth: depth + 1).map { .object([.init(target.columns[0].name, $0)]) }
        }
        guard case .object(let members) = self else { return nil }
        let given = Dictionary(members.map { ($0.key, $0.value) }, uniquingKeysWith: { _, last in last })
        guard given.keys.allSatisfy({ target.index(of: $0) != nil }) else { return nil }
        var entries: [Value.Entry] = []
        for column in target.columns {
            guard let value = (given[column.name] ?? .null).value(of: column.type, in: schema, depth: depth + 1) else { return nil }
            entries.append(.init(column.name, value))
        }
        return .object(entries)
    }

    private func single(_ kind: ScalarKind) -> Value? {
        switch (kind, self) {
        case (.bool, .bool(let x)): return .bool(x)
        case (.int, .number(let text)), (.link, .number(let text)):
            return Int64(text).map { kind == .int ? .int($0) : .link($0) }
        case (.float, .number(let text)): return Float(text).map { .float($0) }
        case (.double, .number(let text)): return Double(text).map { .double($0) }
        case (.decimal, .number(let text)): return Decimal(text).map { .decimal($0) }
        case (.string, .string(let text)): return .string(text)
        case (.data, .string(let text)): return Base64.bytes(Array(text.utf8), .exact).map { .data($0) }
        case (.uuid, .string(let text)): return Identifier(uuidText: text.lowercased()).map { .uuid($0) }
        case (.objectID, .string(let text)): return Identifier(objectIDText: text).map { .objectID($0) }
        case (.date, .string(let text)):
            return Array(text.utf8).withUnsafeBytes { DateText.parse($0) }.map {
                .date(Timestamp(seconds: $0.seconds, nanoseconds: Int32(truncatingIfNeeded: $0.nanoseconds)))
            }
        default: return nil
        }
    }
}
