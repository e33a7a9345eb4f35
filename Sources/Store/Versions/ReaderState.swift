import FirnDisk

/// What the readers of a file share in this process: its mapping and the versions that are pinned. Guarded by the store's lock.
struct ReaderState {
    /// The snapshots of one version that this store holds.
    struct Pins {
        var count = 0
        /// Whether other processes see the pin. The writer's own pin need not be visible.
        var isLocked = false
    }

    /// Nil if extents are copied.
    private var mapping: Mapping?
    private(set) var pins: [UInt64: Pins] = [:]
    /// The medium has no locks (and the store is open for reading), so pins are not visible to other processes.
    private(set) var isLockless = false

    init(mapping: Mapping?) { self.mapping = mapping }

    /// Whether extents are copied instead of mapped: because the caller chose that, because the file cannot be mapped, or because there are
    /// no locks, so that a writer cannot see pins and a verified extent may change.
    var isCopying: Bool { mapping == nil || isLockless }

    /// Returns the current mapping, or a larger one if the file has outgrown it. Returns nil if extents are to be copied.
    mutating func mapping(of file: File, covering size: UInt64) -> Mapping? {
        if let reach = mapping?.reach, UInt64(reach) < size { mapping = Mapping.watched(file, minimum: Int(size)) }
        return isLockless ? nil : mapping
    }

    /// Counts a pin. `lock` makes it visible to other processes, and returns false if the medium has no locks; it is called for the first
    /// pin that must be visible.
    mutating func pin<E: Error>(_ version: UInt64, isVisible: Bool, lock: () throws(E) -> Bool) throws(E) {
        var counted = pins[version] ?? Pins()
        if isVisible, !counted.isLocked, !isLockless {
            isLockless = !(try lock())
            counted.isLocked = !isLockless
        }
        counted.count += 1
        pins[version] = counted
    }

    /// Removes a pin. Returns whether it was the last one of a version that other processes see, so that its lock is to be released.
    mutating func unpin(_ version: UInt64) -> Bool {
        var counted = pins[version]!
        counted.count -= 1
        pins[version] = counted.count > 0 ? counted : nil
        return counted.count == 0 && counted.isLocked
    }
}
