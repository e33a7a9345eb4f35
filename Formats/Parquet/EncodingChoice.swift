import FirnBytes

/// Chooses the encoding of a chunk from the values of its first page: what makes a sample smallest after compression.
struct EncodingChoice {
    /// The encoding of pages without a dictionary.
    private(set) var encoding = ParquetFormat.Encoding.plain
    /// The dictionary with the values of the page, and their codes, if a dictionary is better.
    private(set) var dictionary: (builder: DictionaryBuilder, codes: [UInt32])?

    /// Returns the dictionary and forgets it.
    mutating func takeDictionary() -> (builder: DictionaryBuilder, codes: [UInt32])? {
        defer { dictionary = nil }
        return dictionary
    }

    /// The number of values that are encoded to compare sizes.
    private static let sampleSize = 16_384
    /// Another encoding must save this part of PLAIN, which is the fastest to read.
    private static let gain = 0.98
    /// A page with more distinct values than this part of its values gets no dictionary.
    private static let maximumDistinct = 0.55

    /// `expected` is the number of values that the chunk will probably have.
    init(_ values: LeafValues, _ leaf: LeafShape, expected: Int, _ compressor: PageCompressor) throws(FirnError) {
        let encoder = ValueEncoder(leaf.physical), count = values.count
        let start = max(0, (count - EncodingChoice.sampleSize) / 2), sample = start..<min(count, start + EncodingChoice.sampleSize)
        var best = Int.max
        for candidate in encoder.encodings {
            let size = try compressor.compress(encoder.encode(values, sample, candidate)).count
            if candidate == .plain || Double(size) < Double(best) * EncodingChoice.gain { (best, encoding) = (size, candidate) }
        }
        guard leaf.physical != .boolean, count > 1 else { return }
        var builder = DictionaryBuilder(leaf.physical, length: leaf.length)
        let limit = max(16, Int(Double(count) * EncodingChoice.maximumDistinct))
        guard let codes = builder.codes(values, limit: limit) else { return }
        // The dictionary grows as the second half of the page let it grow, but not if that was only a little.
        let half = codes.prefix(count / 2).max().map { Int($0) + 1 } ?? 0, distinct = builder.count, grown = distinct - half
        let isSaturated = grown * 20 < distinct
        let final = isSaturated ? distinct : min(expected, distinct + grown * 2 * max(0, expected - count) / max(1, count))
        let page = try compressor.compress(encoder.encode(builder.values, 0..<distinct, .plain)).count
        let codePage = try compressor.compress(DictionaryBuilder.page(codes[sample], of: final)).count
        let whole = Double(codePage) * Double(expected) / Double(sample.count) + Double(page) * Double(final) / Double(max(1, distinct))
        if whole < Double(best) * Double(expected) / Double(sample.count) { dictionary = (builder, codes) }
    }
}
