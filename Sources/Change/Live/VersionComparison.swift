import FirnBytes
import FirnTable

/// Compares two versions of a table: segment by segment if they have the same rows, otherwise row id by row id.
struct VersionComparison {
    private let old: any Table
    private let new: any Table
    private let sameColumns: Bool
    private let columns: [VersionedColumn]

    init(_ old: any Table, _ new: any Table) {
        self.old = old
        self.new = new
        sameColumns = old.type.columns == new.type.columns
        columns = VersionedColumn.all(old.type, new.type)
    }

    mutating func run(_ changes: inout TableChanges) throws(Damage) {
        var i = 0, j = 0, p = 0, q = 0
        while i < old.segmentCount, j < new.segmentCount {
            let before = try old.segment(i), after = try new.segment(j)
            guard p < before.rowCount else {
                i += 1
                p = 0
                continue
            }
            guard q < after.rowCount else {
                j += 1
                q = 0
                continue
            }
            if p == 0, q == 0, try compareAligned(before, i == old.segmentCount - 1, after, j == new.segmentCount - 1, &changes) {
                i += 1
                j += 1
                continue
            }
            try merge(before, &p, after, &q, &changes)
        }
        while i < old.segmentCount {
            try TableChanges.appendLiveRows(of: try old.segment(i), from: p, to: &changes.deleted)
            i += 1
            p = 0
        }
        while j < new.segmentCount {
            try TableChanges.appendLiveRows(of: try new.segment(j), from: q, to: &changes.inserted)
            j += 1
            q = 0
        }
    }

    /// Compares two segments with the same row ids at the same positions; one may have further rows. Returns false if they are not so, or
    /// if that cannot be determined cheaply.
    private func compareAligned(
        _ old: any Segment, _ isLastOfOld: Bool, _ new: any Segment, _ isLastOfNew: Bool,
        _ changes: inout TableChanges
    ) throws(Damage) -> Bool {
        if old === new, sameColumns { return true }
        let oldCount = old.rowCount, newCount = new.rowCount
        guard try old.rowID(at: 0) == new.rowID(at: 0) else { return false }
        // Further rows of one segment must not be in a later segment of the other version.
        let mayCompare = sameColumns && (oldCount == newCount || (oldCount < newCount ? isLastOfOld : isLastOfNew))
        let known = mayCompare ? try new.storedRowsThatMayDiffer(from: old) : nil
        if let known {
            guard known.count == max(oldCount, newCount) else { throw Damage("the segments of two versions of one table do not match") }
            if known.noneSet { return true }
        } else {
            guard oldCount == newCount, try haveSameRows(old, new) else { return false }
        }
        let oldLive = old.live, newLive = new.live
        var rows: [Int32] = []
        func look(_ row: Int) throws(Damage) {
            let wasThere = row < oldCount && oldLive?[row] ?? true, isThere = row < newCount && newLive?[row] ?? true
            if wasThere, isThere {
                rows.append(Int32(row))
            } else if wasThere {
                changes.deleted.append(try old.rowID(at: row))
            } else if isThere {
                changes.inserted.append(try new.rowID(at: row))
            }
        }
        if let known { try known.forEachSet(look) } else { for row in 0..<newCount { try look(row) } }
        try compare(old, new, PairedRows(old: rows, new: rows), &changes)
        return true
    }

    /// Whether the row ids are equal: the first and last are equal and all ids between them are used, or each id is equal.
    private func haveSameRows(_ old: any Segment, _ new: any Segment) throws(Damage) -> Bool {
        let count = new.rowCount
        let first = try new.rowID(at: 0), last = try new.rowID(at: count - 1)
        guard try first == old.rowID(at: 0), try last == old.rowID(at: count - 1) else { return false }
        if last &- first == Int64(count - 1) { return true }
        for row in 0..<count where try new.rowID(at: row) != old.rowID(at: row) { return false }
        return true
    }

    /// Compares both segments row by row until one of them ends.
    private func merge(_ old: any Segment, _ p: inout Int, _ new: any Segment, _ q: inout Int, _ changes: inout TableChanges) throws(Damage)
    {
        let oldLive = old.live, newLive = new.live
        var pairs = PairedRows()
        while p < old.rowCount, q < new.rowCount {
            let a = try old.rowID(at: p), b = try new.rowID(at: q)
            let wasThere = a <= b && oldLive?[p] ?? true, isThere = b <= a && newLive?[q] ?? true
            if wasThere, isThere {
                pairs.old.append(Int32(p))
                pairs.new.append(Int32(q))
            } else if wasThere {
                changes.deleted.append(a)
            } else if isThere {
                changes.inserted.append(b)
            }
            if a <= b { p += 1 }
            if b <= a { q += 1 }
        }
        try compare(old, new, pairs, &changes)
    }

    private func compare(_ old: any Segment, _ new: any Segment, _ pairs: PairedRows, _ changes: inout TableChanges) throws(Damage) {
        guard !pairs.new.isEmpty else { return }
        var marks: [Bits?] = Array(repeating: nil, count: self.new.type.columns.count + 1)
        for column in columns {
            guard let differing = try column.differences(old, self.old, new, self.new, pairs, &changes.decoded) else { continue }
            let markPosition = column.new ?? marks.count - 1
            if let before = marks[markPosition] {
                marks[markPosition] = Bits(words: zip(before.words, differing.words).map { $0 | $1 }, count: before.count)
            } else {
                marks[markPosition] = differing
            }
        }
        try changes.modified.append(marks: marks) { (k) throws(Damage) in try new.rowID(at: Int(pairs.new[k])) }
    }
}

/// The positions of the same rows in a segment of each version, ascending.
struct PairedRows {
    var old: [Int32] = []
    var new: [Int32] = []
}
