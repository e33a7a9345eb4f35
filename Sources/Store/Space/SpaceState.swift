// The state of space of one version in memory, and its checkpoint extent. See docs/format/store.md.
//
//   "SPC1" · zero 4 · version 8 · end 8 · free: ranges · pending: ranges, each with birth and (death - birth)

import FirnBytes

struct SpaceState: Sendable {
    static let tag: UInt32 = 0x3143_5053
    /// The version that this is the state of.
    private(set) var version: UInt64 = 0
    private(set) var free = FreeSpace()
    var end: UInt64
    /// The first unit of the slot that is not at 0.
    private let secondSlot: UInt64
    /// Pending space: dead ranges that older versions may still use, by their first unit. Not related to pending versions.
    private(set) var pending: [UInt64: DeadRange] = [:]
    private(set) var pendingUnits: UInt64 = 0
    /// Ranges that were released in memory and are not in a commit yet.
    private(set) var releasedUnsaved: [UnitRange] = []
    /// Starts of pending ranges, ordered by death, from `queueHead` on.
    private var queue: [UInt64] = []
    private var queueHead = 0
    /// Starts of pending ranges that a pinned version can see, by that version.
    private var blocked: [UInt64: [UInt64]] = [:]

    /// Set if dead ranges of a hostile file overlap: nothing may be written then.
    private(set) var contradiction: Damage?

    /// Creates the state of the empty store: all units between the two slots are free.
    init(secondOffset: UInt64) {
        secondSlot = secondOffset / 64
        end = secondSlot + 8
        _ = free.insert(UnitRange(start: 8, end: secondSlot))
    }

    /// Advances to the first version of an inline file, which has no record: it owns the units up to `end`.
    mutating func beginInline(end used: UInt64) {
        trap(
            unless: version == 0 && used <= secondSlot,
            "only the first commit of a file can be inline, and it must end before the second slot")
        if used > 8 { _ = free.remove(UnitRange(start: 8, end: used)) }
        version = 1
    }

    private func touchesRoot(_ range: UnitRange) -> Bool { range.start < 8 || (range.start < secondSlot + 8 && range.end > secondSlot) }

    // MARK: Life of a transaction

    /// Frees pending ranges that no version can see: every version from `protected` on is kept, and those in `pins` too.
    mutating func release(protected: UInt64, pins: [UInt64]) {
        let held = Set(pins.filter { $0 < protected }), pins = held.sorted()
        for pin in blocked.keys where !held.contains(pin) {
            for start in blocked.removeValue(forKey: pin)! { settle(start, pins) }
        }
        while queueHead < queue.count, let dead = pending[queue[queueHead]], dead.death <= protected {
            settle(dead.start, pins)
            queueHead += 1
        }
        if queueHead > 1024, queueHead * 2 > queue.count {
            queue.removeFirst(queueHead)
            queueHead = 0
        }
        end = free.trim(end: end)
    }

    private mutating func settle(_ start: UInt64, _ pins: [UInt64]) {
        let dead = pending[start]!
        // Binary search for the first pin since its birth: many versions may be pinned or tagged.
        var low = 0, high = pins.count
        while low < high {
            let middle = (low + high) / 2
            if pins[middle] < dead.birth { low = middle + 1 } else { high = middle }
        }
        if low < pins.count, case let pin = pins[low], pin < dead.death {
            blocked[pin, default: []].append(start)
        } else {
            pending.removeValue(forKey: start)
            pendingUnits -= dead.end - dead.start
            let range = UnitRange(start: dead.start, end: dead.end)
            releasedUnsaved.append(range)
            if !free.insert(range) { contradiction = Damage("dead space overlaps free space", at: Int(clamping: range.start * 64)) }
        }
    }

    /// Allocates units: at `last` if they are free, otherwise in a range with space for `expected` units if there is one, otherwise in any
    /// free range or at the end. Extents that are written together should be adjacent, but the file must not grow for that.
    mutating func allocate(_ size: UInt64, behind last: UInt64? = nil, expected: UInt64 = 0) -> UnitRange {
        if let last, let taken = free.take(size, at: last) { return taken }
        if expected > size, let taken = free.take(size, within: expected) { return taken }
        if let taken = free.take(size) { return taken }
        return extend(by: size)
    }

    /// Allocates units after all that are in use.
    mutating func extend(by size: UInt64) -> UnitRange {
        let range = UnitRange(start: end, end: end + size)
        end = range.end
        return range
    }

    /// Allocates the lowest free units that are large enough, outside `barred`; units at the end if there are none.
    mutating func allocateLowest(_ size: UInt64, avoiding barred: [UnitRange]) -> UnitRange {
        let found =
            barred.isEmpty ? free.map.lowest(fitting: size, among: .max) : free.map.tightest(fitting: size, below: .max, avoiding: barred)
        if let found { return take(UnitRange(start: found.start, end: found.start + size)) }
        return extend(by: size)
    }

    /// Allocates these free units.
    mutating func take(_ range: UnitRange) -> UnitRange {
        trap(unless: free.remove(range), "a range of units was allocated twice")
        return range
    }

    /// Frees units that the running transaction allocated.
    mutating func giveBack(_ range: UnitRange) {
        trap(unless: free.insert(range), "an extent was freed twice")
        end = free.trim(end: end)
    }

    /// Removes a range from the free ones because it is after the end that is kept.
    mutating func takeHole(_ range: UnitRange) {
        trap(unless: free.remove(range), "a hole was not free")
    }

    /// Records that the commit of `version` is durable: what it freed is pending from now on.
    mutating func committed(_ version: UInt64, freed: [DeadRange]) {
        self.version = version
        releasedUnsaved.removeAll(keepingCapacity: true)
        for dead in freed { addPending(dead) }
    }

    private mutating func addPending(_ dead: DeadRange) {
        pending[dead.start] = dead
        pendingUnits += dead.end - dead.start
        queue.append(dead.start)
    }

    // MARK: Checkpoint

    /// Returns the offset in bytes where dead space overlaps other dead space. This happens only in a hostile file, to which nothing may be
    /// written.
    func overlap(with freed: [DeadRange]) -> UInt64? {
        let dead = (Array(pending.values) + freed).sorted { $0.start < $1.start }
        return zip(dead, dead.dropFirst()).first { $0.end > $1.start }.map { $1.start * 64 }
    }

    func encoded(version: UInt64, freed: [DeadRange]) -> [UInt8] {
        var writer = ByteWriter(reserving: 64 + free.count * 4 + (pending.count + freed.count) * 8)
        writer.append(SpaceState.tag)
        writer.append(UInt32(0))
        writer.append(version)
        writer.append(end)
        writer.append(ranges: free.ranges)
        let dead = (Array(pending.values) + freed).sorted { $0.start < $1.start }
        writer.appendVarint(dead.count)
        var last: UInt64 = 0
        for range in dead {
            writer.append(start: range.start, end: range.end, after: &last)
            writer.appendVarint(range.birth)
            writer.appendVarint(range.death - range.birth)
        }
        return writer.bytes
    }

    init(checkpoint bytes: UnsafeRawBufferPointer, version: UInt64, secondOffset: UInt64) throws(Damage) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt32.self) == SpaceState.tag else { throw Damage("not a space checkpoint") }
        _ = try reader.read(UInt32.self)
        guard try reader.read(UInt64.self) == version else { throw Damage("space checkpoint of another version", at: 8) }
        self.version = version
        secondSlot = secondOffset / 64
        end = try reader.read()
        guard end >= secondSlot + 8, end <= ExtentRef.maximumUnit else { throw Damage("end out of bounds", at: 16) }
        for range in try reader.readRanges() {
            guard range.end <= end, !touchesRoot(range), free.insert(range) else {
                throw Damage("free space out of bounds", at: reader.position)
            }
        }
        var last: UInt64 = 0, all: [DeadRange] = []
        for _ in 0..<(try reader.readCount(limit: reader.remaining / 4)) {
            let range = try reader.readRange(after: &last)
            let birth = try reader.readVarint(), age = try reader.readVarint()
            guard range.end <= end, !touchesRoot(range), birth <= version, age > 0, age <= version - birth, !free.map.overlaps(range) else {
                throw Damage("dead space out of bounds", at: reader.position)
            }
            all.append(DeadRange(start: range.start, end: range.end, birth: birth, death: birth + age))
        }
        for dead in all.sorted(by: { ($0.death, $0.start) < ($1.death, $1.start) }) { addPending(dead) }
    }

    /// Advances to the next version. Throws `Damage` if the record contradicts the state.
    mutating func apply(_ record: CommitRecord) throws(Damage) {
        guard record.version == version + 1 else { throw Damage("commit records out of order") }
        for range in record.released {
            guard let dead = pending.removeValue(forKey: range.start), dead.end == range.end, free.insert(range) else {
                throw Damage("a commit releases space that was not pending")
            }
            pendingUnits -= range.count
        }
        end = free.trim(end: end)
        guard record.end >= end else { throw Damage("the end of a commit is before the end of its space") }
        for range in record.taken where !free.remove(range) { throw Damage("a commit takes space that was not free") }
        for range in record.holes {
            guard range.start >= end, range.end < record.end, free.insert(range) else {
                throw Damage("a commit leaves a hole out of bounds")
            }
        }
        end = record.end
        for dead in record.freed {
            guard dead.end <= end, !touchesRoot(UnitRange(start: dead.start, end: dead.end)), pending[dead.start] == nil,
                !free.map.overlaps(UnitRange(start: dead.start, end: dead.end))
            else {
                throw Damage("a commit frees space that was not in use")
            }
            addPending(dead)
        }
        version = record.version
    }

    /// Removes ranges that later records released from the queue. It is called after the last `apply`.
    mutating func settleQueue() {
        queue = queue[queueHead...].filter { pending[$0] != nil }
        // A start may have been freed, released and freed again: only its last position, that of its current death, is kept.
        var seen = Set<UInt64>()
        queue = queue.reversed().filter { seen.insert($0).inserted }.reversed()
        queueHead = 0
    }
}
