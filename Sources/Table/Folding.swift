import FirnBytes

/// What a comparison of text ignores: case (`[c]`) and marks on letters (`[d]`).
///
/// Case: simple case folding, which maps one scalar to one scalar and so keeps the length in scalars (Unicode, CaseFolding.txt, statuses C
/// and S). The standard library has no folding table; the lower case of the upper case is the same mapping except for the four scalars that
/// `lowered` names. Marks: letters in `markedLetters` become the base letter, and combining marks are removed; text of other scripts keeps
/// its marks.
package struct Folding: Hashable, Sendable, CustomStringConvertible {
    package var `case` = false
    package var marks = false

    package init(case ignoresCase: Bool = false, marks ignoresMarks: Bool = false) {
        `case` = ignoresCase
        marks = ignoresMarks
    }

    /// Whether anything is ignored, so that text must be folded.
    package var isNeeded: Bool { self.case || marks }
    package var description: String { isNeeded ? "[\(self.case ? "c" : "")\(marks ? "d" : "")]" : "" }

    /// Appends the folded form of `bytes`. Bytes that are not UTF-8 are copied unchanged.
    package func append(_ bytes: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        var at = 0
        while at < bytes.count {
            let byte = bytes[at]
            if byte < 0x80 {
                out.append(self.case && byte &- 65 < 26 ? byte | 32 : byte)
                at &+= 1
                continue
            }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
            guard byte >= 0xC2, byte < 0xF5, at + length <= bytes.count, let scalar = Folding.decode(bytes, at, length) else {
                out.append(byte)
                at &+= 1
                continue
            }
            let folded = fold(scalar)
            if folded == scalar {
                for i in 0..<length { out.append(bytes[at &+ i]) }
            } else if let folded {
                out.append(contentsOf: UTF8.encode(folded)!)
            }
            at &+= length
        }
    }

    /// Returns the folded form of `bytes`.
    package func folded(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        bytes.withUnsafeBytes { append($0, to: &out) }
        return out
    }

    /// Returns nil if the scalar is removed.
    private func fold(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        var scalar = scalar
        if marks {
            if Folding.isMark(scalar) { return nil }
            let table = Folding.unmarked
            if Int(scalar.value) < table.count, table[Int(scalar.value)] != 0 { scalar = Unicode.Scalar(table[Int(scalar.value)])! }
        }
        return self.case ? Folding.lowered(scalar) : scalar
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, _ at: Int, _ length: Int) -> Unicode.Scalar? {
        var code = UInt32(bytes[at]) & (0x7F >> UInt32(length))
        for i in 1..<length {
            guard bytes[at &+ i] & 0xC0 == 0x80 else { return nil }
            code = code << 6 | UInt32(bytes[at &+ i] & 0x3F)
        }
        guard code >= (length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000) else { return nil }
        return Unicode.Scalar(code)
    }

    /// Returns the scalar with its case folded.
    package static func lowered(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0x3000..<0xA640, 0xAC00..<0xFB00: return scalar
        case 0x131: return scalar
        case 0x1FD3: return "\u{390}"
        case 0x1FE3: return "\u{3B0}"
        case 0xFB05: return "\u{FB06}"
        default: break
        }
        let upper = single(scalar.properties.uppercaseMapping) ?? scalar
        return single(upper.properties.lowercaseMapping) ?? upper
    }

    private static func single(_ text: String) -> Unicode.Scalar? {
        var scalars = text.unicodeScalars.makeIterator()
        let first = scalars.next()
        return scalars.next() == nil ? first : nil
    }
}
