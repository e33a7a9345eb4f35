import FirnTable

/// A token of a query.
struct Token: Equatable {
    enum Kind: Equatable {
        /// A name as written. It may be a keyword.
        case word(String)
        /// A name in back-quotes, which is never a keyword.
        case quotedName(String)
        case string([UInt8])
        /// `B64"…"`, still encoded.
        case base64([UInt8])
        /// The digits as written, without a sign.
        case number(String)
        case date(Timestamp)
        /// `$0`.
        case argument(Int)
        /// `uuid(…)`, `oid(…)`: the text between the parentheses.
        case uuid(String), objectID(String)
        /// `decimal(…)`: the text between the parentheses.
        case decimal(String)
        /// `@count`: the name after the sign.
        case postfix(String)
        case symbol(String)
        case end
    }
    var kind: Kind
    var position: Int
    /// Whether white space precedes the token.
    var spaced = false
}

/// Splits a query's text into tokens, in one pass over its bytes.
struct Lexer {
    private let bytes: [UInt8]
    private var at = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func tokens() throws(QueryError) -> [Token] {
        var out: [Token] = []
        while true {
            let before = at
            while at < bytes.count, isSpace(bytes[at]) { at += 1 }
            var token = try next()
            token.spaced = token.position > before
            out.append(token)
            if token.kind == .end { return out }
        }
    }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
    private func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }
    private func isNameStart(_ byte: UInt8) -> Bool { (byte | 32) >= 97 && (byte | 32) <= 122 || byte == 95 || byte >= 128 }
    private func isNamePart(_ byte: UInt8) -> Bool { isNameStart(byte) || isDigit(byte) || byte == 36 || byte == 45 }
    private func peek(_ ahead: Int = 0) -> UInt8 { at + ahead < bytes.count ? bytes[at + ahead] : 0 }

    private mutating func next() throws(QueryError) -> Token {
        let start = at
        guard at < bytes.count else { return Token(kind: .end, position: start) }
        let byte = bytes[at]
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\""): return Token(kind: .string(try string()), position: start)
        case UInt8(ascii: "`"): return Token(kind: .quotedName(try quotedName()), position: start)
        case UInt8(ascii: "$"): return try argument()
        case UInt8(ascii: "@"):
            at += 1
            return Token(kind: .postfix(word()), position: start)
        default: break
        }
        if isDigit(byte) || byte == UInt8(ascii: ".") && isDigit(peek(1)) { return try number() }
        if byte == UInt8(ascii: "T"), let date = try epochDate() { return Token(kind: .date(date), position: start) }
        if byte == UInt8(ascii: "B"), peek(1) == 54, peek(2) == 52, peek(3) == 39 || peek(3) == 34 {
            at += 3
            return Token(kind: .base64(try string()), position: start)
        }
        if isNameStart(byte) || byte == UInt8(ascii: "\\") && peek(1) == 32 {
            let word = word()
            switch word.lowercased() {
            case "uuid": if let inside = parenthesised() { return Token(kind: .uuid(inside), position: start) }
            case "oid": if let inside = parenthesised() { return Token(kind: .objectID(inside), position: start) }
            case "decimal": if let inside = parenthesised() { return Token(kind: .decimal(inside), position: start) }
            default: break
            }
            return Token(kind: .word(word), position: start)
        }
        return try symbol()
    }

    /// Returns the text between the parentheses that follow, without spaces and quotes; nil if there are none.
    private mutating func parenthesised() -> String? {
        var scan = at
        while scan < bytes.count, isSpace(bytes[scan]) { scan += 1 }
        guard scan < bytes.count, bytes[scan] == UInt8(ascii: "("), let end = bytes[scan...].prefix(80).firstIndex(of: UInt8(ascii: ")"))
        else { return nil }
        at = end + 1
        return String(decoding: bytes[(scan + 1)..<end].filter { !isSpace($0) && $0 != 39 && $0 != 34 }, as: UTF8.self)
    }

    private mutating func symbol() throws(QueryError) -> Token {
        let start = at
        let two = String(decoding: bytes[at..<min(at + 2, bytes.count)], as: UTF8.self)
        if ["==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||"].contains(two) {
            at += 2
            return Token(kind: .symbol(two), position: start)
        }
        let one = two.utf8.prefix(1)
        guard "=<>!(){}[],.+-*/:%#".utf8.contains(bytes[at]) else {
            if bytes[at] == UInt8(ascii: ";"), bytes[(at + 1)...].allSatisfy(isSpace) {
                at = bytes.count
                return Token(kind: .end, position: start)
            }
            let character = String(decoding: bytes[at...], as: UTF8.self).prefix(1)
            throw QueryError(.syntax, "unexpected \"\(character)\"", at: start, expected: "a name, a value or an operator")
        }
        at += 1
        return Token(kind: .symbol(String(one)!), position: start)
    }

    /// Reads a name: letters, digits, `_ $ -`, anything beyond ASCII; `\ ` is a space within the name.
    private mutating func word() -> String {
        var out: [UInt8] = []
        while at < bytes.count {
            if isNamePart(bytes[at]) {
                out.append(bytes[at])
                at += 1
            } else if bytes[at] == UInt8(ascii: "\\"), peek(1) == 32 {
                out.append(32)
                at += 2
            } else {
                break
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    private mutating func quotedName() throws(QueryError) -> String {
        let start = at
        var out: [UInt8] = []
        at += 1
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            if byte == UInt8(ascii: "`") {
                if peek() != byte { return String(decoding: out, as: UTF8.self) }
                at += 1
            }
            out.append(byte)
        }
        throw QueryError(.syntax, "the name has no closing back-quote", at: start)
    }

    private mutating func argument() throws(QueryError) -> Token {
        let start = at
        at += 1
        if isDigit(peek()) {
            while isDigit(peek()) { at += 1 }
            let digits = String(decoding: bytes[(start + 1)..<at], as: UTF8.self)
            guard let index = Int(digits), index < 1 << 20, endsBeforeOperator else {
                throw QueryError(.syntax, "\"$\(digits)\(word())\" is not the number of an argument", at: start)
            }
            return Token(kind: .argument(index), position: start)
        }
        let word = word()
        if word.isEmpty {
            throw QueryError(.syntax, "nothing after \"$\"", at: start, expected: "the number of an argument, such as $0")
        }
        return Token(kind: .word("$" + word), position: start)
    }

    /// Reads a quoted string and decodes its escapes.
    private mutating func string() throws(QueryError) -> [UInt8] {
        let start = at, quote = bytes[at]
        var out: [UInt8] = []
        at += 1
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            if byte == quote { return out }
            if byte == UInt8(ascii: "\\") { try escape(into: &out) } else { out.append(byte) }
        }
        throw QueryError(.syntax, "the text has no closing quote", at: start)
    }

    private mutating func escape(into out: inout [UInt8]) throws(QueryError) {
        let start = at - 1
        let byte = peek()
        at += 1
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): out.append(byte)
        case UInt8(ascii: "b"): out.append(8)
        case UInt8(ascii: "f"): out.append(12)
        case UInt8(ascii: "n"): out.append(10)
        case UInt8(ascii: "r"): out.append(13)
        case UInt8(ascii: "t"): out.append(9)
        case UInt8(ascii: "0"): out.append(0)
        case UInt8(ascii: "u"):
            var code = try hexUnit(start)
            if code >= 0xD800, code < 0xDC00, peek() == UInt8(ascii: "\\"), peek(1) == UInt8(ascii: "u") {
                at += 2
                let low = try hexUnit(start)
                guard low >= 0xDC00, low < 0xE000 else { throw QueryError(.syntax, "half of a surrogate pair", at: start) }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw QueryError(.syntax, "half of a surrogate pair", at: start) }
            out.append(contentsOf: String(Character(scalar)).utf8)
        default:
            throw QueryError(.syntax, "unknown escape", at: start, expected: "one of \\\" \\' \\\\ \\/ \\b \\f \\n \\r \\t \\0 \\uXXXX")
        }
    }

    private mutating func hexUnit(_ start: Int) throws(QueryError) -> UInt32 {
        guard at + 4 <= bytes.count, let code = UInt32(String(decoding: bytes[at..<(at + 4)], as: UTF8.self), radix: 16), bytes[at] != 43,
            bytes[at] != 45
        else {
            throw QueryError(.syntax, "unknown escape", at: start, expected: "four hexadecimal digits after \\u")
        }
        at += 4
        return code
    }

    private mutating func number() throws(QueryError) -> Token {
        let start = at
        if let date = try calendarDate() { return Token(kind: .date(date), position: start) }
        if peek() == 48, peek(1) | 32 == 120 {
            at += 2
            while isDigit(peek()) || (peek() | 32) >= 97 && (peek() | 32) <= 102 { at += 1 }
        } else {
            while isDigit(peek()) { at += 1 }
            if peek() == UInt8(ascii: ".") {
                at += 1
                while isDigit(peek()) { at += 1 }
            }
            let exponent = peek(1) == 43 || peek(1) == 45 ? 2 : 1
            if peek() | 32 == 101, isDigit(peek(exponent)) {
                at += exponent
                while isDigit(peek()) { at += 1 }
            }
            if peek() | 32 == 102 { at += 1 }
        }
        if !endsBeforeOperator {
            throw QueryError(.syntax, "a name cannot begin with a digit", at: start, expected: "a number, or the name in back-quotes")
        }
        return Token(kind: .number(String(decoding: bytes[start..<at], as: UTF8.self)), position: start)
    }

    /// The words that may follow a number, date or argument without a space: `a = 1AND b = 2`.
    private static let operators: Set<String> = ["and", "or", "in", "sort", "distinct", "limit"]

    /// Whether no name begins here, or a whole word of the language does.
    private var endsBeforeOperator: Bool {
        guard isNameStart(peek()) else { return true }
        let word = bytes[at...].prefix(9).prefix(while: isNamePart)
        return Lexer.operators.contains(String(decoding: word, as: UTF8.self).lowercased())
    }

    /// Reads `YYYY-MM-DD`, optionally with `@HH:MM:SS[:nanoseconds]`, in UTC; or, as in ISO 8601, with `T` instead of `@`, a fraction after a
    /// point, and `Z` or an offset such as `+02:00`.
    private mutating func calendarDate() throws(QueryError) -> Timestamp? {
        let start = at
        var scan = at
        func digits(_ limit: Int) -> Int? {
            var value = 0, count = 0
            while scan < bytes.count, isDigit(bytes[scan]), count < limit {
                value = value * 10 + Int(bytes[scan] - 48)
                scan += 1
                count += 1
            }
            return count > 0 ? value : nil
        }
        func sign(_ byte: UInt8) -> Bool {
            guard scan < bytes.count, bytes[scan] == byte else { return false }
            scan += 1
            return true
        }
        guard let year = digits(6), scan - start >= 4, sign(45), let month = digits(2), sign(45), let day = digits(2) else { return nil }
        guard let days = CivilDate.days(year: year, month: month, day: day) else { throw QueryError(.syntax, "no such day", at: start) }
        var seconds = 0, nanoseconds = 0
        if sign(UInt8(ascii: "@")) || sign(UInt8(ascii: "T")) {
            guard let hour = digits(2), hour < 24, sign(58), let minute = digits(2), minute < 60, sign(58), let second = digits(2),
                second < 60
            else {
                throw QueryError(.syntax, "not a time of day", at: start, expected: "a date such as 2021-03-04@05:06:07")
            }
            seconds = hour * 3600 + minute * 60 + second
            if sign(58) {
                guard let value = digits(9) else {
                    throw QueryError(.syntax, "not a time of day", at: start, expected: "nanoseconds after the third colon")
                }
                nanoseconds = value
            } else {
                let rest = isoRest(scan)
                nanoseconds = rest.nanoseconds
                seconds -= rest.quarters * 900
                scan = rest.end
            }
        }
        at = scan
        guard !isNamePart(peek()) || isNameStart(peek()) && endsBeforeOperator else {
            at = start
            return nil
        }
        return Timestamp(seconds: Int64(days) * 86_400 + Int64(seconds), nanoseconds: Int32(nanoseconds))
    }

    /// Reads what follows the seconds of a time in ISO 8601: a fraction and a zone, of which each may be absent.
    private func isoRest(_ start: Int) -> (nanoseconds: Int, quarters: Int, end: Int) {
        var at = start, nanoseconds = 0
        if at + 1 < bytes.count, bytes[at] == UInt8(ascii: "."), isDigit(bytes[at + 1]) {
            var unit = 100_000_000, end = at + 1
            while end < bytes.count, isDigit(bytes[end]), end <= at + 9 {
                nanoseconds += Int(bytes[end] - 48) * unit
                unit /= 10
                end += 1
            }
            at = end
        }
        for length in [1, 6] where at + length <= bytes.count {
            guard let (zone, quarters) = DateTimeLayout.zone(bytes[at..<(at + length)]), zone == .zulu || zone == .colon else { continue }
            return (nanoseconds, quarters, at + length)
        }
        return (nanoseconds, 0, at)
    }

    /// Reads `T<seconds>:<nanoseconds>`; both numbers carry the sign.
    private mutating func epochDate() throws(QueryError) -> Timestamp? {
        var scan = at + 1
        func signed() -> Int64? {
            let start = scan
            if scan < bytes.count, bytes[scan] == 45 { scan += 1 }
            while scan < bytes.count, isDigit(bytes[scan]) { scan += 1 }
            return Int64(String(decoding: bytes[start..<scan], as: UTF8.self))
        }
        guard scan < bytes.count, isDigit(bytes[scan]) || bytes[scan] == 45 else { return nil }
        guard let seconds = signed(), scan < bytes.count, bytes[scan] == 58 else { return nil }
        let start = at
        scan += 1
        guard let nanoseconds = signed(), nanoseconds > -1_000_000_000, nanoseconds < 1_000_000_000, seconds > Int64.min || nanoseconds >= 0
        else {
            throw QueryError(.syntax, "not a point in time", at: start, expected: "T<seconds>:<nanoseconds>")
        }
        at = scan
        return nanoseconds >= 0
            ? Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds))
            : Timestamp(seconds: seconds - 1, nanoseconds: Int32(nanoseconds + 1_000_000_000))
    }
}
