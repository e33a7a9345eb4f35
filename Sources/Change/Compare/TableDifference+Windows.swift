import FirnBytes
import FirnTable

extension TableDifference {
    /// Computes the difference window by window.
    static func byWindows(
        _ windows: KeyWindows, old: any Table, new: any Table, plain: (old: any Table, new: any Table), chosen: ChosenColumns,
        options: DifferenceOptions
    ) throws(FirnError) -> TableDifference {
        try KeyHashes.check(rows: old.rowCount, old.segmentCount, .old, options)
        try KeyHashes.check(rows: new.rowCount, new.segmentCount, .new, options)
        try Self.checkCount(old, options.oldName)
        try Self.checkCount(new, options.newName)
        var sum = PartSum(try old.rowCounts(options.oldName), columns: chosen.compared.count)
        for window in windows.windows {
            let part: TableDifference
            do throws(FirnError) { part = try Self.difference(of: window, windows.ranges, old, new, plain, chosen, options) } catch {
                // The error lists the rows of the whole table.
                if error.code == .duplicateKey {
                    try KeyUniqueness(old, .old, key: chosen.key, options: options).check()
                    try KeyUniqueness(new, .new, key: chosen.key, options: options).check()
                }
                throw error
            }
            sum.add(part, at: window.old.lowerBound, options)
        }
        return TableDifference(old: old, new: new, plain: plain, chosen: chosen, sum: sum, options: options)
    }

    private static func difference(
        of window: KeyWindows.Window, _ ranges: KeyRanges, _ old: any Table, _ new: any Table, _ plain: (old: any Table, new: any Table),
        _ chosen: ChosenColumns, _ options: DifferenceOptions
    ) throws(FirnError) -> TableDifference {
        var inner = options
        inner.scope.equalRows = 0
        let asked = options.scope.rows, oldName = options.oldName
        inner.scope.rows = { side, _, index throws(FirnError) in
            let number = index + (side == .old ? window.old.lowerBound : window.new.lowerBound)
            let rows = try asked?(side, side == .old ? old : new, number)
            guard side == .old else { return rows }
            let within: Bits?
            do throws(Damage) { within = try ranges.rows(of: number, old, from: window.low, to: window.high) } catch {
                throw FirnError(error, in: oldName)
            }
            return rows.map { $0.intersection(within) } ?? within
        }
        let parts: (old: SegmentRange, new: SegmentRange)
        do throws(Damage) { parts = (try SegmentRange(old, window.old), try SegmentRange(new, window.new)) } catch {
            throw FirnError(error, in: oldName)
        }
        guard let difference = try TableDifference(parts.old, parts.new, plain, chosen, inner) else {
            trap("rows are left out only if versions share them")
        }
        return difference
    }
}
