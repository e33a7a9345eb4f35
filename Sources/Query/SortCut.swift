import FirnBytes
import FirnModel

/// Of a SORT whose first rows alone are wanted, and so many are known: the rows that come behind the last of them, by a range of the first
/// key that is looked for in a vector as it is stored. Rows with the same key stay, for the keys after it.
struct SortCut {
    private let slot: Int
    private let range: SoughtRange
    /// Whether rows of the range are those that stay, or those that go.
    private let isKept: Bool

    /// Nil where no range tells.
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

    /// Takes rows that come too late out of a mask. Nulls and what is no number come first when ascending, last when descending.
    /// False if none is left.
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
