import FirnBytes

// corrected    id 8 · form (as in mixed: kind 2, 3, 4 or 5) · numbers k: length (varint), integer stream · corrections: integer stream to
//              the end; value = the double, or with kind 3 the Float, whose ordered bits are those of the number of k plus the correction

/// Doubles that are a few units in the last place away from a number with a short form: results of computations with such numbers.
final class FloatsCorrected: FloatsBody, @unchecked Sendable {
    private let form: FloatForm, numbers: IntegersBody, corrections: IntegersBody

    init(_ reader: inout ByteReader, count: Int) throws(Damage) {
        form = try FloatForm(parsing: &reader)
        guard form.canBeCorrected else { throw Damage("corrected doubles have an invalid form") }
        numbers = try openIntegers(try reader.readLengthPrefixed(), count: count, depth: 1)
        corrections = try openIntegers(reader.readRest(), count: count, depth: 1)
        super.init(count: count)
    }

    override var features: EncodingFeatures { ownFeatures.union(numbers.features).union(corrections.features) }
    override var name: String { "corrected(\(form.name): \(numbers.name), \(corrections.name))" }

    override func bounds(ofVector vector: Int?) -> (Double, Double)? {
        guard let range = vector.map({ numbers.bounds(ofVector: $0) }) ?? numbers.bounds,
            let change = vector.map({ corrections.bounds(ofVector: $0) }) ?? corrections.bounds
        else { return nil }
        // The numbers ascend with the integers, and so do their ordered bits.
        let (low, lowWraps) = form.orderedBits(of: range.0).addingReportingOverflow(change.0)
        let (high, highWraps) = form.orderedBits(of: range.1).addingReportingOverflow(change.1)
        if lowWraps || highWraps { return nil }
        if form.isSingle, low < Int64(Int32.min) || high > Int64(Int32.max) { return nil }
        let least = form.double(ofOrderedBits: low), most = form.double(ofOrderedBits: high)
        return least <= most ? (least, most) : nil
    }

    override func value(at index: Int) throws(Damage) -> Double {
        form.double(ofOrderedBits: form.orderedBits(of: try numbers.value(at: index)) &+ (try corrections.value(at: index)))
    }

    override func decode(vector: Int, count n: Int, into out: UnsafeMutablePointer<Double>) throws(Damage) {
        try withScratch(of: Int64.self, count: vectorLength) { (scratch) throws(Damage) in
            try corrections.decode(from: vector &* vectorLength, count: n, into: scratch)
            try inPlace(out) { (target) throws(Damage) in
                try numbers.decode(from: vector &* vectorLength, count: n, into: target)
                form.convert(target, count: n)
            }
            if form.isSingle {
                for i in 0..<n { out[i] = singleFromOrdered(order(Float(out[i])) &+ scratch[i]) }
            } else {
                for i in 0..<n { out[i] = doubleFromOrdered(order(out[i]) &+ scratch[i]) }
            }
        }
    }
}

extension FloatForm {
    /// Whether the form gives numbers that corrections may be added to.
    fileprivate var canBeCorrected: Bool {
        switch self {
        case .decimal, .singleDecimal, .multiple, .quotient: true
        default: false
        }
    }

    /// Returns the ordered bits of the number that an integer stands for: those of the Float if the numbers are Floats.
    @inline(__always)
    fileprivate func orderedBits(of k: Int64) -> Int64 {
        let number = double(k)
        return isSingle ? order(Float(number)) : order(number)
    }

    @inline(__always)
    fileprivate func double(ofOrderedBits bits: Int64) -> Double { isSingle ? singleFromOrdered(bits) : doubleFromOrdered(bits) }
}

/// Finds the form to which most values are near, and encodes the distance of each value in units in the last place.
struct CorrectedEncoder {
    private static let sampleSize = 256
    private let values: UnsafeBufferPointer<Double>, present: Bits?, form: FloatForm

    /// Returns nil if a sample of the values is not near the numbers of any form, or is in one of them without corrections.
    init?(_ values: UnsafeBufferPointer<Double>, present: Bits?, single: Bool) {
        (self.values, self.present) = (values, present)
        let sample = FloatsEncoder.sample(values, present: present, size: CorrectedEncoder.sampleSize, least: 32).filter(\.isFinite)
        guard sample.count >= 32 else { return nil }
        let forms =
            single
            ? (0...8).map { FloatForm.singleDecimal($0) } : (0...14).map { FloatForm.decimal($0) } + FloatBase.candidates(for: sample)
        // What a value takes without corrections: its distance from the others, as a double or in a form that fits all of them.
        var plain = CorrectedEncoder.bits(of: sample.map { single ? order(Float($0)) : order($0) })
        var inexact: [(form: FloatForm, bits: Double)] = []
        for form in forms {
            let (bits, isExact) = CorrectedEncoder.cost(of: sample, in: form)
            if isExact { plain = min(plain, bits) } else { inexact.append((form, bits)) }
        }
        // Of two that are about equal, the one with fewer digits has larger corrections, which may repeat.
        guard let least = inexact.map(\.bits).min(), least < plain - 3, let best = inexact.first(where: { $0.bits < least + 2 }) else {
            return nil
        }
        form = best.form
    }

    /// Returns the bits that a value takes on average in a form, without the patterns that its numbers may have, and whether no value needs a
    /// correction.
    private static func cost(of sample: [Double], in form: FloatForm) -> (bits: Double, isExact: Bool) {
        var numbers: [Int64] = [], width = 0
        for value in sample {
            let (k, correction) = parts(of: value, form)
            numbers.append(k)
            width += bitWidth(correction.magnitude)
        }
        return (bits(of: numbers) + Double(width) / Double(sample.count), width == 0)
    }

    /// Returns the average width of the distances from the median.
    private static func bits(of integers: [Int64]) -> Double {
        let median = integers.sorted()[integers.count / 2]
        var sum = 0
        for integer in integers { sum += bitWidth((integer.subtractingReportingOverflow(median).partialValue).magnitude) }
        return Double(sum) / Double(integers.count)
    }

    /// Returns the number nearest to a value, and the distance of the value from it.
    @inline(__always)
    private static func parts(of value: Double, _ form: FloatForm) -> (k: Int64, correction: Int64) {
        let k = NumberForm(form).nearest(value)
        return (k, (form.isSingle ? order(Float(value)) : order(value)) &- form.orderedBits(of: k))
    }

    /// Returns the stream, or nil if it does not become smaller than `goal`.
    func encode(profile: Profile, goal: Int) -> [UInt8]? {
        func stream(_ integers: [Int64]) -> [UInt8] {
            integers.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: present, profile: profile) }
        }
        var numbers = [Int64](repeating: 0, count: values.count), corrections = numbers
        for i in values.indices where present?[i] ?? true { (numbers[i], corrections[i]) = CorrectedEncoder.parts(of: values[i], form) }
        var out = ByteWriter(reserving: goal)
        out.append(FloatsEncoding.corrected.rawValue)
        form.append(to: &out)
        out.append(lengthPrefixed: stream(numbers))
        guard out.count < goal else { return nil }
        out.append(contentsOf: stream(corrections))
        return out.count < goal ? out.bytes : nil
    }
}
