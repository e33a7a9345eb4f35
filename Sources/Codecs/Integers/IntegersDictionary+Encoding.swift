import FirnBytes

/// Encodes values as codes into sorted distinct values; returns nil unless this is expected to be smaller than `packedSize`. Codes that are
/// not bit-packed are slow to read, and so are the values of a dictionary that does not fit the fastest cache of a processor.
func encodeFewDistinct(_ values: UnsafeBufferPointer<Int64>, _ survey: IntegersSurvey, packedSize: Int, profile: Profile, depth: Int)
    -> Encoded?
{
    guard values.count >= 8, packedSize > 64,
        let counted = DistinctCounts(values, goal: packedSize, range: survey.low...survey.high), counted.values.count >= 2
    else { return nil }
    let sorted = counted.sortedValues
    // The codes of neighbouring integers are the integers themselves.
    if sorted[sorted.count &- 1] &- sorted[0] == Int64(sorted.count &- 1) { return nil }
    let codeWidth = bitWidth(UInt64(sorted.count &- 1)), size = sizeOfAscending(sorted)
    // Entropy coding may make skewed codes smaller than codes of equal width.
    let codes = profile == .fast ? values.count &* codeWidth / 8 : min(values.count &* codeWidth / 8, counted.leastBytesOfCodes)
    guard profile == .fast ? (size &+ codes) &* 20 < packedSize &* 19 : size &+ codes < packedSize else { return nil }
    let encoded = encodeDictionary(values, sorted, profile: profile, depth: depth)
    return Encoded(bytes: encoded.bytes, isSlow: encoded.isSlow || sorted.count > 1024)
}

/// Returns about the number of bytes that ascending values take.
private func sizeOfAscending(_ sorted: [Int64]) -> Int {
    var bits = 64
    for i in sorted.indices.dropFirst() { bits &+= bitWidth(UInt64(bitPattern: sorted[i] &- sorted[i &- 1])) &+ 1 }
    return bits / 8
}

/// Encodes values as codes into `sorted`, which contains all of them.
private func encodeDictionary(_ values: UnsafeBufferPointer<Int64>, _ sorted: [Int64], profile: Profile, depth: Int) -> Encoded {
    var out = ByteWriter()
    out.append(IntegersEncoding.dictionary.rawValue)
    out.appendVarint(sorted.count)
    // A reader decodes the values once. Few of them are not worth a stream within theirs.
    let isLarge = sorted.count >= 64
    out.append(
        lengthPrefixed: sorted.withUnsafeBufferPointer {
            encodeIntegers($0, profile: isLarge ? profile : .fast, depth: isLarge ? max(2, depth &+ 1) : nestingLimit)
        })
    let codes = encodeCodes(values, sorted, profile: profile, depth: depth &+ 1)
    out.append(contentsOf: codes)
    return Encoded(bytes: out.bytes, isSlow: codes[0] > IntegersEncoding.scaled.rawValue)
}

/// Encodes the positions of values in `sorted`, which contains all of them.
func encodeCodes(_ values: UnsafeBufferPointer<Int64>, _ sorted: [Int64], profile: Profile, depth: Int) -> [UInt8] {
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: values.count) { codes in
        let low = sorted[0]
        if let slots = directSlots(low...sorted[sorted.count &- 1], count: values.count) {
            withUnsafeTemporaryAllocation(of: Int32.self, capacity: slots) { table in
                for (code, value) in sorted.enumerated() { table[Int(value &- low)] = Int32(code) }
                for i in 0..<values.count { codes[i] = Int64(table[Int(values[i] &- low)]) }
            }
        } else {
            var table = DistinctCodes(capacity: sorted.count)
            for (code, value) in sorted.enumerated() { _ = table.code(of: value, orInsert: Int32(code)) }
            for i in 0..<values.count { codes[i] = Int64(table.find(values[i])) }
        }
        return encodeIntegers(UnsafeBufferPointer(codes), profile: profile, depth: depth)
    }
}

/// Returns the number of integers in a range if a table with a slot for each of them is small and not mostly empty, otherwise nil.
private func directSlots(_ range: ClosedRange<Int64>, count: Int) -> Int? {
    let last = UInt64(bitPattern: range.upperBound &- range.lowerBound)
    return last < 1 << 17 && last / 4 < UInt64(count) ? Int(last) &+ 1 : nil
}

extension IntegersEncoder {
    /// Encodes values as a dictionary with codes, whatever its size, because other columns follow from the codes. The dictionary contains
    /// the present values, at least one and at most 65,536.
    package static func encodeCoded(_ values: UnsafeBufferPointer<Int64>, present: Bits?, profile: Profile) -> [UInt8] {
        func encode(_ values: UnsafeBufferPointer<Int64>) -> [UInt8] {
            encodeDictionary(values, Set(values).sorted(), profile: profile, depth: 0).bytes
        }
        guard let present, !present.allSet else { return encode(values) }
        return withUnsafeTemporaryAllocation(of: Int64.self, capacity: values.count) { filled in
            fillGaps(values, present: present, into: filled)
            return encode(UnsafeBufferPointer(filled))
        }
    }
}

/// The distinct values of a stream, and how often they occur.
struct DistinctCounts {
    private(set) var values: [Int64] = []
    private var counts: [Int32] = []
    private var isSorted = false

    /// Returns nil if there are more than 65,536 distinct values, or so many that a dictionary is hardly smaller than `goal` bytes, or if a
    /// sample indicates that. `range`: of all values, if it is known.
    init?(_ all: UnsafeBufferPointer<Int64>, goal: Int, range: ClosedRange<Int64>? = nil) {
        // Each distinct value is expected to take a byte less than a value does on average.
        let bits = goal &* 8 / max(1, all.count)
        let limit = min(65_536, bits <= 10 ? min(4096, all.count / 4) : all.count &* 3 / 4)
        guard limit >= 2 else { return nil }
        let hop = all.count / 1024
        if hop > 1 {
            let sampled = (all.count &+ hop &- 1) / hop
            var table = DistinctCodes(capacity: sampled), once = 0, seen: Int32 = 0, again = [Bool](repeating: false, count: sampled)
            for i in stride(from: 0, to: all.count, by: hop) {
                let code = table.code(of: all[i], orInsert: seen)
                if code == seen {
                    seen &+= 1
                    once &+= 1
                } else {
                    if !again[Int(code)] { once &-= 1 }
                    again[Int(code)] = true
                }
            }
            // The share of values that occur once in the sample is about the probability that a further value is a new one (Good, Turing).
            if once &* 100 > sampled &* (bits <= 10 ? 40 : 85) || Int(seen) > limit { return nil }
        }
        if let range, let slots = directSlots(range, count: all.count) {
            count(all, range, slots: slots)
            if values.count > limit { return nil }
            return
        }
        var table = DistinctCodes(capacity: min(limit, 4096))
        for value in all {
            if table.isFull { table.grow() }
            let code = Int(table.code(of: value, orInsert: Int32(values.count)))
            if code == values.count {
                values.append(value)
                counts.append(1)
                if values.count > limit { return nil }
            } else {
                counts[code] &+= 1
            }
        }
    }

    private mutating func count(_ all: UnsafeBufferPointer<Int64>, _ range: ClosedRange<Int64>, slots: Int) {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: slots) { table in
            table.initialize(repeating: 0)
            for value in all { table[Int(value &- range.lowerBound)] &+= 1 }
            for (distance, count) in table.enumerated() where count > 0 {
                values.append(range.lowerBound &+ Int64(distance))
                counts.append(count)
            }
        }
        isSorted = true
    }

    var sortedValues: [Int64] { isSorted ? values : values.sorted() }

    /// The number of bytes that codes need if each is coded with its own probability.
    var leastBytesOfCodes: Int {
        Logarithm.withTable { table in
            var total = 0, spent = 0
            for count in counts {
                total &+= Int(count)
                spent &+= Int(count) &* Logarithm.of(Int(count), table)
            }
            return (total &* Logarithm.of(max(1, total), table) &- spent) >> 19
        }
    }
}

/// An open-addressing table from integers to codes.
struct DistinctCodes {
    private var keys: [Int64], codes: [Int32], mask: Int, shift: UInt64, size = 0

    init(capacity: Int) {
        let log = max(4, bitWidth(UInt64(capacity &* 2)))
        mask = (1 << log) &- 1
        shift = UInt64(64 &- log)
        keys = [Int64](repeating: 0, count: mask &+ 1)
        codes = [Int32](repeating: -1, count: mask &+ 1)
    }

    @inline(__always)
    private func slot(_ key: Int64) -> Int { Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) &>> shift) }

    /// Returns the code of a key. A key that is not in the table is inserted with the code `new`.
    @inline(__always)
    mutating func code(of key: Int64, orInsert new: Int32) -> Int32 {
        var at = slot(key)
        while codes[at] >= 0 {
            if keys[at] == key { return codes[at] }
            at = (at &+ 1) & mask
        }
        keys[at] = key
        codes[at] = new
        size &+= 1
        return new
    }

    /// Whether half of the slots are taken.
    var isFull: Bool { size &* 2 > mask }

    /// Doubles the number of slots.
    mutating func grow() {
        var larger = DistinctCodes(capacity: mask &+ 1)
        for at in 0...mask where codes[at] >= 0 { _ = larger.code(of: keys[at], orInsert: codes[at]) }
        self = larger
    }

    /// Returns the code of a key. The key must be in the table.
    @inline(__always)
    func find(_ key: Int64) -> Int32 {
        var at = slot(key)
        while keys[at] != key || codes[at] < 0 { at = (at &+ 1) & mask }
        return codes[at]
    }
}
