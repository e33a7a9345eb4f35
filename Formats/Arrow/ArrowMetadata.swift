import FirnBytes
import FirnTable

/// Metadata of fields and schemas as metadata of applications.
enum ArrowMetadata {
    private static let maximumEntries = 1 << 16, maximumBytes = 64 << 20

    /// Returns the entries as they are written. Values in Arrow's files are texts, and readers reject others, also in streams; the parameters
    /// of extension types are as their library has written them.
    static func written(_ entries: [MetadataEntry]) -> [MetadataEntry] {
        entries.map { entry in
            guard entry.key != ArrowFormat.extensionMetadata, String(validating: entry.value, as: UTF8.self) == nil else { return entry }
            return MetadataEntry(ArrowFormat.binaryPrefix + entry.key, Array(Base64.text(entry.value).utf8))
        }
    }

    /// The reverse of `written`.
    private static func read(_ entry: MetadataEntry) -> MetadataEntry {
        guard entry.key.hasPrefix(ArrowFormat.binaryPrefix), let bytes = Base64.bytes(entry.value, .exact) else { return entry }
        return MetadataEntry(String(entry.key.dropFirst(ArrowFormat.binaryPrefix.count)), bytes)
    }

    /// Returns the entries that are kept: all except Firn's own, and the name of an extension that the column's type shows.
    static func kept(_ entries: [MetadataEntry], knowsExtension: Bool = false) -> [MetadataEntry] {
        var out: [MetadataEntry] = [], known: [String: Int] = [:]
        for entry in entries.map(read) where !entry.key.hasPrefix(ArrowFormat.firnPrefix) {
            if knowsExtension, entry.key == ArrowFormat.extensionName || entry.key == ArrowFormat.extensionMetadata { continue }
            if let at = known[entry.key] {
                out[at] = entry
            } else if out.count < maximumEntries, entry.value.count <= maximumBytes {
                known[entry.key] = out.count
                out.append(entry)
            }
        }
        return out
    }

    /// The number of entries that `kept` leaves out because there are too many, or because they are too long.
    static func lost(_ entries: [MetadataEntry]) -> Int {
        let own = entries.map(read).filter { !$0.key.hasPrefix(ArrowFormat.firnPrefix) }
        return Set(own.map(\.key)).count - kept(entries).count
    }
}
