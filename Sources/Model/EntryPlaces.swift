import Synchronization

/// Where in a list the entries with given names or ids are: made when the list is first searched, and shared by all copies of the list.
/// The owner of the list makes a new one whenever the list changes.
final class EntryPlaces<Key: Hashable & Sendable>: Sendable {
    private let places: Mutex<[Key: Int]?> = Mutex(nil)

    /// Lists up to this long are searched entry by entry.
    private static var mostSearched: Int { 16 }

    /// The first of `count` entries whose key is `wanted`.
    func first(_ wanted: Key, of count: Int, key: (Int) -> Key) -> Int? {
        if count <= Self.mostSearched { return (0..<count).first { key($0) == wanted } }
        return places.withLock { places in
            if places == nil {
                var made = [Key: Int](minimumCapacity: count)
                for i in (0..<count).reversed() { made[key(i)] = i }
                places = made
            }
            return places![wanted]
        }
    }
}

/// Where the columns of a type are. One object, since types are copied often, and each reference is counted.
final class ColumnPlaces: Sendable {
    let names = EntryPlaces<String>()
    let ids = EntryPlaces<UInt32>()
}
