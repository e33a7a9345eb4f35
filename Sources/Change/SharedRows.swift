import FirnBytes
import FirnModel

/// The rows that two versions of one table hold in common, as far as the segments know without reading values. They are equal, so neither
/// hashed nor compared: the work is proportional to what changed.
///
/// Only where the key is the table's own: its values are unique by the table's word, so no shared row can have the key of another.
struct SharedRows: Sendable {
    private var old: [Bits?] = []
    private var new: [Bits?] = []

    init() {}

    init(_ old: any Table, _ new: any Table, key: [String], _ options: DifferenceOptions) throws(FirnError) {
        let own = new.type.key.map { new.type.columns[$0].name }
        guard own == key, old.type.columns == new.type.columns, old.type.key == new.type.key, old.schema == new.schema else { return }
        self.old = Array(repeating: nil, count: old.segmentCount)
        self.new = Array(repeating: nil, count: new.segmentCount)
        do throws(Damage) {
            var i = 0, j = 0
            while i < old.segmentCount, j < new.segmentCount {
                let before = try old.segment(i), after = try new.segment(j)
                guard before.rowCount > 0 else {
                    i += 1
                    continue
                }
                guard after.rowCount > 0 else {
                    j += 1
                    continue
                }
                let first = try before.rowID(at: 0), second = try after.rowID(at: 0)
                if first == second, before.rowCount == after.rowCount, let bits = try after.rowsThatMayDiffer(from: before) {
                    self.old[i] = bits
                    self.new[j] = bits
                }
                if first <= second { i += 1 }
                if second <= first { j += 1 }
            }
        } catch { throw FirnError(error, in: options.newName) }
    }

    /// The rows of a segment that may differ; nil: all.
    func mayDiffer(_ side: DifferenceSide, _ segment: Int) -> Bits? {
        let list = side == .old ? old : new
        return segment < list.count ? list[segment] : nil
    }

    /// How many rows that are there and asked for are shared.
    func count(_ table: any Table, _ options: DifferenceOptions) throws(FirnError) -> Int {
        var count = 0
        for (i, bits) in new.enumerated() {
            guard let bits else { continue }
            let same = Bits(words: bits.words.map { ~$0 }, count: bits.count)
            count += same.intersection(try askedRows(table, .new, i, options)).ones
        }
        return count
    }
}
