import FirnBytes
import FirnCommandLine
import FirnExchange
import FirnTable
import FirnThreads

/// Columns that are text in a CSV file and values in the other file, because a cell of one of them is no such value. Most of their cells are
/// equal as text.
extension DiffCommand {
    /// Returns, for each file, the names of the columns that are compared as text although they have values. They are reported.
    func columnsComparedAsText(_ files: [OpenedFile]) throws(FirnError) -> [Set<String>] {
        let chosen = session.arguments.text("type")
        let types = try files.map { (file) throws(FirnError) in
            let name = try file.typeName(chosen)
            return file.schema[name] ?? TypeSchema(name, columns: [])
        }
        let pairs = try DiffColumnFlags(session.arguments).renamed
        let after = Dictionary(pairs.map { ($0.old, $0.new) }) { first, _ in first }
        let before = Dictionary(pairs.map { ($0.new, $0.old) }) { first, _ in first }
        var sets: [Set<String>] = [[], []]
        // Rows of one type do not contain the rows that links lead to.
        let haveLinks = zip(files, types).contains { file, type in
            file.schema.reachable(from: type.name).types.contains { $0.columns.contains { $0.type.kind == .link } }
        }
        if haveLinks { return sets }
        for (i, file) in files.enumerated() where file.isCSV {
            let other = 1 - i
            for column in types[i].columns where column.type.kind == .string && !column.type.isCollection {
                // The name in the new file, and in the other one.
                let name = i == 0 ? after[column.name] ?? column.name : column.name
                let otherName = other == 0 ? before[name] ?? name : name
                guard compares(name), let position = types[other].index(of: otherName),
                    TextColumnsReader.hasOwnTexts(types[other].columns[position], of: types[other])
                else { continue }
                let reason = file.textReasons.first { $0.column == column.name }.map { "\(file.name): \($0.reason)" }
                let fact =
                    "column \"\(column.name)\" is text in \(file.name) and \(types[other].columns[position].type.kind.name) in \(files[other].name)"
                guard !session.arguments.has("changes") else {
                    if let reason { session.remark(reason) }
                    continue
                }
                sets[other].insert(otherName)
                session.remark((reason ?? fact) + "; compared as text")
            }
        }
        return sets
    }

    /// Whether a column is compared, as far as flags say.
    private func compares(_ column: String) -> Bool {
        let chosen = session.arguments.columnNames("columns") + session.arguments.columnNames("key")
        return !session.arguments.columnNames("ignore").contains(column) && (!session.arguments.has("columns") || chosen.contains(column))
    }

    /// Returns the rows of a file with the given columns as text.
    func table(_ file: OpenedFile, asText columns: Set<String>) throws(FirnError) -> any Table {
        let name = try file.typeName(session.arguments.text("type")), threads = try session.threads()
        guard let type = file.schema[name] else { throw unknownType(name, in: file.schema, of: file.name) }
        let reader = TextColumnsReader(try file.reader(name, threads: threads, progress: Progress()), type, columns: columns)
        let rows = CollectedTables(reader.schema, of: file.name, isSecret: file.isSecret, threads: threads)
        try rows.add(reader, only: name)
        guard let table = try rows.tables()[name] else { throw unknownType(name, in: file.schema, of: file.name) }
        return table
    }
}
