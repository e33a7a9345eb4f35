import CIconv
import FirnBytes

/// The encoding of the characters of a CSV file.
package enum CSVEncoding: Hashable, Sendable {
    case utf8, latin1
    /// Windows-1252 with the C1 control characters at its five unused positions, so that every byte is a character.
    case windows1252
    case utf16LittleEndian, utf16BigEndian
    /// UTF-8, and bytes that are not part of a character of UTF-8, which are characters of Windows-1252. Only for reading.
    case mixed
    /// An encoding that `iconv` knows.
    case named(String)

    /// The name in `--encoding` and in envelopes.
    package var rawValue: String {
        switch self {
        case .utf8: "utf-8"
        case .latin1: "latin-1"
        case .windows1252: "windows-1252"
        case .utf16LittleEndian: "utf-16le"
        case .utf16BigEndian: "utf-16be"
        case .mixed: "utf-8+windows-1252"
        case .named(let name): name
        }
    }

    /// Returns nil if the name is not that of a known encoding.
    package init?(rawValue name: String) {
        switch name.lowercased() {
        case "utf-8", "utf8": self = .utf8
        case "latin-1", "latin1", "iso-8859-1": self = .latin1
        case "windows-1252", "cp1252": self = .windows1252
        case "utf-16le": self = .utf16LittleEndian
        case "utf-16be": self = .utf16BigEndian
        case "utf-8+windows-1252": self = .mixed
        default:
            guard !name.isEmpty, name.utf8.count < 64, name.utf8.allSatisfy({ $0 > 32 && $0 < 127 }), !name.contains("//"),
                CSVConverter(from: name, to: "UTF-8") != nil
            else { return nil }
            self = .named(name)
        }
    }

    /// The characters of Windows-1252 from 0x80 to 0x9F.
    static let windowsCharacters: [UInt16] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D, 0x8F,
        0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
    ]

    /// The byte of a character in Latin-1 or Windows-1252; nil if it has none.
    func byte(_ scalar: Unicode.Scalar) -> UInt8? {
        if self == .windows1252, let index = CSVEncoding.windowsCharacters.firstIndex(where: { UInt32($0) == scalar.value }) {
            return 0x80 + UInt8(index)
        }
        guard scalar.value < 256, self == .latin1 || scalar.value < 0x80 || scalar.value >= 0xA0 else { return nil }
        return UInt8(scalar.value)
    }

    /// Returns the encoding of text without a byte order mark, as its first bytes show it: UTF-16, in which every other byte of most texts
    /// is zero, and all characters are those of texts; nil for all others.
    static func detect(_ bytes: [UInt8]) -> CSVEncoding? {
        let pairs = min(bytes.count / 2, 4096)
        guard pairs >= 4 else { return nil }
        var even = 0, odd = 0
        for i in 0..<pairs {
            if bytes[2 * i] == 0 { even += 1 }
            if bytes[2 * i + 1] == 0 { odd += 1 }
        }
        if even == 0, odd * 10 > pairs * 6 { return .utf16LittleEndian }
        if odd == 0, even * 10 > pairs * 6 { return .utf16BigEndian }
        guard even + odd > 0, !isUTF8(bytes.prefix(2 * pairs)) else { return nil }
        // Bytes of other characters can be zero too. In the other order, characters of ASCII are often letters of other scripts.
        let little = asciiCount(bytes, pairs, highAt: 1), big = asciiCount(bytes, pairs, highAt: 0)
        guard max(little, big) > 1, little != big else { return nil }
        return little > big ? .utf16LittleEndian : .utf16BigEndian
    }

    /// Whether bytes are UTF-8, apart from the last character, which can be cut.
    private static func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
        let end = bytes.lastIndex { $0 < 0x80 } ?? bytes.endIndex - 1
        return String(validating: bytes[...end], as: UTF8.self) != nil
    }

    /// Returns the number of ASCII characters in UTF-16 whose high bytes are at even or odd positions; 0 unless all characters are those of
    /// texts with lines.
    private static func asciiCount(_ bytes: [UInt8], _ pairs: Int, highAt high: Int) -> Int {
        var count = 0, lines = 0, lead: UInt32?
        for i in 0..<pairs {
            var code = UInt32(bytes[2 * i + high]) << 8 | UInt32(bytes[2 * i + 1 - high])
            if let first = lead {
                guard code & 0xFC00 == 0xDC00 else { return 0 }
                code = 0x10000 + (first & 0x3FF) << 10 + code & 0x3FF
                lead = nil
            } else if code & 0xFC00 == 0xD800 {
                lead = code
                continue
            }
            switch code {
            case 10, 13: lines += 1
            case 9, 32...126: count += 1
            default:
                guard let scalar = Unicode.Scalar(code) else { return 0 }
                switch scalar.properties.generalCategory {
                case .control, .unassigned, .privateUse, .surrogate: return 0
                default: break
                }
            }
        }
        return lines > 0 ? count : 0
    }
}

/// Converts text between two encodings piece by piece.
final class CSVConverter {
    private let converter: UnsafeMutableRawPointer

    /// Returns nil if one of the encodings is not known.
    init?(from: String, to: String) {
        guard let converter = cconv_open(to, from) else { return nil }
        self.converter = converter
    }

    deinit { cconv_close(converter) }

    func reset() { cconv_reset(converter) }

    /// Converts as many bytes as possible. `isValid` is false if the bytes after the used ones cannot be converted; otherwise they are the
    /// beginning of a character.
    func convert(_ bytes: [UInt8]) -> (text: [UInt8], used: Int, isValid: Bool) {
        var out: [UInt8] = [], used = 0
        var piece = [UInt8](repeating: 0, count: min(max(bytes.count * 2, 64), 1 << 16))
        while used < bytes.count {
            var consumed = 0, produced = 0
            let result = bytes.withBytes { bytes in
                piece.withMutableBytes { piece in
                    cconv_convert(
                        converter, bytes.baseAddress?.advanced(by: used).assumingMemoryBound(to: UInt8.self), bytes.count - used,
                        piece.baseAddress?.assumingMemoryBound(to: UInt8.self), piece.count, &consumed, &produced)
                }
            }
            out.append(contentsOf: piece[..<produced])
            used += consumed
            if result == 1 { return (out, used, false) }
            if result == 2 || consumed == 0, produced == 0 { break }
        }
        return (out, used, true)
    }
}
