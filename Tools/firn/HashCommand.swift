import FirnBytes
import FirnChange
import FirnCommandLine
import FirnDisk
import FirnExchange
import FirnTable
import FirnThreads

/// `firn hash FILE...`
struct HashCommand {
    let session: Session
    private var arguments: Arguments { session.arguments }

    func run() throws(FirnError) -> ExitCode {
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }
        let options = try ReadingOptions(arguments, threads: session.threads())
        var formats = ReadingOptions.Formats()
        var worst = ExitCode.done
        // Files are opened one after the other, because there can be very many.
        for operand in arguments.operands {
            do throws(FirnError) {
                let file = try session.input(operand, options, progress)
                formats.add(file)
                if arguments.operands.count == 1 { try ReadingOptions.check(arguments, for: formats) }
                let hashes = try self.hashes(of: file, progress)
                display.end()
                try report(operand, file, hashes)
            } catch {
                // An error in one of several files does not stop the others.
                guard arguments.operands.count > 1, error.code != .usage else { throw error }
                display.end()
                try session.out.flush()
                Session.complain(error.complaint(style: session.errorStyle))
                worst = worst.rawValue >= ExitCode(error.code).rawValue ? worst : ExitCode(error.code)
            }
        }
        // A flag must apply to one of several files.
        try ReadingOptions.check(arguments, for: formats)
        try options.rejected?.finish()
        for remark in options.rejected?.remarks ?? [] { session.remark(remark) }
        return options.rejected?.count ?? 0 > 0 && worst.rawValue < ExitCode.rejected.rawValue ? .rejected : worst
    }

    /// Hashes the type that is chosen, or all types of the file.
    private func hashes(of file: OpenedFile, _ progress: Progress) throws(FirnError) -> [ContentHash] {
        let hasSeveral = file.hasObjects && file.union == nil && arguments.text("type") == nil && file.address.type == nil
        if case .stream(let reader) = file.content, let hashes = try streamed(reader, file, progress, hasSeveral: hasSeveral) {
            return hashes
        }
        guard hasSeveral else { return [try hash(try file.table(arguments.text("type")), file, progress)] }
        guard file.streamsTypes else { return try file.tables().map { (table) throws(FirnError) in try hash(table, file, progress) } }
        // The rows of one table at a time are kept.
        return try file.schema.roots.map { (type) throws(FirnError) in try hash(try file.table(type.name), file, progress) }
    }

    /// Hashes the rows while they are read; returns nil, having read nothing, if links must be followed.
    private func streamed(
        _ reader: any BatchReader, _ file: OpenedFile, _ progress: Progress, hasSeveral: Bool
    ) throws(FirnError) -> [ContentHash]? {
        let schema = reader.schema, wanted = hasSeveral ? nil : try file.typeName(arguments.text("type"))
        let types = schema.roots.filter { wanted == nil || $0.name == wanted }
        guard types.allSatisfy({ ContentHashStream.canHash($0, schema) }) else { return nil }
        if let wanted { reader.choose(wanted) }
        let options = try self.options(file, progress)
        let streams = try types.map { (type) throws(FirnError) in
            (type.name, try ContentHashStream(type, schema, options: options))
        }
        let byName = Dictionary(uniqueKeysWithValues: streams)
        while let (name, batch) = try reader.next() {
            try progress.check()
            try byName[name]?.add(batch)
        }
        return try streams.map { (stream) throws(FirnError) in try stream.1.finish() }
    }

    private func hash(_ table: any Table, _ file: OpenedFile, _ progress: Progress) throws(FirnError) -> ContentHash {
        try ContentHash(of: table, options: try options(file, progress))
    }

    private func options(_ file: OpenedFile, _ progress: Progress) throws(FirnError) -> ContentHash.Options {
        var options = ContentHash.Options()
        if arguments.has("key") { options.key = arguments.columnNames("key") }
        options.eachColumn = arguments.has("each-column")
        options.name = file.name
        options.threads = try session.threads()
        let countsRows: Bool
        if case .stored = file.content { countsRows = true } else { countsRows = false }
        options.progress = { (rows: Int) in
            if countsRows { progress.add(rows: rows) }
            return !progress.isCancelled
        }
        return options
    }

    private func report(_ operand: String, _ file: OpenedFile, _ hashes: [ContentHash]) throws(FirnError) {
        let whole = ContentHash.ofFile(hashes)
        if arguments.has("json") {
            var line = JSONLine()
            line.addHead()
            line.add("file", operand)
            if case .stored(_, let snapshot) = file.content { line.add("version", Int(clamping: snapshot.version)) }
            line.add("hash", "\(whole)")
            line.add("rows", hashes.reduce(0) { $0 + $1.rows })
            line.add("types", hashes) { type, inner in
                inner.add("type", type.name)
                inner.add("key", type.key)
                inner.add("rows", type.rows)
                inner.add("hash", "\(type.hash)")
                if arguments.has("each-column") {
                    inner.add("columns", type.columns) { column, pair in
                        pair.add("name", column.name)
                        pair.add("hash", "\(column.hash)")
                    }
                }
            }
            return try session.out.write(line.object + "\n")
        }
        try session.out.write("\(whole)  \(DisplayWidth.visible(operand))\n")
        for type in hashes {
            if hashes.count > 1 { try session.out.write("\(type.hash)  \(DisplayWidth.visible("\(operand):\(type.name)"))\n") }
            for column in type.columns {
                try session.out.write("\(column.hash)  \(DisplayWidth.visible("\(operand):\(type.name).\(column.name)"))\n")
            }
        }
    }
}
