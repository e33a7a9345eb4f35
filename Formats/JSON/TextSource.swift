import FirnBytes
import FirnExchange

/// The text of an input in UTF-8, whatever its encoding. If it is a sequence of values that are not one per line, each value is put on a
/// line of its own: newlines within values become spaces.
final class TextSource {
    let input: Input
    /// Whether each value is put on a line of its own.
    let cutsValues: Bool
    private var encoding = Encoding.undecided
    private var cutter = ValueCutter()
    private var raw: [UInt8] = []
    private var ready: [UInt8] = []
    private var used = 0
    private var isAtEnd = false
    /// The half of a surrogate pair, or of a code unit, at the end of the last piece.
    private var rest: [UInt8] = []
    private static let piece = 1 << 16

    private enum Encoding { case undecided, utf8, utf16(isBig: Bool) }

    init(_ input: Input, cutsValues: Bool = false) {
        self.input = input
        self.cutsValues = cutsValues
    }

    func rewind() throws(FirnError) {
        try input.rewind()
        (cutter, ready, used, isAtEnd, rest) = (ValueCutter(), [], 0, false, [])
    }

    /// Returns the first bytes of the text, at most `count`, without consuming them. They can end within a character.
    func peek(_ count: Int) throws(FirnError) -> (text: [UInt8], isWhole: Bool) {
        encoding = try TextSource.encoding(input.peek(4), input.name)
        let bytes = try input.peek(count), isWhole = bytes.count < count
        guard case .utf16(let isBig) = encoding else {
            return (bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes[3...]) : bytes, isWhole)
        }
        let text = TextSource.utf8(bytes, isBig: isBig)
        return (text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text[3...]) : text, isWhole)
    }

    /// Fills `into` and returns the number of bytes, which is less than its size only at the end.
    func read(into: UnsafeMutableRawBufferPointer) throws(FirnError) -> Int {
        if case .undecided = encoding { encoding = try TextSource.encoding(input.position == 0 ? input.peek(4) : [], input.name) }
        if case .utf8 = encoding, !cutsValues { return try input.read(into: into) }
        var done = 0
        while done < into.count {
            if used == ready.count {
                guard try refill() else { break }
                continue
            }
            let count = min(into.count - done, ready.count - used)
            into[done..<(done + count)].copyBytes(from: ready[used..<(used + count)])
            done += count
            used += count
        }
        return done
    }

    /// Returns whether there are more bytes in `ready`, or more of the input to read.
    private func refill() throws(FirnError) -> Bool {
        guard !isAtEnd else { return false }
        ready.removeAll(keepingCapacity: true)
        used = 0
        let text = try nextText()
        guard cutsValues else {
            ready = text
            return true
        }
        for byte in text { cutter.add(byte, to: &ready) }
        if isAtEnd { cutter.end(&ready) }
        return true
    }

    /// Returns the next piece of the text, in UTF-8.
    private func nextText() throws(FirnError) -> [UInt8] {
        if raw.isEmpty { raw = [UInt8](repeating: 0, count: TextSource.piece) }
        var failure: FirnError?, got = 0
        raw.withMutableBytes { do throws(FirnError) { got = try input.read(into: $0) } catch { failure = error } }
        if let failure { throw failure }
        isAtEnd = got < raw.count
        guard case .utf16(let isBig) = encoding else { return Array(raw[..<got]) }
        let bytes = rest + raw[..<got]
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        for at in stride(from: 0, to: bytes.count - 1, by: 2) {
            let first = UInt16(bytes[at]), second = UInt16(bytes[at + 1])
            units.append(isBig ? first << 8 | second : second << 8 | first)
        }
        rest = bytes.count % 2 == 1 ? [bytes[bytes.count - 1]] : []
        if !isAtEnd, let last = units.last, last & 0xFC00 == 0xD800 {
            units.removeLast()
            rest = Array(bytes[(bytes.count / 2 * 2 - 2)...])
        }
        // Half a surrogate pair or half a code unit is not valid: as malformed UTF-8, the parser reports it with its position.
        var text = isMalformed(units) ? TextSource.malformed(units) : Array(String(decoding: units, as: UTF16.self).utf8)
        if isAtEnd, !rest.isEmpty { text.append(0xFF) }
        return text
    }

    /// Returns a message of the parser, which reads UTF-8, in terms of the encoding of the input.
    func shown(_ message: String) -> String {
        if case .utf16 = encoding, message == "not valid UTF-8" { return "not valid UTF-16" }
        return message
    }

    private static func utf8(_ bytes: [UInt8], isBig: Bool) -> [UInt8] {
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map { at in
            let first = UInt16(bytes[at]), second = UInt16(bytes[at + 1])
            return isBig ? first << 8 | second : second << 8 | first
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    private func isMalformed(_ units: [UInt16]) -> Bool {
        units.contains { $0 & 0xF800 == 0xD800 } && String(validating: units, as: UTF16.self) == nil
    }

    private static func malformed(_ units: [UInt16]) -> [UInt8] {
        var text: [UInt8] = [], iterator = units.makeIterator(), decoder = UTF16()
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue(let scalar): text += String(Character(scalar)).utf8
            case .error: text.append(0xFF)
            case .emptyInput: return text
            }
        }
    }

    /// Returns the encoding of a text by its first four bytes. JSON begins with an ASCII character, so the zero bytes show UTF-16 without a
    /// byte order mark too.
    private static func encoding(_ first: [UInt8], _ name: String) throws(FirnError) -> Encoding {
        if first.starts(with: [0xFF, 0xFE, 0, 0]) || first.starts(with: [0, 0, 0xFE, 0xFF]) || first.starts(with: [0, 0, 0]) {
            throw FirnError(
                .rejected, "the text is UTF-32, and JSON is UTF-8 or UTF-16", at: .init(file: name, line: 1, column: 1),
                advice: "convert it first: iconv -f UTF-32 -t UTF-8")
        }
        if first.starts(with: [0xFF, 0xFE]) { return .utf16(isBig: false) }
        if first.starts(with: [0xFE, 0xFF]) { return .utf16(isBig: true) }
        guard first.count >= 2, first[0] != first[1] else { return .utf8 }
        return first[0] == 0 ? .utf16(isBig: true) : first[1] == 0 && first.count > 3 ? .utf16(isBig: false) : .utf8
    }

    /// Returns the line and the column in the input, both from 0, of a byte of value `value` (counted from 0). Reads the input again.
    func location(value: Int, column: Int) throws(FirnError) -> (line: Int, column: Int) {
        try rewind()
        if case .undecided = encoding { encoding = try TextSource.encoding(input.peek(4), input.name) }
        var location = (line: 0, column: 0), counted = ValueCutter(), values = 0, inValue = 0, isMarked = true
        while !isAtEnd {
            for byte in try nextText() {
                var written: [UInt8] = []
                counted.add(byte, to: &written)
                // A byte can end one value and begin the next one.
                for byte in written {
                    if byte == 10 {
                        (values, inValue) = (values + 1, 0)
                    } else {
                        if values == value, inValue == column { return location }
                        inValue += 1
                    }
                }
                if values > value { return location }
                if byte == 10 { location = (location.line + 1, 0) } else { location.column += 1 }
                if isMarked, location == (0, 3), !counted.hasBegun { location.column = 0 }
                if counted.hasBegun { isMarked = false }
            }
        }
        return location
    }
}

/// Finds the ends of the values of a sequence: concatenated values, with or without white space between them, or values after record
/// separators (RFC 7464). Syntax is not checked.
struct ValueCutter {
    /// U+001E, which begins each value of a JSON text sequence.
    static let separator: UInt8 = 0x1E
    private var depth = 0
    private var inString = false, isEscaped = false
    /// Whether a value is open.
    private(set) var inValue = false
    private(set) var hasBegun = false
    private var markLeft: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Adds the next byte of the text, and writes each value on a line of its own.
    mutating func add(_ byte: UInt8, to out: inout [UInt8]) {
        if !hasBegun {
            if byte == markLeft.first {
                markLeft.removeFirst()
                return
            }
            // Only a whole byte order mark is not part of the text.
            if !markLeft.isEmpty, markLeft.count < 3 {
                out += [0xEF, 0xBB, 0xBF].prefix(3 - markLeft.count)
                inValue = true
                hasBegun = true
            }
            markLeft = []
            if byte > 32 { hasBegun = true }
        }
        if byte == ValueCutter.separator { return end(&out) }
        if inString {
            out.append(byte)
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                inString = false
                if depth == 0 { end(&out) }
            }
            return
        }
        switch byte {
        case 9, 10, 13, 32:
            if depth > 0 { out.append(32) } else { end(&out) }
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            if depth == 0 { end(&out) }
            depth += 1
            inValue = true
            out.append(byte)
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            inValue = true
            out.append(byte)
            depth -= 1
            if depth <= 0 { end(&out) }
        case UInt8(ascii: "\""):
            if depth == 0 { end(&out) }
            inString = true
            inValue = true
            out.append(byte)
        default:
            inValue = true
            out.append(byte)
        }
    }

    /// Ends the value that is open, if there is one.
    mutating func end(_ out: inout [UInt8]) {
        if inValue { out.append(10) }
        (depth, inString, isEscaped, inValue) = (0, false, false, false)
    }
}
