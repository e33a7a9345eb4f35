import FirnBytes
import FirnTable

extension TableDifference {
    /// Computes the difference of two tables with unique keys from the segments that have rows which may differ. A shared row is in both
    /// tables, so no other row of either has its key.
    ///
    /// Returns nil if the keys are not known to be unique, or turn out to be repeated: then all rows must be compared.
    static func ofChangedSegments(
        old: any Table, new: any Table, plain: (old: any Table, new: any Table), chosen: ChosenColumns, options: DifferenceOptions
    ) throws(FirnError) -> TableDifference? {
        guard old.hasUniqueKeys, new.hasUniqueKeys else { return nil }
        let shared = options.scope.shared, before = shared.changedSegments(.old), after = shared.changedSegments(.new)
        try KeyHashes.check(rows: old.rowCount, old.segmentCount, .old, options)
        try KeyHashes.check(rows: new.rowCount, new.segmentCount, .new, options)
        try checkCount(old, options.oldName, live: shared.sizes.old.reduce(0) { $0 + $1.live })
        try checkCount(new, options.newName, live: shared.sizes.new.reduce(0) { $0 + $1.live })
        var inner = options
        inner.scope.equalRows = 0
        inner.scope.shared = shared.only(old: before, new: after)
        let asked = options.scope.rows
        if let asked {
            inner.scope.rows = { side, _, index throws(FirnError) in
                side == .old ? try asked(.old, old, before[index]) : try asked(.new, new, after[index])
            }
        }
        let part: TableDifference
        do throws(FirnError) {
            let parts: (old: ChosenSegments, new: ChosenSegments)
            do throws(Damage) { parts = (try ChosenSegments(old, before), try ChosenSegments(new, after)) } catch {
                throw FirnError(error, in: options.oldName)
            }
            inner.scope.keysAreUnique = true
            guard let difference = try TableDifference(parts.old, parts.new, plain, chosen, inner) else { return nil }
            part = difference
        } catch {
            if error.code == .duplicateKey { return nil }
            throw error
        }
        let isChanged = Set(after), same = (0..<new.segmentCount).filter { !isChanged.contains($0) }
        try options.execution.progress(same.count * segmentSize)
        var sum = PartSum(shared.sizes.old.map(\.rows), columns: chosen.compared.count)
        sum.add(part, old: before, new: after, of: new.segmentCount, same: try shared.count(new, options, in: same))
        return TableDifference(old: old, new: new, plain: plain, chosen: chosen, sum: sum, options: options)
    }
}
