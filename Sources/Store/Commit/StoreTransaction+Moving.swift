import FirnBytes

/// How a transaction chooses the positions of extents.
enum Placing {
    case usual
    /// The lowest free range that is large enough, outside ranges (ascending) that are to become free.
    case lowest(avoiding: [UnitRange])
    /// The next extent is written to these free units.
    case at(UnitRange)
    /// After everything else in the file, even if there are free ranges.
    case last
}

/// How the space of a file is used when a transaction looks at it, in bytes of the file.
package struct SpaceMap: Sendable {
    /// The end of the used part of the file.
    package var end: UInt64
    /// Free ranges in ascending order.
    package var free: [Range<UInt64>]
    /// Dead space: bytes that no held version can see, that only readers can see, and that tagged versions can see.
    package var dead: UInt64 = 0, deadForReaders: UInt64 = 0, deadForTags: UInt64 = 0
    /// The end of the last dead range that readers or tags hold.
    package var heldEnd: UInt64 = 0

    /// The number of free bytes.
    package var freeBytes: UInt64 { free.reduce(0) { $0 + UInt64($1.count) } }
}

/// Moving extents to lower offsets, so that the end of the file can be cut off: see docs/decisions/010-shrinking-in-place.md.
extension StoreTransaction {
    /// From now on extents are written at the lowest offset where they fit, and not into any of `barred` (bytes).
    package func packLow(avoiding barred: [Range<UInt64>] = []) {
        let ranges = barred.map { UnitRange(start: $0.lowerBound / 64, end: $0.upperBound / 64) }.sorted { $0.start < $1.start }
        lock.withLock { placing = .lowest(avoiding: ranges) }
    }

    /// Writes an extent again in the free range below `limit` (bytes) that it fits best; the old extent is dead with the commit. Returns
    /// nil if there is no such range.
    package func move(_ ref: ExtentRef, below limit: UInt64) throws(FirnError) -> ExtentRef? {
        let (target, usual) = lock.withLock { () -> (UnitRange?, Placing) in
            var barred: [UnitRange] = []
            if case .lowest(let ranges) = placing { barred = ranges }
            return (
                store.writer.space!.free.map.tightest(fitting: ExtentRef.units(of: ref.length), below: limit / 64, avoiding: barred),
                placing
            )
        }
        guard let target else { return nil }
        let bytes: UnsafeRawBufferPointer
        do throws(Damage) { bytes = try read(ref) } catch { throw FirnError(error, in: store.path) }
        lock.withLock { placing = .at(target) }
        defer { lock.withLock { placing = usual } }
        let moved = try write(bytes)
        free(ref)
        return moved
    }

    /// The bytes that the transaction has written so far and not freed.
    package var bytesWritten: UInt64 { lock.withLock { written.values.reduce(0) { $0 + $1.ref.length } } }

    /// Chooses a range of so many units. The lock must be held.
    func chooseRange(_ size: UInt64) -> UnitRange {
        switch placing {
        case .usual:
            // Extents that are written together should be adjacent.
            let range = store.writer.space!.allocate(size, behind: lastEnd, expected: expectedUnits)
            lastEnd = range.end
            expectedUnits -= min(expectedUnits, range.count)
            return range
        case .last:
            let range = store.writer.space!.extend(by: size)
            lastEnd = range.end
            return range
        case .lowest(let barred): return store.writer.space!.allocateLowest(size, avoiding: barred)
        case .at(let range):
            trap(unless: range.count == size, "an extent must have the size of the range that it is moved to")
            placing = .usual
            return store.writer.space!.take(range)
        }
    }

    /// Returns the newest version that tags hold, and the newest one before `version` that readers hold; 0 if there is none. Moving an
    /// extent that such a version can see gains nothing.
    package func holders(before version: UInt64) throws(FirnError) -> (tags: UInt64, readers: UInt64) {
        let pins = try store.pins()
        return (tags.map(\.version).max() ?? 0, pins.last { $0 < version } ?? 0)
    }

    /// Returns how space is used. Readers of versions from `version` on are expected to advance soon, so what they see counts as dead.
    package func spaceMap(before version: UInt64) throws(FirnError) -> SpaceMap {
        let tagged = Set(tags.map(\.version)).sorted(), pinned = try store.pins().filter { $0 < version }
        return lock.withLock {
            let space = store.writer.space!
            var map = SpaceMap(end: space.end * 64, free: space.free.ranges.map { $0.start * 64..<$0.end * 64 })
            func isSeen(_ dead: DeadRange, by versions: [UInt64]) -> Bool { versions.contains { $0 >= dead.birth && $0 < dead.death } }
            for dead in space.pending.values {
                let bytes = (dead.end - dead.start) * 64
                if isSeen(dead, by: tagged) {
                    map.deadForTags += bytes
                } else if isSeen(dead, by: pinned) {
                    map.deadForReaders += bytes
                } else {
                    map.dead += bytes
                    continue
                }
                map.heldEnd = max(map.heldEnd, dead.end * 64)
            }
            return map
        }
    }
}

extension StoreTransaction {
    /// Commits without changing extents of the layers above. This frees dead space and moves records to lower offsets. The two newest
    /// versions stay readable, and those that are tagged or read. With `gathering`, the state of space and the list of tags move down too.
    @discardableResult
    package func commitUnchanged(gathering: Bool = false) throws(FirnError) -> UInt64 {
        packLow()
        if gathering { lock.withLock { movesHistory = true } }
        return try commit(catalogue: base.catalogue, Retention(versions: 2), forcingCheckpoint: gathering)
    }
}

extension Store {
    /// Returns whether the file has no commit yet or is an inline file, so that it cannot become shorter.
    package func isAtItsLeast() throws(FirnError) -> Bool {
        let root = try newestRoot()
        return root.version == 0 || root.isInlineFile
    }
}
