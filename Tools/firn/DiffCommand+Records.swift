import FirnBytes
import FirnChange
import FirnCommandLine
import FirnDisk
import FirnExchange
import FirnTable

/// Compares two large CSV files whose records are mostly equal byte by byte: only the other records become rows.
extension DiffCommand {
    /// Smaller files are read as tables.
    private static let leastBytes = 1 << 18
    /// The flags that need each row of both files, or that do not apply to CSV.
    private static let otherFlags = [
        "changes", "rejects", "schema", "type", "duplicates", "rows", "map", "object", "links", "views", "internal", "json-column", "nest",
        "filename", "lossless", "rename",
    ]

    /// Compares the operands in this way. Returns nil if they are no such files, if a flag needs their rows, or if something in them needs a
    /// closer look.
    func compareRecords(_ options: ReadingOptions, _ progress: Progress, _ display: ProgressDisplay) throws(FirnError) -> ExitCode? {
        let arguments = session.arguments, key = arguments.columnNames("key"), names = arguments.operands
        guard !key.isEmpty, !DiffCommand.otherFlags.contains(where: arguments.has) else { return nil }
        guard let old = try part(names[0], options, progress), let new = try part(names[1], options, progress),
            let pair = try FormatShelf.pair(
                old, new, key: key, options, limit: CollectedTables.maximumHeldBytes, progress: progress)
        else { return nil }
        let readers = zip([pair.old, pair.new], names)
        for (reader, name) in readers { for guess in reader.guesses { session.remark("\(name): \(guess)") } }
        let tables = try readers.map { (reader, name) throws(FirnError) in
            let rows = CollectedTables(reader.schema, of: name, isSecret: false, threads: options.threads)
            try rows.add(reader)
            return try rows.tables().values.first
        }
        guard let oldRows = tables[0], let newRows = tables[1] else { return nil }
        return try compare(oldRows, named: names[0], newRows, named: names[1], display, equalRows: pair.equalRows)
    }

    /// Opens an operand if it is a large file without a version.
    private func part(_ operand: String, _ options: ReadingOptions, _ progress: Progress) throws(FirnError) -> FormatShelf.Part? {
        let address = Address(operand), path = address.path
        guard address.type == nil, address.version == nil, Paths.kind(path) == .file else { return nil }
        guard options.format.map({ $0 == .csv || $0 == .tsv }) ?? true, try Paths.size(path) >= DiffCommand.leastBytes else { return nil }
        let input = try Input(path: path)
        input.progress = progress
        return (input, Address.stem(of: path))
    }
}
