import FirnBytes
import FirnChange
import FirnDisk
import FirnTable

/// Prints differences as NDJSON. The keys never change; new ones can be added.
///
///     {"kind":"schema","added":[{"name":…,"type":…}],"removed":[…],"retyped":[{"name":…,"old":…,"new":…}],"reordered":false}   if columns differ
///         "retyped" also has "oldLogical" and "newLogical" if both columns have a logical type and these differ
///     {"kind":"removed","key":{…},"old":{…}}
///     {"kind":"added","key":{…},"new":{…}}
///     {"kind":"changed","key":{…},"cells":{"score":{"old":1.5,"new":2}}}
///         nested cells list the changed parts: {"birth.place":{"path":["birth","place"],"old":"A","new":"B"}}; no "old": added; no "new": removed
///     {"kind":"type","name":…,"old":rows,"new":rows}   before the lines of each type if all types are compared; "same" instead of lines if it has no key
///     {"kind":"summary","v":1,"added":1,"removed":1,"changed":1,"unchanged":7,"cells":1,"columns":{"score":1}}
struct DiffLines {
    private let difference: TableDifference
    private let out: StreamOut
    private let shown: (old: [(position: Int, column: ColumnSchema)], new: [(position: Int, column: ColumnSchema)])

    init(_ difference: TableDifference, _ out: StreamOut) {
        self.difference = difference
        self.out = out
        shown = (difference.shownColumns(.old), difference.shownColumns(.new))
    }

    /// Prints at most `limit` entries of the given kinds, and always the schema and the summary.
    func write(_ kinds: Set<DifferenceEntry.Kind>, limit: Int?) throws(FirnError) {
        try writeSchema()
        let readers = difference.readers()
        var left = limit ?? .max
        try difference.forEachEntry(of: kinds) { entry throws(FirnError) in
            guard left > 0 else { return false }
            left -= 1
            try out.write(try line(entry, readers))
            return true
        }
        try writeSummary(withSchema: false)
    }

    /// Prints the totals. `withSchema`: also the differences of the schema.
    func writeSummary(withSchema: Bool = true) throws(FirnError) {
        let columns = difference.columns.filter { $0.changed > 0 }.map { JSONString.quoted($0.name) + ":\($0.changed)" }.joined(
            separator: ",")
        try out.write(
            """
            {"kind":"summary","v":1,"added":\(difference.added),"removed":\(difference.removed),"changed":\(difference.changed),\
            "unchanged":\(difference.unchanged),"cells":\(difference.changedCells),"columns":{\(columns)}\(withSchema && !difference.schema.isEmpty ? ",\"schema\":{\(schemaMembers)}" : "")}

            """)
    }

    private func writeSchema() throws(FirnError) {
        guard !difference.schema.isEmpty else { return }
        try out.write("{\"kind\":\"schema\",\(schemaMembers)}\n")
    }

    private var schemaMembers: String {
        let schema = difference.schema
        func list(_ columns: [ColumnSchema]) -> String {
            "["
                + columns.map { "{\"name\":\(JSONString.quoted($0.name)),\"type\":\(JSONString.quoted($0.type.name))}" }.joined(
                    separator: ",") + "]"
        }
        let retyped = schema.retyped.map {
            "{\"name\":\(JSONString.quoted($0.name)),\"old\":\(JSONString.quoted($0.old.name)),\"new\":\(JSONString.quoted($0.new.name))"
                + ($0.logical.map { ",\"oldLogical\":\(JSONString.quoted("\($0.old)")),\"newLogical\":\(JSONString.quoted("\($0.new)"))" }
                    ?? "") + "}"
        }
        return
            "\"added\":\(list(schema.added)),\"removed\":\(list(schema.removed)),\"retyped\":[\(retyped.joined(separator: ","))],\"reordered\":\(schema.reordered)"
    }

    private func line(_ entry: DifferenceEntry, _ readers: (old: RowReader, new: RowReader)) throws(FirnError) -> String {
        var key: [String] = []
        for (column, value) in zip(difference.key, try difference.keyValues(entry, readers)) {
            key.append(JSONString.quoted(column.name) + ":" + nestedText(value, notation: difference.notation(of: column, entry)))
        }
        let name = "\"key\":{" + key.joined(separator: ",") + "}"
        switch entry {
        case .removed(let row): return "{\"kind\":\"removed\",\(name),\"old\":\(try object(row, readers.old, shown.old))}\n"
        case .added(let row): return "{\"kind\":\"added\",\(name),\"new\":\(try object(row, readers.new, shown.new))}\n"
        case .changed(let before, let after, let columns):
            var cells: [String] = []
            for index in columns {
                let column = difference.columns[index]
                let old = try readers.old.shownValue(before, column.old), new = try readers.new.shownValue(after, column.new)
                let notations = (
                    old: readers.old.table.type.columns[column.old].notation, new: readers.new.table.type.columns[column.new].notation
                )
                for edit in difference.parts(old, new) {
                    var members: [String] = []
                    if !edit.path.isEmpty {
                        members.append(
                            "\"path\":[" + ([.string(column.name)] + edit.path).map { nestedText($0) }.joined(separator: ",") + "]")
                    }
                    var texts = (old: nestedText(edit.old, notation: notations.old), new: nestedText(edit.new, notation: notations.new))
                    // A notation of days, for example, omits the times of day by which they differ.
                    if texts.old == texts.new { texts = (nestedText(edit.old), nestedText(edit.new)) }
                    if edit.kind != .added { members.append("\"old\":" + texts.old) }
                    if edit.kind != .removed { members.append("\"new\":" + texts.new) }
                    cells.append("\(JSONString.quoted(edit.text(column.name))):{\(members.joined(separator: ","))}")
                }
            }
            return "{\"kind\":\"changed\",\(name),\"cells\":{\(cells.joined(separator: ","))}}\n"
        }
    }

    private func object(
        _ row: RowLocation, _ reader: RowReader, _ columns: [(position: Int, column: ColumnSchema)]
    ) throws(FirnError) -> String {
        var members: [String] = []
        for (i, column) in columns {
            members.append(JSONString.quoted(column.name) + ":" + nestedText(try reader.shownValue(row, i), notation: column.notation))
        }
        return "{" + members.joined(separator: ",") + "}"
    }
}
