/// First byte of a stream of words. Never renumbered: files keep these.
enum WordsEncoding: UInt8, CaseIterable {
    case empty = 0, constant = 1, sequence = 2, packed = 3, scaled = 4, delta = 5, dictionary = 6, repeats = 7, entropy = 8
}

/// First byte of a stream of doubles.
enum RealsEncoding: UInt8, CaseIterable {
    case empty = 0, raw = 1, decimals = 2, single = 3, singleDecimals = 4, split = 5
}

/// First byte of a stream of bits.
enum BitsEncoding: UInt8, CaseIterable {
    case zeros = 0, ones = 1, raw = 2, sparseOnes = 3, sparseZeros = 4, runs = 5, bytes = 6
}

/// First byte of a stream of list offsets.
enum LengthsEncoding: UInt8, CaseIterable {
    case empty = 0, starts = 1
}

/// Values of a vector: what one call of a reader's `decode` writes at most.
let vectorLength = 1024
/// Streams nest at most this deep; a deeper one is damage.
let nestingLimit = 6
