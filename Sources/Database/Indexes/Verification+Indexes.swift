import FirnBytes
import FirnTable

/// Verification of indexes.
extension SnapshotCore {
    /// The number of segments whose rows are searched for in the runs at a time: memory for about four million entries.
    private static let segmentsAtATime = 64

    func verifyIndexes(_ type: Int, full: Bool) -> [Defect] {
        let state = catalogue.types[type], name = schema.types[type].name
        var defects: [Defect] = []
        if let damage = state.indexDamage { defects.append(Defect(type: name, part: "indexes", damage)) }
        for index in state.indexes {
            guard let column = schema.types[type].index(ofID: index.column) else { continue }
            do throws(Damage) { try verify(index, type, column, full: full) } catch {
                defects.append(
                    Defect(type: name, column: schema.types[type].columns[column].name, part: "index of \(index.kind.name)", error))
            }
        }
        return defects
    }

    private func verify(_ index: IndexState, _ type: Int, _ column: Int, full: Bool) throws(Damage) {
        for ref in index.runs {
            let run = try self.run(ref)
            if full { try run.check(ref, nextRowID: catalogue.types[type].nextRowID) }
        }
        guard full else { return }
        let count = catalogue.types[type].segmentCount
        // A text has many words: check one segment at a time.
        let step = index.kind == .words ? 1 : SnapshotCore.segmentsAtATime
        for start in stride(from: 0, to: count, by: step) {
            var wanted = IndexEntries(index)
            for number in start..<min(start + step, count) {
                let segment = try self.segment(type: type, index: number)
                try segment.forEachSealed(column) { (values, first) throws(Damage) in
                    let live = segment.live?.slice(first..<first + values.count)
                    let rowIDs = segment.rowIDs, firstID = segment.header.firstRowID
                    wanted.add(values, live: live) { firstID + (rowIDs?[first + $0] ?? Int64(first + $0)) }
                }
            }
            wanted.sort()
            try verify(index, holds: wanted)
        }
    }

    private func verify(_ index: IndexState, holds wanted: IndexEntries) throws(Damage) {
        var missing = wanted.entries[...], missingNulls = wanted.nulls[...]
        for ref in index.runs {
            let (entries, nulls) = try run(ref).all()
            missing = IndexEntries.without(missing, entries)[...]
            missingNulls = IndexEntries.without(missingNulls, nulls)[...]
        }
        if let row = missing.first?.row ?? missingNulls.first { throw Damage("row \(row) is missing in the index") }
    }
}

extension IndexEntries {
    /// Returns the elements of an ascending list that are not in another ascending list.
    fileprivate static func without<T: Comparable>(_ all: ArraySlice<T>, _ others: [T]) -> [T] {
        var left: [T] = [], at = 0
        for one in all {
            while at < others.count, others[at] < one { at += 1 }
            if at == others.count || others[at] != one { left.append(one) }
        }
        return left
    }
}
