import FirnBytes

// empty    id 0                                              no lists, or all lists are empty
// starts   id 1 · total (varint) · integer stream to the end: the start of every list (the last list ends at total)

/// Encodes the offsets of a list column: count + 1 ascending integers, the first of which is 0.
package enum LengthsEncoder {
    package static func encode(_ offsets: UnsafeBufferPointer<Int>, profile: Profile) -> [UInt8] {
        trap(unless: offsets.isEmpty || offsets[0] == 0, "offsets of lists must begin with 0")
        guard let total = offsets.last, total > 0 else { return [LengthsEncoding.empty.rawValue] }
        var out = ByteWriter()
        out.append(LengthsEncoding.starts.rawValue)
        out.appendVarint(total)
        let starts = offsets.dropLast().map { Int64($0) }
        out.append(contentsOf: starts.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: profile) })
        return out.bytes
    }
}

/// Reads the offsets of a list column. Whatever the bytes, returned offsets ascend and are in 0 ... total.
package final class LengthsReader: Sendable {
    /// The number of lists.
    package let count: Int
    /// The number of elements of all lists.
    package let total: Int
    private let starts: IntegersBody

    package init(_ bytes: UnsafeRawBufferPointer, count: Int) throws(Damage) {
        var reader = ByteReader(bytes)
        let id: UInt8 = try reader.read()
        guard let encoding = LengthsEncoding(rawValue: id) else { throw Damage(unknown: "encoding of lengths \(id)") }
        self.count = count
        switch encoding {
        case .empty:
            total = 0
            starts = IntegersBody(count: count)
        case .starts:
            total = try reader.readCount()
            starts = try openIntegers(reader.readRest(), count: count, depth: 1)
        }
    }

    /// The features that the stream needs.
    package var features: EncodingFeatures { starts.features }
    package var encodingName: String { "starts(\(starts.name))" }

    /// Writes the n + 1 absolute offsets of a vector of n ≤ 1,024 lists. `into` must have space for 1,025.
    package func decode(vector: Int, into: UnsafeMutablePointer<Int>) throws(Damage) {
        let first = vector &* vectorLength, n = length(ofVector: vector, in: count)
        // Int and Int64 are the same on every platform that Firn runs on.
        try UnsafeMutableRawPointer(into).withMemoryRebound(to: Int64.self, capacity: n &+ 1) { (offsets) throws(Damage) in
            try starts.decode(from: first, count: n, into: offsets)
            offsets[n] = first &+ n < count ? try starts.value(at: first &+ n) : Int64(total)
        }
        var disorder = into[0] < 0 || into[n] > total
        for i in 0..<n { disorder = disorder || into[i] > into[i &+ 1] }
        if disorder { throw Damage("list offsets out of order") }
    }

    /// Returns the range of one list's elements.
    package func range(at index: Int) throws(Damage) -> Range<Int> {
        trap(unless: index >= 0 && index < count, "index outside the stream")
        let (start, end) = index &+ 1 < count ? try starts.neighbours(at: index) : (try starts.value(at: index), Int64(total))
        guard start >= 0, start <= end, end <= Int64(total) else { throw Damage("list offsets out of order") }
        return Int(start)..<Int(end)
    }
}
