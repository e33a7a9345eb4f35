import FirnBytes

// zeros, ones     id 0, 1
// raw             id 2 · bit i in byte i / 8 at position i mod 8 (the last byte padded with zeros)
// sparse ones     id 3 · number of positions (varint) · positions, ascending, bitWidth(count − 1) bits each, one bit string
// sparse zeros    id 4 · the same for clear bits
// runs            id 5 · first bit (u8) · then as sparse: positions whose bit differs from the one before
// bytes           id 6 · integer stream to the end: the bytes of raw, one integer for each byte

/// Encodes booleans as the smallest stream that the profile allows. Deterministic: the same bits give the same bytes.
package enum BooleansEncoder {
    package static func encode(_ bits: Bits, profile: Profile) -> [UInt8] { encodeBooleans(bits, profile: profile, depth: 0) }
}

/// Reads a stream of booleans. The bytes must outlive the reader. Untrusted bytes lead to `Damage`, never to a trap.
package final class BooleansReader: Sendable {
    package let count: Int
    let body: BooleansBody

    package init(_ bytes: UnsafeRawBufferPointer, count: Int) throws(Damage) {
        self.count = count
        body = try openBooleans(bytes, count: count, depth: 0)
    }

    /// Opens nested booleans, which are set only where those of `outer` are set. The bytes of `outer` must also outlive the reader.
    package init(_ bytes: UnsafeRawBufferPointer, within outer: BooleansReader) throws(Damage) {
        count = outer.count
        var reader = ByteReader(bytes)
        body = try BooleansNested(&reader, outer: outer.body)
    }

    /// The value of all bits if the encoding determines it (zeros, ones); nil otherwise.
    package var isConstant: Bool? { body.constant }
    package var encodingName: String { body.name }

    /// Writes the bits of one vector as 16 words; bits past the end of the stream are zero.
    package func decode(vector: Int, into: UnsafeMutablePointer<UInt64>) throws(Damage) {
        _ = length(ofVector: vector, in: count)
        try body.decode(vector: vector, into: into)
    }

    package func value(at index: Int) throws(Damage) -> Bool {
        trap(unless: index >= 0 && index < count, "index outside the stream")
        return try body.value(at: index)
    }

    /// Returns the number of set bits of a vector, or nil if the stream is damaged or has no such vector.
    package func ones(ofVector vector: Int) -> Int? {
        guard vector >= 0, vector &* vectorLength < count else { return nil }
        if let constant = body.constant { return constant ? min(vectorLength, count &- vector &* vectorLength) : 0 }
        return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 16) { words in
            guard (try? body.decode(vector: vector, into: words.baseAddress!)) != nil else { return nil }
            return words.reduce(0) { $0 &+ $1.nonzeroBitCount }
        }
    }
}

/// One encoding of booleans. Subclasses implement the encodings.
class BooleansBody: @unchecked Sendable {
    let count: Int
    var constant: Bool? { nil }
    /// The features that this stream and those nested in it need.
    var features: EncodingFeatures { [] }
    var name: String { "" }
    init(count: Int) { self.count = count }
    func value(at index: Int) throws(Damage) -> Bool { false }
    func decode(vector: Int, into: UnsafeMutablePointer<UInt64>) throws(Damage) {}
}

/// Writes ones to the first `count` bits of 16 words, zeros to the others.
func fillWords(_ words: UnsafeMutablePointer<UInt64>, ones count: Int) {
    for w in 0..<16 { words[w] = lowMask(min(max(count &- w &* 64, 0), 64)) }
}

final class BooleansConstant: BooleansBody, @unchecked Sendable {
    let value: Bool
    init(count: Int, value: Bool) {
        self.value = value
        super.init(count: count)
    }
    override var constant: Bool? { value }
    override var name: String { value ? "all" : "none" }
    override func value(at index: Int) throws(Damage) -> Bool { value }
    override func decode(vector: Int, into words: UnsafeMutablePointer<UInt64>) throws(Damage) {
        fillWords(words, ones: value ? min(vectorLength, count &- vector &* vectorLength) : 0)
    }
}

final class BooleansRaw: BooleansBody, @unchecked Sendable {
    private let bytes: UnsafeRawBufferPointer
    init(_ bytes: UnsafeRawBufferPointer, count: Int) throws(Damage) {
        guard bytes.count >= (count &+ 7) >> 3 else { throw Damage("bits cut short") }
        self.bytes = bytes
        super.init(count: count)
    }
    override var name: String { "bits" }
    override func value(at index: Int) throws(Damage) -> Bool { bytes[index >> 3] &>> UInt8(index & 7) & 1 == 1 }
    override func decode(vector: Int, into words: UnsafeMutablePointer<UInt64>) throws(Damage) {
        let n = min(vectorLength, count &- vector &* vectorLength), size = (n &+ 7) >> 3
        fillWords(words, ones: 0)
        UnsafeMutableRawPointer(words).copyMemory(from: bytes.baseAddress! + vector &* (vectorLength / 8), byteCount: size)
        if n & 63 != 0 { words[n >> 6] &= lowMask(n & 63) }
    }
}

/// Ascending positions: of the bits that differ from the majority, or of the bits that differ from the previous one (runs).
final class BooleansPositions: BooleansBody, @unchecked Sendable {
    private let encoding: BooleansEncoding, first: Bool, total: Int, width: Int, positions: UnsafeRawBufferPointer

    init(_ reader: inout ByteReader, encoding: BooleansEncoding, count: Int) throws(Damage) {
        self.encoding = encoding
        first = encoding == .runs ? try reader.read(UInt8.self) & 1 == 1 : encoding == .sparseZeros
        total = try reader.readCount(limit: count)
        width = bitWidth(UInt64(max(count, 1) &- 1))
        positions = try reader.read(count: (total &* width &+ 7) >> 3)
        super.init(count: count)
    }

    override var name: String { encoding == .runs ? "runs" : "sparse" }

    private func position(_ i: Int) -> Int {
        guard let base = positions.baseAddress else { return 0 }
        return Int(truncatingIfNeeded: readBits(base, limit: positions.count, position: i &* width, width: width))
    }

    /// Returns the number of positions below `index`.
    private func rank(_ index: Int) -> Int {
        lowerBound(total) { position($0) < index }
    }

    override func value(at index: Int) throws(Damage) -> Bool {
        let upTo = rank(index &+ 1)
        if encoding == .runs { return first != (upTo & 1 == 1) }
        return first != (upTo > 0 && position(upTo &- 1) == index)
    }

    override func decode(vector: Int, into words: UnsafeMutablePointer<UInt64>) throws(Damage) {
        let base = vector &* vectorLength, n = min(vectorLength, count &- base)
        var i = rank(base)
        if encoding == .runs {
            fillWords(words, ones: first != (i & 1 == 1) ? n : 0)
            while i < total {
                let at = position(i) &- base
                if at < 0 || at >= n { break }
                for w in (at >> 6)..<16 { words[w] ^= w == at >> 6 ? ~lowMask(at & 63) : .max }
                i &+= 1
            }
            for w in 0..<16 { words[w] &= lowMask(min(max(n &- w &* 64, 0), 64)) }
            return
        }
        fillWords(words, ones: first ? n : 0)
        while i < total {
            let at = position(i) &- base
            if at < 0 || at >= n { break }
            words[at >> 6] ^= 1 << UInt64(at & 63)
            i &+= 1
        }
    }
}

/// The bytes of a raw stream as integers, so that entropy coding can make them smaller.
final class BooleansBytes: BooleansBody, @unchecked Sendable {
    private let bytes: IntegersBody
    init(_ reader: inout ByteReader, count: Int, depth: Int) throws(Damage) {
        bytes = try openIntegers(reader.readRest(), count: (count &+ 7) >> 3, depth: depth &+ 1)
        super.init(count: count)
    }
    override var features: EncodingFeatures { bytes.features }
    override var name: String { "bytes(\(bytes.name))" }
    override func value(at index: Int) throws(Damage) -> Bool { try bytes.value(at: index >> 3) &>> Int64(index & 7) & 1 == 1 }
    override func decode(vector: Int, into words: UnsafeMutablePointer<UInt64>) throws(Damage) {
        let n = min(vectorLength, count &- vector &* vectorLength), size = (n &+ 7) >> 3
        try withScratch(of: Int64.self, count: 128) { (scratch) throws(Damage) in
            try bytes.decode(from: vector &* 128, count: size, into: scratch)
            fillWords(words, ones: 0)
            for i in 0..<size { words[i >> 3] |= UInt64(truncatingIfNeeded: scratch[i] & 0xFF) << UInt64(i & 7 &* 8) }
            if n & 63 != 0 { words[n >> 6] &= lowMask(n & 63) }
        }
    }
}

func openBooleans(_ bytes: UnsafeRawBufferPointer, count: Int, depth: Int) throws(Damage) -> BooleansBody {
    guard count >= 0, count <= 1 << 40 else { throw Damage("count of bits out of range") }
    guard depth < nestingLimit else { throw Damage("streams nested too deep") }
    var reader = ByteReader(bytes)
    let id: UInt8 = try reader.read()
    guard let encoding = BooleansEncoding(rawValue: id) else { throw Damage(unknown: "encoding of bits \(id)") }
    switch encoding {
    case .zeros, .ones: return BooleansConstant(count: count, value: encoding == .ones)
    case .raw: return try BooleansRaw(reader.readRest(), count: count)
    case .sparseOnes, .sparseZeros, .runs: return try BooleansPositions(&reader, encoding: encoding, count: count)
    case .bytes: return try BooleansBytes(&reader, count: count, depth: depth)
    }
}

func encodeBooleans(_ bits: Bits, profile: Profile, depth: Int) -> [UInt8] {
    let ones = bits.ones, count = bits.count
    if ones == 0 { return [BooleansEncoding.zeros.rawValue] }
    if ones == count { return [BooleansEncoding.ones.rawValue] }
    var changes = 0, carry = bits.words[0] & 1
    for (w, word) in bits.words.enumerated() {
        let m = min(64, count &- w &* 64)
        changes &+= ((word ^ (word << 1 | carry)) & lowMask(m)).nonzeroBitCount
        carry = word >> 63
    }
    let width = bitWidth(UInt64(count &- 1)), raw = (count &+ 7) >> 3
    let sparse = min(ones, count &- ones)
    var best = [UInt8]()
    let sparseSize = (sparse &* width) >> 3 &+ 3, runsSize = (changes &* width) >> 3 &+ 4
    if min(sparseSize, runsSize) < raw {
        let inverted = ones > sparse
        var out = ByteWriter()
        let encoding: BooleansEncoding = runsSize < sparseSize ? .runs : inverted ? .sparseZeros : .sparseOnes
        out.append(encoding.rawValue)
        if encoding == .runs { out.append(UInt8(bits.words[0] & 1)) }
        out.appendVarint(encoding == .runs ? changes : sparse)
        var positions = BitWriter()
        var previous = bits.words[0] & 1
        for (w, word) in bits.words.enumerated() {
            var marks = encoding == .runs ? word ^ (word << 1 | previous) : inverted ? ~word : word
            marks &= lowMask(min(64, count &- w &* 64))
            previous = word >> 63
            while marks != 0 {
                positions.write(UInt64(w &* 64 &+ marks.trailingZeroBitCount), width: width)
                marks &= marks &- 1
            }
        }
        positions.align()
        out.append(contentsOf: positions.bytes)
        best = out.bytes
    } else {
        best = [BooleansEncoding.raw.rawValue]
        best.reserveCapacity(raw &+ 1)
        bits.words.withUnsafeBytes { best.append(contentsOf: $0.prefix(raw)) }
    }
    if profile != .fast, best.count > 128 {
        // The bytes of the bitmap as an integer stream, which may use entropy coding.
        let bytes = bits.words.withUnsafeBytes { $0.prefix(raw).map { Int64($0) } }
        let words = bytes.withUnsafeBufferPointer { encodeIntegers($0, profile: profile, depth: max(depth, 2) &+ 1) }
        if (words.count &+ 1) &* 100 < best.count &* (profile.isSmall ? 97 : 85) { return [BooleansEncoding.bytes.rawValue] + words }
    }
    return best
}
