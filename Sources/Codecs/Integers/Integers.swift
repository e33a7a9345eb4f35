import FirnBytes

/// Encodes 64-bit integers as the smallest stream that the profile allows. Deterministic: the same values give the same bytes.
package enum IntegersEncoder {
    /// Encodes `values`. A slot whose bit of `present` is clear may decode to any value within the bounds of the others; nil means that all
    /// are present.
    package static func encode(_ values: UnsafeBufferPointer<Int64>, present: Bits?, profile: Profile) -> [UInt8] {
        guard let present, !present.allSet else { return encodeIntegers(values, profile: profile, depth: 0) }
        trap(unless: present.count == values.count, "present needs one bit for each value")
        if present.noneSet { return [IntegersEncoding.empty.rawValue] }
        if let line = sequenceThrough(values, present: present) { return encodeSequence(first: line.first, step: line.step) }
        return withUnsafeTemporaryAllocation(of: Int64.self, capacity: values.count) { filled in
            fillGaps(values, present: present, into: filled)
            return encodeIntegers(UnsafeBufferPointer(filled), profile: profile, depth: 0)
        }
    }

    /// Gives every absent slot the previous value (the first slots: the first present value), which every encoding stores cheaply.
    static func fillGaps(_ values: UnsafeBufferPointer<Int64>, present: Bits, into filled: UnsafeMutableBufferPointer<Int64>) {
        var last: Int64 = 0
        for (w, word) in present.words.enumerated() where word != 0 {
            last = values[w &* 64 &+ word.trailingZeroBitCount]
            break
        }
        present.words.withUnsafeBufferPointer { words in
            for i in 0..<values.count {
                if words[i >> 6] &>> UInt64(truncatingIfNeeded: i & 63) & 1 == 1 { last = values[i] }
                filled[i] = last
            }
        }
    }

    /// Returns the line a + i·m through all present values, if there is one and all of its slots are within the bounds of the present
    /// values (so a line that rises or falls must begin and end with a present value).
    private static func sequenceThrough(_ values: UnsafeBufferPointer<Int64>, present: Bits) -> (first: Int64, step: Int64)? {
        var seen: [Int] = []
        search: for (w, word) in present.words.enumerated() {
            var rest = word
            while rest != 0 {
                seen.append(w &* 64 &+ rest.trailingZeroBitCount)
                rest &= rest &- 1
                if seen.count == 2 { break search }
            }
        }
        guard seen.count == 2 else { return seen.first.map { (values[$0], 0) } }
        let (rise, overflow) = values[seen[1]].subtractingReportingOverflow(values[seen[0]])
        let run = Int64(seen[1] &- seen[0])
        guard !overflow, rise % run == 0 else { return nil }
        let step = rise / run
        guard step == 0 || present[0] && present[values.count - 1] else { return nil }
        let (back, backOverflow) = step.multipliedReportingOverflow(by: Int64(seen[0]))
        let (first, firstOverflow) = values[seen[0]].subtractingReportingOverflow(back)
        guard !backOverflow, !firstOverflow, sequenceEnd(first: first, step: step, count: values.count) != nil else { return nil }
        var fits = true
        present.forEachSet { i in
            if values[i] != first &+ step &* Int64(i) { fits = false }
        }
        return fits ? (first, step) : nil
    }
}

/// Reads a stream of integers. The bytes must outlive the reader. Untrusted bytes lead to `Damage`, never to a trap.
package final class IntegersReader: Sendable {
    package let count: Int
    let body: IntegersBody

    init(_ body: IntegersBody) {
        count = body.count
        self.body = body
    }

    package init(_ bytes: UnsafeRawBufferPointer, count: Int) throws(Damage) {
        self.count = count
        body = try openIntegers(bytes, count: count, depth: 0)
    }

    /// The encodings of the stream, outermost first, as `firn info` prints them.
    package var encodingName: String { body.name }

    /// Writes the values of one vector (1,024, or what remains). `into` must have space for 1,024.
    package func decode(vector: Int, into: UnsafeMutablePointer<Int64>) throws(Damage) {
        try body.decode(from: vector &* vectorLength, count: length(ofVector: vector, in: count), into: into)
    }

    /// Writes `n` ≤ 1,024 values, beginning at `start`; `into` must have space for them. Cheap if `start` is a multiple of 64.
    package func decode(from start: Int, count n: Int, into: UnsafeMutablePointer<Int64>) throws(Damage) {
        trap(unless: start >= 0 && n >= 0 && n <= vectorLength && start <= count &- n, "values outside the stream")
        try body.decode(from: start, count: n, into: into)
    }

    /// Returns one value. Decodes at most one page.
    package func value(at index: Int) throws(Damage) -> Int64 {
        trap(unless: index >= 0 && index < count, "index outside the stream")
        return try body.value(at: index)
    }

    /// Returns bounds of all present values; nil if they are unknown or if no value is present.
    package func bounds() -> (Int64, Int64)? { body.bounds }

    package func bounds(ofVector vector: Int) -> (Int64, Int64)? {
        guard vector >= 0, vector &* vectorLength < count else { return nil }
        return body.bounds(ofVector: vector)
    }
}

/// One encoding of integers. Callers pass only indices within `count`.
class IntegersBody: @unchecked Sendable {
    let count: Int
    init(count: Int) { self.count = count }
    /// The features that the id of the encoding needs.
    fileprivate(set) final var ownFeatures: EncodingFeatures = []
    /// The features that this stream and those nested in it need. Encodings of version 1 that nest streams override it.
    var features: EncodingFeatures { ownFeatures }
    var name: String { "empty" }
    var bounds: (Int64, Int64)? { nil }
    func bounds(ofVector vector: Int) -> (Int64, Int64)? { bounds }
    func value(at index: Int) throws(Damage) -> Int64 { 0 }
    /// Returns a value and the next one.
    func neighbours(at index: Int) throws(Damage) -> (Int64, Int64) { (try value(at: index), try value(at: index &+ 1)) }
    func decode(from start: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage) { out.update(repeating: 0, count: n) }
    /// Writes one bit for each of the n values of a vector: set if the value is in `low ... high`. Writes a word for every 64.
    func search(vector: Int, count n: Int, _ low: Int64, _ high: Int64, into out: UnsafeMutablePointer<UInt64>) throws(Damage) {
        try searchDecoded(vector: vector, count: n, low, high, into: out)
    }
    /// Writes the values at ascending positions within a vector of n values.
    func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage) {
        try gatherDecoded(rows, vector: vector, count: n, into: out)
    }
    /// Returns the sum of the n values of a vector.
    func sum(vector: Int, count n: Int) throws(Damage) -> Int128 { try sumDecoded(vector: vector, count: n) }
}

func openIntegers(_ bytes: UnsafeRawBufferPointer, count: Int, depth: Int) throws(Damage) -> IntegersBody {
    guard count >= 0, count <= 1 << 40 else { throw Damage("count of values out of range") }
    guard depth < nestingLimit else { throw Damage("streams nested too deep") }
    var reader = ByteReader(bytes)
    let id: UInt8 = try reader.read()
    guard let encoding = IntegersEncoding(rawValue: id) else { throw Damage(unknown: "encoding of integers \(id)") }
    let body: IntegersBody =
        switch encoding {
        case .empty: IntegersBody(count: count)
        case .constant: IntegersSequence(count: count, first: try reader.readSignedVarint(), step: 0)
        case .sequence: IntegersSequence(count: count, first: try reader.readSignedVarint(), step: try reader.readSignedVarint())
        case .packed: try IntegersPacked(&reader, count: count)
        case .scaled: try IntegersScaled(&reader, count: count, depth: depth)
        case .delta: try IntegersDelta(&reader, count: count, depth: depth)
        case .dictionary: try IntegersDictionary(&reader, count: count, depth: depth)
        case .runLength: try IntegersRunLength(&reader, count: count, depth: depth)
        case .entropy: try IntegersEntropy(&reader, count: count, depth: depth)
        case .pages: try IntegersPages(&reader, count: count, depth: depth)
        case .modelled: try IntegersModelled(&reader, count: count)
        }
    body.ownFeatures = encoding.features
    return body
}

extension ByteReader {
    /// Returns all bytes that have not been read yet.
    mutating func readRest() -> UnsafeRawBufferPointer {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
        position = bytes.count
        return rest
    }
}
