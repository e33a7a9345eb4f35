// A commit record: what one commit wrote, and how it changed the state of space. See docs/format/store.md.
//
//   "CMT1" · flags 4 · version 8 · time 8 · oldest kept 8 · oldest record 8 · end 8 · checkpoint version 8 · previous 32
//   · catalogue 32 · checkpoint 32 · listed · released · taken · holes · freed (start, length, age) · history 32

import FirnBytes

/// A contiguous range of units.
struct UnitRange: Hashable, Sendable {
    var start: UInt64
    var end: UInt64
    var count: UInt64 { end - start }
}

/// Dead space: a range that is visible in versions birth ≤ v < death.
struct DeadRange: Hashable, Sendable {
    var start: UInt64
    var end: UInt64
    var birth: UInt64
    var death: UInt64
}

struct CommitRecord {
    static let tag: UInt32 = 0x3154_4D43
    /// The root was left to a later commit of the group.
    var isWithoutRoot = false
    var version: UInt64
    var time: Int64
    var oldestKept: UInt64
    var oldestRecord: UInt64
    var end: UInt64
    var checkpointVersion: UInt64
    var previous: ExtentRef
    var catalogue: ExtentRef
    var checkpoint: ExtentRef
    var listed: [ExtentRef] = []
    /// `released`, `taken`, `holes` and `freed` are each sorted by start.
    var released: [UnitRange] = []
    var taken: [UnitRange] = []
    var holes: [UnitRange] = []
    var freed: [DeadRange] = []
    /// The extent of the history (tags and the rule for kept versions); `.none` if there is none.
    var history = ExtentRef.none

    func encoded() -> [UInt8] {
        var writer = ByteWriter(reserving: 256 + listed.count * 32 + (released.count + taken.count + holes.count + freed.count) * 8)
        writer.append(CommitRecord.tag)
        writer.append(UInt32(isWithoutRoot ? 1 : 0))
        writer.append(version)
        writer.append(time)
        writer.append(oldestKept)
        writer.append(oldestRecord)
        writer.append(end)
        writer.append(checkpointVersion)
        previous.encode(to: &writer)
        catalogue.encode(to: &writer)
        checkpoint.encode(to: &writer)
        writer.appendVarint(listed.count)
        for ref in listed { ref.encode(to: &writer) }
        writer.append(ranges: released)
        writer.append(ranges: taken)
        writer.append(ranges: holes)
        writer.appendVarint(freed.count)
        var last: UInt64 = 0
        for range in freed {
            writer.append(start: range.start, end: range.end, after: &last)
            writer.appendVarint(version - range.birth)
        }
        if !history.isNone { history.encode(to: &writer) }
        return writer.bytes
    }

}

extension CommitRecord {
    /// Reads the fields before the lists.
    private init(header reader: inout ByteReader) throws(Damage) {
        guard try reader.read(UInt32.self) == CommitRecord.tag else { throw Damage("not a commit record") }
        isWithoutRoot = try reader.read(UInt32.self) & 1 != 0
        version = try reader.read()
        time = try reader.read()
        oldestKept = try reader.read()
        oldestRecord = try reader.read()
        end = try reader.read()
        checkpointVersion = try reader.read()
        previous = try ExtentRef(from: &reader)
        catalogue = try ExtentRef(from: &reader)
        checkpoint = try ExtentRef(from: &reader)
        guard version > 0, version <= ExtentRef.maximumVersion, oldestKept <= version, oldestRecord > 0, oldestRecord <= version,
            checkpointVersion <= version,
            end >= Root.firstEnd, end <= ExtentRef.maximumUnit, checkpoint.isNone == (checkpointVersion == 0),
            previous.isNone == (version == 1)
        else { throw Damage("fields of the commit record contradict each other", at: 8) }
    }

    /// Reads the fields before the lists of a record that is not known to be whole, or to be a record at all.
    init(beginning bytes: UnsafeRawBufferPointer) throws(Damage) {
        var reader = ByteReader(bytes)
        try self.init(header: &reader)
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(Damage) {
        var reader = ByteReader(bytes)
        try self.init(from: &reader)
    }

    /// Reads a record. Afterwards the reader is at its end; only zero bytes may follow.
    init(from reader: inout ByteReader) throws(Damage) {
        try self.init(header: &reader)
        let count = try reader.readCount(limit: reader.remaining / 32)
        listed.reserveCapacity(count)
        for _ in 0..<count { listed.append(try ExtentRef(from: &reader)) }
        released = try reader.readRanges()
        taken = try reader.readRanges()
        holes = try reader.readRanges()
        let freedCount = try reader.readCount(limit: reader.remaining / 3)
        freed.reserveCapacity(freedCount)
        var last: UInt64 = 0
        for _ in 0..<freedCount {
            let range = try reader.readRange(after: &last)
            let age = try reader.readVarint()
            guard age > 0, age <= version else { throw Damage("space freed before it was born", at: reader.position) }
            freed.append(DeadRange(start: range.start, end: range.end, birth: version - age, death: version))
        }
        // In a record that ends in zeros, this reads `.none`.
        if reader.remaining >= ExtentRef.width { history = try ExtentRef(from: &reader) }
    }
}

extension CommitRecord {
    /// Checks that the listed extents are together not longer than the file. Extents of one commit do not overlap, so this bounds the time
    /// in which the lists of a hostile record are read.
    func checkListed(within size: UInt64) throws(Damage) {
        var left = size
        for ref in listed {
            guard ref.length <= left else { throw Damage("the commit record lists more than the file holds") }
            left -= ref.length
        }
    }
}

extension ByteWriter {
    mutating func append(start: UInt64, end: UInt64, after last: inout UInt64) {
        appendVarint(start - last)
        appendVarint(end - start)
        last = end
    }

    mutating func append(ranges: [UnitRange]) {
        appendVarint(ranges.count)
        var last: UInt64 = 0
        for range in ranges { append(start: range.start, end: range.end, after: &last) }
    }
}

extension ByteReader {
    mutating func readRange(after last: inout UInt64) throws(Damage) -> UnitRange {
        let gap = try readVarint(), count = try readVarint()
        guard count > 0, gap <= ExtentRef.maximumUnit, count <= ExtentRef.maximumUnit,
            last + gap + count <= ExtentRef.maximumUnit
        else { throw Damage("range of space out of bounds", at: position) }
        let start = last + gap
        guard start >= 8 else { throw Damage("range of space overlaps a root slot", at: position) }
        last = start + count
        return UnitRange(start: start, end: last)
    }

    mutating func readRanges() throws(Damage) -> [UnitRange] {
        let count = try readCount(limit: remaining / 2)
        var ranges: [UnitRange] = [], last: UInt64 = 0
        ranges.reserveCapacity(count)
        for _ in 0..<count { ranges.append(try readRange(after: &last)) }
        return ranges
    }
}
