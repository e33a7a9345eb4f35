import FirnBytes
import FirnDisk
import FirnExchange

/// Facts of the file format (https://www.sqlite.org/fileformat2.html) that are checked before SQLite opens a file.
enum SQLiteFormat {
    static let headerBytes = 100
    static let magic = Array("SQLite format 3\0".utf8)

    /// What the header says.
    struct Header {
        let pageSize: UInt64
        /// Whether changes are written to a write-ahead log.
        let hasLog: Bool
    }

    /// Returns the header; nil for an empty file, which is an empty database.
    /// - Throws: `.notThisFormat`, or `.damaged` if the file does not consist of whole pages. SQLite itself reads the missing end of a page as zeros.
    static func header(_ first: [UInt8], size: UInt64?, name: String) throws(FirnError) -> Header? {
        if first.isEmpty { return nil }
        guard first.starts(with: magic) else {
            let isCut = magic.starts(with: first)
            throw FirnError(
                .notThisFormat,
                isCut
                    ? "this is not an SQLite database: the file ends within its header"
                    : "this is not an SQLite database, or an encrypted one: it does not begin with \"SQLite format 3\"",
                at: .init(file: name, byte: 0))
        }
        guard first.count >= headerBytes else {
            throw FirnError(
                .damaged, "the SQLite database ends within its header of 100 bytes", at: .init(file: name, byte: UInt64(first.count)))
        }
        let stored = UInt64(first[16]) << 8 | UInt64(first[17]), pageSize = stored == 1 ? 65_536 : stored
        guard pageSize >= 512, pageSize <= 65_536, pageSize & (pageSize - 1) == 0 else {
            throw FirnError(.damaged, "the header has the impossible page size \(pageSize)", at: .init(file: name, byte: 16))
        }
        if let size, size % pageSize != 0 {
            throw FirnError(
                .damaged, "the file is truncated: its \(size) bytes are not whole pages of \(pageSize)", at: .init(file: name, byte: size))
        }
        return Header(pageSize: pageSize, hasLog: first[18] == 2 || first[19] == 2)
    }

    /// Returns a name in double quotes.
    static func quoted(_ name: String) -> String { "\"" + doubling("\"", in: name) + "\"" }

    /// Returns a text in single quotes.
    static func literal(_ text: String) -> String { "'" + doubling("'", in: text) + "'" }

    /// Works on bytes, as SQLite does: in Swift a quote and a combining mark after it are one character.
    private static func doubling(_ mark: Unicode.Scalar, in text: String) -> String {
        let mark = UInt8(ascii: mark)
        return String(decoding: text.utf8.flatMap { $0 == mark ? [mark, mark] : [$0] }, as: UTF8.self)
    }

    /// Names are equal without regard to the case of ASCII letters.
    static func folded(_ name: String) -> String {
        String(decoding: name.utf8.map { 65...90 ~= $0 ? $0 + 32 : $0 }, as: UTF8.self)
    }

    /// Returns a path as a URI.
    static func uri(_ path: String, _ parameters: String) -> String {
        var text = "file://"
        for byte in path.utf8 {
            let isPlain = byte == 47 || byte == 45 || byte == 46 || byte == 95 || 48...57 ~= byte || 65...90 ~= byte || 97...122 ~= byte
            let hex = String(byte, radix: 16, uppercase: true)
            text += isPlain ? String(UnicodeScalar(byte)) : "%" + (hex.utf8.count == 1 ? "0" : "") + hex
        }
        return text + "?" + parameters
    }
}
