import FirnBytes
import FirnChange
import FirnCommandLine
import FirnDisk
import FirnModel

/// `firn diff OLD NEW`, once both are tables.
struct DiffCommand {
    let session: Session
    private var arguments: Arguments { session.arguments }

    /// Compares, prints in the form asked for, and tells whether anything differs.
    ///
    /// - `rows`: the rows of a segment that `--where` chooses.
    /// - `key`: what `--changes` are encrypted with.
    func compare(_ old: any Table, named oldName: String, _ new: any Table, named newName: String, key: EncryptionKey? = nil,
                 rows: (@Sendable (DifferenceSide, any Table, Int) throws(FirnError) -> Bits?)? = nil) throws(FirnError) -> ExitCode {
        let changes = try checkChanges()
        var options = try self.options(oldName, newName)
        options.rows = rows
        let difference = try TableDifference.compute(old: old, new: new, options: options)
        if changes != nil, let member = difference.memberKey {
            throw FirnError(.usage, "--changes takes no key within objects: \"\(member)\" is no column", advice: "choose whole columns with --key, or leave out --changes")
        }
        if let changes { try write([ChangedType(difference, newKnowsKeys: new is StoredTable)], options, to: changes, key: key) }
        return try report(difference, oldName, newName)
    }

    /// What is asked for; the names are for messages.
    func options(_ oldName: String, _ newName: String) throws(FirnError) -> DifferenceOptions {
        var options = DifferenceOptions()
        options.key = arguments.names("key")
        options.columns = arguments.names("columns")
        options.ignore = arguments.names("ignore")
        options.tolerance = try arguments.number("tolerance") ?? 0
        guard options.tolerance >= 0 else { throw FirnError(.usage, "--tolerance takes a number that is not negative") }
        options.duplicates = arguments.text("duplicates") == "first" ? .takeFirst : .refuse
        options.oldName = oldName
        options.newName = newName
        let threads = try session.threads()
        options.threads = threads
        options.parallel = { count, body in parallel(count: count, threads: threads) { i in body(i) } }
        return options
    }

    /// What is to be printed. All is compared whatever that is: the totals are those of the tables.
    var kinds: Set<DifferenceEntry.Kind> {
        let only = arguments.texts("only")
        return Set(DifferenceEntry.Kind.allCases.filter { only.isEmpty || only.contains("\($0)") })
    }

    var format: String {
        let format = arguments.text("format") ?? "table"
        return format == "table" && arguments.has("json") ? "ndjson" : format
    }
    var isJSON: Bool { arguments.has("json") || format == "ndjson" }

    func report(_ difference: TableDifference, _ oldName: String, _ newName: String) throws(FirnError) -> ExitCode {
        if difference.leftOutOld > 0 { session.remark("\(oldName): \(Quantity.count(difference.leftOutOld, "row")) left out: an earlier one has the same key") }
        if difference.leftOutNew > 0 { session.remark("\(newName): \(Quantity.count(difference.leftOutNew, "row")) left out: an earlier one has the same key") }
        let limit = try arguments.count("limit")
        switch format {
        case "ndjson": try DiffLines(difference, session.out).write(kinds, limit: limit)
        case "summary" where isJSON: try DiffLines(difference, session.out).writeSummary()
        case "summary": try DiffSummary(difference, session.outStyle).write(to: session.out)
        default:
            let width = Machine.isTerminal(1) ? Machine.terminalWidth(1) : nil
            try DiffListing(difference, session.outStyle, names: (oldName, newName), width: width, session.out).write(kinds, limit: limit)
        }
        return difference.isEmpty(of: kinds) ? .done : .no
    }
}
