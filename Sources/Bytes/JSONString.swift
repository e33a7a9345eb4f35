/// Text as JSON strings. Only characters that JSON requires to be escaped are escaped: quotes, backslashes and control characters.
///
/// It is the one place where Firn writes them; `JSONDocument` of FirnJSON prints whole documents with it.
package enum JSONString {
    /// The remark about numbers that JSON cannot write, and that are written as null.
    package static func remark(notFinite count: Int) -> String {
        count == 1
            ? "1 value that is not a finite number was written as null"
            : "\(count) values that are not finite numbers were written as null"
    }

    /// How backspace and form feed are escaped. Line feed, carriage return and tab are `\n`, `\r` and `\t` in both.
    package enum Escapes: Sendable {
        /// `\b` and `\f`.
        case short
        /// `\u0008` and `\u000c`.
        case numeric
    }

    /// Returns the text in quotes.
    package static func quoted(_ text: String, _ escapes: Escapes = .numeric) -> String {
        var text = text
        return text.withUTF8 { bytes in
            let length = escapedLength(bytes, escapes)
            return String(unsafeUninitializedCapacity: length + 2) { out in
                out[0] = UInt8(ascii: "\"")
                if length > 0, let base = out.baseAddress { write(bytes, escapes, to: base + 1) }
                out[length + 1] = UInt8(ascii: "\"")
                return length + 2
            }
        }
    }

    /// Appends text in quotes. Malformed UTF-8 is copied unchanged.
    package static func append(_ text: [UInt8], _ escapes: Escapes = .numeric, to out: inout [UInt8]) {
        text.withUnsafeBufferPointer { text in
            let start = out.count + 1, length = escapedLength(text, escapes)
            out.append(contentsOf: repeatElement(UInt8(ascii: "\""), count: length + 2))
            out.withUnsafeMutableBufferPointer { out in
                if length > 0, let base = out.baseAddress { write(text, escapes, to: base + start) }
            }
        }
    }

    /// Returns the number of bytes that `write` writes.
    package static func escapedLength(_ text: UnsafeBufferPointer<UInt8>, _ escapes: Escapes) -> Int {
        guard let base = text.baseAddress else { return 0 }
        var at = 0, length = text.count
        while at < text.count {
            if at &+ 8 <= text.count, !needsEscape(UnsafeRawPointer(base + at).loadUnaligned(as: UInt64.self)) {
                at &+= 8
                continue
            }
            if needsEscape(base[at]) { length &+= letter(base[at], escapes) == nil ? 5 : 1 }
            at &+= 1
        }
        return length
    }

    /// Writes the text with its escapes and without quotes, and returns the number of bytes. `out` must have space for `escapedLength`.
    @discardableResult
    package static func write(_ text: UnsafeBufferPointer<UInt8>, _ escapes: Escapes, to out: UnsafeMutablePointer<UInt8>) -> Int {
        var rest = text, end = out
        while !rest.isEmpty {
            let plain = writePlain(rest, to: end).count
            end += plain
            guard plain < rest.count else { break }
            let byte = rest[plain]
            end[0] = UInt8(ascii: "\\")
            if let letter = letter(byte, escapes) {
                end[1] = letter
                end += 2
            } else {
                let low = byte & 15
                end[1] = UInt8(ascii: "u")
                end[2] = UInt8(ascii: "0")
                end[3] = UInt8(ascii: "0")
                end[4] = byte < 16 ? UInt8(ascii: "0") : UInt8(ascii: "1")
                end[5] = low < 10 ? low &+ 48 : low &+ 87
                end += 6
            }
            rest = UnsafeBufferPointer(rebasing: rest[(plain + 1)...])
        }
        return end - out
    }

    /// Copies the bytes before the first one that must be escaped. Returns their number, and whether all of them are ASCII. `out` must have
    /// space for the whole text.
    package static func writePlain(_ text: UnsafeBufferPointer<UInt8>, to out: UnsafeMutablePointer<UInt8>) -> (count: Int, isASCII: Bool) {
        guard let base = text.baseAddress else { return (0, true) }
        // Copies eight bytes at a time while none of them needs an escape.
        var at = 0, high: UInt64 = 0
        while at &+ 8 <= text.count {
            let word = UnsafeRawPointer(base + at).loadUnaligned(as: UInt64.self)
            if needsEscape(word) { break }
            high |= word
            UnsafeMutableRawPointer(out + at).storeBytes(of: word, as: UInt64.self)
            at &+= 8
        }
        while at < text.count, !needsEscape(base[at]) {
            high |= UInt64(base[at])
            out[at] = base[at]
            at &+= 1
        }
        return (at, high & 0x8080_8080_8080_8080 == 0)
    }

    @inline(__always)
    private static func needsEscape(_ byte: UInt8) -> Bool { byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") }

    /// Whether a byte of the word is a control character, a quote or a backslash.
    @inline(__always)
    private static func needsEscape(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101, tops: UInt64 = 0x8080_8080_8080_8080
        let quote = word ^ (ones &* 0x22), slash = word ^ (ones &* 0x5C)
        let control = (word &- ones &* 0x20) & ~word
        let found = ((quote &- ones) & ~quote) | ((slash &- ones) & ~slash) | control
        return found & tops != 0
    }

    /// Returns the character after the backslash of a short escape; nil if the escape is `\u00XX`.
    private static func letter(_ byte: UInt8, _ escapes: Escapes) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
        case 9: UInt8(ascii: "t")
        case 10: UInt8(ascii: "n")
        case 13: UInt8(ascii: "r")
        case 8 where escapes == .short: UInt8(ascii: "b")
        case 12 where escapes == .short: UInt8(ascii: "f")
        default: nil
        }
    }
}
