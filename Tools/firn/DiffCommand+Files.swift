import FirnBytes
import FirnChange
import FirnCommandLine
import FirnExchange
import FirnQuery
import FirnTable

extension DiffCommand {
    /// Compares the operands, and replaces the file of `--output`.
    func run() throws(FirnError) -> ExitCode {
        let code = try compareOperands()
        try output.finish()
        return code
    }

    /// Opens both operands, in any format, and compares one type, or all types of two `.firn` files.
    private func compareOperands() throws(FirnError) -> ExitCode {
        let arguments = session.arguments
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }
        _ = try checkChanges()
        let condition = try QueryCommand.parsed(nil, and: arguments.text("where"))
        if let condition, !condition.descriptors.isEmpty { throw FirnError(.usage, "--where takes no SORT, DISTINCT or LIMIT") }
        let options = try ReadingOptions(arguments, threads: session.threads())
        if condition == nil, let code = try compareRecords(options, progress, display) { return code }
        let files = try arguments.operands.map { (operand) throws(FirnError) in try session.input(operand, options, progress) }
        try ReadingOptions.check(arguments, for: .init(files))
        if let snapshots = try severalTypes(files) {
            display.end()
            return try compareAll(snapshots, key: files.compactMap(\.key).first)
        }
        let tables = try self.tables(files), names = arguments.operands
        let code = try compare(
            tables[0], named: names[0], tables[1], named: names[1], key: files.compactMap(\.key).first, display,
            // Members of JSON objects are optional: a column that only one file has is missing in every row of the other.
            comparesMissing: files.allSatisfy(\.isJSON),
            rows: try rows(condition, tables, files.map(\.address.path)))
        try options.rejected?.finish()
        if let rejected = options.rejected, rejected.count > 0 {
            for remark in rejected.remarks { session.remark(remark) }
            return .rejected
        }
        return code
    }

    /// Returns the tables to compare. Large files whose format can be read in any order are read where they are: the new one always, the old
    /// one if the keys of both ascend, so that it is read once. The rows of other formats are collected.
    private func tables(_ files: [OpenedFile]) throws(FirnError) -> [any Table] {
        let type = session.arguments.text("type"), asText = try columnsComparedAsText(files)
        guard asText.allSatisfy(\.isEmpty) else {
            return try renamed(
                zip(files, asText).map { (file, columns) throws(FirnError) in
                    columns.isEmpty ? try file.table(type) : try table(file, asText: columns)
                })
        }
        guard let new = try files[1].largeTable(type) else {
            let old = try files[0].largeTable(type)
            if let old {
                let new = try files[1].table(type)
                return try renamed([try haveOrder(old, new) ? old : try files[0].table(type), new])
            }
            return try renamed(files.map { (file) throws(FirnError) in try file.table(type) })
        }
        if let old = try files[0].largeTable(type), try haveOrder(old, new) { return try renamed([old, new]) }
        return try renamed([try files[0].table(type), new])
    }

    /// Returns the old and the new table, the old one with the names of `--rename`.
    private func renamed(_ tables: [any Table]) throws(FirnError) -> [any Table] {
        let names = session.arguments.operands
        return [
            try TableDifference.renamed(old: tables[0], new: tables[1], options: try options(names[0], names[1])), tables[1],
        ]
    }

    private func haveOrder(_ old: any Table, _ new: any Table) throws(FirnError) -> Bool {
        let names = session.arguments.operands
        return try TableDifference.keysAscend(old: renamed([old, new])[0], new: new, options: try options(names[0], names[1]))
    }

    /// Returns a closure that returns the matching rows of a segment of either table; nil without a condition.
    private func rows(_ condition: QuerySyntax?, _ tables: [any Table], _ paths: [String]) throws(FirnError) -> (
        @Sendable (DifferenceSide, any Table, Int) throws(FirnError) -> Bits?
    )? {
        guard let condition else { return nil }
        var matches: [[Bits]] = []
        for (table, path) in zip(tables, paths) {
            let run = try QueryCommand.run(
                QueryRequest(filter: session.arguments.text("where"), parsed: condition), table, file: path, threads: try session.threads(),
                isOneOfSeveral: true)
            matches.append(try run.matches(ofSegments: Array(0..<table.segmentCount)))
        }
        let found = matches
        return { side, _, segment in found[side == .old ? 0 : 1][segment] }
    }
}
