import FirnBytes

/// The formats that are read and written here.
package enum FormatName: String, Sendable, CaseIterable {
    case firn, csv, tsv, json, ndjson

    /// By the name's extension (a `.zst` or `.gz` behind it is skipped); nil if that says nothing.
    package init?(extensionOf path: String) {
        var parts = path.split(separator: "/", omittingEmptySubsequences: false).last.map { $0.split(separator: ".") } ?? []
        if let last = parts.last, last.lowercased() == "zst" || last.lowercased() == "gz" { parts.removeLast() }
        guard parts.count > 1 || (path.contains(".") && parts.count == 1), let last = parts.last?.lowercased() else { return nil }
        switch last {
        case "firn": self = .firn
        case "csv", "txt": self = .csv
        case "tsv", "tab": self = .tsv
        case "json", "geojson": self = .json
        case "ndjson", "jsonl": self = .ndjson
        default: return nil
        }
    }

    /// By content first where that is certain (a `.firn` file's magic), then by name, then by what the first bytes look like.
    package static func detect(path: String, firstBytes: [UInt8]) -> FormatName {
        if isFirn(firstBytes) { return .firn }
        return FormatName(extensionOf: path) ?? guess(firstBytes)
    }

    /// Whether bytes from the start of a file (4,104 are enough) are a `.firn` file's: each of its two root slots begins with these, and one may be damaged.
    package static func isFirn(_ bytes: [UInt8]) -> Bool {
        let magic: [UInt8] = [0x89, 0x46, 0x69, 0x72, 0x6E, 0x0D, 0x0A, 0x1A]
        return bytes.starts(with: magic) || bytes.dropFirst(4096).starts(with: magic)
    }

    private static func guess(_ bytes: [UInt8]) -> FormatName {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        guard let first = text.first(where: { !" \t\r\n".utf8.contains($0) }) else { return .csv }
        if first == UInt8(ascii: "[") { return .json }
        if first == UInt8(ascii: "{") { return looksLikeLines(text) ? .ndjson : .json }
        let line = text.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        let tabs = line.count { $0 == UInt8(ascii: "\t") }, commas = line.count { $0 == UInt8(ascii: ",") }
        return tabs > commas ? .tsv : .csv
    }

    /// The first line closes the object it opens, and another begins after it or nothing does.
    private static func looksLikeLines(_ text: ArraySlice<UInt8>) -> Bool {
        var depth = 0, inString = false, escaped = false
        for (i, byte) in zip(text.indices, text) {
            if inString {
                if escaped { escaped = false } else if byte == UInt8(ascii: "\\") { escaped = true } else if byte == UInt8(ascii: "\"") { inString = false }
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
