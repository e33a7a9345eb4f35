import CSimdJSON
import FirnBytes
import FirnExchange

/// JSON texts as values: cells of columns whose logical type is `json`.
extension JSONBytes {
    /// Appends a JSON text without the white space between its tokens. Returns false, and appends nothing, if the text is not JSON
    /// (RFC 8259), or nests too deep to be read again.
    mutating func append(json text: UnsafeRawBufferPointer) -> Bool {
        let start = count
        var scan = JSONValueScan(text)
        guard scan.appendAll(to: &self), String(validating: text, as: UTF8.self) != nil else {
            truncate(start)
            return false
        }
        return true
    }

    /// Appends a value of a tape as JSON text. Tapes nest at most 512 levels.
    mutating func append(_ items: UnsafePointer<firn_json_item>, _ index: Int, keysOf parser: JSONParser) {
        let item = items[index]
        switch item.tag {
        case TapeTag.no: append("false")
        case TapeTag.yes: append("true")
        case TapeTag.int: append(item.integer)
        case TapeTag.double: append(item.double, .plain)
        case TapeTag.numberText: append(Array(item.bytes))
        case TapeTag.string: append(quoted: item.bytes)
        case TapeTag.array, TapeTag.object:
            let isObject = item.tag == TapeTag.object
            append(UInt8(ascii: isObject ? "{" : "["))
            var member = index &+ 1
            for i in 0..<Int(item.size) {
                if i > 0 { append(UInt8(ascii: ",")) }
                if isObject {
                    append(quoted: parser.key(items[member].key))
                    append(UInt8(ascii: ":"))
                }
                append(items, member, keysOf: parser)
                member &+= items[member].step
            }
            append(UInt8(ascii: isObject ? "}" : "]"))
        default: append("null")
        }
    }
}

/// Checks a text against the grammar of JSON, token by token, and copies the tokens.
private struct JSONValueScan {
    private enum Expected { case value, valueOrEnd, key, keyOrEnd, colon, commaOrEnd }
    /// The maximum number of levels; readers reject deeper ones.
    private static let maximumLevels = 500

    private let text: UnsafeRawBufferPointer
    private var at = 0
    /// For each open array or object: whether it is an object.
    private var open: [Bool] = []

    init(_ text: UnsafeRawBufferPointer) { self.text = text }

    mutating func appendAll(to out: inout JSONBytes) -> Bool {
        var expected = Expected.value
        while true {
            while at < text.count, [9, 10, 13, 32].contains(text[at]) { at += 1 }
            if expected == .commaOrEnd, open.isEmpty { return at == text.count }
            guard at < text.count else { return false }
            let byte = text[at], start = at
            switch (byte, expected) {
            case (UInt8(ascii: "}"), .keyOrEnd), (UInt8(ascii: "}"), .commaOrEnd), (UInt8(ascii: "]"), .valueOrEnd),
                (UInt8(ascii: "]"), .commaOrEnd):
                guard open.popLast() == (byte == UInt8(ascii: "}")) else { return false }
                at += 1
                expected = .commaOrEnd
            case (UInt8(ascii: ","), .commaOrEnd):
                at += 1
                expected = open.last == true ? .key : .value
            case (UInt8(ascii: ":"), .colon):
                at += 1
                expected = .value
            case (UInt8(ascii: "\""), .key), (UInt8(ascii: "\""), .keyOrEnd):
                guard string() else { return false }
                expected = .colon
            case (UInt8(ascii: "{"), .value), (UInt8(ascii: "{"), .valueOrEnd), (UInt8(ascii: "["), .value),
                (UInt8(ascii: "["), .valueOrEnd):
                guard open.count < JSONValueScan.maximumLevels else { return false }
                open.append(byte == UInt8(ascii: "{"))
                at += 1
                expected = byte == UInt8(ascii: "{") ? .keyOrEnd : .valueOrEnd
            case (_, .value), (_, .valueOrEnd):
                guard scalar(byte) else { return false }
                expected = .commaOrEnd
            default: return false
            }
            for i in start..<at { out.append(text[i]) }
        }
    }

    private mutating func scalar(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""): string()
        case UInt8(ascii: "t"): word("true")
        case UInt8(ascii: "f"): word("false")
        case UInt8(ascii: "n"): word("null")
        default: number()
        }
    }

    private mutating func word(_ word: StaticString) -> Bool {
        let end = at + word.utf8CodeUnitCount
        guard end <= text.count, text[at..<end].elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        else {
            return false
        }
        at = end
        return true
    }

    private mutating func digits() -> Int {
        let start = at
        while at < text.count, text[at] &- 48 < 10 { at += 1 }
        return at - start
    }

    private mutating func take(_ bytes: StaticString) -> Bool {
        guard at < text.count, UnsafeBufferPointer(start: bytes.utf8Start, count: bytes.utf8CodeUnitCount).contains(text[at]) else {
            return false
        }
        at += 1
        return true
    }

    private mutating func number() -> Bool {
        _ = take("-")
        let first = at, whole = digits()
        guard whole > 0, whole == 1 || text[first] != 48 else { return false }
        if take("."), digits() == 0 { return false }
        if take("eE") {
            _ = take("+-")
            if digits() == 0 { return false }
        }
        return true
    }

    private mutating func string() -> Bool {
        at += 1
        while at < text.count, text[at] >= 32 {
            let byte = text[at]
            at += 1
            if byte == UInt8(ascii: "\"") { return true }
            guard byte == UInt8(ascii: "\\") else { continue }
            if take("\"\\/bfnrt") { continue }
            guard take("u"), let unit = unit() else { return false }
            if unit & 0xFC00 == 0xD800 {
                guard take("\\"), take("u"), let low = self.unit(), low & 0xFC00 == 0xDC00 else { return false }
            } else if unit & 0xFC00 == 0xDC00 {
                return false
            }
        }
        return false
    }

    /// Reads the four digits of a code unit.
    private mutating func unit() -> UInt16? {
        guard at + 4 <= text.count, text[at..<at + 4].allSatisfy({ Character(UnicodeScalar($0)).isHexDigit && $0 < 128 }) else {
            return nil
        }
        at += 4
        return UInt16(String(decoding: text[at - 4..<at], as: UTF8.self), radix: 16)
    }
}
