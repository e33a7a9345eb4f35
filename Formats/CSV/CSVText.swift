import FirnBytes
import FirnExchange

/// The text of an input in UTF-8, whatever its encoding, without a byte order mark. The bytes of UTF-8 inputs are not checked.
final class CSVText {
    let input: Input
    let encoding: CSVEncoding
    let hasByteOrderMark: Bool
    /// The first bytes of the text; they can be used before the first `read`.
    let head: [UInt8]
    private var pending: [UInt8] = []
    private var pendingAt = 0
    private var started = false

    init(_ input: Input, encoding asked: CSVEncoding?) throws(FirnError) {
        self.input = input
        let first = try input.peek(1 << 16)
        if first.starts(with: [0xEF, 0xBB, 0xBF]), asked == nil || asked == .utf8 {
            (encoding, hasByteOrderMark) = (.utf8, true)
        } else if first.starts(with: [0xFF, 0xFE]), asked == nil || asked == .utf16LittleEndian {
            (encoding, hasByteOrderMark) = (.utf16LittleEndian, true)
        } else if first.starts(with: [0xFE, 0xFF]), asked == nil || asked == .utf16BigEndian {
            (encoding, hasByteOrderMark) = (.utf16BigEndian, true)
        } else {
            (encoding, hasByteOrderMark) = (asked ?? .utf8, false)
        }
        let mark = !hasByteOrderMark ? 0 : encoding == .utf8 ? 3 : 2
        let body = Array(first[mark...])
        switch encoding {
        case .utf8: head = body
        case .latin1: head = CSVText.fromLatin1(body[...])
        case .utf16LittleEndian, .utf16BigEndian:
            // A surrogate pair that is cut at the end of the peeked bytes is left out.
            guard let (text, _) = CSVText.fromUTF16(body[..<(body.count & ~1)], big: encoding == .utf16BigEndian) else {
                throw CSVText.notUTF16(input, byte: 0)
            }
            head = text
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
            pending.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: memory[done...]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: $0[pendingAt..<(pendingAt + count)]))
            }
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
        if encoding == .latin1 {
            pending = CSVText.fromLatin1(piece[...])
            return
        }
        if piece.isEmpty, !odd.isEmpty {
            throw FirnError(.rejected, "UTF-16 text ends within a character", at: .init(file: input.name, byte: input.position))
        }
        let units = odd + piece
        guard let (bytes, used) = CSVText.fromUTF16(units[...], big: encoding == .utf16BigEndian) else {
            throw CSVText.notUTF16(input, byte: input.position - UInt64(piece.count))
        }
        pending = bytes
        odd = Array(units[used...])
        if pending.isEmpty, !piece.isEmpty { try refill() }
    }

    /// `byte` is the start of the invalid piece.
    private static func notUTF16(_ input: Input, byte: UInt64) -> FirnError {
        FirnError(.rejected, "text is not UTF-16", at: .init(file: input.name, byte: byte), advice: "set the encoding with --encoding")
    }

    private static func fromLatin1(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count + bytes.count / 8)
        for byte in bytes {
            if byte < 0x80 {
                out.append(byte)
            } else {
                out.append(0xC0 | byte >> 6)
                out.append(0x80 | byte & 0x3F)
            }
        }
        return out
    }

    /// Returns the text in UTF-8 and the number of bytes consumed (a cut character is left); nil if surrogates are not paired.
    private static func fromUTF16(_ bytes: ArraySlice<UInt8>, big: Bool) -> (bytes: [UInt8], used: Int)? {
        var out: [UInt8] = []
        var at = bytes.startIndex
        func unit(_ at: Int) -> UInt32 {
            big ? UInt32(bytes[at]) << 8 | UInt32(bytes[at + 1]) : UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at])
        }
        while at + 2 <= bytes.endIndex {
            var code = unit(at), width = 2
            if code & 0xFC00 == 0xDC00 { return nil }
            if code & 0xFC00 == 0xD800 {
                guard at + 4 <= bytes.endIndex else { break }
                let low = unit(at + 2)
                guard low & 0xFC00 == 0xDC00 else { return nil }
                code = 0x10000 + (((code & 0x3FF) << 10) | (low & 0x3FF))
                width = 4
            }
            out.append(contentsOf: UTF8.encode(Unicode.Scalar(code)!)!)
            at += width
        }
        return (out, at - bytes.startIndex)
    }
}

extension CSVText {
    /// Returns the error for bytes at an offset that are not UTF-8.
    func invalid(at offset: UInt64, newline: UInt8) throws(FirnError) -> FirnError {
        // UTF-8 text can contain zero bytes, but bytes that are not UTF-8 and begin with zero bytes are not text.
        if let kind = FormatName.foreign(head) ?? (head.prefix(1024).contains(0) ? "a binary file" : nil) {
            return FirnError(
                .rejected, "this is not text, but \(kind)", at: try locate(offset, newline: newline),
                advice:
                    "\(FormatName.allCases.map(\.rawValue).joined(separator: ", ")) can be read; for UTF-16 text without a byte order mark, use --encoding"
            )
        }
        return FirnError(
            .rejected, "text is not UTF-8", at: try locate(offset, newline: newline),
            advice: "if it is Latin-1 (Western European), use --encoding latin-1")
    }
}
