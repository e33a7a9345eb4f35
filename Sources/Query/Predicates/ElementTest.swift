import FirnBytes
import FirnTable

/// A bound test of the values of a column of one kind. `matchesNull` is the result for rows without a value.
struct ElementTest: Sendable {
    enum Form: Sendable {
        /// Matches every row that has a value.
        case always
        case never
        /// low ... high over `words` (bool, int, link); `inverted` matches values outside.
        case words(Int64, Int64, inverted: Bool)
        /// One of these words, which ascend.
        case wordSet([Int64], inverted: Bool)
        /// low ... high over `reals`; NaN is outside.
        case reals(Double, Double, inverted: Bool)
        /// low ... high over (`words`, `extra`) (date, uuid, objectID).
        case pairs(WordPair, WordPair, inverted: Bool)
        case text(TextTest, inverted: Bool)
        /// Any other comparison, evaluated value by value.
        case value(Comparator, Value, folding: Folding)
        /// Equality with one of these, evaluated value by value.
        case valueSet([Value], inverted: Bool, folding: Folding)
        /// Any of these tests.
        case anyOf([ElementTest])
    }
    var form: Form
    var matchesNull: Bool

    /// The approximate cost of testing a value; cheap tests run first.
    var cost: Int {
        switch form {
        case .always, .never: 0
        case .words, .reals: 1
        case .wordSet, .pairs: 3
        case .text: 10
        case .value: 40
        case .valueSet: 60
        case .anyOf(let tests): tests.reduce(1) { $0 + $1.cost }
        }
    }

    /// The range that readers can search for on the stored form, and whether rows outside of it match.
    var sought: (SoughtRange?, Bool) {
        switch form {
        case .words(let low, let high, let inverted): (.words(low, high), inverted)
        case .reals(let low, let high, let inverted): (.reals(low, high), inverted)
        case .pairs(let low, let high, let inverted): (.pairs(low: (low.word, low.extra), high: (high.word, high.extra)), inverted)
        case .text(let test, let inverted): (test.pattern.map { .text($0) }, inverted)
        default: (nil, false)
        }
    }

    /// The values of which rows that match have one; nil if there are many, or if null matches.
    var equalValues: [Value]? {
        guard !matchesNull else { return nil }
        switch form {
        case .words(let low, let high, inverted: false) where low == high: return [.int(low)]
        case .reals(let low, let high, inverted: false) where low == high: return [.double(low)]
        case .wordSet(let set, inverted: false) where set.count <= ElementTest.maximumEqualValues: return set.map { .int($0) }
        case .text(let test, inverted: false) where !test.folding.isNeeded:
            switch test.form {
            case .equal(let bytes): return [.data(bytes)]
            case .oneOf(let texts) where texts.count <= ElementTest.maximumEqualValues: return texts.map { .data($0) }
            default: return nil
            }
        default: return nil
        }
    }

    private static let maximumEqualValues = 64

    /// Returns the intersection of two ranges, or nil if the tests are not both ranges of one form.
    func joined(with other: ElementTest) -> ElementTest? {
        guard !matchesNull, !other.matchesNull else { return nil }
        switch (form, other.form) {
        case (.words(let a, let b, inverted: false), .words(let c, let d, inverted: false)):
            return ElementTest(form: .words(max(a, c), min(b, d), inverted: false), matchesNull: false)
        case (.reals(let a, let b, inverted: false), .reals(let c, let d, inverted: false)):
            return ElementTest(form: .reals(max(a, c), min(b, d), inverted: false), matchesNull: false)
        case (.pairs(let a, let b, inverted: false), .pairs(let c, let d, inverted: false)):
            return ElementTest(form: .pairs(a.isBelow(c) ? c : a, b.isBelow(d) ? b : d, inverted: false), matchesNull: false)
        default: return nil
        }
    }

    /// Replaces `out` (a word for every 64 values) with the values that pass. Only the bits of candidates are guaranteed.
    func apply(_ column: Column, count: Int, candidates: UnsafePointer<UInt64>?, out: UnsafeMutablePointer<UInt64>) {
        let words = (count &+ 63) >> 6
        switch form {
        case .always: for w in 0..<words { out[w] = .max }
        case .never: for w in 0..<words { out[w] = 0 }
        case .words(let low, let high, let inverted):
            column.words.withUnsafeBufferPointer { Kernel.range($0, low, high, count, out) }
            if inverted { Kernel.invert(out, words) }
        case .wordSet(let set, let inverted):
            column.words.withUnsafeBufferPointer { Kernel.member($0, of: set, count, out) }
            if inverted { Kernel.invert(out, words) }
        case .reals(let low, let high, let inverted):
            column.reals.withUnsafeBufferPointer { Kernel.range($0, low, high, count, out) }
            if inverted { Kernel.invert(out, words) }
        case .pairs(let low, let high, let inverted):
            Kernel.range(column.words, column.extra, low, high, count, out)
            if inverted { Kernel.invert(out, words) }
        case .text(let test, let inverted):
            test.apply(column.text, count: count, candidates: candidates, out: out)
            if inverted { Kernel.invert(out, words) }
        case .value(let comparator, let wanted, let folding):
            let areMixed = column.type.kind == .any
            Kernel.each(count, candidates, out) {
                Comparison.holds(comparator, column.value(at: $0), wanted, folding: folding, areMixed: areMixed)
            }
        case .valueSet(let set, let inverted, let folding):
            Kernel.each(count, candidates, out) { row in
                let value = column.value(at: row)
                return set.contains { Comparison.holds(.equal, value, $0, folding: folding) }
            }
            if inverted { Kernel.invert(out, words) }
        case .anyOf(let tests):
            Kernel.clear(out, words)
            withUnsafeTemporaryAllocation(of: UInt64.self, capacity: max(words, 1)) { part in
                for test in tests {
                    // A test may leave words in which nothing matches as they are.
                    Kernel.clear(part.baseAddress!, words)
                    test.apply(column, count: count, candidates: candidates, out: part.baseAddress!)
                    for w in 0..<words { out[w] |= part[w] }
                }
            }
        }
        if let present = column.present {
            present.words.withUnsafeBufferPointer { bits in
                if matchesNull { for w in 0..<words { out[w] |= ~bits[w] } } else { for w in 0..<words { out[w] &= bits[w] } }
            }
        }
        if count & 63 != 0 { out[words &- 1] &= (1 &<< UInt64(truncatingIfNeeded: count & 63)) &- 1 }
    }

    /// Returns what a zone determines about the test, without reading values.
    func verdict(_ zone: Zone?) -> Verdict {
        guard let zone else { return .unknown }
        if zone.allNull { return matchesNull ? .all : .none }
        var verdict = Verdict.unknown
        switch (form, zone.bounds) {
        case (.always, _): verdict = .all
        case (.never, _): verdict = .none
        case (.words(let low, let high, let inverted), .words(let least, let greatest)):
            verdict = Verdict(
                inside: low <= least && greatest <= high, outside: high < least || greatest < low || low > high, inverted: inverted)
        case (.reals(let low, let high, let inverted), .reals(let least, let greatest)):
            verdict = Verdict(
                inside: low <= least && greatest <= high, outside: high < least || greatest < low || low > high, inverted: inverted)
        case (.pairs(let low, let high, let inverted), .words(let least, let greatest)):
            verdict = Verdict(
                inside: low.word < least && greatest < high.word, outside: high.word < least || greatest < low.word, inverted: inverted)
        case (.wordSet(let set, let inverted), .words(let least, let greatest)):
            verdict = Verdict(
                inside: least == greatest && set.contains(least), outside: !set.contains { $0 >= least && $0 <= greatest },
                inverted: inverted)
        case (.text(let test, let inverted), .text(let bounds)): verdict = test.verdict(bounds, inverted: inverted)
        default: break
        }
        guard zone.mayHaveNulls else { return verdict }
        return verdict == (matchesNull ? .all : .none) ? verdict : .unknown
    }
}

/// What is known about a predicate over a range of rows before they are read.
enum Verdict: Sendable {
    case none, all, unknown

    init(inside: Bool, outside: Bool, inverted: Bool) {
        self = inside ? (inverted ? .none : .all) : outside ? (inverted ? .all : .none) : .unknown
    }

    var inverted: Verdict { self == .none ? .all : self == .all ? Verdict.none : .unknown }
}

/// Two words that are compared lexicographically.
struct WordPair: Sendable, Equatable {
    var word: Int64, extra: Int64
    static let least = WordPair(word: .min, extra: .min), greatest = WordPair(word: .max, extra: .max)

    func isBelow(_ other: WordPair) -> Bool { word < other.word || word == other.word && extra < other.extra }

    /// The adjacent pairs; nil past the end.
    var next: WordPair? {
        extra < .max ? WordPair(word: word, extra: extra + 1) : word < .max ? WordPair(word: word + 1, extra: .min) : nil
    }
    var previous: WordPair? {
        extra > .min ? WordPair(word: word, extra: extra - 1) : word > .min ? WordPair(word: word - 1, extra: .max) : nil
    }
}

/// Loops over a vector that produce one bit for each value.
enum Kernel {
    static func range(_ values: UnsafeBufferPointer<Int64>, _ low: Int64, _ high: Int64, _ count: Int, _ out: UnsafeMutablePointer<UInt64>)
    {
        guard count > 0, let base = values.baseAddress else { return }
        RangeBits.of(base, count: count, low, high, into: out)
    }

    static func range(
        _ values: UnsafeBufferPointer<Double>, _ low: Double, _ high: Double, _ count: Int, _ out: UnsafeMutablePointer<UInt64>
    ) {
        guard count > 0, let base = values.baseAddress else { return }
        RangeBits.of(base, count: count, low, high, into: out)
    }

    static func range(
        _ words: [Int64], _ extra: [Int64], _ low: WordPair, _ high: WordPair, _ count: Int, _ out: UnsafeMutablePointer<UInt64>
    ) {
        words.withUnsafeBufferPointer { words in
            extra.withUnsafeBufferPointer { extra in
                each(count, nil, out) { i in
                    let word = words[i], more = extra[i]
                    return (word > low.word || word == low.word && more >= low.extra)
                        && (word < high.word || word == high.word && more <= high.extra)
                }
            }
        }
    }

    static func member(_ values: UnsafeBufferPointer<Int64>, of set: [Int64], _ count: Int, _ out: UnsafeMutablePointer<UInt64>) {
        set.withUnsafeBufferPointer { set in
            guard let least = set.first, let greatest = set.last else { return clear(out, (count &+ 63) >> 6) }
            each(count, nil, out) { i in
                let value = values[i]
                if value < least || value > greatest { return false }
                var low = 0, high = set.count
                while low < high {
                    let middle = (low &+ high) >> 1
                    if set[middle] == value { return true }
                    if set[middle] < value { low = middle &+ 1 } else { high = middle }
                }
                return false
            }
        }
    }

    /// Tests whether the code of each row is in a set of codes, given as a bitmap.
    static func coded(
        _ codes: UnsafeBufferPointer<Int64>, in set: UnsafeBufferPointer<UInt64>, _ count: Int, _ out: UnsafeMutablePointer<UInt64>
    ) {
        for w in 0..<((count &+ 63) >> 6) {
            let start = w &* 64, n = min(64, count &- start)
            var bits: UInt64 = 0
            var i = n &- 1
            while i >= 0 {
                let code = Int(truncatingIfNeeded: codes[start &+ i])
                bits = bits &+ bits &+ (set[code >> 6] &>> UInt64(truncatingIfNeeded: code & 63) & 1)
                i &-= 1
            }
            out[w] = bits
        }
    }

    @inline(__always)
    static func each(_ count: Int, _ candidates: UnsafePointer<UInt64>?, _ out: UnsafeMutablePointer<UInt64>, _ body: (Int) -> Bool) {
        for w in 0..<((count &+ 63) >> 6) {
            var rest = candidates?[w] ?? .max
            if w == count >> 6 { rest &= (1 &<< UInt64(truncatingIfNeeded: count & 63)) &- 1 }
            var hits: UInt64 = 0
            while rest != 0 {
                let bit = rest.trailingZeroBitCount
                rest &= rest &- 1
                if body(w &* 64 &+ bit) { hits |= 1 &<< UInt64(truncatingIfNeeded: bit) }
            }
            out[w] = hits
        }
    }

    static func clear(_ out: UnsafeMutablePointer<UInt64>, _ words: Int) { for w in 0..<words { out[w] = 0 } }
    @inline(__always)
    static func ones(_ mask: UnsafeMutablePointer<UInt64>, _ words: Int) -> Int {
        var sum = 0
        for w in 0..<words { sum &+= mask[w].nonzeroBitCount }
        return sum
    }
    static func invert(_ out: UnsafeMutablePointer<UInt64>, _ words: Int) { for w in 0..<words { out[w] = ~out[w] } }
}
