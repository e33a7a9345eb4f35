import FirnBytes
import FirnTable

/// The targets of the links of chosen rows in one column: single links, lists, sets or maps of links, or embedded objects.
struct FollowedLinks {
    /// The targets of row k are `targets[starts[k] ..< starts[k + 1]]`.
    private(set) var starts: [Int] = [0]
    private(set) var targets: [Int64] = []

    /// `rowIDs` must be ascending. Rows that do not exist have no targets.
    init(of rowIDs: [Int64], in table: any Table, column: Int, _ decoded: inout TableChanges.Decoded) throws(Damage) {
        var k = 0, rows: [(k: Int, position: Int)] = []
        while k < rowIDs.count {
            guard let index = try table.segmentIndex(of: rowIDs[k]) else {
                k += 1
                starts.append(targets.count)
                continue
            }
            let segment = try table.segment(index), live = segment.live
            rows.removeAll(keepingCapacity: true)
            let start = k
            repeat {
                if let position = try segment.position(of: rowIDs[k]) {
                    if live?[position] ?? true { rows.append((k, position)) }
                } else if k > start {
                    break
                }
                k += 1
            } while k < rowIDs.count
            try append(rows, start..<k, of: segment, column, table, &decoded)
        }
    }

    private mutating func append(
        _ rows: [(k: Int, position: Int)], _ all: Range<Int>, of segment: any Segment, _ column: Int, _ table: any Table,
        _ decoded: inout TableChanges.Decoded
    ) throws(Damage) {
        var window = try VectorWindow(segment, column, table)
        var next = all.lowerBound, r = 0
        while r < rows.count {
            let vector = rows[r].position / vectorSize
            var end = r + 1
            while end < rows.count, rows[end].position / vectorSize == vector { end += 1 }
            let isDense = end - r > VectorWindow.few
            if isDense { try window.move(to: vector, &decoded) }
            for (k, position) in rows[r..<end] {
                while next < k {
                    starts.append(targets.count)
                    next += 1
                }
                if isDense {
                    window.column.forEachLink(position % vectorSize) { targets.append($0) }
                } else {
                    try window.value(position, false, &decoded).forEachLink { targets.append($0) }
                }
                starts.append(targets.count)
                next += 1
            }
            r = end
        }
        while next < all.upperBound {
            starts.append(targets.count)
            next += 1
        }
    }

    /// Returns the rows, as positions among the given ones, that link to a row of the set.
    func rows(leadingTo set: RowIDSet) -> [Int] {
        (0..<(starts.count - 1)).filter { k in targets[starts[k]..<starts[k + 1]].contains(where: set.contains) }
    }
}

extension Table {
    /// Returns all rows that link to a row of the set in a column, in ascending order. Vectors whose bounds exclude the set are not read.
    func rows(leadingTo set: RowIDSet, column: Int, _ decoded: inout TableChanges.Decoded) throws(Damage) -> [Int64] {
        var out: [Int64] = []
        for i in 0..<segmentCount {
            let segment = try segment(i)
            var window = try VectorWindow(segment, column, self)
            if !set.mayMeet(window.reader.zone()) { continue }
            let live = segment.live
            for vector in 0..<segment.vectorCount where set.mayMeet(window.reader.zone(ofVector: vector)) {
                try window.move(to: vector, &decoded)
                for (row, position) in segment.rows(ofVector: vector).enumerated() where live?[position] ?? true {
                    var leads = false
                    window.column.forEachLink(row) { if set.contains($0) { leads = true } }
                    if leads { out.append(try segment.rowID(at: position)) }
                }
            }
        }
        return out
    }
}

extension RowIDSet {
    fileprivate func mayMeet(_ zone: Zone?) -> Bool {
        guard let zone else { return true }
        if zone.allNull { return false }
        guard case .words(let low, let high) = zone.bounds else { return true }
        return mayMeet(low, high)
    }
}

extension Column {
    @inline(__always)
    fileprivate func forEachLink(_ row: Int, _ body: (Int64) -> Void) {
        guard isPresent(row) else { return }
        guard type.isCollection else {
            if type.kind == .link { body(words[row]) }
            return
        }
        guard let inner = children.last, inner.type.kind == .link else { return }
        for k in offsets[row]..<offsets[row + 1] where inner.isPresent(k) { body(inner.words[k]) }
    }
}

extension Value {
    fileprivate func forEachLink(_ body: (Int64) -> Void) {
        switch self {
        case .link(let rowID): body(rowID)
        case .list(let values), .set(let values): for case .link(let rowID) in values { body(rowID) }
        case .map(let entries): for case .link(let rowID) in entries.lazy.map(\.value) { body(rowID) }
        default: break
        }
    }
}
