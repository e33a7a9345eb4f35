import FirnBytes

/// Where a transaction puts what it writes.
enum Placing {
    case usual
    /// The lowest place that is large enough, outside ranges (ascending) that are to become free.
    case lowest(avoiding: [UnitRange])
    /// The next extent goes there: units that are free.
    case at(UnitRange)
    /// After everything else in the file, free ranges or not.
    case last
}

/// What lies where as a transaction finds it, in bytes of the file.
package struct SpaceMap: Sendable {
    /// Where the used part of the file ends.
    package var end: UInt64
    /// Free ranges, ascending.
    package var free: [Range<UInt64>]
    /// Dead space: what will be free, what only readers can see, and what tagged versions hold besides.
    package var dead: UInt64 = 0, deadForReaders: UInt64 = 0, deadForTags: UInt64 = 0
    /// The end of the last dead range that readers or tags hold.
    package var heldEnd: UInt64 = 0

    package var freeBytes: UInt64 { free.reduce(0) { $0 + UInt64($1.count) } }
}

/// Moving extents down, so that the end of the file can be given back: see docs/decisions/010-shrinking-in-place.md.
extension StoreTransaction {
    /// From now on everything is put as low as it fits, and not into any of `barred` (bytes).
    package func packLow(avoiding barred: [Range<UInt64>] = []) {
        let ranges = barred.map { UnitRange(start: $0.lowerBound / 64, end: $0.upperBound / 64) }.sorted { $0.start < $1.start }
        lock.withLock { placing = .lowest(avoiding: ranges) }
    }

    /// Writes an extent anew in the free place below `limit` (bytes) that it fits best; the old place is dead with the commit. Nil if there is no such place.
    package func move(_ ref: ExtentRef, below limit: UInt64) throws(FirnError) -> ExtentRef? {
        let (place, usual) = lock.withLock { () -> (UnitRange?, Placing) in
            var barred: [UnitRange] = []
            if case .lowest(let ranges) = placing { barred = ranges }
            return (store.space!.free.map.tightest(fitting: ExtentRef.units(of: ref.length), below: limit / 64, avoiding: barred), placing)
        }
        guard let place else { return nil }
        let bytes: UnsafeRawBufferPointer
        do throws(Damage) { bytes = try read(ref) } catch { throw FirnError(error, in: store.path) }
        lock.withLock { placing = .at(place) }
        defer { lock.withLock { placing = usual } }
        let moved = try write(bytes)
        free(ref)
        return moved
    }

    /// What it has written so far, and not given back.
    package var bytesWritten: UInt64 { lock.withLock { written.values.reduce(0) { $0 + $1.ref.length } } }

    /// A place of so many units. (The lock is held.)
    func place(_ size: UInt64) -> UnitRange {
        switch placing {
        case .usual:
            // What is written together should lie together.
            let range = store.space!.allocate(size, behind: lastEnd, expected: expectedUnits)
            lastEnd = range.end
            expectedUnits -= min(expectedUnits, range.count)
            return range
        case .last:
            let range = store.space!.extend(by: size)
            lastEnd = range.end
            return range
        case .lowest(let barred): return store.space!.allocateLowest(size, avoiding: barred)
        case .at(let range):
            precondition(range.count == size, "one extent goes to a place, and it is of that size")
            placing = .usual
            return store.space!.take(range)
        }
    }

    /// The newest versions that tags, and readers of versions before `version`, hold: nothing that was there in one of them can be moved to any gain. 0: none.
    package func holders(before version: UInt64) throws(FirnError) -> (tags: UInt64, readers: UInt64) {
        let pins = try store.pins()
        return (tags.map(\.version).max() ?? 0, pins.last { $0 < version } ?? 0)
    }

    /// `version`: readers of versions from that on will have gone on to others before long.
    package func spaceMap(before version: UInt64) throws(FirnError) -> SpaceMap {
        let tagged = Set(tags.map(\.version)).sorted(), pinned = try store.pins().filter { $0 < version }
        return lock.withLock {
            let space = store.space!
            var map = SpaceMap(end: space.end * 64, free: space.free.ranges.map { $0.start * 64..<$0.end * 64 })
            func isSeen(_ dead: DeadRange, by versions: [UInt64]) -> Bool { versions.contains { $0 >= dead.birth && $0 < dead.death } }
            for dead in space.pending.values {
                let bytes = (dead.end - dead.start) * 64
                if isSeen(dead, by: tagged) { map.deadForTags += bytes } else if isSeen(dead, by: pinned) { map.deadForReaders += bytes } else {
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
    /// A commit that changes no extent of the layers above: it makes what is dead free, and moves records down. The two newest versions stay readable besides those that are tagged or read.
    /// `gathering`: the state of space and the list of tags move down as well.
    @discardableResult
    package func commitUnchanged(gathering: Bool = false) throws(FirnError) -> UInt64 {
        packLow()
        if gathering { lock.withLock { movesHistory = true } }
        return try commit(catalogue: base.catalogue, Retention(versions: 2), forcingCheckpoint: gathering)
    }
}

extension Store {
    /// The file has no commit yet, or one that stands alone: there is nothing in it that could go.
    package func isAtItsLeast() throws(FirnError) -> Bool {
        let root = try newestRoot()
        return root.version == 0 || root.isAlone
    }
}
