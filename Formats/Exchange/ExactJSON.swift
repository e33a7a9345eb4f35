import FirnBytes
import FirnTable

/// Values of any kind as JSON text that reads back as the same value. Kinds that JSON has are written as such: null, booleans, integers,
/// finite doubles (always with a point or an exponent), texts, lists and maps. Other kinds are objects with one member, whose name begins
/// with `$`, in the manner of MongoDB's Extended JSON:
///
/// | kind | text |
/// |---|---|
/// | date | `{"$date":"2024-01-31T10:00:00Z"}`, or `{"$time":[seconds,nanoseconds]}` beyond the years 0000 to 9999 |
/// | decimal128 | `{"$numberDecimal":"1.50"}` |
/// | float | `{"$float":1.5}` |
/// | NaN, infinities, the negative NaN, with their bits | `{"$double":"7ff8000000000000"}`, `{"$float":"7fc00000"}` |
/// | uuid, objectId | `{"$uuid":"…"}`, `{"$oid":"…"}` |
/// | data | `{"$binary":"base64"}` |
/// | link | `{"$row":5}` |
/// | set | `{"$set":[…]}` |
/// | map with one key that begins with `$` | `{"$map":{…}}` |
///
/// Values in Arrow files that were written first have other names, which are read too: `$decimal`, `$objectId`, `$data`, `$link`, dates as
/// `{"$date":[seconds,nanoseconds]}`, and floats and doubles as texts such as `{"$double":"nan"}`.
package enum ExactJSON {
    /// The maximum number of levels that are read: more than values can nest.
    private static let maximumDepth = 2 * Value.maximumDepth + 8

    // MARK: Writing

    /// Appends a value. Fields of objects have the names in their entries.
    package static func append(_ value: Value, to out: inout [UInt8]) {
        switch value {
        case .null: out += "null".utf8
        case .bool(let x): out += (x ? "true" : "false").utf8
        case .int(let x): out += "\(x)".utf8
        case .double(let x):
            if x.isFinite { out += "\(x)".utf8 } else { tag("$double", quoted: hex(x.bitPattern, 16), &out) }
        case .float(let x):
            guard x.isFinite else { return tag("$float", quoted: hex(UInt64(x.bitPattern), 8), &out) }
            open("$float", &out)
            out += "\(x)}".utf8
        case .string(let x): JSONString.append(Array(x.utf8), to: &out)
        case .data(let x): tag("$binary", quoted: Base64.text(x), &out)
        case .date(let x): append(x, &out)
        case .decimal(let x): tag("$numberDecimal", quoted: x.description, &out)
        case .uuid(let x): tag("$uuid", quoted: x.uuidText, &out)
        case .objectID(let x): tag("$oid", quoted: x.objectIDText, &out)
        case .link(let x):
            open("$row", &out)
            out += "\(x)}".utf8
        case .list(let values): append(values, &out)
        case .set(let values):
            open("$set", &out)
            append(values, &out)
            out.append(UInt8(ascii: "}"))
        case .map(let entries), .object(let entries):
            guard entries.count == 1, entries[0].key.hasPrefix("$") else { return append(entries, &out) }
            open("$map", &out)
            append(entries, &out)
            out.append(UInt8(ascii: "}"))
        }
    }

    private static func append(_ values: [Value], _ out: inout [UInt8]) {
        out.append(UInt8(ascii: "["))
        for (i, element) in values.enumerated() {
            if i > 0 { out.append(UInt8(ascii: ",")) }
            append(element, to: &out)
        }
        out.append(UInt8(ascii: "]"))
    }

    private static func append(_ entries: [Value.Entry], _ out: inout [UInt8]) {
        out.append(UInt8(ascii: "{"))
        for (i, entry) in entries.enumerated() {
            if i > 0 { out.append(UInt8(ascii: ",")) }
            JSONString.append(Array(entry.key.utf8), to: &out)
            out.append(UInt8(ascii: ":"))
            append(entry.value, to: &out)
        }
        out.append(UInt8(ascii: "}"))
    }

    private static func append(_ date: Timestamp, _ out: inout [UInt8]) {
        // The years that texts of dates can have.
        guard date.seconds >= -62_167_219_200, date.seconds < 253_402_300_800 else {
            open("$time", &out)
            out += "[\(date.seconds),\(date.nanoseconds)]}".utf8
            return
        }
        var digits: UInt8 = 0, scale: Int32 = 1_000_000_000
        while date.nanoseconds % scale != 0 {
            digits += 1
            scale /= 10
        }
        let text = [UInt8](unsafeUninitializedCapacity: DateText.room) { room, count in
            count =
                room.baseAddress.map {
                    DateText.write(
                        seconds: date.seconds, nanoseconds: Int64(date.nanoseconds), notation: .dateTimeZ(digits), to: $0)
                } ?? 0
        }
        tag("$date", quoted: String(decoding: text, as: UTF8.self), &out)
    }

    private static func open(_ name: String, _ out: inout [UInt8]) { out += "{\"\(name)\":".utf8 }

    private static func tag(_ name: String, quoted text: String, _ out: inout [UInt8]) { out += "{\"\(name)\":\"\(text)\"}".utf8 }

    private static func hex(_ bits: UInt64, _ digits: Int) -> String {
        let text = String(bits, radix: 16)
        return String(repeating: "0", count: digits - text.utf8.count) + text
    }

    // MARK: Reading

    /// Returns the value of a text; nil if it is not JSON, or has an unknown name that begins with `$`.
    package static func value(_ text: UnsafeRawBufferPointer) -> Value? {
        var parser = Parser(bytes: text)
        guard let value = parser.value(depth: 0) else { return nil }
        parser.skipSpace()
        return parser.at == text.count ? value : nil
    }

    package static func value(_ text: [UInt8]) -> Value? { text.withUnsafeBytes { value($0) } }

    /// Returns any JSON as it is: names have no meaning, and the entries of maps keep their order; nil if it is not JSON.
    package static func document(_ text: [UInt8]) -> Value? {
        text.withUnsafeBytes { bytes in
            var parser = Parser(bytes: bytes, isDocument: true)
            guard let value = parser.value(depth: 0) else { return nil }
            parser.skipSpace()
            return parser.at == bytes.count ? value : nil
        }
    }

    /// A part of a text of `OriginalParts`.
    indirect enum Part {
        /// The form of `OriginalToken`.
        case token([UInt8])
        case members([(key: String, part: Part)])
    }

    /// Returns the members of an object whose values are such objects, strings, numbers or booleans; nil for other texts.
    static func parts(_ text: [UInt8]) -> [(key: String, part: Part)]? {
        text.withBytes { bytes in
            var parser = Parser(bytes: bytes)
            guard case .members(let members)? = parser.part(depth: 0) else { return nil }
            parser.skipSpace()
            return parser.at == bytes.count ? members : nil
        }
    }

    private struct Parser {
        let bytes: UnsafeRawBufferPointer
        var isDocument = false
        var at = 0

        mutating func skipSpace() {
            while at < bytes.count, bytes[at] == 32 || bytes[at] == 10 || bytes[at] == 13 || bytes[at] == 9 { at += 1 }
        }

        private mutating func take(_ byte: UInt8) -> Bool {
            skipSpace()
            guard at < bytes.count, bytes[at] == byte else { return false }
            at += 1
            return true
        }

        private mutating func take(word: StaticString) -> Bool {
            let count = word.utf8CodeUnitCount
            guard bytes.count - at >= count, UnsafeRawBufferPointer(rebasing: bytes[at..<at + count]).elementsEqual("\(word)".utf8) else {
                return false
            }
            at += count
            return true
        }

        mutating func value(depth: Int) -> Value? {
            skipSpace()
            guard depth < ExactJSON.maximumDepth, at < bytes.count else { return nil }
            switch bytes[at] {
            case UInt8(ascii: "n"): return take(word: "null") ? .null : nil
            case UInt8(ascii: "t"): return take(word: "true") ? .bool(true) : nil
            case UInt8(ascii: "f"): return take(word: "false") ? .bool(false) : nil
            case UInt8(ascii: "\""): return text().map { .string($0) }
            case UInt8(ascii: "["): return list(depth: depth)
            case UInt8(ascii: "{"): return object(depth: depth)
            default: return number()
            }
        }

        private mutating func list(depth: Int) -> Value? {
            at += 1
            var values: [Value] = []
            if take(UInt8(ascii: "]")) { return .list(values) }
            while true {
                guard let next = value(depth: depth + 1) else { return nil }
                values.append(next)
                if take(UInt8(ascii: ",")) { continue }
                return take(UInt8(ascii: "]")) ? .list(values) : nil
            }
        }

        /// `isPlain`: its names have no meaning, because it is in `$map`.
        private mutating func object(depth: Int, isPlain: Bool = false) -> Value? {
            at += 1
            var entries: [Value.Entry] = []
            if take(UInt8(ascii: "}")) { return .map(entries) }
            while true {
                skipSpace()
                guard let key = text(), take(UInt8(ascii: ":")) else { return nil }
                skipSpace()
                let isMap =
                    !isDocument && !isPlain && entries.isEmpty && key == "$map" && at < bytes.count && bytes[at] == UInt8(ascii: "{")
                guard let next = isMap ? object(depth: depth + 1, isPlain: true) : value(depth: depth + 1) else { return nil }
                entries.append(Value.Entry(key, next))
                if take(UInt8(ascii: ",")) { continue }
                guard take(UInt8(ascii: "}")) else { return nil }
                break
            }
            if isDocument { return .map(entries) }
            if !isPlain, entries.count == 1, entries[0].key.hasPrefix("$") { return ExactJSON.tagged(entries[0]) }
            return .map(ExactJSON.sorted(entries))
        }

        mutating func part(depth: Int) -> Part? {
            skipSpace()
            guard depth < ExactJSON.maximumDepth, at < bytes.count else { return nil }
            if bytes[at] == UInt8(ascii: "\"") {
                guard let text = text() else { return nil }
                return .token(Array(text.utf8).withBytes { OriginalToken.token(ofString: $0) })
            }
            guard bytes[at] == UInt8(ascii: "{") else { return token() }
            at += 1
            var members: [(key: String, part: Part)] = []
            repeat {
                skipSpace()
                guard let key = text(), take(UInt8(ascii: ":")), let next = part(depth: depth + 1) else { return nil }
                members.append((key, next))
            } while take(UInt8(ascii: ","))
            return take(UInt8(ascii: "}")) ? .members(members) : nil
        }

        /// Reads a number or a boolean as its text.
        private mutating func token() -> Part? {
            let start = at
            while at < bytes.count, ![UInt8(ascii: ","), UInt8(ascii: "}"), 32, 10, 13, 9].contains(bytes[at]) { at += 1 }
            let text = Array(bytes[start..<at])
            return text.withBytes { OriginalToken.isNumber($0) || OriginalToken.isBool($0) } ? .token(text) : nil
        }

        private mutating func number() -> Value? {
            let start = at
            var isWhole = true
            while at < bytes.count {
                let byte = bytes[at]
                if 48...57 ~= byte || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") {
                    at += 1
                } else if byte == UInt8(ascii: ".") || byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
                    isWhole = false
                    at += 1
                } else {
                    break
                }
            }
            let text = String(decoding: bytes[start..<at], as: UTF8.self)
            if isWhole, let whole = Int64(text) { return .int(whole) }
            return Double(text).flatMap { $0.isFinite ? .double($0) : nil }
        }

        private mutating func text() -> String? {
            guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") else { return nil }
            at += 1
            var out: [UInt8] = []
            while at < bytes.count {
                let byte = bytes[at]
                at += 1
                if byte == UInt8(ascii: "\"") { return String(validating: out, as: UTF8.self) }
                guard byte == UInt8(ascii: "\\") else {
                    out.append(byte)
                    continue
                }
                guard at < bytes.count else { return nil }
                at += 1
                switch bytes[at - 1] {
                case UInt8(ascii: "n"): out.append(10)
                case UInt8(ascii: "r"): out.append(13)
                case UInt8(ascii: "t"): out.append(9)
                case UInt8(ascii: "b"): out.append(8)
                case UInt8(ascii: "f"): out.append(12)
                case UInt8(ascii: "u"):
                    guard let scalar = scalar() else { return nil }
                    out += Array(String(scalar).utf8)
                case let other: out.append(other)
                }
            }
            return nil
        }

        private mutating func unit() -> UInt32? {
            guard bytes.count - at >= 4 else { return nil }
            at += 4
            return UInt32(String(decoding: bytes[at - 4..<at], as: UTF8.self), radix: 16)
        }

        /// Reads the digits after `\u`, and those of the second unit of a pair.
        private mutating func scalar() -> Unicode.Scalar? {
            guard let first = unit() else { return nil }
            guard 0xD800..<0xDC00 ~= first else { return Unicode.Scalar(first) }
            guard take(word: "\\u"), let second = unit(), 0xDC00..<0xE000 ~= second else { return nil }
            return Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        }
    }

    /// Returns the entries in the order of maps. Of equal keys, the last one is kept.
    private static func sorted(_ entries: [Value.Entry]) -> [Value.Entry] {
        func precedes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }
        guard zip(entries, entries.dropFirst()).contains(where: { !precedes($0.key, $1.key) }) else { return entries }
        var out: [Value.Entry] = []
        let order = entries.indices.sorted {
            precedes(entries[$0].key, entries[$1].key) || !precedes(entries[$1].key, entries[$0].key) && $0 < $1
        }
        for i in order {
            if let last = out.last, !precedes(last.key, entries[i].key) { out.removeLast() }
            out.append(entries[i])
        }
        return out
    }

    private static func tagged(_ entry: Value.Entry) -> Value? {
        switch (entry.key, entry.value) {
        case ("$date", .string(let text)):
            return Array(text.utf8).withBytes { DateText.parse($0) }.map {
                .date(Timestamp(seconds: $0.seconds, nanoseconds: Int32(truncatingIfNeeded: $0.nanoseconds)))
            }
        case ("$time", .list(let parts)), ("$date", .list(let parts)):
            guard parts.count == 2, case .int(let seconds) = parts[0], case .int(let rest) = parts[1], 0..<1_000_000_000 ~= rest else {
                return nil
            }
            return .date(Timestamp(seconds: seconds, nanoseconds: Int32(rest)))
        case ("$numberDecimal", .string(let text)), ("$decimal", .string(let text)): return Decimal(text).map { .decimal($0) }
        case ("$float", .double(let x)): return .float(Float(x))
        case ("$float", .int(let x)): return .float(Float(x))
        case ("$float", .string(let text)):
            return text.utf8.count == 8 && !text.contains(".")
                ? UInt32(text, radix: 16).map { .float(Float(bitPattern: $0)) } : Float(text).map { .float($0) }
        case ("$double", .string(let text)):
            return text.utf8.count == 16
                ? UInt64(text, radix: 16).map { .double(Double(bitPattern: $0)) } : Double(text).map { .double($0) }
        case ("$uuid", .string(let text)): return Identifier(uuidText: text).map { .uuid($0) }
        case ("$oid", .string(let text)), ("$objectId", .string(let text)): return Identifier(objectIDText: text).map { .objectID($0) }
        case ("$binary", .string(let text)), ("$data", .string(let text)): return Base64.bytes(Array(text.utf8), .exact).map { .data($0) }
        case ("$row", .int(let row)), ("$link", .int(let row)): return .link(row)
        case ("$set", .list(let values)): return .set(Value.distinctSorted(values))
        case ("$map", .map(let entries)): return .map(entries)
        default: return nil
        }
    }
}
