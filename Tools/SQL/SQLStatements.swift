import FirnBytes

/// The text of statements, for what must be known before they are prepared: their parameters and the positions of errors.
package struct SQLStatements {
    /// A parameter, with its prefix: `:name`, `@name`, `$name` or `?1`. A `?` alone has the number that SQLite gives it.
    package struct Parameter: Equatable {
        package let name: String
        /// The offset of its first byte in the text.
        package let offset: Int
    }

    package let bytes: [UInt8]

    package init(_ text: String) { bytes = Array(text.utf8) }
    init(_ characters: [CChar]) { bytes = characters.map { UInt8(bitPattern: $0) } }

    /// The characters, for `SQLConnection.statement`.
    package var characters: [CChar] { bytes.map { CChar(bitPattern: $0) } }

    /// The location of a byte: line and column in characters.
    package func location(_ offset: Int) -> FirnError.Location {
        let before = bytes[..<min(max(offset, 0), bytes.count)], start = before.lastIndex(of: 10).map { $0 + 1 } ?? 0
        let line = before.reduce(1) { $0 + ($1 == 10 ? 1 : 0) }
        return .init(file: "SQL", line: line, column: String(decoding: before[start...], as: UTF8.self).count + 1)
    }

    /// The offset after the last byte that is not white space.
    var end: Int { (bytes.lastIndex { $0 > 32 } ?? -1) + 1 }

    func byte(_ at: Int) -> UInt8 { at < bytes.count ? bytes[at] : 0 }

    /// Returns the offset of the first token from an offset on: after white space and comments.
    func token(from start: Int) -> Int {
        var at = start
        while at < bytes.count, let next = afterSpace(at) { at = next }
        return at
    }

    /// Returns the offset of the first occurrence of a name from an offset on, or of the first token if there is none.
    func token(from start: Int, named name: String) -> Int {
        let wanted = Array(name.utf8), first = token(from: start)
        guard !wanted.isEmpty, bytes.count >= wanted.count else { return first }
        return (first..<max(first, bytes.count - wanted.count + 1)).first { bytes[$0..<$0 + wanted.count].elementsEqual(wanted) } ?? first
    }

    /// Returns the offset after the white space or comment at an offset; nil if there is neither.
    func afterSpace(_ start: Int) -> Int? {
        var at = start
        switch (byte(at), byte(at + 1)) {
        case (UInt8(ascii: "-"), UInt8(ascii: "-")):
            while at < bytes.count, bytes[at] != 10 { at += 1 }
        case (UInt8(ascii: "/"), UInt8(ascii: "*")):
            at += 2
            while at < bytes.count, byte(at) != UInt8(ascii: "*") || byte(at + 1) != UInt8(ascii: "/") { at += 1 }
            at = min(at + 2, bytes.count)
        case (0...32, _): at += 1
        default: return nil
        }
        return at
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte | 32) }
    static func isPartOfName(_ byte: UInt8) -> Bool {
        isLetter(byte) || (48...57).contains(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
    }

    /// All parameters of all statements, in order. Texts, quoted names and comments contain none.
    package var parameters: [Parameter] {
        var found: [Parameter] = [], numbers: [String: Int] = [:], largest = 0, at = 0
        func note(_ name: String, _ offset: Int) { found.append(Parameter(name: name, offset: offset)) }
        while at < bytes.count {
            if let next = afterSpace(at) {
                at = next
                continue
            }
            let start = at
            switch byte(at) {
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): at = afterQuoted(at, byte(at))
            case UInt8(ascii: "["): at = afterQuoted(at, UInt8(ascii: "]"))
            case UInt8(ascii: ";"): (numbers, largest, at) = ([:], 0, at + 1)
            case UInt8(ascii: "?"):
                at += 1
                while (48...57).contains(byte(at)) { at += 1 }
                let digits = String(decoding: bytes[start + 1..<at], as: UTF8.self), number = Int(digits) ?? largest + 1
                largest = max(largest, number)
                note("?\(number)", start)
            // A conversion in other databases, x::text, and no parameter.
            case UInt8(ascii: ":") where byte(at + 1) == UInt8(ascii: ":"): at = afterName(at + 1)
            case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "#"):
                at = afterName(at)
                guard at > start + 1 else { break }
                let name = String(decoding: bytes[start..<at], as: UTF8.self)
                if numbers[name] == nil {
                    largest += 1
                    numbers[name] = largest
                }
                note(name, start)
            case let byte where SQLStatements.isPartOfName(byte):
                while SQLStatements.isPartOfName(self.byte(at)) { at += 1 }
            default: at += 1
            }
        }
        return found
    }

    /// Returns the offset after a name with a prefix. The names of Tcl, after `$`, can contain `::` and end in parentheses.
    func afterName(_ start: Int) -> Int {
        var at = start + 1
        while at < bytes.count {
            if SQLStatements.isPartOfName(byte(at)) {
                at += 1
            } else if byte(start) == UInt8(ascii: "$"), byte(at) == UInt8(ascii: ":"), byte(at + 1) == UInt8(ascii: ":") {
                at += 2
            } else if byte(start) == UInt8(ascii: "$"), at > start + 1, byte(at) == UInt8(ascii: "(") {
                return bytes[at...].firstIndex { $0 <= 32 || $0 == UInt8(ascii: ")") }.map { bytes[$0] > 32 ? $0 + 1 : at } ?? at
            } else {
                break
            }
        }
        return at
    }

    /// Returns the offset after a quoted text or name. A quote within it is doubled.
    func afterQuoted(_ start: Int, _ quote: UInt8) -> Int {
        var at = start + 1
        while at < bytes.count {
            if bytes[at] == quote {
                guard byte(at + 1) == quote, quote != UInt8(ascii: "]") else { return at + 1 }
                at += 1
            }
            at += 1
        }
        return at
    }
}
