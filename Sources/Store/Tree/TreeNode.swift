// A node of a tree, at most 4,096 bytes. See docs/format/store.md.
//
//   0xB7 · level 1 · entries 2 · prefix length 2 · offsets 2 each · prefix · entries
//   leaf entry:  length of the key's rest · rest · 2 × length · value   or  65 · reference
//   inner entry: length of the separator's rest · rest · reference

import FirnBytes
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

enum TreeLimit {
    static let nodeBytes = 4096
    static let keyBytes = 512
    static let inlineBytes = 1024
    static let level = 15
    static let mark: UInt8 = 0xB7
    /// What stands before a reference in a leaf: twice its length, and 1.
    static let extentTag = 2 * ExtentRef.width + 1
}

/// Compares bytewise; a prefix comes first. Returns a negative number, zero or a positive number.
@inline(__always)
func compare(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Int {
    let shared = min(one.count, other.count)
    if shared > 0 {
        let order = memcmp(one.baseAddress!, other.baseAddress!, shared)
        if order != 0 { return Int(order) }
    }
    return one.count - other.count
}

/// A node as stored in the file. The initializer checks its header; each entry is checked when it is read.
struct TreeNodeView {
    let bytes: UnsafeRawBufferPointer
    let level: Int
    let count: Int
    let prefix: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer, level expected: Int? = nil) throws(Damage) {
        guard bytes.count >= 6, bytes.count <= TreeLimit.nodeBytes, bytes[0] == TreeLimit.mark else { throw Damage("not a tree node") }
        level = Int(bytes[1])
        guard level <= TreeLimit.level, expected == nil || level == expected else { throw Damage("tree node of the wrong level", at: 1) }
        count = Int(bytes[2]) | Int(bytes[3]) << 8
        let prefixLength = Int(bytes[4]) | Int(bytes[5]) << 8
        let body = 6 + 2 * count
        guard count > 0, prefixLength <= TreeLimit.keyBytes, body + prefixLength <= bytes.count else {
            throw Damage("tree node header out of bounds", at: 2)
        }
        self.bytes = bytes
        prefix = UnsafeRawBufferPointer(rebasing: bytes[body..<(body + prefixLength)])
    }

    /// Returns the key of entry `index` without the prefix, and a reader positioned after it.
    @inline(__always)
    func entry(_ index: Int) throws(Damage) -> (rest: UnsafeRawBufferPointer, reader: ByteReader) {
        let at = Int(bytes[6 + 2 * index]) | Int(bytes[7 + 2 * index]) << 8
        var reader = ByteReader(bytes, at: at)
        guard at < bytes.count else { throw Damage("tree entry outside its node", at: 6 + 2 * index) }
        let length = try reader.readCount(limit: TreeLimit.keyBytes - prefix.count)
        return (try reader.read(count: length), reader)
    }

    /// Where in the node the key of entry `index` is without the prefix, and its value or reference.
    @inline(__always)
    func parts(_ index: Int) throws(Damage) -> (rest: Range<Int>, value: Range<Int>, isExtent: Bool) {
        let at = Int(bytes[6 + 2 * index]) | Int(bytes[7 + 2 * index]) << 8
        // Nearly all lengths have one byte. The others, and what is wrong, are left to the reader below, whose errors have positions.
        if at < bytes.count, bytes[at] < 128, Int(bytes[at]) <= TreeLimit.keyBytes - prefix.count {
            let rest = at + 1..<at + 1 + Int(bytes[at])
            if level > 0 {
                let end = rest.upperBound + ExtentRef.width
                if end <= bytes.count { return (rest, rest.upperBound..<end, true) }
            } else if rest.upperBound < bytes.count, bytes[rest.upperBound] < 128 {
                let tagged = Int(bytes[rest.upperBound]), start = rest.upperBound + 1, end = start + (tagged >> 1)
                if end <= bytes.count, tagged & 1 == 0 || tagged == TreeLimit.extentTag { return (rest, start..<end, tagged & 1 == 1) }
            }
        }
        return try checkedParts(index)
    }

    @inline(never)
    private func checkedParts(_ index: Int) throws(Damage) -> (rest: Range<Int>, value: Range<Int>, isExtent: Bool) {
        var (key, reader) = try entry(index)
        let rest = reader.position - key.count..<reader.position
        guard level == 0 else {
            _ = try reader.read(count: ExtentRef.width)
            return (rest, rest.upperBound..<reader.position, true)
        }
        let tagged = try reader.readCount(limit: TreeLimit.nodeBytes * 2), start = reader.position, isExtent = tagged & 1 == 1
        guard !isExtent || tagged == TreeLimit.extentTag else { throw Damage("tree value of an unknown kind", at: start) }
        _ = try reader.read(count: tagged >> 1)
        return (rest, start..<reader.position, isExtent)
    }

    func key(_ index: Int) throws(Damage) -> [UInt8] { try Array(prefix) + Array(entry(index).rest) }

    func child(_ index: Int) throws(Damage) -> ExtentRef {
        var reader = try entry(index).reader
        return try ExtentRef(from: &reader)
    }

    /// Returns the value, or the reference of the extent that contains it.
    func value(_ index: Int) throws(Damage) -> (inline: UnsafeRawBufferPointer?, ref: ExtentRef) {
        var reader = try entry(index).reader
        let tagged = try reader.readCount(limit: TreeLimit.nodeBytes * 2)
        if tagged & 1 == 0 { return (try reader.read(count: tagged >> 1), .none) }
        guard tagged == 65 else { throw Damage("tree value of an unknown kind", at: reader.position) }
        return (nil, try ExtentRef(from: &reader))
    }

    /// Returns how many keys are smaller than `key` (with `inclusive`, smaller or equal).
    func rank(_ key: UnsafeRawBufferPointer, inclusive: Bool = false) throws(Damage) -> Int {
        // The shared prefix is compared first: it decides for all entries, unless it is a prefix of the key.
        let shared = min(prefix.count, key.count)
        let order = shared == 0 ? 0 : Int(memcmp(key.baseAddress!, prefix.baseAddress!, shared))
        if order < 0 || (order == 0 && key.count < prefix.count) { return 0 }
        if order > 0 { return count }
        let rest = UnsafeRawBufferPointer(rebasing: key[prefix.count...])
        var low = 0, high = count
        while low < high {
            let middle = (low &+ high) >> 1
            let order = compare(try entry(middle).rest, rest)
            if order < 0 || (inclusive && order == 0) { low = middle &+ 1 } else { high = middle }
        }
        return low
    }
}
