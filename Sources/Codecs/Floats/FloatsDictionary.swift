import FirnBytes

// dictionary   id 7 · n (varint, 1…65,536) · values: n doubles whose ordered bits ascend, length (varint), stream of doubles (not id 7)
//              · codes: integer stream to the end; value = values[code]

final class FloatsDictionary: FloatsBody, @unchecked Sendable {
    private let distinct: [Double], codes: IntegersBody, valueFeatures: EncodingFeatures, valuesName: String, valuesForm: FloatForm?

    init(_ reader: inout ByteReader, count: Int) throws(Damage) {
        let size = try reader.readCount(limit: min(count, FloatsDictionary.maximumSize))
        let bytes = try reader.readLengthPrefixed()
        guard bytes.first != FloatsEncoding.dictionary.rawValue else { throw Damage("the values of a dictionary are a dictionary") }
        let values = try FloatsReader(bytes, count: size)
        codes = try openIntegers(reader.readRest(), count: count, depth: 1)
        (valueFeatures, valuesName, valuesForm) = (values.features, values.encodingName, values.body.dominantForm)
        // A vector of values has space for 1,024, also if fewer remain.
        var decoded: [Double] = []
        decoded.reserveCapacity(size)
        try withScratch(of: Double.self, count: vectorLength) { (scratch) throws(Damage) in
            for first in stride(from: 0, to: size, by: vectorLength) {
                try values.decode(vector: first / vectorLength, into: scratch)
                for i in 0..<min(vectorLength, size &- first) { decoded.append(scratch[i]) }
            }
        }
        distinct = decoded
        super.init(count: count)
    }

    static let maximumSize = 65_536

    override var features: EncodingFeatures { ownFeatures.union(valueFeatures).union(codes.features) }
    override var dominantForm: FloatForm? { valuesForm }
    override var name: String { "dictionary(\(valuesName), \(codes.name))" }

    override func bounds(ofVector vector: Int?) -> (Double, Double)? {
        guard distinct.count > 0 else { return nil }
        var first = 0, last = distinct.count &- 1
        if let vector, let range = codes.bounds(ofVector: vector), range.0 >= 0, range.0 <= range.1, range.0 < distinct.count {
            (first, last) = (Int(range.0), Int(min(range.1, Int64(last))))
        }
        // NaNs are before −∞ and after ∞, so they are at an end if there are any.
        let least = distinct[first], most = distinct[last]
        return least <= most ? (least, most) : nil
    }

    override func value(at index: Int) throws(Damage) -> Double {
        let code = try codes.value(at: index)
        guard code >= 0, code < distinct.count else { throw Damage("code outside the dictionary") }
        return distinct[Int(code)]
    }

    override func decode(vector: Int, count n: Int, into out: UnsafeMutablePointer<Double>) throws(Damage) {
        try inPlace(out) { (target) throws(Damage) in try codes.decode(from: vector &* vectorLength, count: n, into: target) }
        try translate(out, count: n)
    }

    override func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, count n: Int, into out: UnsafeMutablePointer<Double>)
        throws(Damage)
    {
        try inPlace(out) { (target) throws(Damage) in try codes.gather(rows, vector: vector, count: n, into: target) }
        try translate(out, count: rows.count)
    }

    /// Replaces codes by their doubles, in place.
    private func translate(_ out: UnsafeMutablePointer<Double>, count n: Int) throws(Damage) {
        let raw = UnsafeMutableRawPointer(out), size = UInt64(distinct.count)
        for i in 0..<n {
            let code = raw.load(fromByteOffset: i &* 8, as: UInt64.self)
            guard code < size else { throw Damage("code outside the dictionary") }
            out[i] = distinct[Int(code)]
        }
    }

    override func search(vector: Int, count n: Int, _ low: Double, _ high: Double, into out: UnsafeMutablePointer<UInt64>) throws(Damage) {
        // The ordered bits ascend, so a range of doubles is a range of codes. −0 is just before 0, and equal to it.
        let from = order(low == 0 ? -0.0 : low), to = order(high == 0 ? 0.0 : high)
        let first = lowerBound(distinct.count) { order(distinct[$0]) < from },
            end = lowerBound(distinct.count) { order(distinct[$0]) <= to }
        guard first < end else { return RangeBits.fill(out, count: n, false) }
        try codes.search(vector: vector, count: n, Int64(first), Int64(end &- 1), into: out)
    }
}

extension FloatsEncoder {
    /// Returns the values as codes into their distinct values if that is smaller than `goal`; nil also if a sample shows few repetitions.
    static func encodeDictionary(
        _ values: UnsafeBufferPointer<Double>, present: Bits?, single: Bool, profile: Profile, goal: Int
    ) -> [UInt8]? {
        // An absent row has the code of the row before it, the first ones that of the first value.
        guard let start = values.indices.first(where: { present?[$0] ?? true }) else { return nil }
        var last = order(values[start])
        let ordered = values.indices.map { i in
            if present?[i] ?? true { last = order(values[i]) }
            return last
        }
        return ordered.withUnsafeBufferPointer { ordered in
            guard let counted = DistinctCounts(ordered, goal: goal) else { return nil }
            let sorted = counted.sortedValues, doubles = sorted.map(doubleFromOrdered)
            let stored = doubles.withUnsafeBufferPointer { encodeDistinct($0, single: single, profile: profile) }
            var out = ByteWriter(reserving: goal)
            out.append(FloatsEncoding.dictionary.rawValue)
            out.appendVarint(sorted.count)
            out.append(lengthPrefixed: stored)
            guard out.count &+ counted.leastBytesOfCodes < goal else { return nil }
            out.append(contentsOf: encodeCodes(ordered, sorted, profile: profile, depth: 1))
            return out.count < goal ? out.bytes : nil
        }
    }
}
