import CZstd
import FirnBytes

/// Builds a zstd dictionary from samples: the segments that hold the sequences that occur most often, and zstd's statistics of the samples.
///
/// The selection is that of COVER (Liao, Petri, Moffat and Wirth, WWW 2016), as zstd simplified it in FASTCOVER, with
/// one length of segments. zstd's own function tries five lengths, which takes five times as long, for dictionaries that are not better.
struct DictionaryTraining {
    /// The length of the sequences that are counted, and that of the segments.
    private static let sequence = 6, segment = 200
    private static let hashBits: UInt64 = 18
    /// The number of segments that are taken from each part of the samples.
    private static let passes = 4
    /// The maximum size of what zstd adds to the content.
    private static let headerBytes = 256

    private let samples: [UInt8]
    private let sizes: [Int]
    /// The hash of the sequence at each position.
    private var hashes: [UInt32] = []
    /// By hash: how often sequences occur that are not in the dictionary yet.
    private var counts = [UInt32](repeating: 0, count: 1 << Int(hashBits))

    /// `samples` are end to end, with the size of each.
    init(_ samples: [UInt8], sizes: [Int]) {
        self.samples = samples
        self.sizes = sizes
        guard samples.count >= DictionaryTraining.segment else { return }
        hashes.reserveCapacity(samples.count)
        var word: UInt64 = 0
        for (i, byte) in samples.enumerated() {
            // The last six bytes, in the upper part of a word.
            word = word >> 8 | UInt64(byte) << 56
            guard i &+ 1 >= DictionaryTraining.sequence else { continue }
            let hash = (word >> 16 &* 0x9E37_79B1_85EB_CA87) >> (64 &- DictionaryTraining.hashBits)
            hashes.append(UInt32(truncatingIfNeeded: hash))
            counts[Int(hash)] &+= 1
        }
    }

    /// Returns a dictionary of at most `size` bytes; empty if the samples are too few.
    mutating func dictionary(size: Int) -> [UInt8] {
        guard sizes.count > 7, size >= 1024, hashes.count >= DictionaryTraining.segment else { return [] }
        let content = select(size: size - DictionaryTraining.headerBytes)
        guard !content.isEmpty else { return [] }
        var parameters = ZDICT_params_t()
        parameters.compressionLevel = 3
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            let result = ZDICT_finalizeDictionary(
                buffer.baseAddress, size, content, content.count, samples, sizes, UInt32(sizes.count), parameters)
            count = ZDICT_isError(result) == 0 ? result : 0
        }
    }

    /// Returns the content, the most frequent segments last: the distances to them are shortest.
    private mutating func select(size: Int) -> [UInt8] {
        let segment = DictionaryTraining.segment
        var parts = max(1, size / segment / DictionaryTraining.passes), length = hashes.count / parts
        if length < segment * 10 {
            length = min(segment * 10, hashes.count)
            parts = max(1, hashes.count / length)
        }
        var content = [UInt8](repeating: 0, count: size), start = size, part = 0, vain = 0
        var seen = [UInt16](repeating: 0, count: 1 << Int(DictionaryTraining.hashBits))
        while start > 0, vain < max(10, min(100, parts)) {
            let range = part * length..<(part + 1) * length
            part = (part + 1) % parts
            let (found, score) = best(in: range, &seen)
            if score == 0 {
                vain += 1
                continue
            }
            vain = 0
            for at in found { counts[Int(hashes[at])] = 0 }
            let bytes = found.lowerBound..<min(found.upperBound + DictionaryTraining.sequence - 1, found.lowerBound + start)
            guard bytes.count >= DictionaryTraining.sequence else { break }
            start -= bytes.count
            content.replaceSubrange(start..<start + bytes.count, with: samples[bytes])
        }
        return Array(content[start...])
    }

    /// Returns the positions of the segment whose different sequences occur most often, without those at its ends that are in the dictionary.
    private func best(in range: Range<Int>, _ seen: inout [UInt16]) -> (positions: Range<Int>, score: UInt64) {
        let width = DictionaryTraining.segment &- DictionaryTraining.sequence &+ 1
        var first = range.lowerBound, score: UInt64 = 0, best = (first..<first, UInt64(0))
        for end in range {
            let entering = Int(hashes[end])
            if seen[entering] == 0 { score &+= UInt64(counts[entering]) }
            seen[entering] &+= 1
            if end &- first == width {
                let leaving = Int(hashes[first])
                seen[leaving] &-= 1
                if seen[leaving] == 0 { score &-= UInt64(counts[leaving]) }
                first &+= 1
            }
            if score > best.1 { best = (first..<end &+ 1, score) }
        }
        for at in first..<range.upperBound { seen[Int(hashes[at])] = 0 }
        var found = best.0
        while let at = found.first, counts[Int(hashes[at])] == 0 { found = at &+ 1..<found.upperBound }
        while let at = found.last, counts[Int(hashes[at])] == 0 { found = found.lowerBound..<at }
        return (found, best.1)
    }
}
