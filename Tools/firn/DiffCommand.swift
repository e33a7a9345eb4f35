import FirnBytes
import FirnChange
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnTable
import FirnThreads

/// `firn diff OLD NEW`: compares two tables.
struct DiffCommand {
    let session: Session
    let output: DiffOutput
    private var arguments: Arguments { session.arguments }

    /// Checks the flags of the output.
    init(session: Session) throws(FirnError) {
        self.session = session
        output = try DiffOutput(session)
    }

    /// Compares two tables and prints the differences in the chosen format. Returns the exit code: `.no` if anything differs.
    ///
    /// - `rows`: returns the rows of a segment that `--where` selects.
    /// - `key`: the key that `--changes` encrypts its file with.
    /// - `display`: the progress, which ends when the tables have been compared.
    /// - `comparesMissing`: see `DifferenceOptions`.
    /// - `equalRows`: the number of rows that both have and that are not in the tables.
    func compare(
        _ old: any Table, named oldName: String, _ new: any Table, named newName: String, key: EncryptionKey? = nil,
        _ display: ProgressDisplay, comparesMissing: Bool = false, equalRows: Int = 0,
        rows: (@Sendable (DifferenceSide, any Table, Int) throws(FirnError) -> Bits?)? = nil
    ) throws(FirnError) -> ExitCode {
        let changes = try checkChanges(), (old, new) = DiffCommand.withSameColumns(old, new)
        var options = try self.options(oldName, newName)
        options.scope.rows = rows
        options.scope.equalRows = equalRows
        if options.key.isEmpty, DiffCommand.areSingleRows(old, new) {
            if let column = try DiffCommand.commonValue(old, new, oldName) {
                options.key = [column]
                session.remark("both files have one row; they are matched by \"\(column)\", which is equal")
            } else if changes == nil {
                options.matchesSingleRows = true
                session.remark("both files have one row, and no value by which to match them; they are compared with each other")
            }
        }
        if options.key.isEmpty { options.key = DiffCommand.keyOfFields(old, new) ?? DiffCommand.keyOfFields(new, old) ?? [] }
        options.comparesMissing = comparesMissing
        options.findsKey = !options.matchesSingleRows
        let difference = try TableDifference.compute(old: old, new: new, options: options)
        display.end()
        try remarkMatching(difference, changes: changes)
        try remarkZones([(old, oldName), (new, newName)])
        switch difference.matching {
        case .key: try remarkTexts(old, new, names: (oldName, newName), key: options.key)
        case .foundKey(let names): try remarkTexts(old, new, names: (oldName, newName), key: names)
        // Rows are not identified, so their texts cannot be compared.
        case .wholeRows: break
        }
        if changes != nil, let member = difference.memberKey {
            throw FirnError(
                .usage, "--changes takes no fields of objects as key: \"\(member)\" is not a column",
                advice: "choose whole columns with --key, or omit --changes")
        }
        if let changes {
            // A changes file records columns that only one file has as changes of the type.
            var recorded = options
            recorded.comparesMissing = false
            let plain = comparesMissing ? try TableDifference.compute(old: old, new: new, options: recorded) : difference
            try write([ChangedType(plain, newKnowsKeys: new is StoredTable)], recorded, to: changes, key: key)
        }
        return try report(difference, oldName, newName)
    }

    /// Reports how the rows of files without a key are matched. Throws if `--changes` needs a key and there is none.
    private func remarkMatching(_ difference: TableDifference, changes: String?) throws(FirnError) {
        switch difference.matching {
        case .key: break
        case .foundKey(let names):
            let columns = names.map { "\"\($0)\"" }.joined(separator: ", "), together = names.count == 1 ? "" : "together "
            let all = difference.columns.isEmpty ? " and leaves no other column to compare" : ""
            session.remark(
                "rows are matched by \(columns), which \(together)is unique in both files\(all); choose other columns with --key")
        case .wholeRows(let nearly):
            if changes != nil {
                throw FirnError(
                    .usage, "--changes needs a key by which rows are matched, and no column identifies the rows of both files",
                    advice: "name the columns that identify a row: --key NAME[,NAME…]")
            }
            let column = nearly.map {
                "; \"\($0.name)\" is unique except in \(Quantity.count($0.rows, "row")): --key \($0.name) --duplicates first compares the others"
            }
            session.remark(
                "no column identifies the rows of both files, so whole rows are matched, and a changed row is removed and added"
                    + (column ?? "; choose a key with --key"))
            if arguments.has("tolerance") { session.remark("--tolerance does not apply to whole rows") }
        }
    }

    /// Reports the columns of dates with several zones, which changes do not contain.
    func remarkZones(_ tables: [(table: any Table, file: String)]) throws(FirnError) {
        guard arguments.has("changes") else { return }
        var names: [String] = []
        for (table, file) in tables { names += try KeptTexts.columnsOfZones(table, in: file).filter { !names.contains($0) } }
        for name in names {
            session.remark(
                "column \"\(name)\": the changes contain dates without their zones; 'firn patch' writes changed and added dates in the zone of the column"
            )
        }
    }

    /// Reports the columns whose original texts differ although their values may be equal.
    func remarkTexts(_ old: any Table, _ new: any Table, names: (old: String, new: String), key: [String]) throws(FirnError) {
        let left = arguments.columnNames("ignore"), chosen = arguments.columnNames("columns")
        let areVersions = Paths.isSame(Address(names.old).path, Address(names.new).path)
        let texts = try KeptTexts.differing(old, new, key: key, in: names, areVersions: areVersions)
        for (column, old, new) in texts where !left.contains(column) && (chosen.isEmpty || chosen.contains(column)) {
            let counts = "\(Quantity.count(old)) in \(names.old), \(Quantity.count(new)) in \(names.new)"
            session.remark(
                "column \"\(column)\": original texts that are not values differ (\(counts)); values are compared"
                    + (arguments.has("changes") ? ", and the changes contain no original texts" : ", not texts"))
        }
    }

    /// Returns both tables. One without rows whose columns are unknown, as of an empty array of JSON, gets those of the other.
    private static func withSameColumns(_ old: any Table, _ new: any Table) -> (old: any Table, new: any Table) {
        func isUnknown(_ table: any Table, _ other: any Table) -> Bool {
            table.rowCount == 0 && table.type.key.isEmpty && !table.type.columns.contains { other.type.index(of: $0.name) != nil }
        }
        func empty(_ other: any Table) -> any Table { MemoryTable(other.type, schema: other.schema, batches: []) }
        if isUnknown(new, old) { return (old, empty(old)) }
        return isUnknown(old, new) ? (empty(new), new) : (old, new)
    }

    /// Returns the key of a table if the other one has some of its columns as fields of objects only (`convert --key a.b`).
    private static func keyOfFields(_ table: any Table, _ other: any Table) -> [String]? {
        let names = table.type.key.map { table.type.columns[$0].name }
        guard names.contains(where: { other.type.index(of: $0) == nil }),
            names.allSatisfy({ FieldPath.find($0, in: other.type, other.schema) != nil })
        else { return nil }
        return names
    }

    /// Whether each table has one row and no common key, as documents that are one row have.
    private static func areSingleRows(_ old: any Table, _ new: any Table) -> Bool {
        old.rowCount == 1 && new.rowCount == 1 && (old.type.key.isEmpty || new.type.key.isEmpty)
    }

    /// Returns the first column with the same value in the only row of each table.
    private static func commonValue(_ old: any Table, _ new: any Table, _ file: String) throws(FirnError) -> String? {
        do throws(Damage) {
            guard let oldID = try old.rowID(atRank: 0), let newID = try new.rowID(atRank: 0) else { return nil }
            for (position, column) in old.type.columns.enumerated() where !column.type.isCollection {
                guard ![.embedded, .any, .link].contains(column.type.kind), let other = new.type.index(of: column.name),
                    new.type.columns[other].type.kind == column.type.kind, !new.type.columns[other].type.isCollection
                else { continue }
                let value = try old.value(rowID: oldID, column: position)
                if !value.isNull, try value == new.value(rowID: newID, column: other) { return column.name }
            }
            return nil
        } catch { throw FirnError(error, in: file) }
    }

    /// Returns the options of the comparison, from the flags. The names are used in messages.
    func options(_ oldName: String, _ newName: String) throws(FirnError) -> DifferenceOptions {
        var options = DifferenceOptions()
        options.key = arguments.columnNames("key")
        options.columns = arguments.columnNames("columns")
        options.ignore = arguments.columnNames("ignore")
        let flags = try DiffColumnFlags(arguments)
        options.tolerance = flags.tolerance ?? 0
        options.tolerances = flags.tolerances
        options.renamed = flags.renamed
        options.duplicates = arguments.text("duplicates") == "first" ? .takeFirst : .refuse
        options.oldName = oldName
        options.newName = newName
        options.execution.threads = try session.threads()
        options.execution.keepsPartners = arguments.has("changes")
        return options
    }

    /// The kinds of differences to print. All rows are compared in any case, so the totals count all kinds.
    var kinds: Set<DifferenceEntry.Kind> {
        let only = arguments.texts("only")
        return Set(DifferenceEntry.Kind.allCases.filter { only.isEmpty || only.contains("\($0)") })
    }

    func report(_ difference: TableDifference, _ oldName: String, _ newName: String) throws(FirnError) -> ExitCode {
        if difference.leftOutOld > 0 {
            session.remark("\(oldName): \(Quantity.count(difference.leftOutOld, "row")) left out: an earlier one has the same key")
        }
        if difference.leftOutNew > 0 {
            session.remark("\(newName): \(Quantity.count(difference.leftOutNew, "row")) left out: an earlier one has the same key")
        }
        let limit = try arguments.count("limit")
        switch output.format {
        case .ndjson, .json:
            var lines = DiffLines(difference, output)
            try lines.write(kinds, limit: limit)
            for remark in lines.remarks { session.remark(remark) }
        case .summary where arguments.has("json"): try DiffLines(difference, output).writeSummary()
        case .summary: try DiffSummary(difference, output.style).write(to: output)
        case .table: try DiffListing(difference, names: (oldName, newName), output).write(kinds, limit: limit)
        case .csv:
            let left = try DiffRecords(grid(difference), output).write(kinds, limit: limit)
            if left > 0 { session.remark("\(Quantity.count(left, "more row")) not written") }
        case .markdown: try DiffDocument(grid(difference, kinds), .markdown, output).write(kinds, limit: limit, names: (oldName, newName))
        case .html: try DiffDocument(grid(difference, kinds), .html, output).write(kinds, limit: limit, names: (oldName, newName))
        }
        return difference.isEmpty(of: kinds) ? .done : .no
    }

    /// Returns the columns of a difference; with `kinds`, as people read them.
    private func grid(_ difference: TableDifference, _ kinds: Set<DifferenceEntry.Kind>? = nil) -> DiffGrid {
        var grid = DiffGrid(difference, ignored: arguments.columnNames("ignore"))
        if let kinds { grid.arrangeForReading(kinds) }
        return grid
    }
}
