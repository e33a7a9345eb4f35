import FirnBytes
import FirnExchange

/// The text of an input in UTF-8, whatever its encoding, without a byte order mark. The bytes of UTF-8 inputs are not checked.
final class CSVText: CSVSource {
    let input: Input
    let encoding: CSVEncoding
    let hasByteOrderMark: Bool
    /// The first bytes of the text; they can be used before the first `read`.
    let head: [UInt8]
    private var pending: [UInt8] = []
    private var pendingAt = 0
    private var started = false
    private var converter: CSVConverter?
    /// Whether bytes were read that Windows-1252 and Latin-1 read differently.
    private(set) var hasWindowsCharacters = false

    init(_ input: Input, encoding asked: CSVEncoding?) throws(FirnError) {
        self.input = input
        let first = try input.peek(1 << 16)
        if first.starts(with: [0xEF, 0xBB, 0xBF]), asked == nil || asked == .utf8 {
            (encoding, hasByteOrderMark) = (.utf8, true)
        } else if asked == nil, first.starts(with: [0xFF, 0xFE, 0, 0]) || first.starts(with: [0, 0, 0xFE, 0xFF]) {
            // The converter reads the mark.
            (encoding, hasByteOrderMark) = (.named("utf-32"), false)
        } else if first.starts(with: [0xFF, 0xFE]), asked == nil || asked == .utf16LittleEndian {
            (encoding, hasByteOrderMark) = (.utf16LittleEndian, true)
        } else if first.starts(with: [0xFE, 0xFF]), asked == nil || asked == .utf16BigEndian {
            (encoding, hasByteOrderMark) = (.utf16BigEndian, true)
        } else {
            (encoding, hasByteOrderMark) = (asked ?? CSVEncoding.detect(first) ?? .utf8, false)
        }
        if case .named(let name) = encoding { converter = CSVConverter(from: name, to: "UTF-8") }
        let mark = !hasByteOrderMark ? 0 : encoding == .utf8 ? 3 : 2
        let body = Array(first[mark...])
        // A character that is cut at the end of the peeked bytes is left out.
        guard let (text, _) = CSVText.decode(body, encoding, converter) else {
            throw CSVText.undecodable(input, encoding, byte: UInt64(mark + (CSVText.loneSurrogate(body, encoding) ?? 0)))
        }
        head = text
        converter?.reset()
    }

    /// Converts bytes to UTF-8. Returns the number of bytes used, without a cut character; nil if the bytes are not in the encoding.
    private static func decode(_ bytes: [UInt8], _ encoding: CSVEncoding, _ converter: CSVConverter?) -> (bytes: [UInt8], used: Int)? {
        switch encoding {
        case .utf8: return (bytes, bytes.count)
        case .latin1: return (CSVText.fromLatin1(bytes[...]), bytes.count)
        case .windows1252: return (CSVText.fromWindows(bytes), bytes.count)
        case .utf16LittleEndian, .utf16BigEndian:
            return CSVText.fromUTF16(bytes[..<(bytes.count & ~1)], big: encoding == .utf16BigEndian)
        case .mixed: return CSVMixedText.decode(bytes)
        case .named:
            guard let (text, used, isValid) = converter?.convert(bytes), isValid else { return nil }
            return (text, used)
        }
    }

    /// Fills `memory` and returns the number of bytes, which is less than its size only at the end.
    func read(into memory: UnsafeMutableRawBufferPointer) throws(FirnError) -> Int {
        if !started {
            started = true
            var mark = [UInt8](repeating: 0, count: 3)
            if hasByteOrderMark {
                let length = encoding == .utf8 ? 3 : 2
                _ = try mark.withMutableBytes { (mark) throws(FirnError) in
                    try input.read(into: UnsafeMutableRawBufferPointer(rebasing: mark[..<length]))
                }
            }
        }
        if encoding == .utf8 { return try input.read(into: memory) }
        var done = 0
        while done < memory.count {
            if pendingAt == pending.count {
                try refill()
                if pending.isEmpty { break }
            }
            let count = min(memory.count - done, pending.count - pendingAt)
            UnsafeMutableRawBufferPointer(rebasing: memory[done...]).copyBytes(from: pending[pendingAt..<(pendingAt + count)])
            done += count
            pendingAt += count
        }
        return done
    }

    func rewind() throws(FirnError) {
        try input.rewind()
        started = false
        pending = []
        pendingAt = 0
        odd = []
        converter?.reset()
    }

    /// The bytes of a character that the last piece cut.
    private var odd: [UInt8] = []

    private func refill() throws(FirnError) {
        var failure: FirnError?
        let piece = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            do throws(FirnError) { count = try input.read(into: UnsafeMutableRawBufferPointer(buffer)) } catch { failure = error }
        }
        if let failure { throw failure }
        pendingAt = 0
        if piece.isEmpty, encoding == .mixed {
            pending = CSVText.fromWindows(odd)
            odd = []
            return
        }
        if piece.isEmpty, !odd.isEmpty {
            throw FirnError(
                .rejected, "\(CSVText.name(encoding)) text ends within a character", at: .init(file: input.name, byte: input.position))
        }
        if encoding == .windows1252, !hasWindowsCharacters { hasWindowsCharacters = piece.contains { $0 >= 0x80 && $0 < 0xA0 } }
        let units = odd + piece
        guard let (bytes, used) = CSVText.decode(units, encoding, converter) else {
            let offset = UInt64(CSVText.loneSurrogate(units, encoding) ?? odd.count)
            throw CSVText.undecodable(input, encoding, byte: input.position - UInt64(units.count) + offset)
        }
        pending = bytes
        odd = Array(units[used...])
        if odd.count > 64 { throw CSVText.undecodable(input, encoding, byte: input.position - UInt64(piece.count)) }
        if pending.isEmpty, !piece.isEmpty { try refill() }
    }

    private static func name(_ encoding: CSVEncoding) -> String {
        encoding == .utf16LittleEndian || encoding == .utf16BigEndian ? "UTF-16" : encoding.rawValue
    }

    /// `byte` is the start of the invalid piece.
    private static func undecodable(_ input: Input, _ encoding: CSVEncoding, byte: UInt64) -> FirnError {
        FirnError(
            .rejected, "text is not \(name(encoding))", at: .init(file: input.name, byte: byte), advice: "set the encoding with --encoding")
    }

    /// The position of the first surrogate of UTF-16 without its partner; nil for other encodings.
    private static func loneSurrogate(_ bytes: [UInt8], _ encoding: CSVEncoding) -> Int? {
        guard encoding == .utf16LittleEndian || encoding == .utf16BigEndian else { return nil }
        let high = encoding == .utf16BigEndian ? 0 : 1
        var at = 0
        while at + 2 <= bytes.count {
            let kind = bytes[at + high] & 0xFC
            if kind == 0xDC { return at }
            if kind == 0xD8, at + 4 <= bytes.count {
                if bytes[at + 2 + high] & 0xFC != 0xDC { return at }
                at += 2
            }
            at += 2
        }
        return nil
    }

    private static func fromWindows(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = [], at = 0
        out.reserveCapacity(bytes.count + bytes.count / 8)
        while at < bytes.count {
            let plain = plainEnd(bytes.span, from: at)
            out.append(contentsOf: bytes[at..<plain])
            if plain < bytes.count { appendWindows(bytes[plain], to: &out) }
            at = plain + 1
        }
        return out
    }

    /// Returns the position of the first byte from `start` on that is not ASCII, or the end.
    static func plainEnd(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var at = start
        while at < bytes.count, bytes[at] < 0x80 { at &+= 1 }
        return at
    }

    /// Appends the character of a byte in Windows-1252.
    static func appendWindows(_ byte: UInt8, to out: inout [UInt8]) {
        if byte < 0x80 { return out.append(byte) }
        let code = byte < 0xA0 ? UInt32(CSVEncoding.windowsCharacters[Int(byte) - 0x80]) : UInt32(byte)
        out.append(contentsOf: UTF8.encode(Unicode.Scalar(code) ?? " ") ?? UTF8.EncodedScalar())
    }

    private static func fromLatin1(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var out: [UInt8] = [], at = bytes.startIndex
        out.reserveCapacity(bytes.count + bytes.count / 8)
        while at < bytes.endIndex {
            let plain = bytes.startIndex + plainEnd(bytes.span, from: at - bytes.startIndex)
            out.append(contentsOf: bytes[at..<plain])
            if plain < bytes.endIndex {
                out.append(0xC0 | bytes[plain] >> 6)
                out.append(0x80 | bytes[plain] & 0x3F)
            }
            at = plain + 1
        }
        return out
    }

    /// Returns the text in UTF-8 and the number of bytes consumed (a cut character is left); nil if surrogates are not paired.
    private static func fromUTF16(_ bytes: ArraySlice<UInt8>, big: Bool) -> (bytes: [UInt8], used: Int)? {
        let text = bytes.span, high = big ? 0 : 1
        func unit(_ at: Int) -> UInt32 { UInt32(text[at &+ high]) << 8 | UInt32(text[at &+ 1 &- high]) }
        // A unit becomes at most three bytes, and a pair of surrogates four.
        var room = [UInt8](repeating: 0, count: bytes.count / 2 * 3), at = 0, length = 0, out = room.mutableSpan
        while at + 2 <= text.count {
            var code = unit(at), width = 2
            if code < 0x80 {
                out[length] = UInt8(truncatingIfNeeded: code)
                (at, length) = (at &+ 2, length &+ 1)
                continue
            }
            if code & 0xFC00 == 0xDC00 { return nil }
            if code & 0xFC00 == 0xD800 {
                guard at + 4 <= text.count else { break }
                let low = unit(at + 2)
                guard low & 0xFC00 == 0xDC00 else { return nil }
                code = 0x10000 + (((code & 0x3FF) << 10) | (low & 0x3FF))
                width = 4
            }
            for byte in UTF8.encode(Unicode.Scalar(code) ?? "\u{FFFD}") ?? UTF8.EncodedScalar() {
                out[length] = byte
                length += 1
            }
            at += width
        }
        room.removeLast(room.count - length)
        return (room, at)
    }
}

extension CSVText {
    static let encodingAdvice = "set its encoding with --encoding, such as latin-1 or windows-1252"

    /// Whether the text begins like that of a binary file.
    var isBinary: Bool { FormatName.foreign(head) != nil || head.prefix(1024).contains(0) }

    /// Returns the error for bytes at an offset that are not UTF-8.
    func invalid(at offset: UInt64, newline: UInt8) throws(FirnError) -> FirnError {
        // UTF-8 text can contain zero bytes, but bytes that are not UTF-8 and begin with zero bytes are not text.
        if isBinary {
            return FirnError(
                .rejected, "this is not text, but \(FormatName.foreign(head) ?? "a binary file")", at: try locate(offset, newline: newline),
                advice:
                    "\(FormatName.allCases.map(\.rawValue).joined(separator: ", ")) can be read; for UTF-16 text without a byte order mark, use --encoding"
            )
        }
        return FirnError(.rejected, "text is not UTF-8", at: try locate(offset, newline: newline), advice: CSVText.encodingAdvice)
    }
}
