import FirnBytes
import FirnCodecs
import FirnStore
import FirnTable

/// A run of an index: sorted entries that never change (`docs/format/indexes.md`, "Runs"). Usable from any thread as long as its bytes are
/// valid.
final class IndexRun: Sendable {
    static let magic: [UInt8] = [0x69, 0x72]
    static let version: UInt8 = 1
    /// The maximum number of entries of a run.
    static let maximumEntries = 1 << 22

    let count: Int
    let nullCount: Int
    private nonisolated(unsafe) let fenceWords: UnsafeRawBufferPointer
    private nonisolated(unsafe) let fenceExtras: UnsafeRawBufferPointer
    private let words: IntegersReader?
    private let extras: IntegersReader?
    private let rows: IntegersReader?
    private let nulls: IntegersReader?
    /// Keeps the bytes valid.
    private let owner: (any AnyObject & Sendable)?

    init(_ bytes: UnsafeRawBufferPointer, owner: (any AnyObject & Sendable)?) throws(Damage) {
        self.owner = owner
        var reader = ByteReader(bytes)
        guard try Array(reader.read(count: 2)) == IndexRun.magic else { throw Damage("not an index run") }
        guard try reader.read(UInt8.self) == IndexRun.version else { throw Damage("unknown version of an index run") }
        _ = try reader.read(UInt8.self)
        count = Int(try reader.read(UInt32.self))
        nullCount = Int(try reader.read(UInt32.self))
        guard count <= IndexRun.maximumEntries, nullCount <= IndexRun.maximumEntries else {
            throw Damage("an index run has too many entries", at: 4)
        }
        let vectors = (count + vectorSize - 1) / vectorSize
        fenceWords = try reader.read(count: vectors * 8)
        fenceExtras = try reader.read(count: vectors * 4)
        func stream(_ count: Int) throws(Damage) -> IntegersReader? {
            guard count > 0 else { return nil }
            return try IntegersReader(try reader.read(count: Int(try reader.read(UInt32.self))), count: count)
        }
        words = try stream(count)
        extras = try stream(count)
        rows = try stream(count)
        nulls = try stream(nullCount)
        guard reader.isAtEnd else { throw Damage("bytes after an index run", at: reader.position) }
    }

    // MARK: Searching

    private func fence(_ vector: Int) -> IndexKey {
        IndexKey(
            Int64(littleEndian: fenceWords.loadUnaligned(fromByteOffset: vector &* 8, as: Int64.self)),
            UInt32(littleEndian: fenceExtras.loadUnaligned(fromByteOffset: vector &* 4, as: UInt32.self)))
    }

    private func key(_ index: Int, than key: IndexKey) throws(Damage) -> Int {
        let word = try words!.value(at: index)
        if word != key.word { return word < key.word ? -1 : 1 }
        let extra = UInt32(truncatingIfNeeded: try extras!.value(at: index))
        return extra < key.extra ? -1 : extra == key.extra ? 0 : 1
    }

    /// The number of entries that are decoded at a time in a search: those between two anchors of a delta encoding.
    private static let groupSize = 64

    /// Returns how many entries are less than the key or, if `through`, not greater than it.
    private func lowerBound(_ key: IndexKey, through: Bool) throws(Damage) -> Int { try search(key, through: through).index }

    /// Returns the same and, if the search has seen it, how many entries from there on have the key.
    private func search(_ key: IndexKey, through: Bool) throws(Damage) -> (index: Int, equal: Int?) {
        var low = 0, high = fenceExtras.count / 4
        while low < high {
            let middle = (low &+ high) >> 1, fence = fence(middle)
            if fence < key || through && fence == key { low = middle &+ 1 } else { high = middle }
        }
        if low == 0 { return (0, nil) }
        // The first entry of the vector before is less, so the result is in that vector or directly after it. The same holds for groups,
        // then for entries.
        let end = min(low &* vectorSize, count), size = IndexRun.groupSize
        var first = (low &- 1) &* (vectorSize / size) &+ 1, last = (end &+ size &- 1) / size
        while first < last {
            let middle = (first &+ last) >> 1, order = try self.key(middle &* size, than: key)
            if order < 0 || through && order == 0 { first = middle &+ 1 } else { last = middle }
        }
        let start = (first &- 1) &* size
        return try search(key, through: through, start..<min(first &* size, end))
    }

    private func search(_ key: IndexKey, through: Bool, _ group: Range<Int>) throws(Damage) -> (index: Int, equal: Int?) {
        try withUnsafeTemporaryAllocation(of: Int64.self, capacity: IndexRun.groupSize) { (values) throws(Damage) in
            try words!.decode(from: group.lowerBound, count: group.count, into: values.baseAddress!)
            func compared(_ i: Int) throws(Damage) -> Int {
                if values[i] != key.word { return values[i] < key.word ? -1 : 1 }
                let extra = UInt32(truncatingIfNeeded: try extras!.value(at: group.lowerBound &+ i))
                return extra < key.extra ? -1 : extra == key.extra ? 0 : 1
            }
            var first = 1, last = group.count
            while first < last {
                let middle = (first &+ last) >> 1, order = try compared(middle)
                if order < 0 || through && order == 0 { first = middle &+ 1 } else { last = middle }
            }
            var same = first
            while same < group.count, try compared(same) == 0 { same &+= 1 }
            return (group.lowerBound &+ first, same < group.count ? same &- first : nil)
        }
    }

    /// Returns the entries with a key in the range.
    func entries(_ range: ClosedRange<IndexKey>) throws(Damage) -> Range<Int> {
        let (low, equal) = try search(range.lowerBound, through: false)
        if low == count { return low..<low }
        if range.lowerBound == range.upperBound {
            if let equal { return low..<low &+ equal }
            if try key(low, than: range.upperBound) != 0 { return low..<low }
        }
        return low..<max(low, try lowerBound(range.upperBound, through: true))
    }

    /// Calls `body` with the row ids of some entries, in their order.
    func rows(_ range: Range<Int>, _ body: (Int64) throws(Damage) -> Void) throws(Damage) {
        guard let rows, !range.isEmpty else { return }
        if range.count <= 4 {
            for i in range { try body(try rows.value(at: i)) }
            return
        }
        try IndexRun.forEach(rows, range, body)
    }

    func nullRows(_ body: (Int64) throws(Damage) -> Void) throws(Damage) {
        if let nulls { try IndexRun.forEach(nulls, 0..<nullCount, body) }
    }

    private static func forEach(_ reader: IntegersReader, _ range: Range<Int>, _ body: (Int64) throws(Damage) -> Void) throws(Damage) {
        var vector = range.lowerBound / vectorSize
        while vector * vectorSize < range.upperBound {
            let start = vector * vectorSize, size = min(vectorSize, reader.count - start)
            let values: [Int64] = try Array(count: size) { (out) throws(Damage) in try reader.decode(vector: vector, into: out) }
            for i in max(range.lowerBound, start) - start..<min(range.upperBound - start, size) { try body(values[i]) }
            vector += 1
        }
    }

    // MARK: All entries

    /// Returns every entry, in order.
    func all() throws(Damage) -> (entries: [IndexEntry], nulls: [Int64]) {
        var entries: [IndexEntry] = [], nulls: [Int64] = []
        entries.reserveCapacity(count)
        for start in stride(from: 0, to: count, by: vectorSize) {
            let size = min(vectorSize, count - start), vector = start / vectorSize
            let words: [Int64] = try Array(count: size) { (out) throws(Damage) in try self.words!.decode(vector: vector, into: out) }
            let extras: [Int64] = try Array(count: size) { (out) throws(Damage) in try self.extras!.decode(vector: vector, into: out) }
            let rows: [Int64] = try Array(count: size) { (out) throws(Damage) in try self.rows!.decode(vector: vector, into: out) }
            for i in 0..<size {
                guard extras[i] >= 0, extras[i] <= Int64(UInt32.max) else { throw Damage("an extra is out of range in an index run") }
                entries.append(IndexEntry(IndexKey(words[i], UInt32(extras[i])), rows[i]))
            }
        }
        try nullRows { nulls.append($0) }
        return (entries, nulls)
    }

    /// Throws `Damage` if entries are out of order, or if a fence differs from its entry.
    func check(_ ref: RunRef, nextRowID: Int64) throws(Damage) {
        guard ref.count == count, ref.nullCount == nullCount else {
            throw Damage("a run has another number of entries than the directory records")
        }
        let (entries, nulls) = try all()
        for i in entries.indices {
            if i > 0, !(entries[i - 1] < entries[i]) { throw Damage("entries of an index run are out of order") }
            if i % vectorSize == 0, entries[i].key != fence(i / vectorSize) {
                throw Damage("a fence of an index run differs from its entry")
            }
            if entries[i].row < 0 || entries[i].row >= nextRowID { throw Damage("an index contains a row that never existed") }
        }
        if let first = entries.first, let last = entries.last, ref.lowest != first.key || ref.highest != last.key {
            throw Damage("the first or last entry of an index run differs from the directory")
        }
        for i in nulls.indices where nulls[i] < 0 || nulls[i] >= nextRowID || i > 0 && nulls[i - 1] >= nulls[i] {
            throw Damage("rows without a value are out of order in an index run")
        }
    }

    /// Returns sorted entries as a run.
    static func encoded(_ entries: [IndexEntry], nulls: [Int64]) -> [UInt8] {
        trap(
            unless: entries.count <= maximumEntries && nulls.count <= maximumEntries,
            "a run holds at most \(maximumEntries) entries: write several")
        var out = ByteWriter(reserving: entries.count * 8 + 64)
        out.append(contentsOf: magic)
        out.append(version)
        out.append(0 as UInt8)
        out.append(UInt32(entries.count))
        out.append(UInt32(nulls.count))
        for i in stride(from: 0, to: entries.count, by: vectorSize) { out.append(entries[i].word) }
        for i in stride(from: 0, to: entries.count, by: vectorSize) { out.append(entries[i].extra) }
        func stream(_ values: [Int64]) {
            guard !values.isEmpty else { return }
            let bytes = values.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: .fast) }
            out.append(UInt32(bytes.count))
            out.append(contentsOf: bytes)
        }
        stream(entries.map(\.word))
        stream(entries.map { Int64($0.extra) })
        stream(entries.map(\.row))
        stream(nulls)
        return out.bytes
    }
}
