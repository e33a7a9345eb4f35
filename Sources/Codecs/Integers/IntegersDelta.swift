import FirnBytes

// delta    id 5 · flags (u8; bit 0: no value is less than the previous one, bit 1: zones follow the anchors)
//          · A (u8, 6 or 8: log2 of the distance between anchors) · low (zigzag varint) · span (varint, high − low)
//          · anchors: length (varint), integer stream, the value at every multiple of 2^A
//          · zones if bit 1: length (varint), integer stream: minimum and maximum of each vector in turn
//          · steps: integer stream to the end, one for each value: value i − value i−1 modulo 2^64 (a step at an anchor has no meaning)
// scaled   id 4 · low (zigzag varint) · factor (varint) · integer stream to the end: (value − low) / factor

final class IntegersDelta: IntegersBody, @unchecked Sendable {
    private let ascending: Bool, distance: Int, low: Int64, high: Int64
    private let anchors: IntegersBody, zones: IntegersBody?, steps: IntegersBody

    init(_ reader: inout ByteReader, count: Int, depth: Int) throws(Damage) {
        let flags: UInt8 = try reader.read(), log: UInt8 = try reader.read()
        guard flags < 4, log == 6 || log == 8 else { throw Damage("delta-encoded integers have an invalid header") }
        ascending = flags & 1 == 1
        distance = 1 << Int(log)
        low = try reader.readSignedVarint()
        high = low &+ Int64(bitPattern: try reader.readVarint())
        anchors = try openIntegers(try reader.readLengthPrefixed(), count: (count &+ distance &- 1) / distance, depth: depth &+ 1)
        zones =
            flags & 2 == 0
            ? nil
            : try openIntegers(try reader.readLengthPrefixed(), count: (count &+ vectorLength &- 1) / vectorLength &* 2, depth: depth &+ 1)
        steps = try openIntegers(reader.readRest(), count: count, depth: depth &+ 1)
        super.init(count: count)
    }

    override var features: EncodingFeatures { anchors.features.union(zones?.features ?? []).union(steps.features) }
    override var name: String { "delta+" + steps.name }
    override var bounds: (Int64, Int64)? { low <= high ? (low, high) : nil }

    override func bounds(ofVector vector: Int) -> (Int64, Int64)? {
        guard let all = bounds else { return nil }
        if let zones, let least = try? zones.value(at: vector &* 2), let most = try? zones.value(at: vector &* 2 &+ 1), least <= most {
            return (least, most)
        }
        let next = (vector &+ 1) &* (vectorLength / distance)
        if ascending, let least = try? anchors.value(at: vector &* (vectorLength / distance)),
            let most = next < anchors.count ? try? anchors.value(at: next) : high, least <= most
        {
            return (least, most)
        }
        return all
    }

    override func value(at index: Int) throws(Damage) -> Int64 {
        let anchor = index & ~(distance &- 1)
        var value = try anchors.value(at: index / distance)
        if index == anchor { return value }
        try withScratch(of: Int64.self, count: 256) { (scratch) throws(Damage) in
            try steps.decode(from: anchor &+ 1, count: index &- anchor, into: scratch)
            for i in 0..<(index &- anchor) { value &+= scratch[i] }
        }
        return value
    }

    override func neighbours(at index: Int) throws(Damage) -> (Int64, Int64) {
        let inside = index & (distance &- 1)
        guard inside < distance &- 1 else { return (try value(at: index), try anchors.value(at: index / distance &+ 1)) }
        var value = try anchors.value(at: index / distance), next: Int64 = 0
        try withScratch(of: Int64.self, count: 256) { (scratch) throws(Damage) in
            try steps.decode(from: index &- inside &+ 1, count: inside &+ 1, into: scratch)
            for i in 0..<inside { value &+= scratch[i] }
            next = value &+ scratch[inside]
        }
        return (value, next)
    }

    override func decode(from start: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage) {
        if n == 0 { return }
        try steps.decode(from: start, count: n, into: out)
        var at = start
        let end = start &+ n
        var running = start % distance == 0 ? 0 : try value(at: start) &- out[0]
        while at < end {
            let stop = min(end, (at / distance &+ 1) &* distance), run = out + (at &- start)
            if at % distance == 0 {
                running = try anchors.value(at: at / distance)
                run[0] = 0
            }
            for i in 0..<(stop &- at) {
                running &+= run[i]
                run[i] = running
            }
            at = stop
        }
    }
}

/// Encodes a delta stream whose steps are already encoded.
func encodeDelta(_ values: UnsafeBufferPointer<Int64>, low: Int64, high: Int64, ascending: Bool, distanceLog: Int, steps: [UInt8])
    -> [UInt8]
{
    var out = ByteWriter(reserving: steps.count &+ values.count >> 4)
    let zoned = !ascending && values.count > vectorLength
    out.append(IntegersEncoding.delta.rawValue)
    out.append(UInt8((ascending ? 1 : 0) | (zoned ? 2 : 0)))
    out.append(UInt8(distanceLog))
    out.appendSignedVarint(low)
    out.appendVarint(UInt64(bitPattern: high &- low))
    let anchors = stride(from: 0, to: values.count, by: 1 << distanceLog).map { values[$0] }
    out.append(lengthPrefixed: anchors.withUnsafeBufferPointer { encodeIntegers($0, profile: .fast, depth: nestingLimit) })
    if zoned {
        var zones: [Int64] = []
        for first in stride(from: 0, to: values.count, by: vectorLength) {
            var least = values[first], most = least
            for i in first..<min(first &+ vectorLength, values.count) { (least, most) = (min(least, values[i]), max(most, values[i])) }
            zones.append(least)
            zones.append(most)
        }
        out.append(lengthPrefixed: zones.withUnsafeBufferPointer { encodeIntegers($0, profile: .fast, depth: nestingLimit) })
    }
    out.append(contentsOf: steps)
    return out.bytes
}

final class IntegersScaled: IntegersBody, @unchecked Sendable {
    private let low: Int64, factor: Int64, child: IntegersBody

    init(_ reader: inout ByteReader, count: Int, depth: Int) throws(Damage) {
        low = try reader.readSignedVarint()
        factor = Int64(bitPattern: try reader.readVarint())
        child = try openIntegers(reader.readRest(), count: count, depth: depth &+ 1)
        super.init(count: count)
    }

    override var features: EncodingFeatures { child.features }
    override var name: String { "scaled(\(child.name))" }
    override var bounds: (Int64, Int64)? { scaled(child.bounds) }
    override func bounds(ofVector vector: Int) -> (Int64, Int64)? { scaled(child.bounds(ofVector: vector)) }

    private func scaled(_ bounds: (Int64, Int64)?) -> (Int64, Int64)? {
        // low + q·factor can overflow Int64 before low is added although the sum fits, so 128 bits are used.
        guard let bounds, factor > 0 else { return nil }
        let least = Int128(low) &+ Int128(bounds.0) &* Int128(factor), most = Int128(low) &+ Int128(bounds.1) &* Int128(factor)
        guard least >= Int128(Int64.min), least <= Int128(Int64.max) else { return nil }
        return (Int64(least), Int64(clamping: most))
    }

    /// Whether no value overflows Int64. Then the values are in the order of the stored integers.
    private var isOrdered: Bool {
        guard factor > 0, let all = child.bounds else { return false }
        return Int128(low) &+ Int128(all.0) &* Int128(factor) >= Int128(Int64.min)
            && Int128(low) &+ Int128(all.1) &* Int128(factor) <= Int128(Int64.max)
    }

    override func value(at index: Int) throws(Damage) -> Int64 { low &+ factor &* (try child.value(at: index)) }

    override func decode(from start: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage) {
        try child.decode(from: start, count: n, into: out)
        let low = low, factor = factor
        for i in 0..<n { out[i] = low &+ factor &* out[i] }
    }

    override func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, count n: Int, into out: UnsafeMutablePointer<Int64>)
        throws(Damage)
    {
        try child.gather(rows, vector: vector, count: n, into: out)
        for j in 0..<rows.count { out[j] = low &+ factor &* out[j] }
    }

    override func search(vector: Int, count n: Int, _ low: Int64, _ high: Int64, into out: UnsafeMutablePointer<UInt64>) throws(Damage) {
        guard isOrdered else { return try searchDecoded(vector: vector, count: n, low, high, into: out) }
        let (fromBelow, fromRest) = (Int128(low) &- Int128(self.low)).quotientAndRemainder(dividingBy: Int128(factor))
        let (toBelow, toRest) = (Int128(high) &- Int128(self.low)).quotientAndRemainder(dividingBy: Int128(factor))
        // Division rounds towards zero; the range must be rounded inwards.
        let from = fromBelow &+ (fromRest > 0 ? 1 : 0), to = toBelow &- (toRest < 0 ? 1 : 0)
        guard from <= to, from <= Int128(Int64.max), to >= Int128(Int64.min) else { return RangeBits.fill(out, count: n, false) }
        try child.search(vector: vector, count: n, Int64(clamping: from), Int64(clamping: to), into: out)
    }

    override func sum(vector: Int, count n: Int) throws(Damage) -> Int128 {
        guard isOrdered else { return try sumDecoded(vector: vector, count: n) }
        return Int128(low) &* Int128(n) &+ Int128(factor) &* (try child.sum(vector: vector, count: n))
    }
}
