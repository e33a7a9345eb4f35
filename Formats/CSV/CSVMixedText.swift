import FirnBytes
import FirnExchange

/// Text in UTF-8 with single bytes that are not: pieces of another origin, or damage.
struct CSVMixedText {
    /// The number of characters of UTF-8 that take more than one byte.
    private(set) var characters = 0
    /// The number of bytes that are not part of a character of UTF-8, and the offset of the first.
    private(set) var otherBytes = 0
    private(set) var firstOther: UInt64?

    /// Whether the text is rather UTF-8 than in an encoding with one byte for each character. There, bytes are seldom those of UTF-8 by
    /// chance.
    var isMostlyUTF8: Bool { characters > otherBytes }

    /// Reads an input to its end.
    init(_ input: Input) throws(FirnError) {
        var room = [UInt8](repeating: 0, count: 1 << 16), kept = 0, offset: UInt64 = 0
        while true {
            let filled = try room.withMutableBytes { (bytes) throws(FirnError) in
                try input.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[kept...]))
            }
            let count = kept + filled
            let used = count - (filled == 0 ? 0 : CSVMixedText.cut(room[..<count]))
            add(room[..<used], at: offset)
            if filled == 0 { return }
            offset += UInt64(used)
            kept = count - used
            for i in 0..<kept { room[i] = room[used + i] }
        }
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>, at offset: UInt64) {
        var at = bytes.startIndex
        while true {
            at = bytes.startIndex + CSVText.plainEnd(bytes.span, from: at - bytes.startIndex)
            if at >= bytes.endIndex { return }
            let length = CSVMixedText.length(bytes, at)
            if length > 0 {
                characters += 1
            } else {
                otherBytes += 1
                firstOther = firstOther ?? offset + UInt64(at)
            }
            at += max(length, 1)
        }
    }

    /// Returns the text in UTF-8 and the number of bytes used: a character that is cut at the end is left out.
    static func decode(_ bytes: [UInt8]) -> (bytes: [UInt8], used: Int) {
        let used = bytes.count - cut(bytes[...])
        var out: [UInt8] = []
        out.reserveCapacity(used + 16)
        var at = 0
        while true {
            let plain = min(CSVText.plainEnd(bytes.span, from: at), used)
            out.append(contentsOf: bytes[at..<plain])
            at = plain
            if at == used { break }
            let length = length(bytes[..<used], at)
            if length == 0 { CSVText.appendWindows(bytes[at], to: &out) } else { out += bytes[at..<at + length] }
            at += max(length, 1)
        }
        return (out, used)
    }

    /// Returns the number of bytes of the character of several bytes at a position, or 0 if there is none.
    private static func length(_ bytes: ArraySlice<UInt8>, _ at: Int) -> Int {
        guard let shape = shape(bytes[at]), at + shape.length <= bytes.endIndex, shape.second ~= bytes[at + 1],
            bytes[at + 2..<max(at + shape.length, at + 2)].allSatisfy({ $0 & 0xC0 == 0x80 })
        else { return 0 }
        return shape.length
    }

    /// Returns how many bytes at the end may be the start of a character.
    private static func cut(_ bytes: ArraySlice<UInt8>) -> Int {
        for back in 1...3 where back <= bytes.count {
            let at = bytes.endIndex - back
            if bytes[at] & 0xC0 == 0x80 { continue }
            guard let shape = shape(bytes[at]), shape.length > back, back == 1 || shape.second ~= bytes[at + 1] else { return 0 }
            return back
        }
        return 0
    }

    /// The length of a character with this first byte, and its possible second bytes (Unicode Standard, table 3-7).
    private static func shape(_ first: UInt8) -> (length: Int, second: ClosedRange<UInt8>)? {
        switch first {
        case 0xC2...0xDF: (2, 0x80...0xBF)
        case 0xE0: (3, 0xA0...0xBF)
        case 0xED: (3, 0x80...0x9F)
        case 0xE1...0xEF: (3, 0x80...0xBF)
        case 0xF0: (4, 0x90...0xBF)
        case 0xF4: (4, 0x80...0x8F)
        case 0xF1...0xF3: (4, 0x80...0xBF)
        default: nil
        }
    }
}
