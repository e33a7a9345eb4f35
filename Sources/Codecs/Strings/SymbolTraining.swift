import FirnBytes

/// Learns a symbol table from a sample, with the pair merging of OnPair (arXiv 2508.02280) and the rounds of FSST (VLDB 2020): each round
/// parses the sample with the current symbols, counts symbols and adjacent pairs, and keeps those that cover the most bytes.
/// The result is the table that parses the sample into the fewest codes.
struct SymbolTraining {
    private var text: [UInt8] = []
    private var ends: [Int] = []

    static let sampleBytes = 512 << 10
    static let rounds = 10
    /// The maximum number of symbols, with the 256 single bytes.
    private let most: Int
    /// Whether symbols are words, numbers and runs of other bytes, or parts of them, with at most one separator before.
    private let isAligned: Bool

    /// `rows` are the strings to learn from.
    init(_ source: Text, rows: [Range<Int>], most: Int = SymbolTable.limit, isAligned: Bool = false) {
        self.most = most
        self.isAligned = isAligned
        for range in rows {
            for row in range {
                guard text.count + source.length(row) <= Self.sampleBytes else { break }
                source.withBytes(row) { text.append(contentsOf: $0) }
                ends.append(text.count)
            }
        }
        text.append(contentsOf: repeatElement(0, count: 16))
    }

    /// Returns the table, or nil as soon as the sample is known to take more than `limit` bits for each byte.
    func learn(limit: Double) -> SymbolTable? {
        var table = SymbolTable((0...255).map { [UInt8($0)] })
        var best = (table: table, codes: Int.max)
        for round in 0..<Self.rounds {
            // The first rounds learn what is frequent everywhere, for which a part of the sample is sufficient.
            let strings = round < 3 ? ends.prefix((ends.count + 3) / 4) : ends[...]
            var counts = PairCounts()
            let codes = count(table, strings, &counts)
            if round >= 3 {
                let before = best.codes
                if codes < before { best = (table, codes) }
                // Twelve bits for each code, and about five for the start of each string.
                let bits = Double(codes * 12 + strings.count * 5)
                if bits > limit * Self.allowance(after: round) * Double(strings.last ?? 0) { return nil }
                if codes > before - before / 500 { break }
            }
            if round + 1 < Self.rounds { table = select(table, counts) }
        }
        return best.table
    }

    /// How far above the limit a round may be: later rounds seldom save more than this.
    private static func allowance(after round: Int) -> Double {
        switch round {
        case ...3: 1.9
        case 4: 1.4
        case 5: 1.15
        default: 1.1
        }
    }

    private func count(_ table: SymbolTable, _ strings: ArraySlice<Int>, _ counts: inout PairCounts) -> Int {
        let matcher = SymbolMatcher(table)
        var total = 0
        text.withUnsafeBytes { bytes in
            var start = 0
            for end in strings {
                var previous = -1
                matcher.parse(bytes.baseAddress!, start, end) { code in
                    counts.singles[code] &+= 1
                    if previous >= 0 { counts.add(UInt64(previous) << 12 | UInt64(code)) }
                    previous = code
                    total &+= 1
                }
                start = end
            }
        }
        return total
    }

    private struct Candidate {
        var words: SIMD2<UInt64>
        var length: Int
        var count: Int
        /// Bytes covered, with a bonus for frequent symbols, because greedy parsing often skips long ones.
        var gain: Int { count * (length + 1) }

        func hasBytes(of other: Candidate) -> Bool { words == other.words && length == other.length }
    }

    /// Returns the table of all single bytes and the candidates that cover the most bytes of the sample.
    private func select(_ table: SymbolTable, _ counts: PairCounts) -> SymbolTable {
        var candidates: [Candidate] = []
        for code in 256..<max(256, table.count) where counts.singles[code] > 1 {
            candidates.append(
                Candidate(
                    words: unsafeBitCast(table.slots[code], to: SIMD2<UInt64>.self), length: Int(table.lengths[code]),
                    count: counts.singles[code]))
        }
        for slot in counts.slots where slot != 0 {
            let count = Int(slot & 0xFFFF_FFFF), pair = Int(slot >> 32) - 1
            let a = pair >> 12, b = pair & 4095
            let length = Int(table.lengths[a]) + Int(table.lengths[b])
            guard count > 2, length <= 16 else { continue }
            let words = Self.join(table, a, b)
            if isAligned, !Self.isAligned(words, length) { continue }
            candidates.append(Candidate(words: words, length: length, count: count))
        }
        return SymbolTable((0...255).map { [UInt8($0)] } + Self.strongest(Self.merged(candidates), count: most - 256))
    }

    private enum Kind { case space, letter, digit, other }

    private static func kind(_ byte: UInt8) -> Kind {
        switch byte {
        case 0x20: .space
        case 0x30...0x39: .digit
        case 0x41...0x5A, 0x61...0x7A, 0x80...: .letter
        default: .other
        }
    }

    /// Whether all bytes after the first are of one kind, and the first one as well or a separator before it.
    private static func isAligned(_ words: SIMD2<UInt64>, _ length: Int) -> Bool {
        func kind(at i: Int) -> Kind { Self.kind(UInt8(truncatingIfNeeded: words[i >> 3] >> UInt64((i & 7) * 8))) }
        let first = kind(at: 0), second = kind(at: 1)
        for i in 2..<max(2, length) where kind(at: i) != second { return false }
        return first == second || second != .space && first != .letter && first != .digit
    }

    private static func join(_ table: SymbolTable, _ a: Int, _ b: Int) -> SIMD2<UInt64> {
        let first = unsafeBitCast(table.slots[a], to: SIMD2<UInt64>.self), second = unsafeBitCast(table.slots[b], to: SIMD2<UInt64>.self)
        let wide = UInt128(first[1]) << 64 | UInt128(first[0])
        let more = (UInt128(second[1]) << 64 | UInt128(second[0])) << (8 * UInt128(table.lengths[a]))
        let both = wide | more
        return SIMD2(UInt64(truncatingIfNeeded: both), UInt64(truncatingIfNeeded: both >> 64))
    }

    /// Merges candidates with equal bytes, which different pairs can produce.
    private static func merged(_ candidates: [Candidate]) -> [Candidate] {
        var out: [Candidate] = [], slots = [Int32](repeating: -1, count: 2 << bitWidth(UInt64(candidates.count)))
        out.reserveCapacity(candidates.count)
        let mask = UInt64(slots.count - 1)
        for candidate in candidates {
            let folded = candidate.words[0] ^ candidate.words[1] &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(candidate.length)
            let mixed = folded &* 0xD6E8_FEB8_6659_FD93
            var at = Int(mixed >> 32 & mask)
            while slots[at] >= 0, !out[Int(slots[at])].hasBytes(of: candidate) { at = (at &+ 1) & Int(mask) }
            if slots[at] >= 0 {
                out[Int(slots[at])].count += candidate.count
            } else {
                slots[at] = Int32(out.count)
                out.append(candidate)
            }
        }
        return out
    }

    /// Returns the `count` candidates that gain most, ordered by what they gain and by their bytes. Most gain little, so only those from the
    /// least gain that is still chosen are ordered.
    private static func strongest(_ candidates: [Candidate], count: Int) -> [[UInt8]] {
        var numbers = [Int](repeating: 0, count: 1 << 12)
        for candidate in candidates { numbers[min(candidate.gain, numbers.count - 1)] += 1 }
        var least = numbers.count - 1, above = numbers[least]
        while least > 0, above < count {
            least -= 1
            above += numbers[least]
        }
        let chosen = candidates.filter { $0.gain >= least }.sorted {
            $0.gain != $1.gain
                ? $0.gain > $1.gain
                : $0.words[0] != $1.words[0]
                    ? $0.words[0] < $1.words[0] : $0.words[1] != $1.words[1] ? $0.words[1] < $1.words[1] : $0.length < $1.length
        }
        return chosen.prefix(count).map { candidate -> [UInt8] in
            (0..<candidate.length).map { (at: Int) -> UInt8 in
                UInt8(truncatingIfNeeded: candidate.words[at >> 3] >> UInt64((at & 7) * 8))
            }
        }
    }
}

/// Counts of symbols and of pairs of symbols; pairs are in an open-addressing table of (pair + 1, count) words.
private struct PairCounts {
    var singles = [Int](repeating: 0, count: SymbolTable.limit)
    var slots: [UInt64]
    private var used = 0

    init() { slots = [UInt64](repeating: 0, count: 1 << 12) }

    @inline(__always)
    mutating func add(_ pair: UInt64) {
        let key = (pair &+ 1) << 32, mask = slots.count &- 1
        var at = PairCounts.slot(pair, mask)
        let isNew = slots.withUnsafeMutableBufferPointer { slots in
            while slots[at] != 0, slots[at] & 0xFFFF_FFFF_0000_0000 != key { at = (at &+ 1) & mask }
            let isNew = slots[at] == 0
            slots[at] = (isNew ? key : slots[at]) &+ 1
            return isNew
        }
        if isNew {
            used &+= 1
            if used &* 2 > mask { grow() }
        }
    }

    @inline(__always)
    private static func slot(_ pair: UInt64, _ mask: Int) -> Int { Int(truncatingIfNeeded: (pair &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask }

    /// Small tables are faster: they remain in the cache of the processor.
    @inline(never)
    private mutating func grow() {
        var more = [UInt64](repeating: 0, count: slots.count * 4)
        let mask = more.count - 1
        for slot in slots where slot != 0 {
            var at = PairCounts.slot((slot >> 32) &- 1, mask)
            while more[at] != 0 { at = (at &+ 1) & mask }
            more[at] = slot
        }
        slots = more
    }
}
