import FirnBytes
import FirnExchange
import FirnTable

/// Values of any kind as JSON. Kinds that JSON does not have are objects with one member, whose name begins with `$`, such as
/// `{"$date":"2024-01-31T00:00:00Z"}`; so a value is read back as the same one.
enum ArrowJSON {
    private static let maximumDepth = 100

    // MARK: Writing

    static func append(_ value: Value, to out: inout [UInt8]) {
        func wrap(_ name: String, _ body: (inout [UInt8]) -> Void) {
            out += Array("{\"$\(name)\":".utf8)
            body(&out)
            out.append(UInt8(ascii: "}"))
        }
        func text(_ text: String) { JSONString.append(Array(text.utf8), to: &out) }
        switch value {
        case .null: out += Array("null".utf8)
        case .bool(let x): out += Array((x ? "true" : "false").utf8)
        case .int(let x): out += Array(String(x).utf8)
        case .double(let x) where x.isFinite: out += Array("\(x)".utf8)
        case .double(let x): wrap("double") { JSONString.append(Array("\(x)".utf8), to: &$0) }
        case .float(let x): wrap("float") { JSONString.append(Array("\(x)".utf8), to: &$0) }
        case .string(let x): text(x)
        case .data(let x): wrap("data") { JSONString.append(Array(Base64.text(x).utf8), to: &$0) }
        case .date(let x): wrap("date") { append(date: x, to: &$0) }
        case .decimal(let x): wrap("decimal") { JSONString.append(Array(x.description.utf8), to: &$0) }
        case .objectID(let x): wrap("objectId") { JSONString.append(Array(x.objectIDText.utf8), to: &$0) }
        case .uuid(let x): wrap("uuid") { JSONString.append(Array(x.uuidText.utf8), to: &$0) }
        case .link(let x): wrap("link") { $0 += Array(String(x).utf8) }
        case .list(let values): append(list: values, to: &out)
        case .set(let values): wrap("set") { append(list: values, to: &$0) }
        case .map(let entries) where !(entries.count == 1 && entries[0].key.hasPrefix("$")): append(map: entries, to: &out)
        case .map(let entries), .object(let entries): wrap("map") { append(map: entries, to: &$0) }
        }
    }

    private static func append(list values: [Value], to out: inout [UInt8]) {
        out.append(UInt8(ascii: "["))
        for (i, value) in values.enumerated() {
            if i > 0 { out.append(UInt8(ascii: ",")) }
            append(value, to: &out)
        }
        out.append(UInt8(ascii: "]"))
    }

    private static func append(map entries: [Value.Entry], to out: inout [UInt8]) {
        out.append(UInt8(ascii: "{"))
        for (i, entry) in entries.enumerated() {
            if i > 0 { out.append(UInt8(ascii: ",")) }
            JSONString.append(Array(entry.key.utf8), to: &out)
            out.append(UInt8(ascii: ":"))
            append(entry.value, to: &out)
        }
        out.append(UInt8(ascii: "}"))
    }

    private static func append(date: Timestamp, to out: inout [UInt8]) {
        let text = Array(canonicalText(.date(date)).utf8)
        if text.withBytes({ DateText.parse($0) }).map({ $0.seconds == date.seconds && $0.nanoseconds == Int64(date.nanoseconds) }) ?? false
        {
            JSONString.append(text, to: &out)
        } else {
            append(list: [.int(date.seconds), .int(Int64(date.nanoseconds))], to: &out)
        }
    }

    // MARK: Reading

    /// Returns the value that `append` wrote; nil if the text is no such value.
    static func anyValue(_ text: [UInt8]) -> Value? { (try? value(text)).flatMap(unwrapped) }

    private static func unwrapped(_ value: Value) -> Value? {
        switch value {
        case .list(let values):
            let inner = values.map(unwrapped)
            return inner.contains(nil) ? nil : .list(inner.compactMap(\.self))
        case .map(let entries):
            if entries.count == 1, entries[0].key.hasPrefix("$") { return special(String(entries[0].key.dropFirst()), entries[0].value) }
            return map(entries)
        default: return value
        }
    }

    private static func map(_ entries: [Value.Entry]) -> Value? {
        var out: [Value.Entry] = []
        for entry in entries {
            guard let value = unwrapped(entry.value) else { return nil }
            out.append(Value.Entry(entry.key, value))
        }
        out.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        for (a, b) in zip(out, out.dropFirst()) where a.key == b.key { return nil }
        return .map(out)
    }

    private static func special(_ name: String, _ value: Value) -> Value? {
        switch (name, value) {
        case ("double", .string(let text)): return Double(text).map { .double($0) }
        case ("float", .string(let text)): return Float(text).map { .float($0) }
        case ("data", .string(let text)): return Base64.bytes(Array(text.utf8), .exact).map { .data($0) }
        case ("decimal", .string(let text)): return Decimal(text).map { .decimal($0) }
        case ("objectId", .string(let text)): return Identifier(objectIDText: text).map { .objectID($0) }
        case ("uuid", .string(let text)): return Identifier(uuidText: text).map { .uuid($0) }
        case ("link", .int(let row)): return .link(row)
        case ("date", .string(let text)):
            guard let date = Array(text.utf8).withBytes({ DateText.parse($0) }) else { return nil }
            return .date(Timestamp(seconds: date.seconds, nanoseconds: Int32(date.nanoseconds)))
        case ("date", .list(let parts)):
            guard parts.count == 2, case .int(let seconds) = parts[0], case .int(let rest) = parts[1], 0..<1_000_000_000 ~= rest else {
                return nil
            }
            return .date(Timestamp(seconds: seconds, nanoseconds: Int32(rest)))
        case ("set", .list):
            guard case .list(let values)? = unwrapped(value) else { return nil }
            return .set(Value.distinctSorted(values))
        case ("map", .map(let entries)): return map(entries)
        default: return nil
        }
    }

    /// Parses JSON. Objects become maps.
    static func value(_ text: [UInt8]) throws(ArrowFault) -> Value {
        var parser = Parser(text: text)
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.at == text.count else { throw ArrowFault("something follows the JSON") }
        return value
    }

    private struct Parser {
        let text: [UInt8]
        var at = 0

        init(text: [UInt8]) { self.text = text }

        mutating func skipSpace() {
            while at < text.count, text[at] == 32 || text[at] == 9 || text[at] == 10 || text[at] == 13 { at += 1 }
        }

        private func fault() -> ArrowFault { ArrowFault("no JSON at byte \(at)") }

        private mutating func take(_ word: String) throws(ArrowFault) {
            guard text[at...].starts(with: word.utf8) else { throw fault() }
            at += word.utf8.count
        }

        private var next: UInt8 { at < text.count ? text[at] : 0 }

        mutating func value(depth: Int) throws(ArrowFault) -> Value {
            guard depth < ArrowJSON.maximumDepth else { throw fault() }
            skipSpace()
            switch next {
            case UInt8(ascii: "n"):
                try take("null")
                return .null
            case UInt8(ascii: "t"):
                try take("true")
                return .bool(true)
            case UInt8(ascii: "f"):
                try take("false")
                return .bool(false)
            case UInt8(ascii: "\""): return .string(try string())
            case UInt8(ascii: "["): return .list(try list(depth))
            case UInt8(ascii: "{"): return .map(try map(depth))
            default: return try number()
            }
        }

        private mutating func list(_ depth: Int) throws(ArrowFault) -> [Value] {
            var values: [Value] = []
            at += 1
            skipSpace()
            if next == UInt8(ascii: "]") {
                at += 1
                return values
            }
            while true {
                values.append(try value(depth: depth + 1))
                skipSpace()
                if next == UInt8(ascii: ",") {
                    at += 1
                } else {
                    try take("]")
                    return values
                }
            }
        }

        private mutating func map(_ depth: Int) throws(ArrowFault) -> [Value.Entry] {
            var entries: [Value.Entry] = []
            at += 1
            skipSpace()
            if next == UInt8(ascii: "}") {
                at += 1
                return entries
            }
            while true {
                skipSpace()
                guard next == UInt8(ascii: "\"") else { throw fault() }
                let key = try string()
                skipSpace()
                try take(":")
                entries.append(Value.Entry(key, try value(depth: depth + 1)))
                skipSpace()
                if next == UInt8(ascii: ",") {
                    at += 1
                } else {
                    try take("}")
                    return entries
                }
            }
        }

        private mutating func number() throws(ArrowFault) -> Value {
            let start = at
            while at < text.count, 48...57 ~= text[at] || "+-.eE".utf8.contains(text[at]) { at += 1 }
            let word = String(decoding: text[start..<at], as: UTF8.self)
            guard let last = word.utf8.last, 48...57 ~= last else { throw fault() }
            if !word.contains(where: { ".eE".contains($0) }), let whole = Int64(word) { return .int(whole) }
            guard let real = Double(word) else { throw fault() }
            return .double(real)
        }

        private mutating func string() throws(ArrowFault) -> String {
            var out: [UInt8] = []
            at += 1
            while true {
                guard at < text.count, text[at] >= 32 else { throw fault() }
                let byte = text[at]
                at += 1
                if byte == UInt8(ascii: "\"") { break }
                guard byte == UInt8(ascii: "\\") else {
                    out.append(byte)
                    continue
                }
                let escaped = next
                at += 1
                switch escaped {
                case UInt8(ascii: "n"): out.append(10)
                case UInt8(ascii: "t"): out.append(9)
                case UInt8(ascii: "r"): out.append(13)
                case UInt8(ascii: "b"): out.append(8)
                case UInt8(ascii: "f"): out.append(12)
                case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): out.append(escaped)
                case UInt8(ascii: "u"): out += Array(String(Character(try scalar())).utf8)
                default: throw fault()
                }
            }
            guard let string = String(validating: out, as: UTF8.self) else { throw fault() }
            return string
        }

        private mutating func scalar() throws(ArrowFault) -> Unicode.Scalar {
            let first = try unit()
            if 0xD800...0xDBFF ~= first {
                guard next == UInt8(ascii: "\\") else { throw fault() }
                at += 1
                try take("u")
                let second = try unit()
                guard 0xDC00...0xDFFF ~= second else { throw fault() }
                guard let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) else { throw fault() }
                return scalar
            }
            guard let scalar = Unicode.Scalar(first) else { throw fault() }
            return scalar
        }

        private mutating func unit() throws(ArrowFault) -> UInt32 {
            guard at + 4 <= text.count, let unit = UInt32(String(decoding: text[at..<at + 4], as: UTF8.self), radix: 16) else {
                throw fault()
            }
            at += 4
            return unit
        }
    }
}
