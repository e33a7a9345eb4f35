import FirnBytes

/// Changes of metadata that a transaction does not have yet.
struct PendingMetadata {
    /// By the name of the owner, in the order of the first change of each; nil is the file.
    private var changes: [(owner: String?, entries: [(key: String, value: [UInt8]?)])] = []
    private var positions: [String?: Int] = [:]
    private var bytes = 0
    private static let largeBytes = 1 << 20

    var isEmpty: Bool { changes.isEmpty }

    /// Whether so much is kept that it should be applied.
    var isLarge: Bool { bytes > PendingMetadata.largeBytes }

    mutating func set(of owner: String?, _ key: String, _ value: [UInt8]?) {
        bytes += key.utf8.count + (value?.count ?? 0) + 64
        let position = positions[owner] ?? changes.count
        if position == changes.count {
            positions[owner] = position
            changes.append((owner, []))
        }
        changes[position].entries.append((key, value))
    }

    /// Returns the changes, and forgets them.
    mutating func take() -> [(owner: String?, entries: [(key: String, value: [UInt8]?)])] {
        defer { self = PendingMetadata() }
        return changes
    }
}
