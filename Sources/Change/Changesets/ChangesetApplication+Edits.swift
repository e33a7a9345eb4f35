import FirnBytes
import FirnTable

/// Changes within nested cells: the value in the file is read, edited and written.
extension ChangesetApplication {
    /// Returns the parts of the file's cells that differ from the recorded ones, by row.
    func wrongParts(of plan: Plan) throws(FirnError) -> [(row: Int, parts: [String])] {
        guard let edits = plan.part.edits else { return [] }
        var wrong: [(row: Int, parts: [String])] = []
        try forEachEdited(edits, plan) { k, column, type, value, edits throws(FirnError) in
            let schema = plan.rows!.schema
            var value = value
            // An edit would keep the number of a link whose row is deleted, so values with links cannot be edited.
            if value.hasLinks(type.columns[column].type, in: schema) {
                add(type.columns[column].name, k, to: &wrong)
            } else if let edit = value.apply(edits) {
                add(edit.text(type.columns[column].name), k, to: &wrong)
            } else if value.withObjects(type.columns[column].type, in: schema).hasLinks(type.columns[column].type, in: schema) {
                throw damaged("edits of \"\(plan.name).\(type.columns[column].name)\" contain links")
            }
        }
        return wrong
    }

    /// Writes the edited cells.
    func editCells(_ plan: Plan) throws(FirnError) {
        guard let edits = plan.part.edits else { return }
        try forEachEdited(edits, plan) { k, column, type, value, edits throws(FirnError) in
            var value = value
            guard value.apply(edits) == nil else {
                throw damaged("edits of \"\(plan.name).\(type.columns[column].name)\" do not fit its value")
            }
            try transaction.update(
                plan.name, rowID: plan.ids[k], column: type.columns[column].name,
                value.withObjects(type.columns[column].type, in: plan.rows!.schema))
        }
    }

    private func add(_ part: String, _ row: Int, to wrong: inout [(row: Int, parts: [String])]) {
        if wrong.last?.row == row { wrong[wrong.count - 1].parts.append(part) } else { wrong.append((row, [part])) }
    }

    /// Calls the body with each cell that has edits and whose row exists: the number of the row, the column in the file, the file's type
    /// and the value.
    private func forEachEdited(
        _ edits: ReadEdits, _ plan: Plan, _ body: (Int, Int, TypeSchema, Value, [ValueEdit]) throws(FirnError) -> Void
    ) throws(FirnError) {
        guard let rows = plan.rows, let before = plan.part.before?.table, let after = plan.part.after?.table else { return }
        let cells = try RecordedCells(plan.part, name: changes.name), reader = edits.reader(),
            stands = RowReader(rows, name: options.newName)
        let was = RowReader(before, name: changes.name), becomes = RowReader(after, name: changes.name)
        let old = try DifferingRows.locations(before, changes.name), new = try DifferingRows.locations(after, changes.name)
        for k in edits.pairs where k < plan.ids.count && plan.ids[k] >= 0 {
            guard k < old.count, k < new.count, let location = try location(of: plan.ids[k], in: rows) else {
                throw damaged("edits of rows that do not exist")
            }
            for (name, edits) in try edits.cells(of: k, reader) {
                guard cells.isAlike(name), !plan.part.key.contains(name), let column = rows.type.index(of: name),
                    let first = before.type.index(of: name), let second = after.type.index(of: name),
                    try was.value(old[k], first).isNull, try becomes.value(new[k], second).isNull
                else { throw damaged("edits of \"\(plan.name).\(name)\", which cannot be edited in parts") }
                try body(k, column, rows.type, try stands.value(location, column), edits)
            }
        }
    }

    private func location(of rowID: Int64, in table: any Table) throws(FirnError) -> RowLocation? {
        do throws(Damage) { return try table.liveLocation(of: rowID) } catch { throw FirnError(error, in: options.newName) }
    }
}
