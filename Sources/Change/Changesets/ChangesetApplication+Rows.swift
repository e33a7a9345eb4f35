import FirnBytes
import FirnTable

/// Writing values, and links after the rows that they refer to exist.
extension ChangesetApplication {
    /// The cells of a column that contain links, which are written without them first.
    struct LinkedCells {
        let plan: Int
        /// The position in the columns of `after.table`.
        let column: Int
        var cells: [(location: RowLocation, row: Int64)] = []
    }

    /// Writes everything except links. Returns the cells with links.
    func writeRows() throws(FirnError) -> [LinkedCells] {
        var linked: [LinkedCells] = []
        for (i, plan) in plans.enumerated() {
            guard let after = plan.part.after, let table = after.table else { continue }
            let locations = try DifferingRows.locations(table, changes.name)
            guard locations.count >= plan.part.pairs, plan.ids.count >= plan.part.pairs else {
                throw damaged("rows of \"\(plan.name)\" are missing")
            }
            linked += try setCells(i, plan, after, table, locations)
            linked += try insert(i, plan, table, Array(locations[plan.part.pairs...]))
        }
        return linked
    }

    /// Returns the column types of the changes, but optional only if the column of the file is.
    private func firstTypes(_ plan: Plan, _ table: any Table) -> [ColumnType] {
        let own = transaction.schema[plan.name]
        return table.type.columns.map { column in
            var type = column.type
            if let columnPosition = own?.index(of: column.name) { type.isOptional = own!.columns[columnPosition].type.isOptional }
            return type
        }
    }

    private func setCells(_ number: Int, _ plan: Plan, _ after: Changeset.Side, _ table: any Table, _ locations: [RowLocation])
        throws(FirnError)
        -> [LinkedCells]
    {
        guard plan.part.pairs > 0, let before = plan.part.before?.table else { return [] }
        let cells = try RecordedCells(plan.part, name: changes.name), old = try DifferingRows.locations(before, changes.name)
        let was = RowReader(before, name: changes.name), becomes = RowReader(table, name: changes.name), first = firstTypes(plan, table)
        var linked: [LinkedCells] = []
        for (columnPosition, column) in table.type.columns.enumerated() {
            let isKey = plan.part.key.contains(column.name)
            let isAlike = cells.isAlike(column.name), twin = isAlike ? before.type.index(of: column.name) : nil,
                mayLink = table.schema.mayHoldLinks(column.type)
            var found = LinkedCells(plan: number, column: columnPosition)
            for k in 0..<plan.part.pairs {
                try pause(k)
                let value = try becomes.value(locations[k], columnPosition)
                if let twin {
                    let former = try was.value(old[k], twin)
                    if plan.part.isWhole || isKey ? former == value : former.isNull && value.isNull { continue }
                } else if value.isNull {
                    continue
                }
                guard mayLink else {
                    try transaction.update(plan.name, rowID: plan.ids[k], column: column.name, value)
                    continue
                }
                if value.hasLinks(column.type, in: table.schema) { found.cells.append((locations[k], plan.ids[k])) }
                try transaction.update(
                    plan.name, rowID: plan.ids[k], column: column.name, value.withoutLinks(first[columnPosition], in: table.schema))
            }
            if !found.cells.isEmpty { linked.append(found) }
        }
        try editCells(plan)
        return linked
    }

    private func insert(_ number: Int, _ plan: Plan, _ table: any Table, _ locations: [RowLocation]) throws(FirnError) -> [LinkedCells] {
        guard !locations.isEmpty, let own = transaction.schema[plan.name] else { return [] }
        let reader = RowReader(table, name: changes.name), sources = own.columns.map { table.type.index(of: $0.name) }
        let mayLink = table.type.columns.map { table.schema.mayHoldLinks($0.type) }, first = firstTypes(plan, table)
        var linked = table.type.columns.indices.map { LinkedCells(plan: number, column: $0) }
        for (i, location) in locations.enumerated() {
            try pause(i)
            var values: [Value] = [], withLinks: [Int] = []
            for (column, source) in zip(own.columns, sources) {
                guard let source else {
                    values.append(Column.absentValue(column.type))
                    continue
                }
                var value = try reader.value(location, source)
                if mayLink[source] {
                    if value.hasLinks(table.type.columns[source].type, in: table.schema) { withLinks.append(source) }
                    value = value.withoutLinks(first[source], in: table.schema)
                }
                values.append(value)
            }
            let row = try transaction.insert(plan.name, values)
            for source in withLinks { linked[source].cells.append((location, row)) }
        }
        return linked.filter { !$0.cells.isEmpty }
    }

    // MARK: Links

    mutating func setLinks(_ linked: [LinkedCells]) throws(FirnError) {
        var known: [String: LinkedRowsOfFile] = [:]
        for group in linked {
            let plan = plans[group.plan]
            guard let after = plan.part.after, let table = after.table else { continue }
            let column = table.type.columns[group.column], reader = RowReader(table, name: changes.name)
            for (i, cell) in group.cells.enumerated() {
                try pause(i)
                var missing: (type: String, row: Int64)?
                let value = try reader.value(cell.location, group.column).mapLinks(column.type, in: table.schema) {
                    (type, row) throws(FirnError) -> (type: String, row: Int64?) in
                    // A link of a value of type any to an unknown type is kept.
                    guard let bare = after.names.bareKey(type) else { return (type, row) }
                    if row == -1 { return (rename(bare), nil) }
                    if known[type] == nil { known[type] = try rows(table, type, rename(bare)) }
                    guard let stands = known[type]!.rows[row] else {
                        throw damaged("a link to a row that the changes do not contain (\"\(plan.name).\(column.name)\")")
                    }
                    if stands == LinkedRowsOfFile.none, missing == nil { missing = (type, row) }
                    return (rename(bare), stands)
                }
                if let missing {
                    let words = try self.words(table, cell.location, plan), target = try known[missing.type]!.words(missing.row)
                    conflicts.note(words, "\(column.name) refers to a row that does not exist: \(target)")
                } else if conflicts.count == 0 {
                    try transaction.update(plan.name, rowID: cell.row, column: column.name, value)
                }
            }
        }
    }

    private func words(_ table: any Table, _ location: RowLocation, _ plan: Plan) throws(FirnError) -> String {
        let reader = RowReader(table, name: changes.name)
        guard !plan.part.key.isEmpty else { return "\(plan.name), row \(try reader.number(location))" }
        var key: [(name: String, value: Value)] = []
        for name in plan.part.key { if let column = table.type.index(of: name) { key.append((name, try reader.value(location, column))) } }
        return words(plan, key)
    }

    /// Finds the rows in the file that links of the changes refer to.
    private func rows(_ origin: any Table, _ type: String, _ name: String) throws(FirnError) -> LinkedRowsOfFile {
        guard let named = try reading({ () throws(Damage) in try origin.related(type) }) else {
            throw damaged("links to a type that the changes do not contain")
        }
        guard let target = transaction.schema[name], !target.isEmbedded else {
            throw FirnError(
                .schema, "links of the changes refer to rows of \"\(name)\", a type that the file does not have",
                at: .init(file: options.newName))
        }
        let rows = transaction.currentRows(of: name), ids = try reading { () throws(Damage) in try named.liveRowIDs() }
        var found: [Int64: Int64] = [:]
        if target.key.isEmpty {
            guard named.type.columns.map(\.name) == ["row"], named.type.columns[0].type == ColumnType(.int) else { throw otherKey(name) }
            let stand = try reading { () throws(Damage) in try rows.liveRowIDs() }, reader = RowReader(named, name: changes.name)
            for (location, id) in zip(try DifferingRows.locations(named, changes.name), ids) {
                guard case .int(let row) = try reader.value(location, 0), row >= 0, row < Int64(stand.count) else {
                    found[id] = LinkedRowsOfFile.none
                    continue
                }
                found[id] = stand[Int(row)]
            }
        } else {
            let key = target.key.map { target.columns[$0] }
            guard named.type.columns.count == key.count,
                key.allSatisfy({ own in
                    named.type.index(of: own.name).map {
                        named.type.columns[$0].type.kind == own.type.kind && named.type.columns[$0].type.collection == own.type.collection
                    } ?? false
                })
            else {
                throw otherKey(name)
            }
            var options = DifferenceOptions()
            options.key = key.map(\.name)
            options.kinds = []
            options.oldName = changes.name
            options.newName = self.options.newName
            let tables = (old: named, new: rows as any Table), matches = try TableDifference.compute(tables, plain: tables, options)
            for id in ids { found[id] = LinkedRowsOfFile.none }
            try reading { () throws(Damage) in
                for (index, segment) in matches.segments.enumerated() {
                    let source = try rows.segment(index)
                    for (row, partner) in segment.partners.enumerated() where partner < SegmentDifference.leftOut {
                        found[ids[Int(partner)]] = try source.rowID(at: row)
                    }
                }
            }
        }
        return LinkedRowsOfFile(name: name, named: named, file: changes.name, rows: found)
    }

    private func otherKey(_ name: String) -> FirnError {
        FirnError(
            .schema, "links of the changes refer to rows of \"\(name)\", whose key is different in this file",
            at: .init(file: options.newName))
    }
}

/// By the rows of `newKey.NAME`: the row ids in the file.
struct LinkedRowsOfFile {
    /// There is no such row.
    static let none: Int64 = -1

    let name: String
    let named: any Table
    let file: String
    let rows: [Int64: Int64]

    /// Returns the name of a row for messages.
    func words(_ row: Int64) throws(FirnError) -> String {
        do throws(Damage) {
            guard let index = try named.segmentIndex(of: row), let position = try named.segment(index).position(of: row) else {
                return name
            }
            var parts: [String] = []
            for (i, column) in named.type.columns.enumerated() {
                parts.append(
                    "\(column.name)=\(nestedText(try named.segment(index).column(i).value(at: position), notation: column.notation))")
            }
            return "\(name) " + parts.joined(separator: ", ")
        } catch { throw FirnError(error, in: file) }
    }
}
