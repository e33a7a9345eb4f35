import FirnBytes
import FirnCodecs
import FirnTable

/// How the validity of the columns of one segment is written (`docs/format/model.md`, "Shared validity"): bits that several columns have in
/// common are written once, and bits that are a subset of an earlier column's bits are written relative to them. A stream that others refer
/// to never refers to another.
struct PresencePlan {
    /// The validity stream of each column; nil if the column's encoder writes one (if any value is absent).
    private(set) var streams: [(kind: StreamKind, bytes: [UInt8])?]
    /// Whether a column refers to another.
    private(set) var refers = false

    /// The validity bits of one or more columns.
    private struct Mask {
        var bits: Bits
        var ones: Int
        var columns: [Int]
        /// The index of a mask that contains this one, if there is one.
        var outer: Int?
    }

    /// The number of bytes that a reference must save, because a reader of the column then also needs the chunk of another. Short streams
    /// gain nothing, nested ones least: a small file is compressed as a whole, so repeated or similar bits cost almost nothing.
    private static func worth(_ rows: Int, nested: Bool) -> Int { max(nested ? 64 : 32, rows / 512) }

    /// A mask is compared with at most this many masks before it: comparing all of them would be quadratic in the number of columns.
    private static let maximumSampledSegments = 256

    /// Returns whether the validity of a column with `ones` values may take more bytes than a reference to that of another.
    static func mayGain(_ rows: Int, ones: Int) -> Bool {
        // Encoded bits take less than four times their information.
        informationIn(rows, ones: ones) / 2 + 16 >= Double(worth(rows, nested: false))
    }

    /// `encode` runs a number of tasks, possibly on several threads.
    init(_ columns: [Bits?], profile: Profile, encode: (Int, (Int) -> [UInt8]) -> [[UInt8]]) {
        streams = Array(repeating: nil, count: columns.count)
        var masks = PresencePlan.masks(of: columns)
        guard masks.reduce(0, { $0 + $1.columns.count }) > 1 else { return }
        PresencePlan.nest(&masks)
        // The column's encoder writes masks of one column that neither contain another nor are contained in one.
        let outers = Set(masks.compactMap(\.outer))
        let shared = masks.indices.filter { masks[$0].columns.count > 1 || masks[$0].outer != nil || outers.contains($0) }
        let nested = shared.filter { masks[$0].outer != nil }
        let parts = encode(shared.count + nested.count) { task in
            if task < shared.count { return BooleansEncoder.encode(masks[shared[task]].bits, profile: profile) }
            let mask = masks[nested[task - shared.count]]
            return BooleansEncoder.encode(mask.bits, within: masks[mask.outer!].bits, profile: profile)
        }
        var within: [Int: [UInt8]] = [:]
        for (i, bytes) in zip(nested, parts[shared.count...]) { within[i] = bytes }
        for (i, own) in zip(shared, parts) {
            let mask = masks[i], rows = mask.bits.count
            if let outer = mask.outer, let inner = within[i] {
                let bytes = PresenceReference.encoded(masks[outer].columns[0], nested: inner)
                if mask.columns.count * (bytes.count + PresencePlan.worth(rows, nested: true)) <= own.count {
                    for column in mask.columns { refer(column, bytes) }
                    continue
                }
            }
            for column in mask.columns { streams[column] = (.present, own) }
            let same = PresenceReference.encoded(mask.columns[0], nested: nil)
            if same.count + PresencePlan.worth(rows, nested: false) <= own.count {
                for column in mask.columns.dropFirst() { refer(column, same) }
            }
        }
    }

    private mutating func refer(_ column: Int, _ bytes: [UInt8]) {
        streams[column] = (.presentLike, bytes)
        refers = true
    }

    /// Returns the distinct masks in which some bits but not all are set, in the order of their first columns.
    private static func masks(of columns: [Bits?]) -> [Mask] {
        var masks: [Mask] = []
        var found: [Hash128: Int] = [:]
        for (index, column) in columns.enumerated() {
            guard let bits = column else { continue }
            let ones = bits.ones
            guard ones > 0, ones < bits.count else { continue }
            let hash = bits.words.withUnsafeBytes { Hash128(of: $0) }
            // The hash is not collision-resistant: compare the bits too.
            if let i = found[hash], masks[i].bits == bits {
                masks[i].columns.append(index)
            } else {
                found[hash] = masks.count
                masks.append(Mask(bits: bits, ones: ones, columns: [index]))
            }
        }
        return masks
    }

    /// Finds for each mask the smallest mask that contains it, among those that come before it and are not nested themselves, if it is
    /// likely to take less space relative to that one.
    private static func nest(_ masks: inout [Mask]) {
        for i in masks.indices {
            let mask = masks[i], own = informationIn(mask.bits.count, ones: mask.ones), count = Double(mask.columns.count)
            var best = Int.max
            for j in max(0, i - PresencePlan.maximumSampledSegments)..<i
            where masks[j].outer == nil && masks[j].ones > mask.ones && masks[j].ones < best {
                guard informationIn(masks[j].ones, ones: mask.ones) * count < own, isPart(mask.bits, of: masks[j].bits) else { continue }
                masks[i].outer = j
                best = masks[j].ones
            }
        }
    }

    private static func isPart(_ bits: Bits, of outer: Bits) -> Bool {
        for w in bits.words.indices where bits.words[w] & ~outer.words[w] != 0 { return false }
        return true
    }

    /// Returns about how many bits it takes to encode which of `count` bits are set.
    private static func informationIn(_ count: Int, ones: Int) -> Double {
        func part(_ n: Int) -> Double { n == 0 ? 0 : Double(n) * (logarithm(Double(count)) - logarithm(Double(n))) }
        return part(ones) + part(count - ones)
    }

    /// The binary logarithm, interpolated linearly between powers of two: the same on every machine.
    private static func logarithm(_ x: Double) -> Double { Double(x.exponent) + x.significand - 1 }
}

/// The reference of a chunk to the validity of another: `column's position varint`, then nothing (the same bits), or nested booleans to the
/// end.
struct PresenceReference {
    var column: Int
    var nested: UnsafeRawBufferPointer?

    static func encoded(_ column: Int, nested: [UInt8]?) -> [UInt8] {
        var out = ByteWriter()
        out.appendVarint(column)
        if let nested { out.append(contentsOf: nested) }
        return out.bytes
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(Damage) {
        var reader = ByteReader(bytes)
        column = try reader.readCount(limit: Int(UInt32.max))
        nested = reader.isAtEnd ? nil : try reader.read(count: reader.remaining)
    }
}
