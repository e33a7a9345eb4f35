import FirnBytes
import FirnTable

/// Checks before changes are applied.
extension ChangesetApplication {
    /// Finds the rows that the changes of a type refer to (-1 for missing rows), and records conflicts.
    mutating func check(_ i: Int) throws(FirnError) {
        let plan = plans[i], part = plan.part
        guard let rows = plan.rows, let before = part.before, let was = before.table else { return }
        if part.key.isEmpty || part.isReplacing {
            guard plan.isSame else {
                let why = part.isReplacing ? "the changes replace columns, and the rows" : "rows of \"\(plan.name)\" have no key, and"
                return conflicts.note("", "\(why) are not those that the changes were made from")
            }
            do throws(Damage) { plans[i].ids = try rows.liveRowIDs() } catch { throw FirnError(error, in: options.newName) }
            guard plans[i].ids.count == was.rowCount else {
                throw damaged("\(was.rowCount) rows of \"\(plan.name)\" in the changes, but \(plans[i].ids.count) in the file")
            }
            return
        }
        let tables = try resolved(before, was, rows)
        try checkPairs(part)
        try find(i, tables, rows)
        try compare(i, tables)
        try lookForLost(plans[i], rows)
        if let after = part.after, let becomes = after.table, becomes.rowCount > part.pairs { try lookForAdded(plan, after, becomes, rows) }
    }

    /// Returns the rows of a side and those of the file, link-resolved in the same form.
    private func resolved(_ side: Changeset.Side, _ table: any Table, _ rows: any Table) throws(FirnError) -> (
        old: any Table, new: any Table
    ) {
        let names = self.names, keys = side.names
        return try LinkResolution.pair(table, rows, bareOld: { name in keys.bareKey(name).map { names[$0] ?? $0 } })
    }

    private func compared(_ part: Changeset.Part) -> DifferenceOptions {
        var options = self.options
        options.key = part.key
        options.oldName = changes.name
        return options
    }

    /// Returns the name of a row in conflicts.
    func words(_ plan: Plan, _ key: [(name: String, value: Value)]) -> String {
        let text = key.map { "\($0.name)=\(nestedText($0.value))" }.joined(separator: ", ")
        return changes.single == nil ? "\(plan.name) \(text)" : text
    }

    private mutating func find(_ i: Int, _ tables: (old: any Table, new: any Table), _ rows: any RowTable) throws(FirnError) {
        let plan = plans[i]
        var options = compared(plan.part)
        options.kinds = [.removed]
        let found = try TableDifference.compute(tables, plain: tables, options), readers = found.readers()
        try found.forEachEntry(of: [.removed]) { entry throws(FirnError) in
            let key = try found.keyValues(entry, readers)
            let row = conflicts.isFull ? "" : words(plan, Array(zip(plan.part.key, key).map { ($0, $1) }))
            conflicts.note(row, "the row to change or remove does not exist")
            return true
        }
        var ids = [Int64](repeating: -1, count: tables.old.rowCount)
        try reading { () throws(Damage) in
            for (index, segment) in found.segments.enumerated() {
                let source = try rows.segment(index)
                for (row, partner) in segment.partners.enumerated() where partner < SegmentDifference.leftOut {
                    ids[Int(partner)] = try source.rowID(at: row)
                }
            }
        }
        guard found.removed > 0 || !ids.contains(-1) else {
            throw damaged("rows of the changes match no row of the file, and none is missing")
        }
        plans[i].ids = ids
    }

    /// Records a conflict for each row that has a different value in a cell that the changes record.
    private mutating func compare(_ i: Int, _ tables: (old: any Table, new: any Table)) throws(FirnError) {
        let plan = plans[i], part = plan.part, cells = try RecordedCells(part, name: changes.name)
        let locations = try DifferingRows.locations(tables.old, changes.name), there = try rowLocations(plan.ids, tables.new)
        let was = RowReader(tables.old, name: changes.name), stands = RowReader(tables.new, name: options.newName)
        var wrong: [Int: [String]] = [:]
        for column in tables.old.type.columns where !part.key.contains(column.name) {
            guard tables.new.type.index(of: column.name) != nil else { continue }
            let pairing = ColumnPairing(column.name, old: tables.old, new: tables.new)
            let recorded = cells.column(column.name)
            for (k, location) in locations.enumerated() where plan.ids[k] >= 0 {
                try pause(k)
                let value = try was.value(location, pairing.old.index)
                if k < part.pairs, try !recorded.isRecorded(k, isNull: value.isNull) { continue }
                if try !pairing.same(value, stands.value(there[k], pairing.new.index), tolerance: 0) {
                    wrong[k, default: []].append(column.name)
                }
            }
        }
        for (k, parts) in try wrongParts(of: plan) { wrong[k, default: []] += parts }
        for (k, columns) in wrong.sorted(by: { $0.key < $1.key }) {
            var key: [(name: String, value: Value)] = []
            for name in part.key { key.append((name, try was.value(locations[k], tables.old.type.index(of: name)!))) }
            let row = words(plan, key)
            conflicts.note(row, "the file differs from the recorded values in: " + columns.joined(separator: ", "))
        }
    }

    /// Throws if the two sides of a changed row have different keys.
    private func checkPairs(_ part: Changeset.Part) throws(FirnError) {
        guard part.pairs > 0, let before = part.before?.table, let after = part.after?.table else { return }
        let old = try DifferingRows.locations(before, changes.name), new = try DifferingRows.locations(after, changes.name)
        let was = RowReader(before, name: changes.name), becomes = RowReader(after, name: changes.name)
        for column in part.key.map({ ColumnPairing($0, old: before, new: after) }) {
            for k in 0..<part.pairs
            where try !column.same(was.value(old[k], column.old.index), becomes.value(new[k], column.new.index), tolerance: 0) {
                throw damaged("the changed rows of \"\(part.name)\" do not have the same keys before and after")
            }
        }
    }

    /// Records a conflict for each row that the changes do not contain and that has a value in a column that is removed or replaced.
    private mutating func lookForLost(_ plan: Plan, _ rows: any RowTable) throws(FirnError) {
        guard !plan.isSame, let after = plan.part.after?.types(rename), let type = after.first else { return }
        let going = rows.type.visibleColumns.filter {
            !rows.type.hasColumn(rows.type.columns[$0], of: type, in: rows.schema, other: Schema(after))
        }
        guard !going.isEmpty else { return }
        let known = Set(plan.ids), reader = RowReader(rows, name: options.newName)
        for location in try DifferingRows.locations(rows, options.newName) {
            let id: Int64
            do throws(Damage) { id = try rows.segment(location.segment).rowID(at: location.position) } catch {
                throw FirnError(error, in: options.newName)
            }
            if known.contains(id) { continue }
            var lost: [String] = []
            for column in going where try reader.value(location, column).holdsAnything { lost.append(rows.type.columns[column].name) }
            guard !lost.isEmpty else { continue }
            var key: [(name: String, value: Value)] = []
            for name in plan.part.key { key.append((name, try reader.value(location, rows.type.index(of: name)!))) }
            conflicts.note(
                words(plan, key),
                "column \"\(lost.joined(separator: "\", \""))\" would be dropped or replaced, but this row has a value that the changeset does not contain"
            )
        }
    }

    /// Returns the locations of rows. Missing rows get an arbitrary location.
    private func rowLocations(_ ids: [Int64], _ table: any Table) throws(FirnError) -> [RowLocation] {
        do throws(Damage) {
            var locations: [RowLocation] = []
            locations.reserveCapacity(ids.count)
            for id in ids {
                guard id >= 0 else {
                    locations.append(RowLocation(segment: 0, position: 0))
                    continue
                }
                guard let index = try table.segmentIndex(of: id), let row = try table.segment(index).position(of: id) else {
                    throw Damage("a row is no longer at its position")
                }
                locations.append(RowLocation(segment: index, position: row))
            }
            return locations
        } catch { throw FirnError(error, in: options.newName) }
    }

    /// Records a conflict for each row to be added whose key exists already.
    private mutating func lookForAdded(_ plan: Plan, _ after: Changeset.Side, _ table: any Table, _ rows: any RowTable) throws(FirnError) {
        let first = plan.part.pairs, source = changes.name, starts = try reading { () throws(Damage) in try table.liveStarts() }
        let tables = try resolved(after, table, rows)
        var options = compared(plan.part)
        options.kinds = [.removed]
        options.scope.rows = { side, table, index throws(FirnError) in
            guard side == .old else { return nil }
            do throws(Damage) {
                var bits = Bits(count: try table.segment(index).rowCount)
                for row in 0..<bits.count where starts[index] + row >= first { bits[row] = true }
                return bits
            } catch { throw FirnError(error, in: source) }
        }
        guard plan.part.key.allSatisfy({ rows.type.index(of: $0) != nil }) else { return }
        let there = try TableDifference.compute(tables, plain: tables, options)
        guard there.unchanged > 0 else { return }
        let reader = RowReader(tables.old, name: changes.name)
        for index in 0..<there.removedRows.count {
            for row in 0..<there.removedRows[index].count where starts[index] + row >= first && !there.removedRows[index][row] {
                var key: [(name: String, value: Value)] = []
                for column in there.key {
                    key.append((column.name, try reader.value(RowLocation(segment: index, position: row), column.old)))
                }
                let row = words(plan, key)
                conflicts.note(row, "the row to add already exists")
            }
        }
    }

    /// Checks types without key that links refer to. The links identify rows by position, so the positions must be unchanged.
    mutating func checkPositions() throws(FirnError) {
        var names: Set<String> = []
        for side in plans.flatMap({ [$0.part.before, $0.part.after] }).compactMap({ $0 }) {
            guard let table = side.table else { continue }
            for type in table.schema.types {
                guard let target = side.names.bareKey(type.name),
                    let key = try reading({ () throws(Damage) in try table.related(type.name) }), key.rowCount > 0
                else { continue }
                names.insert(rename(target))
            }
        }
        for name in names.sorted() {
            guard let type = try transaction.versionBefore().schema[name], type.key.isEmpty else { continue }
            guard plans.first(where: { $0.name == name })?.isSame ?? false else {
                conflicts.note(
                    "", "rows of \"\(name)\" have no key, links refer to them, and they are not those that the changes were made from")
                continue
            }
        }
    }
}

extension Value {
    /// Whether the value is neither null nor an empty collection.
    fileprivate var holdsAnything: Bool {
        switch self {
        case .null: false
        case .list(let values), .set(let values): !values.isEmpty
        case .map(let entries): !entries.isEmpty
        default: true
        }
    }
}

/// The cells of changed rows that the changes record: those with a value on at least one side, and all cells of columns that the sides do
/// not share.
struct RecordedCells {
    private let part: Changeset.Part
    /// The reader of the rows after the changes, for all columns.
    private let reader: RowReader?
    private let alike: Set<String>
    /// The locations of the rows after the changes.
    private let rows: [RowLocation]

    init(_ part: Changeset.Part, name: String) throws(FirnError) {
        self.part = part
        reader = part.after?.table.map { RowReader($0, name: name) }
        var alike: Set<String> = []
        if let before = part.before, let after = part.after {
            let old = before.types { $0 }, new = after.types { $0 }
            if let mine = old.first, let theirs = new.first {
                for column in mine.columns where mine.hasColumn(column, of: theirs, in: Schema(old), other: Schema(new)) {
                    alike.insert(column.name)
                }
            }
        }
        self.alike = alike
        rows = try part.after?.table.map { (table) throws(FirnError) in try DifferingRows.locations(table, name) } ?? []
    }

    func isAlike(_ column: String) -> Bool { alike.contains(column) }

    func column(_ column: String) -> RecordedColumn {
        guard !part.isWhole, alike.contains(column), let after = part.after?.table, let columnPosition = after.type.index(of: column) else {
            return RecordedColumn()
        }
        return RecordedColumn(reader: reader, column: columnPosition, rows: rows)
    }

    struct RecordedColumn {
        fileprivate var reader: RowReader?
        fileprivate var column = 0
        fileprivate var rows: [RowLocation] = []

        /// `isNull` is whether the value of the other side is null.
        func isRecorded(_ row: Int, isNull: Bool) throws(FirnError) -> Bool {
            guard isNull, let reader else { return true }
            return try !reader.value(rows[row], column).isNull
        }
    }
}
