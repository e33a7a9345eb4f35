import FirnBytes
import FirnTable

/// One row that differs.
package enum DifferenceEntry {
    package enum Kind: Sendable, Hashable, CaseIterable { case added, removed, changed }

    /// The row is only in the new table.
    case added(new: RowLocation)
    /// The row is only in the old table.
    case removed(old: RowLocation)
    /// The row is in both; `columns` are positions in `TableDifference.columns`, ascending.
    case changed(old: RowLocation, new: RowLocation, columns: [Int])
}

extension TableDifference {
    /// Returns readers of the rows of both tables, for the locations in entries. Only one thread may use them.
    package func readers() -> (old: RowReader, new: RowReader) {
        (RowReader(old, name: options.oldName), RowReader(new, name: options.newName))
    }

    /// Returns the columns with which added and removed rows of a table are shown, with their positions: all, or the key and those that the
    /// options choose. Fields of objects that are part of the key are not among them, those that the options choose are.
    package func shownColumns(_ side: DifferenceSide) -> [(position: Int, column: ColumnSchema)] {
        let type = side == .old ? old.type : new.type, count = (side == .old ? plain.old : plain.new).type.columns.count
        let shown = Set(options.columns + key.map(\.name)), fields = Set(options.columns).subtracting(key.map(\.name))
        func isColumn(_ name: String) -> Bool { plain.old.type.index(of: name) != nil || plain.new.type.index(of: name) != nil }
        return type.columns.enumerated().map { ($0, $1) }.filter { position, column in
            if position >= count { return fields.contains(column.name) && !isColumn(column.name) }
            return options.columns.isEmpty || shown.contains(column.name)
        }
    }

    /// Returns the values of the key of an entry.
    package func keyValues(_ entry: DifferenceEntry, _ readers: (old: RowReader, new: RowReader)) throws(FirnError) -> [Value] {
        var values: [Value] = []
        for column in key {
            switch entry {
            case .added(let new), .changed(_, let new, _): values.append(try readers.new.value(new, column.new))
            case .removed(let old): values.append(try readers.old.value(old, column.old))
            }
        }
        return values
    }

    /// Calls the body with each entry of the given kinds, among those that the options request, until it returns false. Removed rows are
    /// first, in the order of the old table; then added and changed rows, in the order of the new table.
    package func forEachEntry(
        of kinds: Set<DifferenceEntry.Kind> = Set(DifferenceEntry.Kind.allCases), _ body: (DifferenceEntry) throws(FirnError) -> Bool
    ) throws(FirnError) {
        let kinds = kinds.intersection(options.kinds)
        if kinds.contains(.removed) {
            for (s, rows) in removedRows.enumerated() {
                for row in rows.positions {
                    if try !body(.removed(old: RowLocation(segment: s, position: row))) { return }
                }
            }
        }
        let wantsAdded = kinds.contains(.added), wantsChanged = kinds.contains(.changed)
        for (s, segment) in segments.enumerated() {
            let added = segment.added, partners = wantsChanged ? segment.changedPartners : []
            var differing = wantsAdded ? added : Bits(count: added.count), changed = 0
            if wantsChanged { differing.formUnion(segment.changed) }
            for row in differing.positions {
                if added[row] {
                    if try !body(.added(new: RowLocation(segment: s, position: row))) { return }
                    continue
                }
                let columns = segment.changedCells.indices.filter { segment.changedCells[$0]?[row] ?? false }
                let entry = DifferenceEntry.changed(
                    old: location(partners[changed]), new: RowLocation(segment: s, position: row), columns: columns)
                changed += 1
                if try !body(entry) { return }
            }
        }
    }

    /// Calls the body with each row that both tables have, with its place in each, and the columns that differ. Rows that are known to be
    /// equal without a comparison are left out. With `changed`, only rows that differ are passed.
    func forEachMatch(changed: Bool, _ body: (_ old: RowLocation, _ new: RowLocation, _ columns: [Int]) throws(FirnError) -> Void)
        throws(FirnError)
    {
        for (s, segment) in segments.enumerated() {
            trap(unless: !segment.isCompact, "keep the partners of all rows: DifferenceOptions.Execution.keepsPartners")
            for row in segment.partners.indices
            where segment.partners[row] < SegmentDifference.leftOut && (!changed || segment.changed[row]) {
                let columns = segment.changed[row] ? segment.changedCells.indices.filter { segment.changedCells[$0]?[row] ?? false } : []
                try body(location(segment.partners[row]), RowLocation(segment: s, position: row), columns)
            }
        }
    }

    /// Returns the changes within a cell: the parts that differ if the values are nested; the whole value for other values and for short
    /// lists and sets. `column` is a position in `columns`.
    package func parts(_ old: Value, _ new: Value, in column: Int) -> [ValueEdit] {
        let name = columns[column].name, tolerance = options.tolerances[name] ?? options.tolerance
        let ignored = options.ignoredFields(of: name, self.old, self.new)
        let edits = [ValueEdit].between(old.without(ignored), new.without(ignored), absentIsNull: true) { tolerance.equates($0, $1) }
        // Values of different kinds, or with a different notation, are compared as a whole.
        let isShort =
            !edits.contains { $0.path.contains { if case .string = $0 { true } else { false } } }
            && 2 * edits.size >= old.encoded.count + new.encoded.count
        return edits.isEmpty || isShort ? [ValueEdit(path: [], kind: .replaced, old: old, new: new)] : edits
    }

    private func location(_ flat: UInt32) -> RowLocation {
        let segment = oldStarts.segment(ofRow: Int(flat))
        return RowLocation(segment: segment, position: Int(flat) - oldStarts[segment])
    }
}

extension Bits {
    /// The positions of the set bits, in ascending order.
    var positions: some Sequence<Int> {
        words.indices.lazy.flatMap { w in
            sequence(state: words[w]) { (rest: inout UInt64) -> Int? in
                guard rest != 0 else { return nil }
                defer { rest &= rest &- 1 }
                return w &* 64 &+ rest.trailingZeroBitCount
            }
        }
    }
}
