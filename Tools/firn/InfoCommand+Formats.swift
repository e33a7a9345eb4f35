import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange
import FirnTable

/// `firn info` of files that are no `.firn` files: what they are, and what is known of them without reading their rows.
extension InfoCommand {
    /// Returns the file if it is of another format, or a folder or pattern; nil if it is a `.firn` file, or if it cannot be read.
    func otherFormat(_ operand: String) throws(FirnError) -> OpenedFile? {
        let path = Address(operand).path
        let isPattern = Paths.kind(path) == nil && FilePattern.isPattern(path)
        guard path != "-", isPattern || FormatName(extensionOf: path) != .firn else { return nil }
        if Paths.kind(path) == .file {
            guard let input = try? Input(path: path), let first = try? input.peek(8192) else { return nil }
            guard FormatName.detect(path: path, firstBytes: first) != .firn else { return nil }
        } else if Paths.kind(path) != .directory, !isPattern {
            return nil
        }
        var options = ReadingOptions(threads: try session.threads())
        options.keys = try KeyRing(session.arguments)
        options.typeName = session.arguments.text("type")
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }
        let (file, remarks) = try OpenedFile.input([operand], options, progress: progress)
        for remark in remarks { session.remark(remark) }
        return file
    }

    /// Prints the format, the types and their columns, and the number of rows of formats that store it.
    func describe(_ file: OpenedFile) throws(FirnError) {
        var schema = file.schema
        if let name = try file.chosenType(session.arguments.text("type")) {
            guard schema[name] != nil else { throw unknownType(name, in: schema, of: file.name) }
            schema = schema.reachable(from: name)
        }
        let format = file.formats.map(\.rawValue).sorted().joined(separator: ", ")
        if session.arguments.has("json") {
            var line = JSONLine()
            line.addHead()
            line.add("file", file.name)
            line.add("bytes", file.size)
            line.add("format", format)
            line.add("encrypted", file.hasKey)
            line.add("types", schema.types) { type, inner in
                inner.add("name", type.name)
                inner.add("embedded", type.isEmbedded)
                inner.add("rows", file.knownRows(type))
                inner.add("columns", type.visible.columns) { column, cell in
                    cell.add("name", column.name)
                    cell.add("type", column.type.name)
                    if let logical = column.logical { cell.add("logical", "\(logical)") }
                }
            }
            return try session.out.write(line.object + "\n")
        }
        let style = session.outStyle, out = session.out
        var facts = [format]
        if file.fileCount > 1 { facts.insert(Quantity.count(file.fileCount, "file"), at: 0) }
        if let size = file.size { facts.append(Quantity.bytes(size)) }
        if file.hasKey { facts.append("encrypted") }
        try out.write("\(style.strong(DisplayWidth.visible(file.name))): \(facts.joined(separator: ", "))\n")
        for type in schema.types {
            let columns = type.visible.columns, rows = file.knownRows(type).map { [Quantity.count($0, "row")] } ?? []
            let counts = (rows + [Quantity.count(columns.count, "column")]).joined(separator: ", ")
            try out.write("\n\(style.strong(DisplayWidth.visible(type.name)))\(type.isEmbedded ? " (embedded)" : ""): \(counts)\n")
            guard !columns.isEmpty else { continue }
            var table = TextTable([.init("column"), .init("type")])
            for column in columns { table.append([column.name, column.type.name + (column.logical.map { " \($0)" } ?? "")]) }
            for line in table.lines(width: Machine.terminalWidth(1), style: style) { try out.write(line) }
        }
    }
}

extension OpenedFile {
    /// The number of rows of a type, if the file states it; nil if all rows would have to be read.
    fileprivate func knownRows(_ type: TypeSchema) -> Int? {
        guard !type.isEmbedded, case .stream(let reader) = content else { return nil }
        if let reader = reader as? TypesReader { return reader.table(type.name)?.rowCount }
        return (reader as? any TableReader)?.table.rowCount
    }
}
