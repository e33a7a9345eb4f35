/// Predicts the bits of a text from the bytes before them, and learns from each bit: the model of `ModelledBytes`.
///
/// A text is a sequence of fields that end with the same byte. Seven contexts predict each bit: the last one to four bytes, the position in
/// the field with the last byte, the word, and the field so far. An eighth prediction is the byte after the longest match of the last
/// bytes. Each context leads to a counter, which holds the probability that the next bit is one. Two sets of weights, chosen by the bits of
/// the byte so far and by the match, mix the predictions in the logistic domain (context mixing; M. Mahoney, "Adaptive weighing of context
/// models for lossless data compression", 2005). All arithmetic is on integers, so that every machine computes the same bits.
struct ByteModel: ~Copyable {
    private typealias Inputs = SIMD8<Int16>
    private typealias Weights = SIMD8<Int32>
    private typealias Slots = SIMD8<UInt32>

    private static let contexts = 7
    /// The counters of a context for the four bits of half a byte lie in one cache line.
    private static let lineLog = 4
    private static let matchTableLog = 16
    /// A longer match predicts like one of this length.
    private static let maximumMatch = 31
    private static let largestWeight: Int32 = (1 << 19) &- 1

    // MARK: Memory

    /// Counters of all contexts: 22 bits of probability, 10 bits for the number of bits seen.
    private let counters: UnsafeMutablePointer<UInt32>
    /// log2 of the cache lines of a context.
    private let log: Int
    private let matchCounters: UnsafeMutablePointer<UInt32>
    /// The position after the last occurrence of each hash of five bytes.
    private let matches: UnsafeMutablePointer<Int32>
    /// Weights in 1/65,536: by the bits of the byte so far, and by the match.
    private let weights: UnsafeMutablePointer<Weights>, matchWeights: UnsafeMutablePointer<Weights>
    /// For each context: the hash of its bytes.
    private let hashes: UnsafeMutablePointer<UInt64>
    /// For each context: the first counter of its line, and the position of the line's first counter.
    private var lines = Slots(), turns = Slots()
    /// The counters that predict the current bit.
    private var slots = Slots()
    private let tables = LogisticTables.shared
    /// The bytes so far, in memory of the caller.
    private let bytes: UnsafeMutablePointer<UInt8>
    private let terminator: UInt8

    // MARK: State

    private(set) var count = 0
    /// The bits of the byte so far, after a one; the number of them.
    private var partial = 1, bit = 0
    private var history: UInt64 = 0, word: UInt64 = 0, field: UInt64 = 0, position: UInt64 = 0
    private var matchAt = 0, matchLength = 0, matchSlot = -1
    private var inputs = Inputs()
    private var weightAt = 0, matchWeightAt = 0
    private var first: Int32 = 0, second: Int32 = 0

    /// `bytes` has room for `capacity` bytes, which the model fills.
    init(_ bytes: UnsafeMutablePointer<UInt8>, capacity: Int, terminator: UInt8) {
        self.bytes = bytes
        self.terminator = terminator
        var log = 6
        while log < 15, 16 << log < capacity &* 6 { log &+= 1 }
        self.log = log
        counters = .allocate(capacity: ByteModel.contexts << (log &+ ByteModel.lineLog))
        counters.initialize(repeating: 1 << 31, count: ByteModel.contexts << (log &+ ByteModel.lineLog))
        matchCounters = .allocate(capacity: 2 &* (ByteModel.maximumMatch &+ 1))
        matchCounters.initialize(repeating: 1 << 31, count: 2 &* (ByteModel.maximumMatch &+ 1))
        matches = .allocate(capacity: 1 << ByteModel.matchTableLog)
        matches.initialize(repeating: 0, count: 1 << ByteModel.matchTableLog)
        weights = .allocate(capacity: 256)
        weights.initialize(repeating: Weights(repeating: 20_000), count: 256)
        matchWeights = .allocate(capacity: 128)
        matchWeights.initialize(repeating: Weights(repeating: 20_000), count: 128)
        hashes = .allocate(capacity: ByteModel.contexts)
        startByte()
    }

    deinit {
        counters.deallocate()
        matchCounters.deallocate()
        matches.deallocate()
        weights.deallocate()
        matchWeights.deallocate()
        hashes.deallocate()
    }

    // MARK: Predicting

    /// Returns the probability that the next bit is one, in 1/65,536.
    @inline(__always)
    mutating func predict() -> UInt32 {
        let tables = tables
        // Written out, because a loop over the lanes of vectors stays a loop over memory.
        slots = lines | ((turns &+ Slots(repeating: UInt32(truncatingIfNeeded: half &* 5))) & 15)
        var inputs = Inputs()
        inputs[0] = input(slots[0])
        inputs[1] = input(slots[1])
        inputs[2] = input(slots[2])
        inputs[3] = input(slots[3])
        inputs[4] = input(slots[4])
        inputs[5] = input(slots[5])
        inputs[6] = input(slots[6])
        matchSlot = -1
        if matchLength > 0 {
            let expected = Int(bytes[matchAt]) | 256
            if expected &>> (8 &- bit) == partial {
                matchSlot = min(matchLength, ByteModel.maximumMatch) &* 2 &+ (expected &>> (7 &- bit)) & 1
                inputs[7] = tables.stretch[Int(matchCounters[matchSlot] >> 20)]
            } else {
                matchLength = 0
            }
        }
        self.inputs = inputs
        weightAt = partial
        matchWeightAt = min(matchLength, 15) &* 8 &+ bit
        let wide = Weights(truncatingIfNeeded: inputs)
        let (a, b) = ByteModel.mix(wide, weights[weightAt], matchWeights[matchWeightAt])
        first = tables.logistic(a)
        second = tables.logistic(b)
        return UInt32(max(32, min(65_536 &- 32, tables.logistic((a &+ b) &>> 1))))
    }

    @inline(__always)
    private func input(_ slot: UInt32) -> Int16 { tables.stretch[Int(counters[Int(slot)] &>> 20)] }

    /// Returns the sums of the inputs with two sets of weights.
    @inline(__always)
    private static func mix(_ inputs: Weights, _ a: Weights, _ b: Weights) -> (Int32, Int32) {
        let x = (inputs &* a) &>> 3, y = (inputs &* b) &>> 3
        let both = Weights(lowHalf: x.lowHalf &+ x.highHalf, highHalf: y.lowHalf &+ y.highHalf)
        let sums = both.evenHalf &+ both.oddHalf
        return ((sums[0] &+ sums[1]) &>> 13, (sums[2] &+ sums[3]) &>> 13)
    }

    /// The bits of the half byte so far, after a one.
    private var half: Int {
        @inline(__always) get {
            let seen = 1 &<< (bit & 3)
            return partial & (seen &- 1) | seen
        }
    }

    // MARK: Learning

    /// Learns a bit that was predicted.
    @inline(__always)
    mutating func update(_ value: Int) {
        let target = Int32(truncatingIfNeeded: value) &<< 16, tables = tables
        weights[weightAt] = ByteModel.learn(weights[weightAt], inputs, (target &- first) &>> 4)
        matchWeights[matchWeightAt] = ByteModel.learn(matchWeights[matchWeightAt], inputs, (target &- second) &>> 4)
        let goal = tables.goal(value)
        count(goal, slots[0])
        count(goal, slots[1])
        count(goal, slots[2])
        count(goal, slots[3])
        count(goal, slots[4])
        count(goal, slots[5])
        count(goal, slots[6])
        if matchSlot >= 0 { matchCounters[matchSlot] = tables.moved(matchCounters[matchSlot], to: goal, limit: LogisticTables.upTo255) }
        partial = partial &<< 1 | value
        bit &+= 1
        if bit == 4 { startHalf(UInt64(partial)) }
        if bit == 8 { endByte() }
    }

    @inline(__always)
    private func count(_ goal: Int64, _ slot: UInt32) {
        counters[Int(slot)] = tables.moved(counters[Int(slot)], to: goal, limit: LogisticTables.upTo30)
    }

    /// `error` has at most 13 bits.
    @inline(__always)
    private static func learn(_ weights: Weights, _ inputs: Inputs, _ error: Int32) -> Weights {
        // Both factors have 16 bits, which a processor multiplies faster than 32.
        let products =
            Weights(truncatingIfNeeded: inputs) &* Weights(truncatingIfNeeded: Inputs(repeating: Int16(truncatingIfNeeded: error)))
        let learned = weights &+ (products &<< 4 &+ 0x8000) &>> 16
        // Weights are seldom so large.
        let outside = (learned &+ largestWeight) | (Weights(repeating: largestWeight) &- learned)
        let four = outside.lowHalf | outside.highHalf, two = four.lowHalf | four.highHalf
        guard two[0] | two[1] < 0 else { return learned }
        return learned.clamped(lowerBound: Weights(repeating: -largestWeight), upperBound: Weights(repeating: largestWeight))
    }

    private mutating func endByte() {
        let byte = UInt8(truncatingIfNeeded: partial)
        bytes[count] = byte
        count &+= 1
        history = history &<< 8 | UInt64(byte)
        (partial, bit) = (1, 0)
        if byte == terminator {
            (field, word, position) = (0, 0, 0)
        } else {
            field = (field &+ UInt64(byte) &+ 1) &* 0x2F0B_4C47_9E37_79B9
            position &+= 1
            let isUpper = byte &- 65 < 26
            if isUpper || byte &- 97 < 26 || byte &- 48 < 10 || byte >= 128 {
                word = (word &+ UInt64(isUpper ? byte &+ 32 : byte) &+ 1) &* 0x3D4D_51CB_A3B1_95EF
            } else {
                word = 0
            }
        }
        match()
        startByte()
    }

    private mutating func match() {
        if matchLength > 0 {
            matchAt &+= 1
            matchLength &+= 1
        }
        let key = Int(((history & 0xFF_FFFF_FFFF) &* 0x9E37_79B9_7F4A_7C15) &>> UInt64(64 &- ByteModel.matchTableLog))
        if matchLength == 0 {
            matchAt = Int(matches[key])
            while matchLength < matchAt, matchLength < 32, bytes[matchAt &- 1 &- matchLength] == bytes[count &- 1 &- matchLength] {
                matchLength &+= 1
            }
        }
        matches[key] = Int32(truncatingIfNeeded: count)
    }

    private mutating func startByte() {
        hashes[0] = history & 0xFF
        hashes[1] = history & 0xFFFF
        hashes[2] = history & 0xFF_FFFF
        hashes[3] = history & 0xFFFF_FFFF
        hashes[4] = position &<< 8 | history & 0xFF
        hashes[5] = word
        hashes[6] = field
        startHalf(0)
    }

    /// Finds the lines of counters for half a byte. `before` is the first half of the byte, after a one, or zero.
    @inline(__always)
    private mutating func startHalf(_ before: UInt64) {
        let log = log
        for i in 0..<ByteModel.contexts {
            var hash = (hashes[i] &+ UInt64(i &+ 1) &* 0x9E37_79B9_7F4A_7C15 ^ before &* 0xC2B2_AE3D_27D4_EB4F) &* 0xD6E8_FEB8_6659_FD93
            hash ^= hash &>> 32
            hash = hash &* 0xD6E8_FEB8_6659_FD93
            lines[i] = UInt32(truncatingIfNeeded: (i &<< log &+ Int(truncatingIfNeeded: hash &>> UInt64(64 &- log))) &<< ByteModel.lineLog)
            turns[i] = UInt32(truncatingIfNeeded: hash & 15)
        }
    }
}
