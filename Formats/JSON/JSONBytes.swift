import FirnBytes
import FirnExchange
import FirnTable

/// A buffer for JSON text that is being written.
struct JSONBytes: ~Copyable {
    private var run: RawArray<UInt8>

    /// `first` is the number of bytes for which the first text allocates memory, if it is not longer.
    init(first: Int = 4096) { run = RawArray(first: first) }
    deinit { run.free() }

    var count: Int { run.count }
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: run.base, count: run.count) }
    var base: UnsafeMutablePointer<UInt8> { run.base }
    /// Returns memory for `more` bytes after the last; `advance` then appends those written to it.
    @inline(__always) mutating func room(_ more: Int) -> UnsafeMutablePointer<UInt8> { run.room(more) }
    @inline(__always) mutating func advance(_ more: Int) { run.advance(more) }
    var string: String { String(decoding: bytes, as: UTF8.self) }
    mutating func removeAll() { run.truncate() }
    mutating func truncate(_ count: Int) { run.truncate(count) }

    @inline(__always) mutating func append(_ byte: UInt8) { run.append(byte) }

    mutating func append(_ text: StaticString) { run.append(text.utf8Start, text.utf8CodeUnitCount) }

    @_disfavoredOverload
    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { if let base = $0.baseAddress { run.append(base, $0.count) } }
    }

    /// Appends the first `count` bytes.
    mutating func append(_ bytes: [UInt8], count: Int) {
        bytes.withUnsafeBufferPointer { if let base = $0.baseAddress { run.append(base, min(count, $0.count)) } }
    }

    mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { if let base = $0.baseAddress { run.append(base, $0.count) } }
    }

    mutating func append(quoted text: String) {
        var text = text
        text.withUTF8 { append(quoted: UnsafeRawBufferPointer($0)) }
    }

    /// Appends text in quotes. Malformed UTF-8 becomes U+FFFD.
    mutating func append(quoted text: UnsafeRawBufferPointer) {
        run.append(UInt8(ascii: "\""))
        if text.count > 0 { append(escaped: text.assumingMemoryBound(to: UInt8.self)) }
        run.append(UInt8(ascii: "\""))
    }

    private mutating func append(escaped text: UnsafeBufferPointer<UInt8>) {
        let plain = JSONString.writePlain(text, to: run.room(text.count))
        if !plain.isASCII || plain.count < text.count, let base = text.baseAddress, firstInvalidUTF8(base, text.count) != nil {
            var repaired = String(decoding: text, as: UTF8.self)
            return repaired.withUTF8 { appendEscapes($0) }
        }
        run.advance(plain.count)
        if plain.count < text.count { appendEscapes(UnsafeBufferPointer(rebasing: text[plain.count...])) }
    }

    private mutating func appendEscapes(_ text: UnsafeBufferPointer<UInt8>) {
        run.advance(JSONString.write(text, .short, to: run.room(JSONString.escapedLength(text, .short))))
    }

    mutating func breakLine(_ indent: Int) {
        run.append(10)
        for _ in 0..<indent { append("  ") }
    }

    @inline(__always)
    mutating func append(_ value: Int64) { run.advance(NumberText.write(value, to: run.room(NumberText.room))) }

    /// Appends a finite double in its notation.
    mutating func append(_ value: Double, _ notation: Notation) {
        run.advance(NumberText.write(value, notation, to: run.room(NumberText.room)))
    }

    mutating func append(date seconds: Int64, _ nanoseconds: Int64, _ notation: Notation) {
        run.append(UInt8(ascii: "\""))
        run.advance(DateText.write(seconds: seconds, nanoseconds: nanoseconds, notation: notation, to: run.room(DateText.room)))
        run.append(UInt8(ascii: "\""))
    }

    /// Appends a date in its notation, but in another zone.
    mutating func append(date seconds: Int64, _ nanoseconds: Int64, _ notation: Notation, zone: UnsafeRawBufferPointer) {
        run.append(UInt8(ascii: "\""))
        let room = run.room(DateText.room)
        run.advance(
            DateText.write(seconds: seconds, nanoseconds: nanoseconds, notation: notation, zone: zone, to: room)
                ?? DateText.write(seconds: seconds, nanoseconds: nanoseconds, notation: notation, to: room))
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

    /// Appends base64 text in quotes.
    mutating func append(base64 bytes: UnsafeRawBufferPointer) {
        var text = [UInt8(ascii: "\"")]
        Base64.append(bytes, to: &text)
        append(text)
        run.append(UInt8(ascii: "\""))
    }

    /// Returns the shortest text that reads back as the same double.
    static func plain(_ value: Double) -> String {
        var out = JSONBytes()
        out.append(value, .plain)
        return out.string
    }
}
