import FirnBytes
import FirnChange
import FirnDisk
import FirnTable

/// Prints differences as NDJSON. The keys never change; new ones can be added.
///
///     {"kind":"schema","added":[{"name":…,"type":…}],"removed":[…],"retyped":[{"name":…,"old":…,"new":…}],"reordered":false}   if columns differ
///         "renamed":[{"old":…,"new":…}] is added if --rename names columns
///         "retyped" also has "oldLogical" and "newLogical" if both columns have a logical type and these differ
///     {"kind":"removed","key":{…},"old":{…}}
///     {"kind":"added","key":{…},"new":{…}}
///     {"kind":"changed","key":{…},"cells":{"score":{"old":1.5,"new":2}}}
///         nested cells list the changed parts: {"birth.place":{"path":["birth","place"],"old":"A","new":"B"}}; no "old": added; no "new": removed
///     {"kind":"type","name":…,"old":rows,"new":rows}   before the lines of each type if all types are compared; "same" instead of lines if it has no key
///     {"kind":"summary","v":1,"added":1,"removed":1,"changed":1,"unchanged":7,"cells":1,"columns":{"score":1}}
struct DiffLines {
    private let difference: TableDifference
    private let out: DiffOutput
    private let shown: (old: [Member], new: [Member])
    /// The key columns, and the compared columns, as members.
    private let key: [(name: String, old: Notation, new: Notation)]
    private let cells: [(name: String, old: Notation, new: Notation)]
    /// How many values were written as null because JSON has no numbers for them.
    private var notFinite = 0

    /// A column of added and removed rows, with its name as JSON and a colon.
    private struct Member {
        let position: Int
        let notation: Notation
        let name: String

        init(_ shown: (position: Int, column: ColumnSchema)) {
            position = shown.position
            notation = shown.column.notation
            name = JSONString.quoted(shown.column.name) + ":"
        }
    }

    init(_ difference: TableDifference, _ out: DiffOutput) {
        self.difference = difference
        self.out = out
        shown = (difference.shownColumns(.old).map(Member.init), difference.shownColumns(.new).map(Member.init))
        // The key can be fields of objects, which only the compared tables have as columns.
        let readers = difference.readers(), old = readers.old.table.type.columns, new = readers.new.table.type.columns
        func members(_ columns: [TableDifference.ComparedColumn], _ colon: String) -> [(name: String, old: Notation, new: Notation)] {
            columns.map { (JSONString.quoted($0.name) + colon, old[$0.old].notation, new[$0.new].notation) }
        }
        key = members(difference.key, ":")
        cells = members(difference.columns, ":{")
    }

    var remarks: [String] { notFinite > 0 ? [JSONString.remark(notFinite: notFinite)] : [] }

    /// Prints at most `limit` entries of the given kinds, and always the schema and the summary.
    mutating func write(_ kinds: Set<DifferenceEntry.Kind>, limit: Int?) throws(FirnError) {
        try writeSchema()
        let readers = difference.readers()
        var left = limit ?? .max, line = ""
        try difference.forEachEntry(of: kinds) { entry throws(FirnError) in
            guard left > 0 else { return false }
            left -= 1
            line.removeAll(keepingCapacity: true)
            try append(entry, readers, to: &line)
            try out.line(line)
            return true
        }
        try writeSummary(withSchema: false)
    }

    /// Prints the totals. `withSchema`: also the differences of the schema.
    func writeSummary(withSchema: Bool = true) throws(FirnError) {
        let columns = difference.columns.filter { $0.changed > 0 }.map { JSONString.quoted($0.name) + ":\($0.changed)" }.joined(
            separator: ",")
        try out.line(
            """
            {"kind":"summary","v":1,"added":\(difference.added),"removed":\(difference.removed),"changed":\(difference.changed),\
            "unchanged":\(difference.unchanged),"cells":\(difference.changedCells),"columns":{\(columns)}\(withSchema && !difference.schema.isEmpty ? ",\"schema\":{\(schemaMembers)}" : "")}
            """)
    }

    private func writeSchema() throws(FirnError) {
        guard !difference.schema.isEmpty else { return }
        try out.line("{\"kind\":\"schema\",\(schemaMembers)}")
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
        let names = schema.renamed.map { "{\"old\":\(JSONString.quoted($0.old)),\"new\":\(JSONString.quoted($0.new))}" }
        let renamed = names.isEmpty ? "" : ",\"renamed\":[\(names.joined(separator: ","))]"
        return
            "\"added\":\(list(schema.added)),\"removed\":\(list(schema.removed)),\"retyped\":[\(retyped.joined(separator: ","))],\"reordered\":\(schema.reordered)\(renamed)"
    }

    private mutating func append(
        _ entry: DifferenceEntry, _ readers: (old: RowReader, new: RowReader), to line: inout String
    ) throws(FirnError) {
        switch entry {
        case .removed: line += "{\"kind\":\"removed\",\"key\":{"
        case .added: line += "{\"kind\":\"added\",\"key\":{"
        case .changed: line += "{\"kind\":\"changed\",\"key\":{"
        }
        var isRemoved = false
        if case .removed = entry { isRemoved = true }
        for (i, value) in try difference.keyValues(entry, readers).enumerated() {
            if i > 0 { line += "," }
            line += key[i].name
            line += text(value, notation: isRemoved ? key[i].old : key[i].new)
        }
        switch entry {
        case .removed(let row):
            line += "},\"old\":{"
            try append(row, readers.old, shown.old, to: &line)
        case .added(let row):
            line += "},\"new\":{"
            try append(row, readers.new, shown.new, to: &line)
        case .changed(let before, let after, let columns):
            line += "},\"cells\":{"
            var isFirst = true
            for index in columns { try append(index, (before, after), readers, isFirst: &isFirst, to: &line) }
        }
        line += "}}"
    }

    /// Appends the changed parts of a cell.
    private mutating func append(
        _ index: Int, _ rows: (old: RowLocation, new: RowLocation), _ readers: (old: RowReader, new: RowReader), isFirst: inout Bool,
        to line: inout String
    ) throws(FirnError) {
        let column = difference.columns[index]
        let old = try readers.old.shownValue(rows.old, column.old), new = try readers.new.shownValue(rows.new, column.new)
        let notations = (old: cells[index].old, new: cells[index].new)
        for edit in difference.parts(old, new, in: index) {
            if !isFirst { line += "," }
            isFirst = false
            if edit.path.isEmpty {
                line += cells[index].name
            } else {
                let path = ([.string(column.name)] + edit.path).map { nestedText($0) }.joined(separator: ",")
                line += "\(JSONString.quoted(edit.text(column.name))):{\"path\":[\(path)],"
            }
            var texts = (old: text(edit.old, notation: notations.old), new: text(edit.new, notation: notations.new))
            // A notation of days, for example, omits the times of day by which they differ.
            if texts.old == texts.new { texts = (nestedText(edit.old), nestedText(edit.new)) }
            if edit.kind != .added { line += "\"old\":" + texts.old }
            if edit.kind != .added, edit.kind != .removed { line += "," }
            if edit.kind != .removed { line += "\"new\":" + texts.new }
            line += "}"
        }
    }

    private mutating func append(_ row: RowLocation, _ reader: RowReader, _ members: [Member], to line: inout String) throws(FirnError) {
        for (i, member) in members.enumerated() {
            if i > 0 { line += "," }
            line += member.name
            line += text(try reader.shownValue(row, member.position), notation: member.notation)
        }
    }

    private mutating func text(_ value: Value, notation: Notation) -> String {
        notFinite += value.notFinite
        return nestedText(value, notation: notation)
    }
}

extension Value {
    /// How many of the numbers within a value are NaN or infinite.
    fileprivate var notFinite: Int {
        switch self {
        case .double(let number): number.isFinite ? 0 : 1
        case .float(let number): number.isFinite ? 0 : 1
        case .list(let values), .set(let values): values.reduce(0) { $0 + $1.notFinite }
        case .map(let entries), .object(let entries): entries.reduce(0) { $0 + $1.value.notFinite }
        default: 0
        }
    }
}
