import FirnBytes

/// The formats that Firn reads and writes.
package enum FormatName: String, Sendable, CaseIterable {
    case firn, csv, tsv, json, ndjson
    case parquet
    /// Read only.
    case realm
    /// An SQLite database.
    case sqlite
    case arrow

    /// Whether rows are written one after the other as text.
    package var isText: Bool { [.csv, .tsv, .json, .ndjson].contains(self) }

    /// The format of a file name's extension (a final `.zst`, `.gz`, `.xz` or `.bz2` is skipped); nil if the extension is unknown.
    package init?(extensionOf path: String) {
        var parts = path.fields(at: UInt8(ascii: "/")).last.map { $0.fields(at: UInt8(ascii: ".")).filter { !$0.isEmpty } } ?? []
        if let last = parts.last, let compression = Compression(rawValue: last.lowercased()), compression != .none { parts.removeLast() }
        guard parts.count > 1 || (path.utf8.contains(UInt8(ascii: ".")) && parts.count == 1), let last = parts.last?.lowercased() else {
            return nil
        }
        switch last {
        case "firn": self = .firn
        case "csv", "txt": self = .csv
        case "tsv", "tab": self = .tsv
        case "json", "geojson": self = .json
        case "ndjson", "jsonl": self = .ndjson
        case "realm": self = .realm
        case "parquet", "parq": self = .parquet
        case "db", "sqlite", "sqlite3", "db3": self = .sqlite
        case "arrow", "arrows", "feather", "ipc": self = .arrow
        default: return nil
        }
    }

    /// Returns the format: by content if that is certain (the magic of a `.firn`, Parquet or SQLite file, or JSON objects in a file with the name of a CSV),
    /// otherwise by name, otherwise by what the first bytes look like.
    package static func detect(path: String, firstBytes: [UInt8]) -> FormatName {
        if isFirn(firstBytes) { return .firn }
        if isRealm(firstBytes) { return .realm }
        if isParquet(firstBytes) { return .parquet }
        if isSQLite(firstBytes) { return .sqlite }
        if isArrow(firstBytes) { return .arrow }
        let text = utf8(firstBytes)
        guard let named = FormatName(extensionOf: path) else { return guess(text) }
        return named == .csv || named == .tsv ? jsonObjects(text) ?? named : named
    }

    /// Returns the bytes of UTF-16 text as UTF-8, and other bytes unchanged. Without a byte order mark, UTF-16 is recognised by its first
    /// character, which is ASCII in JSON.
    private static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 4 else { return bytes }
        let isMarked = bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
        let isBig = isMarked ? bytes[0] == 0xFE : bytes[0] == 0
        let (first, other) = isBig ? (bytes[1], bytes[0]) : (bytes[0], bytes[1])
        let begins: [UInt8] = Array("{[\" \t\r\n".utf8)
        guard isMarked || (other == 0 && begins.contains(first)) else { return bytes }
        var units: [UInt16] = []
        for at in stride(from: isMarked ? 2 : 0, to: bytes.count - 1, by: 2) {
            let a = UInt16(bytes[at]), b = UInt16(bytes[at + 1])
            units.append(isBig ? a << 8 | b : b << 8 | a)
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    /// Returns the format of bytes that begin with an object of JSON, or with an array of objects; nil if they do not, or if something else
    /// follows in the same line.
    private static func jsonObjects(_ bytes: [UInt8]) -> FormatName? {
        let isSpace: (UInt8) -> Bool = { " \t\r\n".utf8.contains($0) }
        var text = (bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]).drop(while: isSpace)
        let whole = text, isArray = text.first == UInt8(ascii: "[")
        if isArray { text = text.dropFirst().drop(while: isSpace) }
        guard text.first == UInt8(ascii: "{") else { return nil }
        text = text.dropFirst().drop(while: isSpace)
        guard text.first == UInt8(ascii: "\""), let quote = text.dropFirst().firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        guard text[(quote + 1)...].drop(while: isSpace).first == UInt8(ascii: ":") else { return nil }
        let after = end(of: whole).map { whole[$0...].drop { $0 == 32 || $0 == 9 } }
        if isArray { return after?.contains { !isSpace($0) } == true ? nil : .json }
        guard let after, let next = after.first else { return looksLikeLines(whole) ? .ndjson : .json }
        guard next == 10 || next == 13 else { return nil }
        return looksLikeLines(whole) ? .ndjson : .json
    }

    /// Returns the position after the array or object that a text begins with; nil if it does not end.
    private static func end(of text: ArraySlice<UInt8>) -> Int? {
        var depth = 0, inString = false, escaped = false
        for (i, byte) in zip(text.indices, text) {
            if escaped {
                escaped = false
            } else if byte == UInt8(ascii: "\"") {
                inString.toggle()
            } else if inString {
                escaped = byte == UInt8(ascii: "\\")
            } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                depth += 1
            } else if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
                depth -= 1
                if depth == 0 { return i + 1 }
            }
        }
        return nil
    }

    /// Whether bytes from the start of a file (4,104 are enough) are those of a `.firn` file. Each of its two root slots begins with the
    /// magic, and one slot may be damaged.
    package static func isFirn(_ bytes: [UInt8]) -> Bool {
        let magic: [UInt8] = [0x89, 0x46, 0x69, 0x72, 0x6E, 0x0D, 0x0A, 0x1A]
        return bytes.starts(with: magic) || bytes.dropFirst(4096).starts(with: magic)
    }

    /// Whether bytes from the start of a file are those of a Parquet file, plain or encrypted. A text could begin with the same letters, but
    /// not with the byte that follows them.
    package static func isParquet(_ bytes: [UInt8]) -> Bool {
        (bytes.starts(with: "PAR1".utf8) || bytes.starts(with: "PARE".utf8)) && bytes.count > 4 && bytes[4] < 0x20
            && !"\t\r\n".utf8.contains(bytes[4])
    }

    /// Whether bytes from the start of a file (16 are enough) are those of an SQLite database that is not encrypted.
    package static func isSQLite(_ bytes: [UInt8]) -> Bool { bytes.starts(with: "SQLite format 3\0".utf8) }
    /// Whether bytes from the start of a file (4,096 are enough) are those of an Arrow file, of an Arrow stream, or of a Feather file of
    /// version 1, which the reader of Arrow names.
    package static func isArrow(_ bytes: [UInt8]) -> Bool {
        if bytes.starts(with: "ARROW1\0\0".utf8) || bytes.starts(with: "FEA1\0\0\0\0".utf8) { return true }
        return isArrowStream(bytes)
    }

    /// Whether bytes begin with a message that contains a schema: a length, and a table of FlatBuffers whose second field is 1.
    private static func isArrowStream(_ bytes: [UInt8]) -> Bool {
        func number(_ at: Int, _ width: Int) -> Int? {
            guard at >= 0, at <= bytes.count - width else { return nil }
            return bytes[at..<at + width].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        let start = bytes.starts(with: [0xFF, 0xFF, 0xFF, 0xFF]) ? 8 : 4
        guard let length = number(start - 4, 4), length >= 32, length < 1 << 28, let root = number(start, 4), root < length,
            let back = number(start + root, 4)
        else { return false }
        let table = start + root, slots = table - Int(Int32(truncatingIfNeeded: back))
        guard let size = number(slots, 2), size >= 8, size <= 64, size % 2 == 0, let field = number(slots + 6, 2), field >= 4 else {
            return false
        }
        return number(table + field, 1) == 1
    }

    /// What a file is that is no text, such as "a Parquet file" or "compressed twice", by its first bytes; nil if they are not
    /// recognised.
    package static func foreign(_ bytes: [UInt8]) -> String? {
        func begins(_ magic: String) -> Bool { bytes.starts(with: magic.utf8) }
        // A text could begin with the same letters, but not with the bytes that follow them in these formats.
        if isParquet(bytes) { return "a Parquet file" }
        if isArrow(bytes) { return "an Arrow file" }
        if isSQLite(bytes) { return "an SQLite database" }
        // The first compression has been undone.
        if Compression.of(bytes) != .none { return "compressed twice" }
        if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) { return "a ZIP archive (as Excel's .xlsx files are)" }
        return nil
    }

    /// Whether bytes from the start of a file (24 are enough) are those of a `.realm` file that is not encrypted.
    package static func isRealm(_ bytes: [UInt8]) -> Bool {
        bytes.count > 23 && bytes[16..<20].elementsEqual("T-DB".utf8) && bytes[20] < 0x20 && bytes[21] < 0x20
    }

    /// Whether files of this format are not text, so that they are not written to a terminal.
    package var isBinary: Bool { [.firn, .realm, .parquet, .arrow, .sqlite].contains(self) }

    /// Whether files of this format can have several types, and links between their rows.
    package var hasObjects: Bool { self == .firn || self == .realm || self == .sqlite }

    private static func guess(_ bytes: [UInt8]) -> FormatName {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        guard let first = text.first(where: { !" \t\r\n".utf8.contains($0) }) else { return .csv }
        if first == UInt8(ascii: "[") || first == 0x1E { return .json }
        if first == UInt8(ascii: "{") { return looksLikeLines(text) ? .ndjson : .json }
        let line = text.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        let tabs = line.count { $0 == UInt8(ascii: "\t") }, commas = line.count { $0 == UInt8(ascii: ",") }
        return tabs > commas ? .tsv : .csv
    }

    /// Whether the first line closes the object that it opens, and is followed by another object or by nothing.
    private static func looksLikeLines(_ text: ArraySlice<UInt8>) -> Bool {
        var depth = 0, inString = false, escaped = false
        for (i, byte) in zip(text.indices, text) {
            if inString {
                if escaped {
                    escaped = false
                } else if byte == UInt8(ascii: "\\") {
                    escaped = true
                } else if byte == UInt8(ascii: "\"") {
                    inString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): inString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return text[(i + 1)...].contains(UInt8(ascii: "{")) }
            case UInt8(ascii: "\n") where depth > 0: return false
            default: break
            }
        }
        return true
    }
}
