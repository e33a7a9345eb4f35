import FirnBytes

/// 10^d; exact for every d.
let powersOfTen: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
]
/// The greatest d of an encoding that has one.
let maximumDecimals = 18

/// Returns k with value = k / 10^d bit for bit, or nil if there is none below 2^51.
@inline(__always)
private func decimal(_ value: Double, power: Double, single: Bool) -> Int64? {
    let magic = 6_755_399_441_055_744.0  // 1.5 · 2^52: adding and then subtracting it rounds to an integer
    let scaled = value * power
    guard scaled > -2_251_799_813_685_248, scaled < 2_251_799_813_685_248 else { return nil }
    let k = (scaled + magic) - magic
    let back = single ? Double(Float(k / power)) : k / power
    return back.bitPattern == value.bitPattern ? Int64(k) : nil
}

/// Encodes values as decimals with one d for the stream; returns nil if more than a tenth of the values are not such decimals.
/// `isCoded`: the integers are a dictionary with codes, and there are no exceptions.
func encodeDecimals(_ values: UnsafeBufferPointer<Double>, present: Bits?, single: Bool, profile: Profile, isCoded: Bool = false)
    -> (bytes: [UInt8], digits: Int, hasExceptions: Bool)?
{
    guard let d = chooseDecimals(values, present: present, single: single) else { return nil }
    let power = powersOfTen[d], limit = isCoded ? 0 : values.count / 10 &+ 1
    var exceptions: [Int] = [], last: Int64 = 0
    let numbers = [Int64](unsafeUninitializedCapacity: values.count) { numbers, filled in
        for i in 0..<values.count {
            if let k = decimal(values[i], power: power, single: single) {
                last = k
            } else if present?[i] ?? true {
                exceptions.append(i)
                if exceptions.count > limit { break }
            }
            numbers[i] = last
        }
        filled = exceptions.count > limit ? 0 : values.count
    }
    guard exceptions.count <= limit else { return nil }
    var mask = present
    if !exceptions.isEmpty {
        mask = mask ?? Bits(repeating: true, count: values.count)
        for i in exceptions { mask![i] = false }
    }
    var out = ByteWriter()
    out.append(single ? FloatsEncoding.singleDecimals.rawValue : FloatsEncoding.decimals.rawValue)
    out.append(UInt8(d))
    out.appendVarint(exceptions.count)
    var positions = BitWriter()
    for i in exceptions { positions.write(UInt64(i), width: bitWidth(UInt64(values.count &- 1))) }
    positions.align()
    out.append(contentsOf: positions.bytes)
    for i in exceptions { out.append(values[i]) }
    let integers = numbers.withUnsafeBufferPointer {
        isCoded
            ? IntegersEncoder.encodeCoded($0, present: mask, profile: profile)
            : IntegersEncoder.encode($0, present: mask, profile: profile)
    }
    // With many digits the integers are about as large as the doubles, and decoding would need a division as well.
    if !isCoded, out.count &+ integers.count > values.count &* (single ? 4 : 7) &+ 32 { return nil }
    out.append(contentsOf: integers)
    return (out.bytes, d, !exceptions.isEmpty)
}

/// Returns the smallest d for which nearly as many sampled values are decimals as for any other d.
private func chooseDecimals(_ values: UnsafeBufferPointer<Double>, present: Bits?, single: Bool) -> Int? {
    var sample: [Double] = []
    let hop = max(1, values.count / 512)
    for i in stride(from: 0, to: values.count, by: hop) where present?[i] ?? true { sample.append(values[i]) }
    if sample.isEmpty, let present { present.forEachSet { if sample.count < 512 { sample.append(values[$0]) } } }
    var best = -1, bestCount = 0
    for d in 0...(single ? 10 : 18) {
        let power = powersOfTen[d]
        var count = 0
        for value in sample where decimal(value, power: power, single: single) != nil { count &+= 1 }
        if count &* 100 > bestCount &* 101 { (best, bestCount) = (d, count) }
        if count == sample.count { break }
    }
    return bestCount &* 10 >= sample.count &* 9 ? best : nil
}

final class FloatsDecimalScaled: FloatsBody, @unchecked Sendable {
    private let power: Double, d: Int, single: Bool, integers: IntegersBody
    private let exceptions: Int, width: Int, positions: UnsafeRawBufferPointer, exceptionValues: UnsafeRawBufferPointer

    init(_ reader: inout ByteReader, count: Int, single: Bool) throws(Damage) {
        self.single = single
        d = Int(try reader.read(UInt8.self))
        guard d <= maximumDecimals else { throw Damage("decimals with too many digits") }
        power = powersOfTen[d]
        exceptions = try reader.readCount(limit: count)
        width = bitWidth(UInt64(max(count, 1) &- 1))
        positions = try reader.read(count: (exceptions &* width &+ 7) >> 3)
        exceptionValues = try reader.read(count: exceptions &* 8)
        integers = try openIntegers(reader.readRest(), count: count, depth: 1)
        super.init(count: count)
    }

    override var features: EncodingFeatures { integers.features }
    override var name: String { "decimal-scaled(\(d), \(integers.name))" }
    override var dominantForm: FloatForm? { single ? .singleDecimal(d) : .decimal(d) }

    private func position(_ i: Int) -> Int {
        width == 0
            ? 0 : Int(truncatingIfNeeded: readBits(positions.baseAddress!, limit: positions.count, position: i &* width, width: width))
    }

    private func exception(_ i: Int) -> Double {
        Double(bitPattern: UInt64(littleEndian: exceptionValues.loadUnaligned(fromByteOffset: i &* 8, as: UInt64.self)))
    }

    /// Returns the number of exceptions before `index`.
    private func rank(_ index: Int) -> Int {
        lowerBound(exceptions) { position($0) < index }
    }

    /// Calls `body` with the exceptions of a vector of n values: the position in the vector, and the value.
    @inline(__always)
    private func forEachException(ofVector vector: Int, count n: Int, _ body: (Int, Double) -> Void) {
        if exceptions == 0 { return }
        let first = vector &* vectorLength
        for i in rank(first)..<exceptions {
            let at = position(i) &- first
            if at < 0 || at >= n { break }
            body(at, exception(i))
        }
    }

    @inline(__always)
    private func double(_ k: Int64) -> Double { single ? Double(Float(Double(k) / power)) : Double(k) / power }

    override func bounds(ofVector vector: Int?) -> (Double, Double)? {
        let range = vector.map { integers.bounds(ofVector: $0) } ?? integers.bounds
        let first = vector.map { rank($0 &* vectorLength) } ?? 0, end = vector.map { rank(($0 &+ 1) &* vectorLength) } ?? exceptions
        guard first <= end, end &- first <= 64 else { return nil }
        if range == nil, exceptions == 0 { return nil }
        var least = range.map { double($0.0) } ?? .infinity, most = range.map { double($0.1) } ?? -.infinity
        for i in first..<end {
            let value = exception(i)
            if value.isNaN { return nil }
            least = min(least, value)
            most = max(most, value)
        }
        return least <= most ? (least, most) : nil
    }

    override func value(at index: Int) throws(Damage) -> Double {
        if exceptions > 0 {
            let i = rank(index)
            if i < exceptions, position(i) == index { return exception(i) }
        }
        return double(try integers.value(at: index))
    }

    override func decode(vector: Int, count n: Int, into out: UnsafeMutablePointer<Double>) throws(Damage) {
        try inPlace(out) { (target) throws(Damage) in try integers.decode(from: vector &* vectorLength, count: n, into: target) }
        divide(out, n)
        forEachException(ofVector: vector, count: n) { at, value in out[at] = value }
    }

    override func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, count n: Int, into out: UnsafeMutablePointer<Double>)
        throws(Damage)
    {
        try inPlace(out) { (target) throws(Damage) in try integers.gather(rows, vector: vector, count: n, into: target) }
        divide(out, rows.count)
        if exceptions == 0 { return }
        let first = vector &* vectorLength
        var i = rank(first)
        for j in 0..<rows.count {
            while i < exceptions, position(i) &- first < Int(rows[j]) { i &+= 1 }
            if i == exceptions { break }
            if position(i) &- first == Int(rows[j]) { out[j] = exception(i) }
        }
    }

    /// Replaces integers by their quotients, in place.
    private func divide(_ out: UnsafeMutablePointer<Double>, _ n: Int) {
        let raw = UnsafeMutableRawPointer(out), power = power
        if single {
            for i in 0..<n { out[i] = Double(Float(Double(raw.load(fromByteOffset: i &* 8, as: Int64.self)) / power)) }
        } else if d > 4 || !DecimalScale(power).divide(raw, n) {
            for i in 0..<n { out[i] = Double(raw.load(fromByteOffset: i &* 8, as: Int64.self)) / power }
        }
    }

    override func search(vector: Int, count n: Int, _ low: Double, _ high: Double, into out: UnsafeMutablePointer<UInt64>) throws(Damage) {
        // The numbers increase with the integers, so a range of numbers is a range of integers.
        let from = least(near: low) { $0 >= low }, end = least(near: high) { $0 > high }
        if let from, end.map({ from < $0 }) ?? true {
            try integers.search(vector: vector, count: n, from, end.map { $0 &- 1 } ?? .max, into: out)
        } else {
            RangeBits.fill(out, count: n, false)
        }
        forEachException(ofVector: vector, count: n) { at, value in
            let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: at & 63)
            if low <= value, value <= high { out[at >> 6] |= bit } else { out[at >> 6] &= ~bit }
        }
    }

    override func sum(vector: Int) throws(Damage) -> Double? {
        if single { return nil }
        if exceptions > 0 {
            let i = rank(vector &* vectorLength)
            if i < exceptions, position(i) < (vector &+ 1) &* vectorLength { return nil }
        }
        return Double(try integers.sum(vector: vector, count: vectorLength)) / power
    }

    /// Returns the minimum integer whose number satisfies `holds`, which must also be true for all greater ones; nil if there is none.
    /// Tries the neighbourhood of bound · 10^d before it searches.
    @inline(__always)
    private func least(near bound: Double, _ holds: (Double) -> Bool) -> Int64? {
        let guess = bound * power
        if guess.magnitude < 0x1p52 {
            var integer = Int64(guess) &- 2
            if !holds(double(integer)) {
                for _ in 0..<5 {
                    integer &+= 1
                    if holds(double(integer)) { return integer }
                }
            }
        }
        return searchLeast(holds)
    }

    private func searchLeast(_ holds: (Double) -> Bool) -> Int64? {
        guard holds(double(.max)) else { return nil }
        if holds(double(.min)) { return .min }
        var low = Int64.min, high = Int64.max  // `low` does not satisfy the condition, `high` does
        while UInt64(bitPattern: high &- low) > 1 {
            let middle = low &+ Int64(bitPattern: UInt64(bitPattern: high &- low) >> 1)
            if holds(double(middle)) { high = middle } else { low = middle }
        }
        return high
    }
}
