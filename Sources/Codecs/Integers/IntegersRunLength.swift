import FirnBytes

// run length id 7 · changes: length (varint), booleans, one for each value: set if it differs from the previous one (the first is set)
//            · if count > 1,024: ranks: length (varint), integer stream, one for each vector: set bits before it
//            · number of changed values (varint) · changed values: integer stream to the end
// dictionary id 6 · number of distinct values (varint, ≤ 65,536) · values: length (varint), integer stream, ascending
//            · codes: integer stream to the end

final class IntegersRunLength: IntegersBody, @unchecked Sendable {
    private let changes: BooleansBody, ranks: IntegersBody?, values: IntegersBody

    init(_ reader: inout ByteReader, count: Int, depth: Int) throws(Damage) {
        changes = try openBooleans(try reader.readLengthPrefixed(), count: count, depth: depth &+ 1)
        ranks =
            count <= vectorLength
            ? nil
            : try openIntegers(try reader.readLengthPrefixed(), count: (count &+ vectorLength &- 1) / vectorLength, depth: depth &+ 1)
        let distinct = try reader.readCount(limit: count)
        values = try openIntegers(reader.readRest(), count: distinct, depth: depth &+ 1)
        super.init(count: count)
    }

    override var features: EncodingFeatures { changes.features.union(ranks?.features ?? []).union(values.features) }
    override var name: String { changes.name == "runs" ? "RLE(\(values.name))" : "previous-row(\(changes.name), \(values.name))" }
    override var bounds: (Int64, Int64)? { values.bounds }

    override func bounds(ofVector vector: Int) -> (Int64, Int64)? {
        // The values of a vector are a range of the changed values, so the bounds of the vectors that contain this range apply.
        guard let all = bounds, let before = try? rank(vector) else { return bounds }
        let first = max(before &- 1, 0)
        let last = ((vector &+ 1) &* vectorLength < count ? (try? rank(vector &+ 1)) ?? values.count : values.count) &- 1
        guard first <= last, last < values.count else { return all }
        if last &- first < 8 { return exactBounds(first...last) ?? all }
        guard last / vectorLength &- first / vectorLength <= 2 else { return all }
        var union: (Int64, Int64)?
        for k in (first / vectorLength)...(last / vectorLength) {
            guard let part = values.bounds(ofVector: k) else { return all }
            union = union.map { (min($0.0, part.0), max($0.1, part.1)) } ?? part
        }
        return union
    }

    private func exactBounds(_ range: ClosedRange<Int>) -> (Int64, Int64)? {
        var union: (Int64, Int64)?
        for i in range {
            guard let value = try? values.value(at: i) else { return nil }
            union = union.map { (min($0.0, value), max($0.1, value)) } ?? (value, value)
        }
        return union
    }

    /// Returns the number of set bits before a vector.
    private func rank(_ vector: Int) throws(Damage) -> Int {
        guard let ranks, vector > 0 else { return 0 }
        let rank = try ranks.value(at: vector)
        guard rank >= 0, rank <= Int64(values.count) else { throw Damage("rank outside the values") }
        return Int(rank)
    }

    override func value(at index: Int) throws(Damage) -> Int64 {
        let k = index / vectorLength, inside = index & (vectorLength &- 1)
        var before = try rank(k)
        try withScratch(of: UInt64.self, count: 16) { (words) throws(Damage) in
            try changes.decode(vector: k, into: words)
            for w in 0..<(inside >> 6) { before &+= words[w].nonzeroBitCount }
            before &+= (words[inside >> 6] & lowMask((inside & 63) &+ 1)).nonzeroBitCount
        }
        guard before > 0, before <= values.count else { throw Damage("rank outside the values") }
        return try values.value(at: before &- 1)
    }

    override func decode(from start: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage) {
        var at = start
        let end = start &+ n
        while at < end {
            let k = at / vectorLength, first = k &* vectorLength, whole = min(vectorLength, count &- first), stop = min(end, first &+ whole)
            let target = out + (at &- start)
            if at == first, stop == first &+ whole {
                try decodeWhole(k, count: whole, into: target)
            } else if stop &- at <= 4 {
                for i in at..<stop { target[i &- at] = try value(at: i) }
            } else {
                try withScratch(of: Int64.self, count: vectorLength) { (scratch) throws(Damage) in
                    try decodeWhole(k, count: whole, into: scratch)
                    target.update(from: scratch + (at &- first), count: stop &- at)
                }
            }
            at = stop
        }
    }

    private func decodeWhole(_ k: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage) {
        let before = try rank(k)
        try withScratch(of: UInt64.self, count: 16) { (words) throws(Damage) in
            try changes.decode(vector: k, into: words)
            try expand(words, before: before, count: n, into: out)
        }
    }

    private func expand(_ words: UnsafePointer<UInt64>, before: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage) {
        var ones = 0
        for w in 0..<16 { ones &+= words[w].nonzeroBitCount }
        let from = max(before &- 1, 0), needed = before &+ ones &- from
        guard before &+ ones > 0, before &+ ones <= values.count, before > 0 || words[0] & 1 == 1 else {
            throw Damage("rank outside the values")
        }
        try withScratch(of: Int64.self, count: vectorLength &+ 1) { (scratch) throws(Damage) in
            try values.decode(from: from, count: needed, into: scratch)
            if needed == 1 { return out.update(repeating: scratch[0], count: n) }
            var next = before == 0 ? scratch - 1 : scratch
            for w in 0..<((n &+ 63) >> 6) {
                let word = words[w], first = w &* 64, m = min(64, n &- first)
                if word == 0 {
                    (out + first).update(repeating: next.pointee, count: m)
                    continue
                }
                for i in 0..<m {
                    next += Int(truncatingIfNeeded: word &>> UInt64(truncatingIfNeeded: i) & 1)
                    out[first &+ i] = next.pointee
                }
            }
        }
    }
}

func encodeRunLength(_ values: UnsafeBufferPointer<Int64>, changes: Int, profile: Profile, depth: Int) -> [UInt8] {
    var bits = Bits(repeating: false, count: values.count)
    var changed: [Int64] = [], ranks: [Int64] = []
    changed.reserveCapacity(changes &+ 1)
    for i in 0..<values.count {
        if i & (vectorLength &- 1) == 0 { ranks.append(Int64(changed.count)) }
        if i == 0 || values[i] != values[i &- 1] {
            bits[i] = true
            changed.append(values[i])
        }
    }
    var out = ByteWriter()
    out.append(IntegersEncoding.runLength.rawValue)
    out.append(lengthPrefixed: encodeBooleans(bits, profile: profile, depth: depth &+ 1))
    if values.count > vectorLength {
        out.append(lengthPrefixed: ranks.withUnsafeBufferPointer { encodeIntegers($0, profile: .fast, depth: nestingLimit) })
    }
    out.appendVarint(changed.count)
    out.append(contentsOf: changed.withUnsafeBufferPointer { encodeIntegers($0, profile: profile, depth: depth &+ 1) })
    return out.bytes
}

final class IntegersDictionary: IntegersBody, @unchecked Sendable {
    private let distinct: [Int64], codes: IntegersBody, valueFeatures: EncodingFeatures

    init(_ reader: inout ByteReader, count: Int, depth: Int) throws(Damage) {
        let size = try reader.readCount(limit: min(count, 65_536))
        let values = try openIntegers(try reader.readLengthPrefixed(), count: size, depth: depth &+ 1)
        valueFeatures = values.features
        codes = try openIntegers(reader.readRest(), count: count, depth: depth &+ 1)
        var fault: Damage?
        distinct = [Int64](unsafeUninitializedCapacity: size) { buffer, filled in
            do throws(Damage) {
                if size > 0 { try values.decode(from: 0, count: size, into: buffer.baseAddress!) }
                filled = size
            } catch { fault = error }
        }
        if let fault { throw fault }
        super.init(count: count)
    }

    override var features: EncodingFeatures { valueFeatures.union(codes.features) }
    override var name: String { "dictionary(\(codes.name))" }
    override var bounds: (Int64, Int64)? {
        guard let first = distinct.first, let last = distinct.last, first <= last else { return nil }
        return (first, last)
    }
    override func bounds(ofVector vector: Int) -> (Int64, Int64)? {
        guard let range = codes.bounds(ofVector: vector), range.0 >= 0, range.0 <= range.1, range.0 < distinct.count else { return bounds }
        return (distinct[Int(range.0)], distinct[Int(min(range.1, Int64(distinct.count &- 1)))])
    }

    override func value(at index: Int) throws(Damage) -> Int64 {
        let code = try codes.value(at: index)
        guard code >= 0, code < distinct.count else { throw Damage("code outside the dictionary") }
        return distinct[Int(code)]
    }

    override func decode(from start: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage) {
        try codes.decode(from: start, count: n, into: out)
        let size = UInt64(distinct.count)
        var outside = false
        distinct.withUnsafeBufferPointer { distinct in
            for i in 0..<n {
                let code = UInt64(bitPattern: out[i])
                if code >= size { outside = true; break }
                out[i] = distinct[Int(code)]
            }
        }
        if outside { throw Damage("code outside the dictionary") }
    }

    override func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, count n: Int, into out: UnsafeMutablePointer<Int64>)
        throws(Damage)
    {
        try codes.gather(rows, vector: vector, count: n, into: out)
        for j in 0..<rows.count {
            guard out[j] >= 0, out[j] < distinct.count else { throw Damage("code outside the dictionary") }
            out[j] = distinct[Int(out[j])]
        }
    }

    override func search(vector: Int, count n: Int, _ low: Int64, _ high: Int64, into out: UnsafeMutablePointer<UInt64>) throws(Damage) {
        // The values ascend, so a range of values is a range of codes.
        let first = lowerBound(distinct.count) { distinct[$0] < low }, end = lowerBound(distinct.count) { distinct[$0] <= high }
        guard first < end else { return RangeBits.fill(out, count: n, false) }
        try codes.search(vector: vector, count: n, Int64(first), Int64(end &- 1), into: out)
    }
}
