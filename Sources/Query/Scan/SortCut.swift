import FirnBytes
import FirnTable

/// Excludes rows that cannot be among the first rows of a SORT with a limit, once that many rows are known: a range of the first key,
/// searched on the stored form. Rows with the same key as the last one are kept, because later keys may decide.
struct SortCut {
    private let slot: Int
    private let range: SoughtRange
    /// Whether rows in the range are kept, or excluded.
    private let isKept: Bool

    /// Returns nil if no range expresses the bound.
    init?(_ path: BoundPath, last: Value, ascending: Bool) {
        guard path.isPlain else { return nil }
        slot = path.slot
        isKept = !ascending
        switch (path.type.kind, last) {
        case (.int, .int(let word)):
            if ascending, word == .max { return nil }
            range = .words(ascending ? word + 1 : word, .max)
        case (.float, .float), (.float, .double), (.double, .double):
            guard let real = last.number, !real.isNaN, !ascending || real < .infinity else { return nil }
            range = .reals(ascending ? real.nextUp : real, .infinity)
        case (.date, .date(let time)):
            let pair = WordPair(word: time.seconds, extra: Int64(time.nanoseconds))
            guard let low = ascending ? pair.next : pair else { return nil }
            range = .pairs(low: (low.word, low.extra), high: (.max, .max))
        default: return nil
        }
    }

    /// Clears the bits of excluded rows in a mask. Nulls and NaN are first if ascending, last if descending. Returns false if no row is
    /// left.
    func narrow(_ mask: UnsafeMutablePointer<UInt64>, _ vector: Int, _ scan: SegmentScan) throws(FirnError) -> Bool {
        let hits = scan.takeMask()
        defer { scan.giveBack(hits) }
        guard case .done(let present) = try scan.search(slot, range, vector, into: hits) else { return true }
        if let present { for w in present.words.indices { hits[w] &= present.words[w] } }
        var any: UInt64 = 0
        for w in 0..<16 {
            mask[w] &= isKept ? hits[w] : ~hits[w]
            any |= mask[w]
        }
        return any != 0
    }
}
