import FirnTable

/// Metadata of fields and schemas as metadata of applications.
enum ArrowMetadata {
    private static let maximumEntries = 1 << 16, maximumBytes = 64 << 20

    /// Returns the entries that are kept: all except Firn's own, and the name of an extension that the column's type shows.
    static func kept(_ entries: [MetadataEntry], knowsExtension: Bool = false) -> [MetadataEntry] {
        var out: [MetadataEntry] = [], known: [String: Int] = [:]
        for entry in entries where !entry.key.hasPrefix(ArrowFormat.firnPrefix) {
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
        let own = entries.filter { !$0.key.hasPrefix(ArrowFormat.firnPrefix) }
        return Set(own.map(\.key)).count - kept(entries).count
    }
}
