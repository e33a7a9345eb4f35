/// Checks the tokens of a small document before json-c parses it. json-c checks how tokens are combined, but accepts some that are not JSON
/// (`.5`,
/// `01`, `NaN`, raw control characters) and changes some that are (integers beyond 64 bits, `-0`, U+0000 in keys).
struct JSONTokens {
    private(set) var fault: (offset: Int, message: String)?
    /// The number of members of all objects, if the tokens form a document.
    private(set) var memberCount = 0
    /// What json-c reads in place of parts of the text: a mark after integers that it would not keep, and characters in place of escapes that
    /// it would not read.
    private var edits: [(range: Range<Int>, bytes: [UInt8])] = []

    /// json-c keeps the text of doubles. So an integer that it would not keep is passed to it as a double, with this exponent of zero.
    private static let mark = Array("e-0000000000".utf8)

    init(_ bytes: [UInt8]) {
        var at = 0
        while at < bytes.count, fault == nil {
            switch bytes[at] {
            case 9, 10, 13, 32, UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ","): at += 1
            case UInt8(ascii: ":"):
                memberCount += 1
                at += 1
            case UInt8(ascii: "\""): at = string(bytes, at)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): at = number(bytes, at)
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): at = word(bytes, at)
            case 0xEF where at == 0 && bytes.starts(with: [0xEF, 0xBB, 0xBF]): fail(0, "it begins with a byte order mark")
            default: fail(at, "expected a value")
            }
        }
    }

    /// Returns the text that json-c reads.
    func bytesForTree(_ bytes: [UInt8]) -> [UInt8] {
        if edits.isEmpty { return bytes }
        var out: [UInt8] = [], start = 0
        for edit in edits {
            out += bytes[start..<edit.range.lowerBound] + edit.bytes
            start = edit.range.upperBound
        }
        return out + bytes[start...]
    }

    /// Returns the offset in the original text for an offset in `bytesForTree`.
    func offset(inSource offset: Int) -> Int {
        var shift = 0
        for edit in edits {
            let start = edit.range.lowerBound + shift
            if start >= offset { break }
            if offset < start + edit.bytes.count { return edit.range.lowerBound }
            shift += edit.bytes.count - edit.range.count
        }
        return offset - shift
    }

    static func withoutMark(_ number: String) -> String {
        number.utf8.count > mark.count && number.utf8.suffix(mark.count).elementsEqual(mark) ? String(number.dropLast(mark.count)) : number
    }

    private mutating func fail(_ offset: Int, _ message: String) {
        if fault == nil { fault = (offset, message) }
    }

    private mutating func word(_ bytes: [UInt8], _ start: Int) -> Int {
        let end = bytes[start...].firstIndex { !($0 | 32 >= UInt8(ascii: "a") && $0 | 32 <= UInt8(ascii: "z")) } ?? bytes.count
        if !["true", "false", "null"].contains(where: { $0.utf8.elementsEqual(bytes[start..<end]) }) { fail(start, "expected a value") }
        return end
    }

    private mutating func number(_ bytes: [UInt8], _ start: Int) -> Int {
        var at = start, isInteger = true
        func digits() -> Bool {
            let first = at
            while at < bytes.count, bytes[at] &- 48 < 10 { at += 1 }
            return at > first
        }
        if bytes[at] == UInt8(ascii: "-") { at += 1 }
        let first = at
        var isWell = digits() && (bytes[first] != UInt8(ascii: "0") || at == first + 1)
        let digitCount = at - first
        if at < bytes.count, bytes[at] == UInt8(ascii: ".") {
            isInteger = false
            at += 1
            isWell = digits() && isWell
        }
        if at < bytes.count, bytes[at] | 32 == UInt8(ascii: "e") {
            isInteger = false
            at += 1
            if at < bytes.count, bytes[at] == UInt8(ascii: "+") || bytes[at] == UInt8(ascii: "-") { at += 1 }
            isWell = digits() && isWell
        }
        if !isWell { fail(start, "this is not a JSON number") }
        let isNegativeZero = digitCount == 1 && bytes[first] == UInt8(ascii: "0") && first > start
        if isInteger, digitCount > 18 || isNegativeZero { edits.append((at..<at, JSONTokens.mark)) }
        return at
    }

    private mutating func string(_ bytes: [UInt8], _ start: Int) -> Int {
        var at = start + 1, isASCII = true, hasZero = false
        while at < bytes.count, bytes[at] != UInt8(ascii: "\"") {
            let byte = bytes[at]
            if byte < 32 { fail(at, "a control character in a string must be escaped") }
            if byte >= 128 { isASCII = false }
            guard byte == UInt8(ascii: "\\") else {
                at += 1
                continue
            }
            guard at + 1 < bytes.count, bytes[at + 1] == UInt8(ascii: "u") else {
                at += 2
                continue
            }
            let unit = JSONTokens.unit(bytes, at)
            if unit == 0 { hasZero = true }
            let second = JSONTokens.unit(bytes, at + 6)
            if unit & 0xFC00 == 0xD800, second & 0xFC00 == 0xDC00 {
                let character = 0x10000 + (unit & 0x3FF) << 10 + second & 0x3FF
                // json-c takes some of these characters for halves of a pair.
                if character & 0xF800 == 0xD800, let scalar = Unicode.Scalar(UInt32(character)) {
                    edits.append((at..<at + 12, Array(String(scalar).utf8)))
                }
                at += 12
                continue
            }
            if unit & 0xF800 == 0xD800 { fail(at, "half a surrogate pair") }
            at += 6
        }
        guard at < bytes.count else {
            fail(start, "the string does not end")
            return bytes.count
        }
        if !isASCII, String(validating: bytes[start..<at], as: UTF8.self) == nil { fail(start, "the string is not UTF-8") }
        if hasZero, bytes[(at + 1)...].first(where: { ![9, 10, 13, 32].contains($0) }) == UInt8(ascii: ":") {
            fail(start, "a key that contains U+0000 cannot be read")
        }
        return at + 1
    }

    /// Returns the code unit of an escape `\uXXXX`; -1 for anything else, which json-c then reports.
    private static func unit(_ bytes: [UInt8], _ at: Int) -> Int {
        guard at + 6 <= bytes.count, bytes[at] == UInt8(ascii: "\\"), bytes[at + 1] == UInt8(ascii: "u") else { return -1 }
        return Int(String(decoding: bytes[(at + 2)..<(at + 6)], as: UTF8.self), radix: 16) ?? -1
    }
}
