import Synchronization

/// Maps the names or ids of a list's entries to their positions. The first search that needs the map builds it, and all copies of the list
/// share it. The owner of the list must create a new one whenever the list changes.
package final class EntryPositions<Key: Hashable & Sendable>: Sendable {
    private let positions: Mutex<[Key: Int]?> = Mutex(nil)

    package init() {}

    /// Lists of at most this length are searched linearly, without a map.
    private static var maximumSearched: Int { 16 }

    /// Returns the position of the first of `count` entries whose key is `wanted`, or nil.
    package func first(_ wanted: Key, of count: Int, key: (Int) -> Key) -> Int? {
        if count <= Self.maximumSearched { return (0..<count).first { key($0) == wanted } }
        return positions.withLock { positions in
            if positions == nil {
                var made = [Key: Int](minimumCapacity: count)
                for i in (0..<count).reversed() { made[key(i)] = i }
                positions = made
            }
            return positions![wanted]
        }
    }
}

/// The positions of a type's columns by name and by id. It is one object because types are copied often, and each stored reference adds a
/// reference count to a copy.
final class ColumnPositions: Sendable {
    let names = EntryPositions<String>()
    let ids = EntryPositions<UInt32>()
}
