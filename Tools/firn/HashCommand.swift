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
                let hashes = try self.hashes(of: file)
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
    private func hashes(of file: OpenedFile) throws(FirnError) -> [ContentHash] {
        guard file.hasObjects, file.union == nil, arguments.text("type") == nil, file.address.type == nil else {
            return [try hash(try file.table(arguments.text("type")), file)]
        }
        guard file.streamsTypes else { return try file.tables().map { (table) throws(FirnError) in try hash(table, file) } }
        // One table at a time is held in memory.
        return try file.schema.roots.map { (type) throws(FirnError) in try hash(try file.table(type.name), file) }
    }

    private func hash(_ table: any Table, _ file: OpenedFile) throws(FirnError) -> ContentHash {
        var options = ContentHash.Options()
        if arguments.has("key") { options.key = arguments.names("key") }
        options.eachColumn = arguments.has("each-column")
        options.name = file.name
        options.threads = try session.threads()
        return try ContentHash(of: table, options: options)
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
