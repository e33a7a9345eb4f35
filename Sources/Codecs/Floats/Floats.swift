import FirnBytes

// empty            id 0                                        no value is present
// raw              id 1 · integer stream to the end: the ordered bits (below)
// decimals         id 2 · d (u8, 0…18) · number of exceptions e (varint) · positions: e × bitWidth(count − 1) bits, one bit string
//                  · exceptions: e × 8 bytes · integer stream to the end: k, value = k / 10^d
// single           id 3 · integer stream to the end: the ordered bits of the Float
// single decimals  id 4 · like decimals, value = Double(Float(k / 10^d))
// mixed            id 6 · see FloatsMixed
// dictionary       id 7 · see FloatsDictionary
// corrected        id 8 · see FloatsCorrected
// split            id 5 · r (u8, 32…60) · upper bits: length (varint), integer stream · lower r bits: integer stream to the end
// Ordered bits: unchanged if the sign is clear, otherwise with all other bits flipped. They sort like the values.

/// Encodes doubles as the smallest stream that the profile allows. Every bit pattern round-trips.
package enum FloatsEncoder {
    /// Encodes `values`. `single` requires that every present value is exactly representable as a Float.
    package static func encode(_ values: UnsafeBufferPointer<Double>, present: Bits?, single: Bool, profile: Profile) -> [UInt8] {
        guard values.count > 0, present?.noneSet != true else { return [FloatsEncoding.empty.rawValue] }
        let best = encodeDistinct(values, present: present, single: single, profile: profile)
        // Numbers that take two bytes leave little to gain.
        guard profile != .fast, best.count > values.count &* 2 else { return best }
        let goal = best.count &* (profile.isSmall ? 98 : 95) / 100
        return encodeDictionary(values, present: present, single: single, profile: profile, goal: goal) ?? best
    }

    /// Encodes `values` without a dictionary of doubles.
    static func encodeDistinct(_ values: UnsafeBufferPointer<Double>, present: Bits? = nil, single: Bool, profile: Profile) -> [UInt8] {
        let exact = encodeExact(values, present: present, single: single, profile: profile)
        guard profile != .fast, exact.count > (present?.ones ?? values.count) &* 2,
            let corrected = CorrectedEncoder(values, present: present, single: single)
        else { return exact }
        // Two streams are read for each value.
        let share = profile.isSmall ? 98 : values.count < fullSegment ? 92 : 88
        return corrected.encode(profile: profile, goal: exact.count &* share / 100) ?? exact
    }

    /// Encodes `values` in forms that fit them without corrections.
    private static func encodeExact(_ values: UnsafeBufferPointer<Double>, present: Bits?, single: Bool, profile: Profile) -> [UInt8] {
        let decimals = encodeDecimals(values, present: present, single: single, profile: profile)
        // Numbers of up to three digits leave little to gain.
        if let decimals, profile == .fast || !decimals.hasExceptions && decimals.digits < 4 { return decimals.bytes }
        let mixed = single || profile == .fast ? nil : MixedEncoder(values, present: present)
        if let decimals, !decimals.hasExceptions {
            // Decimals with the same number of digits are read faster.
            guard let mixed, mixed.isUnusual || mixed.expectedSaving > (profile.isSmall ? 4 : 20) else { return decimals.bytes }
            let share = profile.isSmall ? 98 : values.count < fullSegment ? 88 : 80
            return mixed.encode(profile: profile, goal: decimals.bytes.count &* share / 100) ?? decimals.bytes
        }
        var best = decimals?.bytes
        // Doubles of unknown form, and exceptions, are stored in full each time, so doubles that repeat can be smaller in a dictionary.
        if mixed.map({ $0.hasOthers || $0.hasRepeats }) ?? true {
            let ordered = encodeOrdered(values, present: present, single: single, profile: profile)
            if best.map({ ordered.count &* 100 < $0.count &* 97 }) ?? true { best = ordered }
        }
        let goal = best.map { $0.count &* (profile.isSmall ? 99 : 92) / 100 } ?? values.count &* 8
        return mixed?.encode(profile: profile, goal: goal) ?? best
            ?? encodeOrdered(values, present: present, single: single, profile: profile)
    }

    /// Returns about `size` values from all parts of a column, or its first present values if that gives fewer than `least`.
    static func sample(_ values: UnsafeBufferPointer<Double>, present: Bits?, size: Int, least: Int) -> [Double] {
        var sample: [Double] = []
        for i in stride(from: 0, to: values.count, by: max(1, values.count / size)) where present?[i] ?? true { sample.append(values[i]) }
        guard sample.count < least, let present else { return sample }
        sample = []
        present.forEachSet { if sample.count < size { sample.append(values[$0]) } }
        return sample
    }

    private static func encodeOrdered(_ values: UnsafeBufferPointer<Double>, present: Bits?, single: Bool, profile: Profile) -> [UInt8] {
        var out = ByteWriter()
        out.append(single ? FloatsEncoding.single.rawValue : FloatsEncoding.raw.rawValue)
        let ordered = [Int64](unsafeUninitializedCapacity: values.count) { ordered, filled in
            for i in 0..<values.count { ordered[i] = single ? order(Float(values[i])) : order(values[i]) }
            filled = values.count
        }
        out.append(contentsOf: ordered.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: present, profile: profile) })
        if !single, let split = encodeSplit(ordered, present: present, profile: profile, goal: out.count &* 98 / 100) { return split }
        return out.bytes
    }

    /// Encodes values as a dictionary with codes, because other columns follow from the codes. At least one value is present.
    package static func encodeCoded(_ values: UnsafeBufferPointer<Double>, present: Bits?, single: Bool, profile: Profile) -> [UInt8] {
        if let decimals = encodeDecimals(values, present: present, single: single, profile: profile, isCoded: true) {
            return decimals.bytes
        }
        var out = ByteWriter()
        out.append(single ? FloatsEncoding.single.rawValue : FloatsEncoding.raw.rawValue)
        let ordered = values.map { single ? order(Float($0)) : order($0) }
        out.append(contentsOf: ordered.withUnsafeBufferPointer { IntegersEncoder.encodeCoded($0, present: present, profile: profile) })
        return out.bytes
    }

    /// Whether a value has a lower code than another one.
    package static func precedes(_ a: Double, _ b: Double) -> Bool { order(a) < order(b) }

    /// Encodes the upper bits separately if they have few distinct values, and the lower bits bit-packed. Returns nil if that is not below
    /// `goal`.
    private static func encodeSplit(_ ordered: [Int64], present: Bits?, profile: Profile, goal: Int) -> [UInt8]? {
        guard ordered.count >= 64, goal > ordered.count &* 5 else { return nil }
        var best: (upper: [UInt8], lowerBits: Int)?, bestSize = goal
        // Entropy coding of so small a part of the bits never saves the 15 % that profiles other than `small` require.
        let profile = profile.isSmall ? profile : .fast
        for lowerBits in [52, 48, 44] {
            let upper = ordered.map { $0 &>> Int64(lowerBits) }.withUnsafeBufferPointer {
                IntegersEncoder.encode($0, present: present, profile: profile)
            }
            let size = upper.count &+ packedSize(count: 1, width: lowerBits &* ordered.count) &+ 24
            if size < bestSize { (best, bestSize) = ((upper, lowerBits), size) }
        }
        guard let best else { return nil }
        var out = ByteWriter(reserving: bestSize)
        out.append(FloatsEncoding.split.rawValue)
        out.append(UInt8(best.lowerBits))
        out.append(lengthPrefixed: best.upper)
        let mask = Int64(bitPattern: lowMask(best.lowerBits))
        let lower = ordered.map { $0 & mask }.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: present, profile: .fast) }
        out.append(contentsOf: lower)
        return out.count < goal ? out.bytes : nil
    }
}

@inline(__always) func order(_ value: Double) -> Int64 {
    let bits = Int64(bitPattern: value.bitPattern)
    return bits ^ ((bits &>> 63) & Int64.max)
}
@inline(__always) func order(_ value: Float) -> Int64 {
    let bits = Int32(bitPattern: value.bitPattern)
    return Int64(bits ^ ((bits &>> 31) & Int32.max))
}
@inline(__always) func doubleFromOrdered(_ bits: Int64) -> Double {
    Double(bitPattern: UInt64(bitPattern: bits ^ ((bits &>> 63) & Int64.max)))
}
@inline(__always) func singleFromOrdered(_ integer: Int64) -> Double {
    let bits = Int32(truncatingIfNeeded: integer)
    return Double(Float(bitPattern: UInt32(bitPattern: bits ^ ((bits &>> 31) & Int32.max))))
}

/// Reads a stream of doubles. The bytes must outlive the reader. Untrusted bytes lead to `Damage`, never to a trap.
package final class FloatsReader: Sendable {
    package let count: Int
    let body: FloatsBody

    package init(_ bytes: UnsafeRawBufferPointer, count: Int) throws(Damage) {
        guard count >= 0, count <= 1 << 40 else { throw Damage("count of values out of range") }
        self.count = count
        var reader = ByteReader(bytes)
        let id: UInt8 = try reader.read()
        guard let encoding = FloatsEncoding(rawValue: id) else { throw Damage(unknown: "encoding of doubles \(id)") }
        switch encoding {
        case .empty: body = FloatsBody(count: count)
        case .raw, .single: body = try FloatsOrdered(&reader, count: count, single: encoding == .single)
        case .decimals, .singleDecimals: body = try FloatsDecimalScaled(&reader, count: count, single: encoding == .singleDecimals)
        case .split: body = try FloatsSplit(&reader, count: count)
        case .mixed: body = try FloatsMixed(&reader, count: count)
        case .dictionary: body = try FloatsDictionary(&reader, count: count)
        case .corrected: body = try FloatsCorrected(&reader, count: count)
        }
        body.ownFeatures = encoding.features
    }

    package var encodingName: String { body.name }

    /// Writes the values of one vector (1,024, or what remains). `into` must have space for 1,024.
    package func decode(vector: Int, into: UnsafeMutablePointer<Double>) throws(Damage) {
        try body.decode(vector: vector, count: length(ofVector: vector, in: count), into: into)
    }

    /// Writes 16 words with one bit for each value: set if the value is in `low ... high`. NaN is in no range. Bits past the end are zero.
    package func search(vector: Int, _ low: Double, _ high: Double, into out: UnsafeMutablePointer<UInt64>) throws(Damage) {
        let n = length(ofVector: vector, in: count)
        if n < vectorLength { out.update(repeating: 0, count: vectorLength / 64) }
        guard low <= high else { return RangeBits.fill(out, count: n, false) }
        try body.search(vector: vector, count: n, low, high, into: out)
    }

    /// Returns the sum of a full vector of a decimal-scaled stream, more exactly than adding the values one by one; nil if the caller must
    /// add the decoded values.
    package func sum(vector: Int) throws(Damage) -> Double? {
        let start = vector &* vectorLength
        guard vector >= 0, start &+ vectorLength <= count else { return nil }
        return try body.sum(vector: vector)
    }

    package func value(at index: Int) throws(Damage) -> Double {
        trap(unless: index >= 0 && index < count, "index outside the stream")
        return try body.value(at: index)
    }

    /// Returns bounds of all present values; nil if they are unknown or if a value may be NaN.
    package func bounds() -> (Double, Double)? { body.bounds(ofVector: nil) }

    package func bounds(ofVector vector: Int) -> (Double, Double)? {
        guard vector >= 0, vector &* vectorLength < count else { return nil }
        return body.bounds(ofVector: vector)
    }
}

class FloatsBody: @unchecked Sendable {
    let count: Int
    init(count: Int) { self.count = count }
    /// The features that the id of the encoding needs.
    final var ownFeatures: EncodingFeatures = []
    /// The features that this stream and those nested in it need. Encodings of version 1 override it.
    var features: EncodingFeatures { ownFeatures }
    var name: String { "empty" }
    /// The form in which most values are stored as integers; nil if none are.
    var dominantForm: FloatForm? { nil }
    /// Returns bounds of the values of a vector; `vector` nil means the whole stream.
    func bounds(ofVector vector: Int?) -> (Double, Double)? { nil }
    func value(at index: Int) throws(Damage) -> Double { 0 }
    func decode(vector: Int, count n: Int, into out: UnsafeMutablePointer<Double>) throws(Damage) { out.update(repeating: 0, count: n) }
    /// Writes one bit for each of the n values of a vector: set if the value is in `low ... high`. Neither bound is NaN. Writes a word for
    /// every 64.
    func search(vector: Int, count n: Int, _ low: Double, _ high: Double, into out: UnsafeMutablePointer<UInt64>) throws(Damage) {
        try withScratch(of: Double.self, count: vectorLength) { (scratch) throws(Damage) in
            try decode(vector: vector, count: n, into: scratch)
            RangeBits.of(scratch, count: n, low, high, into: out)
        }
    }
    /// Writes the values at ascending positions within a vector of n values.
    func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, count n: Int, into out: UnsafeMutablePointer<Double>) throws(Damage) {
        try gatherDecoded(rows, vector: vector, count: n, into: out)
    }
    /// Returns the sum of a full vector, or nil if this encoding does not compute it.
    func sum(vector: Int) throws(Damage) -> Double? { nil }
}

final class FloatsOrdered: FloatsBody, @unchecked Sendable {
    private let single: Bool, integers: IntegersBody

    init(_ reader: inout ByteReader, count: Int, single: Bool) throws(Damage) {
        self.single = single
        integers = try openIntegers(reader.readRest(), count: count, depth: 1)
        super.init(count: count)
    }

    override var features: EncodingFeatures { integers.features }
    override var name: String { "\(single ? "single" : "double")(\(integers.name))" }
    override var dominantForm: FloatForm? { single ? .single : .ordered }

    override func bounds(ofVector vector: Int?) -> (Double, Double)? {
        guard let range = vector.map({ integers.bounds(ofVector: $0) }) ?? integers.bounds else { return nil }
        // Bounds that extend into the NaNs are unknown.
        if single, range.0 < Int64(Int32.min) || range.1 > Int64(Int32.max) { return nil }
        let least = double(range.0), most = double(range.1)
        return least.isNaN || most.isNaN ? nil : (least, most)
    }

    private func double(_ integer: Int64) -> Double { single ? singleFromOrdered(integer) : doubleFromOrdered(integer) }
    override func value(at index: Int) throws(Damage) -> Double { double(try integers.value(at: index)) }

    /// The integers are in the order of the numbers, with -0 just below 0. NaNs are outside the infinities.
    override func search(vector: Int, count n: Int, _ low: Double, _ high: Double, into out: UnsafeMutablePointer<UInt64>) throws(Damage) {
        let from: Int64, to: Int64
        if single {
            let least = Float(low), most = Float(high)
            from = order(low == 0 ? -0.0 : Double(least) < low ? least.nextUp : least)
            to = order(high == 0 ? 0.0 : Double(most) > high ? most.nextDown : most)
        } else {
            from = order(low == 0 ? -0.0 : low)
            to = order(high == 0 ? 0.0 : high)
        }
        try integers.search(vector: vector, count: n, from, to, into: out)
    }

    override func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, count n: Int, into out: UnsafeMutablePointer<Double>)
        throws(Damage)
    {
        try inPlace(out) { (target) throws(Damage) in try integers.gather(rows, vector: vector, count: n, into: target) }
        let raw = UnsafeMutableRawPointer(out)
        for j in 0..<rows.count { out[j] = double(raw.load(fromByteOffset: j &* 8, as: Int64.self)) }
    }

    override func decode(vector: Int, count n: Int, into out: UnsafeMutablePointer<Double>) throws(Damage) {
        let single = single
        try decodeInPlace(integers, vector: vector, count: n, into: out) { single ? singleFromOrdered($0) : doubleFromOrdered($0) }
    }
}

/// Decodes integers into the memory of the doubles that they are converted to.
@inline(__always)
func decodeInPlace(
    _ integers: IntegersBody, vector: Int, count n: Int, into out: UnsafeMutablePointer<Double>,
    _ convert: (Int64) -> Double
) throws(Damage) {
    try inPlace(out) { (target) throws(Damage) in try integers.decode(from: vector &* vectorLength, count: n, into: target) }
    let raw = UnsafeMutableRawPointer(out)
    for i in 0..<n { out[i] = convert(raw.load(fromByteOffset: i &* 8, as: Int64.self)) }
}

/// Rebinds the memory of doubles to as many integers.
@inline(__always)
func inPlace(_ out: UnsafeMutablePointer<Double>, _ body: (UnsafeMutablePointer<Int64>) throws(Damage) -> Void) throws(Damage) {
    try UnsafeMutableRawPointer(out).withMemoryRebound(to: Int64.self, capacity: vectorLength, body)
}

final class FloatsSplit: FloatsBody, @unchecked Sendable {
    private let lowerBits: UInt64, upper: IntegersBody, lower: IntegersBody

    init(_ reader: inout ByteReader, count: Int) throws(Damage) {
        lowerBits = UInt64(try reader.read(UInt8.self))
        guard lowerBits >= 32, lowerBits <= 60 else { throw Damage("split doubles have an invalid header") }
        upper = try openIntegers(try reader.readLengthPrefixed(), count: count, depth: 1)
        lower = try openIntegers(reader.readRest(), count: count, depth: 1)
        super.init(count: count)
    }

    override var features: EncodingFeatures { upper.features.union(lower.features) }
    override var name: String { "split(\(upper.name), \(lower.name))" }

    override func bounds(ofVector vector: Int?) -> (Double, Double)? {
        guard let range = vector.map({ upper.bounds(ofVector: $0) }) ?? upper.bounds else { return nil }
        // The upper bits are ordered: clear lower bits give the minimum, set lower bits the maximum.
        let least = doubleFromOrdered(range.0 << Int64(lowerBits)),
            most = doubleFromOrdered(range.1 << Int64(lowerBits) | Int64(bitPattern: lowMask(Int(lowerBits))))
        return least.isNaN || most.isNaN || least > most ? nil : (least, most)
    }

    override func value(at index: Int) throws(Damage) -> Double {
        doubleFromOrdered((try upper.value(at: index)) << Int64(lowerBits) | (try lower.value(at: index)))
    }

    override func decode(vector: Int, count n: Int, into out: UnsafeMutablePointer<Double>) throws(Damage) {
        let shift = Int64(lowerBits)
        try withScratch(of: Int64.self, count: vectorLength) { (scratch) throws(Damage) in
            try upper.decode(from: vector &* vectorLength, count: n, into: scratch)
            var i = 0
            try decodeInPlace(lower, vector: vector, count: n, into: out) { integer in
                defer { i &+= 1 }
                return doubleFromOrdered(scratch[i] &<< shift | integer)
            }
        }
    }
}
