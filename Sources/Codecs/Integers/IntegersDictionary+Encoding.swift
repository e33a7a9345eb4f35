import FirnBytes

/// Encodes values as codes into sorted distinct values; returns nil unless a sample indicates that this is smaller than `packedSize`.
func encodeFewDistinct(_ values: UnsafeBufferPointer<Int64>, packedSize: Int, profile: Profile, depth: Int) -> [UInt8]? {
    let limit = min(4096, values.count / 4)
    guard limit >= 2, packedSize > 64, let distinct = distinctValues(values, limit: limit) else { return nil }
    let codeWidth = bitWidth(UInt64(distinct.count &- 1))
    let estimate = distinct.count &* 4 &+ values.count &* codeWidth / 8
    // Entropy coding may make skewed codes smaller still, so an estimate just below the packed size is sufficient.
    guard profile == .fast ? estimate &* 20 < packedSize &* 19 : estimate < packedSize else { return nil }
    return encodeDictionary(values, distinct.sorted(), profile: profile, depth: depth)
}

/// Encodes values as codes into `sorted`, which contains all of them.
private func encodeDictionary(_ values: UnsafeBufferPointer<Int64>, _ sorted: [Int64], profile: Profile, depth: Int) -> [UInt8] {
    var table = DistinctCodes(capacity: sorted.count)
    for (code, value) in sorted.enumerated() { _ = table.insert(value, Int32(code)) }
    var out = ByteWriter()
    out.append(IntegersEncoding.dictionary.rawValue)
    out.appendVarint(sorted.count)
    out.append(lengthPrefixed: sorted.withUnsafeBufferPointer { encodeIntegers($0, profile: .fast, depth: nestingLimit) })
    let codes = withUnsafeTemporaryAllocation(of: Int64.self, capacity: values.count) { codes in
        for i in 0..<values.count { codes[i] = Int64(table.find(values[i])) }
        return encodeIntegers(UnsafeBufferPointer(codes), profile: profile, depth: depth &+ 1)
    }
    out.append(contentsOf: codes)
    return out.bytes
}

extension IntegersEncoder {
    /// Encodes values as a dictionary with codes, whatever its size, because other columns follow from the codes. The dictionary contains
    /// the present values, at least one and at most 65,536.
    package static func encodeCoded(_ values: UnsafeBufferPointer<Int64>, present: Bits?, profile: Profile) -> [UInt8] {
        func encode(_ values: UnsafeBufferPointer<Int64>) -> [UInt8] {
            encodeDictionary(values, Set(values).sorted(), profile: profile, depth: 0)
        }
        guard let present, !present.allSet else { return encode(values) }
        return withUnsafeTemporaryAllocation(of: Int64.self, capacity: values.count) { filled in
            fillGaps(values, present: present, into: filled)
            return encode(UnsafeBufferPointer(filled))
        }
    }
}

/// Returns the distinct values in the order of their appearance; nil if there are more than `limit`, or if a sample indicates that there
/// are.
private func distinctValues(_ values: UnsafeBufferPointer<Int64>, limit: Int) -> [Int64]? {
    let hop = max(1, values.count / 1024)
    if hop > 1 {
        var table = DistinctCodes(capacity: 1024), seen: Int32 = 0
        for i in stride(from: 0, to: values.count, by: hop) where table.insert(values[i], seen) { seen &+= 1 }
        if seen > 600 || Int(seen) > limit { return nil }
    }
    var table = DistinctCodes(capacity: limit), distinct: [Int64] = []
    for value in values where table.insert(value, Int32(distinct.count)) {
        distinct.append(value)
        if distinct.count > limit { return nil }
    }
    return distinct
}

/// An open-addressing table from integers to codes.
struct DistinctCodes {
    private var keys: [Int64], codes: [Int32], mask: Int, shift: UInt64

    init(capacity: Int) {
        let log = max(4, bitWidth(UInt64(capacity &* 2)))
        mask = (1 << log) &- 1
        shift = UInt64(64 &- log)
        keys = [Int64](repeating: 0, count: mask &+ 1)
        codes = [Int32](repeating: -1, count: mask &+ 1)
    }

    @inline(__always)
    private func slot(_ key: Int64) -> Int { Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) &>> shift) }

    /// Inserts a key; returns false if the key was already in the table.
    @inline(__always)
    mutating func insert(_ key: Int64, _ code: Int32) -> Bool {
        var at = slot(key)
        while codes[at] >= 0 {
            if keys[at] == key { return false }
            at = (at &+ 1) & mask
        }
        keys[at] = key
        codes[at] = code
        return true
    }

    /// Returns the code of a key. The key must be in the table.
    @inline(__always)
    func find(_ key: Int64) -> Int32 {
        var at = slot(key)
        while keys[at] != key || codes[at] < 0 { at = (at &+ 1) & mask }
        return codes[at]
    }
}
