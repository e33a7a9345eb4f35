// The state of space of one version, as its writer holds it, and its checkpoint extent. See docs/format/store.md.
//
//   "SPC1" · zero 4 · version 8 · end 8 · free: ranges · pending: ranges, each with birth and (death - birth)

import FirnBytes

struct SpaceState: Sendable {
    static let tag: UInt32 = 0x3143_5053
    /// The version this is the state of.
    private(set) var version: UInt64 = 0
    private(set) var free = FreeSpace()
    var end: UInt64
    /// The first unit of the slot that is not at 0.
    private let secondSlot: UInt64
    /// Dead ranges by their first unit.
    private(set) var pending: [UInt64: DeadRange] = [:]
    private(set) var pendingUnits: UInt64 = 0
    /// Made free in memory, not yet said so by a commit.
    private(set) var releasedUnsaved: [UnitRange] = []
    /// Starts of pending ranges in the order of their deaths, from `queueHead` on.
    private var queue: [UInt64] = []
    private var queueHead = 0
    /// Starts of pending ranges that a pinned version holds, by that version.
    private var blocked: [UInt64: [UInt64]] = [:]

    /// Set when a hostile file's dead ranges turn out to overlap: nothing may be written then.
    private(set) var contradiction: Damage?

    /// The empty store's: all between the two slots is free.
    init(secondOffset: UInt64) {
        secondSlot = secondOffset / 64
        end = secondSlot + 8
        _ = free.insert(UnitRange(start: 8, end: secondSlot))
    }

    /// Steps to the first version of a file that began alone, which has no record: units up to `end` are its.
    mutating func beginAlone(end used: UInt64) {
        precondition(version == 0 && used <= secondSlot, "only a file's first commit stands alone, before the second slot")
        if used > 8 { _ = free.remove(UnitRange(start: 8, end: used)) }
        version = 1
    }

    private func touchesRoot(_ range: UnitRange) -> Bool { range.start < 8 || (range.start < secondSlot + 8 && range.end > secondSlot) }

    // MARK: Life of a transaction

    /// Frees what nobody can see: every version from `protected` on is kept, and those in `pins` besides.
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
        // The first pin from its birth on: many versions may be pinned or tagged.
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

    /// A place, the one behind `last` if that is free; else, if there is one, where `expected` units have room. What is written together should lie
    /// together, but never at the price of a longer file.
    mutating func allocate(_ size: UInt64, behind last: UInt64? = nil, expected: UInt64 = 0) -> UnitRange {
        if let last, let taken = free.take(size, at: last) { return taken }
        if expected > size, let taken = free.take(size, within: expected) { return taken }
        if let taken = free.take(size) { return taken }
        return extend(by: size)
    }

    /// Units after all that are in use.
    mutating func extend(by size: UInt64) -> UnitRange {
        let range = UnitRange(start: end, end: end + size)
        end = range.end
        return range
    }

    /// The lowest place that is large enough, however many smaller ones lie before it, outside `barred`; behind all if there is none.
    mutating func allocateLowest(_ size: UInt64, avoiding barred: [UnitRange]) -> UnitRange {
        let found = barred.isEmpty ? free.map.lowest(fitting: size, among: .max) : free.map.tightest(fitting: size, below: .max, avoiding: barred)
        if let found { return take(UnitRange(start: found.start, end: found.start + size)) }
        return extend(by: size)
    }

    /// Takes units that are free.
    mutating func take(_ range: UnitRange) -> UnitRange {
        precondition(free.remove(range), "a place was taken twice")
        return range
    }

    /// Gives back what the running transaction allocated.
    mutating func giveBack(_ range: UnitRange) {
        precondition(free.insert(range), "an extent was freed twice")
        end = free.trim(end: end)
    }

    /// Takes a range that was free, for it lies past the end of what is kept.
    mutating func takeHole(_ range: UnitRange) {
        precondition(free.remove(range), "a hole was not free: the state contradicts itself")
    }

    /// The commit of `version` is durable: what it freed is pending from now on.
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

    /// Where dead space lies over other dead space, in bytes: only in a hostile file, and nothing may be written of it.
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
            guard range.end <= end, !touchesRoot(range), free.insert(range) else { throw Damage("free space out of bounds", at: reader.position) }
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

    /// Steps to the next version. `Damage` if the record contradicts the state.
    mutating func apply(_ record: CommitRecord) throws(Damage) {
        guard record.version == version + 1 else { throw Damage("commit records out of order") }
        for range in record.released {
            guard let dead = pending.removeValue(forKey: range.start), dead.end == range.end, free.insert(range) else {
                throw Damage("a commit releases space that was not pending")
            }
            pendingUnits -= range.count
        }
        end = free.trim(end: end)
        guard record.end >= end else { throw Damage("the end of a commit lies before the end of its space") }
        for range in record.taken where !free.remove(range) { throw Damage("a commit takes space that was not free") }
        for range in record.holes {
            guard range.start >= end, range.end < record.end, free.insert(range) else { throw Damage("a commit leaves a hole out of bounds") }
        }
        end = record.end
        for dead in record.freed {
            guard dead.end <= end, !touchesRoot(UnitRange(start: dead.start, end: dead.end)), pending[dead.start] == nil, !free.map.overlaps(UnitRange(start: dead.start, end: dead.end)) else {
                throw Damage("a commit frees space that was not in use")
            }
            addPending(dead)
        }
        version = record.version
    }

    /// After the last `apply`: the queue forgets what later records released.
    mutating func settleQueue() {
        queue = queue[queueHead...].filter { pending[$0] != nil }
        // A start may have been freed, released and freed again: keep its last place, the one of its present death.
        var seen = Set<UInt64>()
        queue = queue.reversed().filter { seen.insert($0).inserted }.reversed()
        queueHead = 0
    }
}
