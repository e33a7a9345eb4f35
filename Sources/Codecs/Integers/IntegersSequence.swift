import FirnBytes

// constant   id 1 · value (zigzag varint)
// sequence   id 2 · first (zigzag varint) · step (zigzag varint)          value i = first + i·step, modulo 2^64

func encodeSequence(first: Int64, step: Int64) -> [UInt8] {
    var out = ByteWriter()
    out.append(step == 0 ? IntegersEncoding.constant.rawValue : IntegersEncoding.sequence.rawValue)
    out.appendSignedVarint(first)
    if step != 0 { out.appendSignedVarint(step) }
    return out.bytes
}

/// Returns the last value of a sequence, or nil if the sequence overflows Int64.
func sequenceEnd(first: Int64, step: Int64, count: Int) -> Int64? {
    let (rise, overflow) = step.multipliedReportingOverflow(by: Int64(max(count, 1) &- 1))
    let (last, overflow2) = first.addingReportingOverflow(rise)
    return overflow || overflow2 ? nil : last
}

final class IntegersSequence: IntegersBody, @unchecked Sendable {
    let first: Int64, step: Int64

    init(count: Int, first: Int64, step: Int64) {
        self.first = first
        self.step = step
        super.init(count: count)
    }

    override var name: String { step == 0 ? "constant" : "sequence" }

    override var bounds: (Int64, Int64)? {
        guard count > 0, let last = sequenceEnd(first: first, step: step, count: count) else { return nil }
        return (min(first, last), max(first, last))
    }

    override func bounds(ofVector vector: Int) -> (Int64, Int64)? {
        guard bounds != nil else { return nil }
        let a = at(vector &* vectorLength), b = at(min((vector &+ 1) &* vectorLength, count) &- 1)
        return (min(a, b), max(a, b))
    }

    private func at(_ index: Int) -> Int64 { first &+ step &* Int64(index) }
    override func value(at index: Int) throws(Damage) -> Int64 { at(index) }

    override func decode(from start: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage) {
        let base = at(start), step = step
        for i in 0..<n { out[i] = base &+ step &* Int64(truncatingIfNeeded: i) }
    }

    override func search(vector: Int, count n: Int, _ low: Int64, _ high: Int64, into out: UnsafeMutablePointer<UInt64>) throws(Damage) {
        if step == 0 { return RangeBits.fill(out, count: n, low <= first && first <= high) }
        try searchDecoded(vector: vector, count: n, low, high, into: out)
    }

    override func sum(vector: Int, count n: Int) throws(Damage) -> Int128 {
        guard bounds != nil else { return try sumDecoded(vector: vector, count: n) }
        let first = Int128(at(vector &* vectorLength)), last = Int128(at(vector &* vectorLength &+ n &- 1))
        return (first &+ last) &* Int128(n) / 2
    }
}
