/// The first byte of an integer stream. Stored in files; never renumbered.
enum IntegersEncoding: UInt8, CaseIterable {
    case empty = 0, constant = 1, sequence = 2, packed = 3, scaled = 4, delta = 5, dictionary = 6, runLength = 7, entropy = 8, pages = 9,
        modelled = 10
}

/// The first byte of a stream of doubles.
enum FloatsEncoding: UInt8, CaseIterable {
    case empty = 0, raw = 1, decimals = 2, single = 3, singleDecimals = 4, split = 5, mixed = 6, dictionary = 7,
        corrected = 8
}

/// The first byte of a stream of booleans.
enum BooleansEncoding: UInt8, CaseIterable {
    case zeros = 0, ones = 1, raw = 2, sparseOnes = 3, sparseZeros = 4, runs = 5, bytes = 6
}

/// The first byte of a stream of list offsets.
enum LengthsEncoding: UInt8, CaseIterable {
    case empty = 0, starts = 1
}

/// The maximum depth of nested streams; deeper streams are damage.
let nestingLimit = 6
