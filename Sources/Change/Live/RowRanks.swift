import FirnBytes
import FirnTable

/// Finds the index of a row among the live rows of a table. Row ids must be passed in ascending order. It uses the counts of earlier
/// segments and the bits set before the row in its own.
struct RowRanks {
    private let table: any Table
    private var index = 0
    private var segment: (any Segment)?
    private var live: Bits?
    /// The number of rows in the segments before `index`, and in this segment before word `word` of its live bits.
    private var before = 0
    private var word = 0
    private var beforeWord = 0

    init(_ table: any Table) { self.table = table }

    mutating func rank(_ rowID: Int64) throws(Damage) -> Int {
        var found = try segment?.position(of: rowID)
        if found == nil {
            guard let target = try table.segmentIndex(of: rowID), target >= index else { throw Damage("a changed row is in no segment") }
            while index < target || segment == nil {
                if let segment {
                    before += segment.liveCount
                    index += 1
                }
                segment = try table.segment(index)
            }
            live = segment!.live
            word = 0
            beforeWord = 0
            found = try segment!.position(of: rowID)
        }
        guard let position = found else { throw Damage("a changed row is not in its segment") }
        guard let live else { return before + position }
        guard position >> 6 >= word else { throw Damage("row ids of a segment do not ascend") }
        while word < position >> 6 {
            beforeWord += live.words[word].nonzeroBitCount
            word += 1
        }
        return before + beforeWord + (live.words[word] & ((1 << UInt64(position & 63)) - 1)).nonzeroBitCount
    }

    static func ranks(_ rowIDs: [Int64], in table: any Table) throws(Damage) -> [Int] {
        var ranks = RowRanks(table), out: [Int] = []
        out.reserveCapacity(rowIDs.count)
        for rowID in rowIDs { out.append(try ranks.rank(rowID)) }
        return out
    }
}

extension CollectionChanges {
    /// Returns the changes of all rows of a type in the order of the table. `modified` has the row ids, ascending, that count as modified
    /// according to a filter of key paths; rows that are not in both versions are ignored. Nil means those of `changes`.
    /// - Complexity: Proportional to the changes and the number of segments, not to the rows.
    package static func between(old: any Table, new: any Table, changes: TableChanges, modified: [Int64]? = nil) throws(Damage)
        -> CollectionChanges
    {
        var out = CollectionChanges()
        out.deletions = try RowRanks.ranks(changes.deleted, in: old)
        out.insertions = try RowRanks.ranks(changes.inserted, in: new)
        let stayed = modified.map { $0.without(changes.inserted) } ?? changes.modified.rowIDs
        out.modificationsOld = try RowRanks.ranks(stayed, in: old)
        out.modificationsNew = try RowRanks.ranks(stayed, in: new)
        return out
    }
}

extension [Int64] {
    /// Returns the numbers that are not in `other`; both must be ascending.
    func without(_ other: [Int64]) -> [Int64] {
        if other.isEmpty { return self }
        var out: [Int64] = [], k = 0
        for number in self {
            while k < other.count, other[k] < number { k += 1 }
            if k == other.count || other[k] != number { out.append(number) }
        }
        return out
    }
}
