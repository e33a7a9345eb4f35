/// Consecutive byte strings of variable length: string i is `bytes[offsets[i] ..< offsets[i + 1]]`.
/// `offsets` always has `count + 1` entries and begins with 0.
@usableFromInline
package struct Text: Hashable, Sendable {
    @usableFromInline package var offsets: [Int]
    @usableFromInline package var bytes: [UInt8]
    /// The charge for the memory, if a file determines how much is needed. Copies share it, as they share the bytes.
    @usableFromInline package var charge: MemoryCharge?

    @usableFromInline package static func == (a: Text, b: Text) -> Bool { a.offsets == b.offsets && a.bytes == b.bytes }

    @usableFromInline package func hash(into hasher: inout Hasher) {
        hasher.combine(offsets)
        hasher.combine(bytes)
    }

    /// Charges `total` bytes; call it before that many are decoded into this text. Less than 16 KiB is not charged.
    package mutating func reserve(_ total: Int, _ scope: MemoryScope) throws(Damage) {
        if total >= 16 << 10 { try MemoryCharge.grow(&charge, to: total, scope) }
    }

    @inlinable
    package init() {
        offsets = [0]
        bytes = []
    }

    @inlinable
    package init(offsets: [Int], bytes: [UInt8]) {
        self.offsets = offsets
        self.bytes = bytes
    }

    package init(_ strings: some Sequence<String>) {
        self.init()
        for string in strings { append(string) }
    }

    @inlinable package var count: Int { offsets.count &- 1 }
    @inlinable package func range(_ index: Int) -> Range<Int> { offsets[index]..<offsets[index &+ 1] }
    @inlinable package func length(_ index: Int) -> Int { offsets[index &+ 1] &- offsets[index] }

    @inlinable
    package mutating func append(_ value: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: value)
        offsets.append(bytes.count)
    }

    @inlinable
    package mutating func append(_ value: [UInt8]) {
        bytes.append(contentsOf: value)
        offsets.append(bytes.count)
    }

    package mutating func append(_ value: String) {
        bytes.append(contentsOf: value.utf8)
        offsets.append(bytes.count)
    }

    /// Appends an empty string.
    @inlinable package mutating func appendEmpty() { offsets.append(bytes.count) }
    package mutating func appendEmpty(count: Int) { offsets.append(contentsOf: repeatElement(bytes.count, count: count)) }

    @inlinable
    package mutating func removeAll(keepingCapacity: Bool = true) {
        bytes.removeAll(keepingCapacity: keepingCapacity)
        offsets.removeAll(keepingCapacity: keepingCapacity)
        offsets.append(0)
    }

    /// Replaces the bytes of one string.
    package mutating func replace(_ index: Int, with value: UnsafeRawBufferPointer) {
        let range = range(index), growth = value.count - range.count
        if growth == 0 {
            bytes.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[range]).copyMemory(from: value) }
            return
        }
        bytes.replaceSubrange(range, with: value)
        offsets.withUnsafeMutableBufferPointer { offsets in
            var i = index &+ 1
            while i < offsets.count {
                offsets[i] &+= growth
                i &+= 1
            }
        }
    }

    package mutating func append(contentsOf other: Text) {
        let base = bytes.count
        bytes.append(contentsOf: other.bytes)
        offsets.reserveCapacity(offsets.count + other.count)
        for i in 1..<(other.count + 1) { offsets.append(base + other.offsets[i]) }
    }

    package mutating func append(contentsOf other: Text, range: Range<Int>) {
        let base = bytes.count - other.offsets[range.lowerBound]
        bytes.append(contentsOf: other.bytes[other.offsets[range.lowerBound]..<other.offsets[range.upperBound]])
        // They are copied together, so that the array grows only once, and then moved: a map was measured to call a closure for each.
        let first = offsets.count
        offsets.append(contentsOf: other.offsets[range.lowerBound + 1..<range.upperBound + 1])
        for i in first..<offsets.count { offsets[i] += base }
    }

    /// Appends the strings of `other` at the given positions, in that order.
    package mutating func append(gathered other: Text, rows: [Int]) {
        var total = 0
        for row in rows { total &+= other.length(row) }
        let base = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: total))
        var end = base
        bytes.withUnsafeMutableBytes { out in
            other.bytes.withUnsafeBytes { source in
                for row in rows {
                    let range = other.range(row)
                    if !range.isEmpty {
                        out.baseAddress!.advanced(by: end).copyMemory(
                            from: source.baseAddress!.advanced(by: range.lowerBound), byteCount: range.count)
                    }
                    end &+= range.count
                }
            }
        }
        end = base
        offsets.append(
            contentsOf: rows.lazy.map { row in
                end &+= other.length(row)
                return end
            })
    }

    /// Returns the bytes of one string as an array.
    package func array(_ index: Int) -> [UInt8] { Array(bytes[range(index)]) }

    /// Returns one string as text; malformed UTF-8 becomes U+FFFD.
    package func string(_ index: Int) -> String { String(decoding: bytes[range(index)], as: UTF8.self) }

    /// Calls `body` with the bytes of one string, without copying them.
    @inlinable
    package func withBytes<R>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let range = range(index)
        return try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
}
