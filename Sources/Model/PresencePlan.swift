import FirnBytes
import FirnCodecs

/// How the presence of the columns of one segment is written: bits that several columns have in common once, and bits that are set only where
/// those of an earlier column are by those alone. What is referred to stands for itself.
struct PresencePlan {
    /// For each column the stream that says its presence; nil: the column's encoder makes one, if any value is absent.
    private(set) var streams: [(kind: StreamKind, bytes: [UInt8])?]
    /// Whether a column refers to another.
    private(set) var refers = false

    /// Bits that one or more columns have.
    private struct Mask {
        var bits: Bits
        var ones: Int
        var columns: [Int]
        /// Another mask of which this one may be part.
        var outer: Int?
    }

    /// The bytes that a reference has to save: a reader of the column then needs the chunk of another too. Few bits are no gain, nested ones least, since
    /// a small file is compressed as a whole: bits that stand there twice, or almost, cost next to nothing.
    private static func worth(_ rows: Int, nested: Bool) -> Int { max(nested ? 64 : 32, rows / 512) }

    /// A mask is looked for in so many that come before it: with many columns, looking at all of them would take the square of the columns.
    private static let mostLookedAt = 256

    /// Whether the presence of a column with so many values may take more bytes than a reference to that of another.
    static func mayGain(_ rows: Int, ones: Int) -> Bool {
        // Encoded bits take less than four times their information.
        informationIn(rows, ones: ones) / 2 + 16 >= Double(worth(rows, nested: false))
    }

    /// `encode` runs a number of tasks, on several threads if it likes.
    init(_ columns: [Bits?], profile: Profile, encode: (Int, (Int) -> [UInt8]) -> [[UInt8]]) {
        streams = Array(repeating: nil, count: columns.count)
        var masks = PresencePlan.masks(of: columns)
        guard masks.reduce(0, { $0 + $1.columns.count }) > 1 else { return }
        PresencePlan.nest(&masks)
        // Masks of one column that nothing has to do with are left to the column's encoder.
        let outers = Set(masks.compactMap(\.outer))
        let shared = masks.indices.filter { masks[$0].columns.count > 1 || masks[$0].outer != nil || outers.contains($0) }
        let nested = shared.filter { masks[$0].outer != nil }
        let parts = encode(shared.count + nested.count) { task in
            if task < shared.count { return BitsEncoder.encode(masks[shared[task]].bits, profile: profile) }
            let mask = masks[nested[task - shared.count]]
            return BitsEncoder.encode(mask.bits, within: masks[mask.outer!].bits, profile: profile)
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
            if same.count + PresencePlan.worth(rows, nested: false) <= own.count { for column in mask.columns.dropFirst() { refer(column, same) } }
        }
    }

    private mutating func refer(_ column: Int, _ bytes: [UInt8]) {
        streams[column] = (.presentLike, bytes)
        refers = true
    }

    /// The masks that some but not all of whose bits are set, each once, in the order of their first columns.
    private static func masks(of columns: [Bits?]) -> [Mask] {
        var masks: [Mask] = []
        var found: [Hash128: Int] = [:]
        for (index, column) in columns.enumerated() {
            guard let bits = column else { continue }
            let ones = bits.ones
            guard ones > 0, ones < bits.count else { continue }
            let hash = bits.words.withUnsafeBytes { Hash128(of: $0) }
            // Equal hashes can be made on purpose.
            if let i = found[hash], masks[i].bits == bits {
                masks[i].columns.append(index)
            } else {
                found[hash] = masks.count
                masks.append(Mask(bits: bits, ones: ones, columns: [index]))
            }
        }
        return masks
    }

    /// Finds for each mask the smallest that holds it, among those that come before it and stand for themselves, if it is likely to be less there.
    private static func nest(_ masks: inout [Mask]) {
        for i in masks.indices {
            let mask = masks[i], own = informationIn(mask.bits.count, ones: mask.ones), count = Double(mask.columns.count)
            var best = Int.max
            for j in max(0, i - PresencePlan.mostLookedAt)..<i where masks[j].outer == nil && masks[j].ones > mask.ones && masks[j].ones < best {
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

    /// About how many bits it takes to say which of `count` bits are set.
    private static func informationIn(_ count: Int, ones: Int) -> Double {
        func part(_ n: Int) -> Double { n == 0 ? 0 : Double(n) * (logarithm(Double(count)) - logarithm(Double(n))) }
        return part(ones) + part(count - ones)
    }

    /// To the base 2, by straight lines between its whole values: the same on every machine.
    private static func logarithm(_ x: Double) -> Double { Double(x.exponent) + x.significand - 1 }
}

/// Where a chunk takes its presence from: `column's position varint`, then nothing (the very same), or nested bits to the end.
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
