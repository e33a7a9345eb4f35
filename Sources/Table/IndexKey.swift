import FirnBytes

/// The key of a value in an index (`docs/format/indexes.md`, "Index keys"). Keys ascend as values do, and equal values have equal keys.
package struct IndexKey: Hashable, Comparable, Sendable {
    package var word: Int64
    package var extra: UInt32

    @inlinable
    package init(_ word: Int64, _ extra: UInt32) {
        self.word = word
        self.extra = extra
    }

    @inlinable
    package static func < (a: IndexKey, b: IndexKey) -> Bool { a.word < b.word || a.word == b.word && a.extra < b.extra }

    package static let least = IndexKey(.min, 0), greatest = IndexKey(.max, .max)

    @inlinable
    package init(_ x: Double) { self.init(IndexKey.ordered(x), 0) }

    /// The key of text in runs that store short values whole: up to eight bytes need no hash.
    package init(bytes: UnsafeRawBufferPointer) {
        if bytes.count <= 8 { self.init(IndexKey.word(bytes), UInt32(bytes.count)) } else { self.init(hashing: bytes) }
    }

    /// The key of text in all other runs.
    package init(hashing bytes: UnsafeRawBufferPointer) { self.init(IndexKey.word(bytes), UInt32(truncatingIfNeeded: hash64(bytes))) }

    /// The key that a run that hashes all text has for the text of this key, or nil if the text has more than eight bytes.
    package var hashed: IndexKey? {
        guard extra <= 8 else { return nil }
        var bytes = (UInt64(bitPattern: word) ^ 1 << 63).bigEndian
        return withUnsafeBytes(of: &bytes) { IndexKey(hashing: UnsafeRawBufferPointer(rebasing: $0[..<Int(extra)])) }
    }

    @inlinable
    package init(pair: (Int64, Int64)) { self.init(pair.0, UInt32(truncatingIfNeeded: pair.1)) }

    /// The key of a value as a column of this kind holds it. Fails for null.
    package init?(_ value: Value, _ kind: ScalarKind, hashesAll: Bool = false) {
        switch value {
        case .null: return nil
        case .bool(let x): self.init(x ? 1 : 0, 0)
        case .int(let x): if kind == .int || kind == .link { self.init(x, 0) } else { self.init(Double(x)) }
        case .link(let x): self.init(x, 0)
        case .float(let x): self.init(Double(x))
        case .double(let x): self.init(x)
        case .decimal(let x): self.init(x.double)
        case .date(let x): self.init(x.seconds, UInt32(truncatingIfNeeded: x.nanoseconds))
        case .uuid(let x): self.init(pair: Column.pair(uuid: x))
        case .objectID(let x): self.init(pair: Column.pair(objectID: x))
        case .string(let x):
            var text = x
            self = text.withUTF8 { hashesAll ? IndexKey(hashing: UnsafeRawBufferPointer($0)) : IndexKey(bytes: UnsafeRawBufferPointer($0)) }
        case .data(let x): self = x.withUnsafeBytes { hashesAll ? IndexKey(hashing: $0) : IndexKey(bytes: $0) }
        case .list, .set, .map, .object: self.init(0, 0)
        }
    }

    /// Returns an integer for a double, in the same order.
    @inlinable @inline(__always)
    package static func ordered(_ x: Double) -> Int64 {
        if x.isNaN { return .max }
        let bits = Int64(bitPattern: (x == 0 ? 0 : x).bitPattern)
        return bits < 0 ? bits ^ .max : bits
    }

    /// Returns an integer for the first eight bytes, in the same order.
    @inlinable @inline(__always)
    package static func word(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        var word: UInt64 = 0
        if bytes.count >= 8 {
            word = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        } else {
            for i in 0..<bytes.count { word |= UInt64(bytes[i]) &<< UInt64(truncatingIfNeeded: 56 &- 8 &* i) }
        }
        return Int64(bitPattern: word ^ 1 << 63)
    }
}

/// What is searched for in an index of values or of words: all rows with a key in one of the ranges are candidates.
package struct IndexProbe: Sendable, Equatable {
    package var ranges: [ClosedRange<IndexKey>]
    package var includesNulls: Bool

    package init(_ ranges: [ClosedRange<IndexKey>], includesNulls: Bool = false) {
        self.ranges = ranges
        self.includesNulls = includesNulls
    }

    /// Selects rows that are equal to a value that the column's kind can hold.
    package init(equal value: Value, _ kind: ScalarKind) {
        let key = IndexKey(value, kind)
        self.init(key.map { [$0...$0] } ?? [], includesNulls: key == nil)
    }

    /// Selects rows between two integers (ints, dates and other numbers as columns hold them).
    package static func words(_ low: Int64, _ high: Int64) -> IndexProbe {
        IndexProbe(low <= high ? [IndexKey(low, 0)...IndexKey(high, .max)] : [])
    }

    /// Selects rows that are equal to a value of two integers (a date, UUID or object id as columns hold them).
    package static func pair(_ word: Int64, _ extra: Int64) -> IndexProbe {
        let key = IndexKey(pair: (word, extra))
        return IndexProbe([key...key])
    }

    /// Selects rows between two doubles (floats, doubles and decimals as columns hold them).
    package static func reals(_ low: Double, _ high: Double) -> IndexProbe {
        low <= high ? words(IndexKey.ordered(low), IndexKey.ordered(high)) : IndexProbe([])
    }

    /// Selects text or data between two bounds; nil means no bound.
    package static func bytes(_ low: [UInt8]?, _ high: [UInt8]?) -> IndexProbe {
        let least = low?.withUnsafeBytes(IndexKey.word) ?? .min, most = high?.withUnsafeBytes(IndexKey.word) ?? .max
        return words(least, most)
    }

    /// Selects text or data that is equal to `bytes`.
    package static func bytes(equal bytes: [UInt8]) -> IndexProbe {
        let key = bytes.withUnsafeBytes { IndexKey(bytes: $0) }
        return IndexProbe([key...key])
    }

    /// Selects text that begins with `prefix`.
    package static func bytes(prefix: [UInt8]) -> IndexProbe {
        let low = prefix.prefix(8), high = low + Array(repeating: 0xFF, count: 8 - low.count)
        return words(Array(low).withUnsafeBytes(IndexKey.word), Array(high).withUnsafeBytes(IndexKey.word))
    }

    /// The probe for runs that hash all text: it also contains the hashed keys, and selects more rows if the original keys represent other
    /// values there.
    package var hashed: IndexProbe {
        var probe = self
        for range in ranges where range.lowerBound == range.upperBound {
            if let key = range.lowerBound.hashed { probe.ranges.append(key...key) }
        }
        return probe
    }

    /// Returns a probe for the rows that both select.
    package func intersection(_ other: IndexProbe) -> IndexProbe {
        // For very many ranges, one of the two probes is also correct: callers check the rows.
        guard ranges.count * other.ranges.count <= 1 << 16 else { return ranges.count < other.ranges.count ? self : other }
        var both: [ClosedRange<IndexKey>] = []
        for range in ranges {
            for more in other.ranges where range.overlaps(more) { both.append(range.clamped(to: more)) }
        }
        return IndexProbe(both, includesNulls: includesNulls && other.includesNulls)
    }

    /// Returns a probe for all rows that at least one of several probes selects.
    package static func any(_ probes: [IndexProbe]) -> IndexProbe {
        IndexProbe(probes.flatMap(\.ranges), includesNulls: probes.contains { $0.includesNulls })
    }
}
