import FirnBytes
import FirnExchange
import FirnTable

/// A buffer for JSON text that is being written.
struct JSONBytes: ~Copyable {
    private var run = Run<UInt8>(first: 4096)

    init() {}
    deinit { run.free() }

    var count: Int { run.count }
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: run.base, count: run.count) }
    var string: String { String(decoding: bytes, as: UTF8.self) }
    mutating func removeAll() { run.truncate() }

    @inline(__always) mutating func append(_ byte: UInt8) { run.append(byte) }

    mutating func append(_ text: StaticString) { run.append(text.utf8Start, text.utf8CodeUnitCount) }

    @_disfavoredOverload
    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { if let base = $0.baseAddress { run.append(base, $0.count) } }
    }

    mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { if let base = $0.baseAddress { run.append(base, $0.count) } }
    }

    mutating func append(quoted text: String) {
        var text = text
        text.withUTF8 { append(quoted: UnsafeRawBufferPointer($0)) }
    }

    /// Appends text in quotes. Only characters that JSON requires to be escaped are escaped: quotes, backslashes and control characters.
    /// Malformed UTF-8 becomes U+FFFD.
    mutating func append(quoted text: UnsafeRawBufferPointer) {
        run.append(UInt8(ascii: "\""))
        if let base = text.baseAddress, text.count > 0 { append(escaped: base.assumingMemoryBound(to: UInt8.self), text.count) }
        run.append(UInt8(ascii: "\""))
    }

    private mutating func append(escaped base: UnsafePointer<UInt8>, _ count: Int) {
        // Copies eight bytes at a time while none of them needs an escape.
        var at = 0, high: UInt64 = 0
        let out = run.room(count &+ 8)
        while at &+ 8 <= count {
            let word = UnsafeRawPointer(base + at).loadUnaligned(as: UInt64.self)
            if JSONText.needsEscape(word) { break }
            high |= word
            UnsafeMutableRawPointer(out + at).storeBytes(of: word, as: UInt64.self)
            at &+= 8
        }
        while at < count {
            let byte = base[at]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            high |= UInt64(byte)
            out[at] = byte
            at &+= 1
        }
        if high & 0x8080_8080_8080_8080 != 0 || at < count, !JSONText.isValid(base, count) {
            let repaired = String(decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self)
            var copy = repaired
            return copy.withUTF8 { append(slowly: $0.baseAddress!, $0.count) }
        }
        run.advance(at)
        if at < count { append(slowly: base + at, count &- at) }
    }

    private mutating func append(slowly base: UnsafePointer<UInt8>, _ count: Int) {
        var start = 0
        for at in 0..<count {
            let byte = base[at]
            if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { continue }
            run.append(base + start, at &- start)
            start = at &+ 1
            run.append(UInt8(ascii: "\\"))
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): run.append(byte)
            case 8: run.append(UInt8(ascii: "b"))
            case 9: run.append(UInt8(ascii: "t"))
            case 10: run.append(UInt8(ascii: "n"))
            case 12: run.append(UInt8(ascii: "f"))
            case 13: run.append(UInt8(ascii: "r"))
            default:
                append("u00")
                run.append(byte < 16 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
                let low = byte & 15
                run.append(low < 10 ? low &+ 48 : low &+ 87)
            }
        }
        run.append(base + start, count &- start)
    }

    mutating func breakLine(_ indent: Int) {
        run.append(10)
        for _ in 0..<indent { append("  ") }
    }

    @inline(__always)
    mutating func append(_ value: Int64) { run.advance(NumberText.write(value, to: run.room(NumberText.room))) }

    /// Appends a finite double in its notation.
    mutating func append(_ value: Double, _ notation: Notation) {
        let out = run.room(NumberText.room)
        switch notation.code {
        case Notation.fixed(0).code: run.advance(NumberText.write(value, fixed: Int(notation.parameter), to: out))
        case Notation.pointZero.code: run.advance(NumberText.writePointZero(value, to: out))
        default: run.advance(NumberText.writePlain(value, to: out))
        }
    }

    mutating func append(date seconds: Int64, _ nanoseconds: Int64, _ notation: Notation) {
        run.append(UInt8(ascii: "\""))
        run.advance(DateText.write(seconds: seconds, nanoseconds: nanoseconds, notation: notation, to: run.room(DateText.room)))
        run.append(UInt8(ascii: "\""))
    }

    mutating func append(uuid: Identifier, upper: Bool) {
        run.append(UInt8(ascii: "\""))
        IdentifierText.write(uuid: uuid, upper: upper, to: run.room(36))
        run.advance(36)
        run.append(UInt8(ascii: "\""))
    }

    mutating func append(objectID: Identifier) {
        run.append(UInt8(ascii: "\""))
        IdentifierText.write(objectID: objectID, to: run.room(24))
        run.advance(24)
        run.append(UInt8(ascii: "\""))
    }

    /// Appends base64 text (RFC 4648, with padding) in quotes.
    mutating func append(base64 bytes: UnsafeRawBufferPointer) {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        run.append(UInt8(ascii: "\""))
        var at = 0
        while at < bytes.count {
            let left = bytes.count - at
            let word = UInt32(bytes[at]) << 16 | (left > 1 ? UInt32(bytes[at + 1]) << 8 : 0) | (left > 2 ? UInt32(bytes[at + 2]) : 0)
            run.append(digits[Int(word >> 18)])
            run.append(digits[Int(word >> 12 & 63)])
            run.append(left > 1 ? digits[Int(word >> 6 & 63)] : UInt8(ascii: "="))
            run.append(left > 2 ? digits[Int(word & 63)] : UInt8(ascii: "="))
            at += 3
        }
        run.append(UInt8(ascii: "\""))
    }
}

enum JSONText {
    /// Whether a byte of the word is a control character, a quote or a backslash.
    @inline(__always)
    static func needsEscape(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101, tops: UInt64 = 0x8080_8080_8080_8080
        let quote = word ^ (ones &* 0x22), slash = word ^ (ones &* 0x5C)
        let control = (word &- ones &* 0x20) & ~word
        let found = ((quote &- ones) & ~quote) | ((slash &- ones) & ~slash) | control
        return found & tops != 0
    }

    static func isValid(_ base: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        String(validating: UnsafeBufferPointer(start: base, count: count), as: UTF8.self) != nil
    }

    static func plain(_ value: Double) -> String {
        var out = JSONBytes()
        out.append(value, .plain)
        return out.string
    }
}
