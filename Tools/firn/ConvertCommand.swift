import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange
import FirnTable

/// `firn convert IN... OUT`
struct ConvertCommand {
    let session: Session
    private var arguments: Arguments { session.arguments }

    func run() throws(FirnError) -> ExitCode {
        let inputs = Array(arguments.operands.dropLast()), target = arguments.operands.last!
        let options = try readingOptions()
        guard !target.isEmpty else { throw FirnError(.usage, "the name of OUT is empty") }
        if target != "-", Paths.kind(target) == .directory { try Replacement.check(target, overwrite: true) }
        let format = try outputFormat(target)
        if target != "-", Paths.kind(target) != .other { try Replacement.check(target, overwrite: arguments.has("force")) }
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }

        let files = try open(inputs, options, progress, format)
        let key = try outputKey(files, format), guardian = try guardian(files, target, options.keys)
        defer { guardian?.cancel() }
        if let snapshot = wholeVersion(files, format) {
            var writing = WritingOptions(arguments, threads: options.threads)
            writing.key = key
            writing.sources = sources
            let writer = try FirnWriter(path: target, writing, source: files[0].name)
            try writer.copy(snapshot, progress)
            display.end()
            let rows = snapshot.schema.roots.reduce(0) { $0 + (snapshot.table(named: $1.name)?.rowCount ?? 0) }
            try summarise(files, target, rows: rows, rejected: 0, remarks: [])
            return .done
        }
        let reader = try pipeline(files, options, progress)
        let writer = try writer(
            target, format, reader.schema, key, try losslessCheck(files, format), source: files.map(\.name).joined(separator: ", "),
            hasCSV: files.contains(where: \.isCSV), threads: options.threads)
        try writer.begin(reader.schema)
        var rows = 0
        while let (type, batch) = try reader.next() {
            try writer.write(batch, type: type)
            rows += batch.count
        }
        try writer.finish()
        try options.rejected?.finish()
        display.end()

        let remarks = reader.remarks + writer.remarks, rejected = options.rejected?.count ?? 0
        for remark in remarks { session.remark(remark) }
        for remark in options.rejected?.remarks ?? [] { session.remark(remark) }
        try summarise(files, target, rows: rows, rejected: rejected, remarks: remarks)
        return rejected > 0 ? .rejected : .done
    }

    private var sources: SourceModes { SourceModes(arguments.operands.dropLast().map { Address($0).path }) }

    /// If OUT is one of the inputs, begins a transaction that blocks commits to it until it is replaced. Such a commit would be lost.
    private func guardian(_ files: [OpenedFile], _ target: String, _ keys: KeyRing) throws(FirnError) -> DatabaseTransaction? {
        for file in files {
            guard case .stored(let database, let snapshot) = file.content, target != "-", Paths.isSame(file.address.path, target) else {
                continue
            }
            if let fallback = database.fallback {
                // Replacing the file would permanently delete what is left of the newest commit.
                throw FirnError(
                    .damaged, "a commit was interrupted, or is damaged: \(fallback.what)",
                    at: .init(file: target, byte: UInt64(clamping: fallback.offset)),
                    advice: "convert to another file, and keep this one")
            }
            let guardian = try keys.open(path: target, writable: true).begin(wait: .no)
            let newest = try database.snapshot().version
            guard file.address.version != nil || newest == snapshot.version else {
                guardian.cancel()
                throw FirnError(.locked, "another commit was made since it was opened", at: .init(file: target), advice: "run it again")
            }
            return guardian
        }
        return nil
    }

    /// Returns the version to copy unchanged, with row ids and indexes: if input and OUT are .firn files and no flag selects or renames
    /// anything.
    private func wholeVersion(_ files: [OpenedFile], _ format: FormatName) -> DatabaseSnapshot? {
        guard format == .firn, files.count == 1, files[0].address.type == nil, case .stored(_, let snapshot) = files[0].content,
            !["type", "columns", "where", "limit", "key", "lossless", "rejects", "schema", "flatten", "nest", "json-column"].contains(
                where: arguments.has)
        else { return nil }
        return snapshot
    }

    /// Returns the check of `--lossless` for a CSV input, which compares bytes. For JSON, the reader does the check, and the result is nil.
    private func losslessCheck(_ files: [OpenedFile], _ format: FormatName) throws(FirnError) -> LosslessCheck? {
        guard arguments.has("lossless") else { return nil }
        guard format == .firn, files.count == 1, let file = files.first else {
            throw FirnError(
                .usage, "--lossless needs one input and a .firn target", advice: "other formats do not store the notation of their input")
        }
        if let flag = ["flatten", "nest", "json-column"].first(where: arguments.has) {
            throw FirnError(.usage, "--lossless keeps the columns of its input, and --\(flag) changes them", advice: "omit one of them")
        }
        guard !arguments.has("rejects") else {
            throw FirnError(.usage, "--lossless cannot be combined with --rejects: it needs the whole input", advice: "omit --rejects")
        }
        guard file.isCSV else { return nil }
        guard file.address.path != "-" else {
            throw FirnError(
                .usage, "--lossless reads its input twice, and standard input can be read only once", advice: "save it to a file first")
        }
        guard !["columns", "where", "limit"].contains(where: arguments.has) else {
            throw FirnError(.usage, "--lossless needs the whole input", advice: "omit --columns, --where and --limit")
        }
        return LosslessCheck(source: file, threads: try session.threads())
    }

    /// Returns the key of OUT: that of the inputs, unless `--new-key-file` or `--plain` is given. Nil: OUT is not encrypted.
    private func outputKey(_ files: [OpenedFile], _ format: FormatName) throws(FirnError) -> EncryptionKey? {
        let encryption = try CopyEncryption(arguments), keys = Set(files.map(\.key))
        if arguments.has("key-file"), keys == [nil] {
            throw FirnError(
                .usage,
                "--key-file is the key of an encrypted input, and \(files.count == 1 ? "the input is not" : "no input is") encrypted",
                advice: "use --new-key-file to encrypt OUT")
        }
        guard format == .firn else {
            if arguments.has("new-key-file") {
                throw FirnError(.usage, "only .firn files can be encrypted, and OUT is \(format.rawValue)", advice: "omit --new-key-file")
            }
            return nil
        }
        var key = encryption.key(of: files.first?.key)
        if case .same = encryption {
            let named = keys.compactMap(\.self)
            guard named.count <= 1 else {
                throw FirnError(
                    .usage, "the inputs are encrypted with different keys",
                    advice: "choose the key of OUT with --new-key-file, or use --plain")
            }
            key = named.first
        }
        if key != nil, arguments.has("lossless") {
            throw FirnError(
                .usage, "--lossless writes a copy of the rows without encryption next to OUT, and OUT is encrypted",
                advice: "omit --lossless, or use --plain")
        }
        return key
    }

    private func writer(
        _ target: String, _ format: FormatName, _ schema: Schema, _ key: EncryptionKey?, _ check: LosslessCheck?, source: String,
        hasCSV: Bool,
        threads: Int
    ) throws(FirnError) -> any BatchWriter {
        var options = WritingOptions(arguments, threads: threads)
        options.key = key
        if !hasCSV { options.encoding = arguments.text("encoding") }

        options.sources = sources
        guard format != .firn else { return try FirnWriter(path: target, options, source: source, check: check) }
        let roots = schema.roots
        guard roots.count <= 1 || format == .json else {
            throw FirnError(
                .usage,
                "\(format.rawValue) files contain one type, and the input has several: \(roots.map(\.name).joined(separator: ", "))",
                advice: "choose one with --type")
        }
        return FormatShelf.writer(
            try Output(path: target, force: options.overwrites, sources: options.sources), format: format, options, schema: schema)
    }

    /// Whether the columns of CSV are selected when it is read. Conditions can name columns that are not kept, and columns can be fields.
    private var readsColumns: Bool { !["where", "nest", "json-column"].contains(where: arguments.has) }

    private func readingOptions() throws(FirnError) -> ReadingOptions {
        var options = try ReadingOptions(arguments, threads: session.threads())
        if readsColumns { options.columns = arguments.names("columns") }
        return options
    }

    private func outputFormat(_ target: String) throws(FirnError) -> FormatName {
        if target != "-", FormatName.isCompressed(target), Paths.kind(target) != .other {
            let plain = target.dropLast(target.lowercased().hasSuffix(".gz") ? 3 : 4)
            throw FirnError(.usage, "\(target): compressed files can be read but not written", advice: "write \(plain) and compress it")
        }
        if let name = arguments.text("to"), let format = FormatName(rawValue: name) { return format }
        if let format = FormatName(extensionOf: target) { return format }
        throw FirnError(
            .usage, target == "-" ? "the format of the output is not known" : "the extension of \"\(target)\" is not that of a format",
            advice: "use --to firn, csv, tsv, json or ndjson")
    }

    private func open(_ inputs: [String], _ options: ReadingOptions, _ progress: Progress, _ target: FormatName) throws(FirnError)
        -> [OpenedFile]
    {
        let files = try inputs.map { (operand) throws(FirnError) in try OpenedFile(operand, options, progress: progress) }
        try ReadingOptions.check(arguments, for: files)
        // If no input is CSV, --encoding applies to the CSV that is written.
        let flags = ["null", "delimiter", "no-header"] + (target == .csv || target == .tsv ? [] : ["encoding"])
        if !files.contains(where: \.isCSV), let flag = flags.first(where: arguments.has) {
            throw FirnError(
                .usage,
                "--\(flag) applies to CSV only, and \(files.count == 1 ? "the input is \(files[0].format.rawValue)" : "no input is CSV")",
                advice: "omit it, or use --from csv if the input is CSV")
        }
        guard files.count > 1 else { return files }
        if !options.columns.isEmpty, files.contains(where: \.isCSV), !files.allSatisfy(\.isCSV) {
            // Only CSV readers select columns. With inputs of other formats, all columns are read so that the schemas can be compared.
            var whole = options
            whole.columns = []
            return try open(inputs, whole, progress, target)
        }
        return try SchemaUnion(files).opened(options: options, progress: progress)
    }

    private func pipeline(_ files: [OpenedFile], _ options: ReadingOptions, _ progress: Progress) throws(FirnError) -> any BatchReader {
        let given = arguments.text("type")
        // --type selects a type of the input if there is one of that name; otherwise it names the result.
        let readers = try files.map { (file) throws(FirnError) -> any BatchReader in
            let chooses = given.map { name in file.schema.roots.contains { $0.name == name } } ?? false
            let reader = try file.reader(chooses ? given : nil, threads: options.threads, progress: progress)
            return try JSONColumnsReader.applied(to: reader, of: file, arguments, options, progress: progress)
        }
        var reader: any BatchReader = readers.count == 1 ? readers[0] : JoinedReader(readers)
        if arguments.has("nest") {
            guard !arguments.has("flatten") else {
                throw FirnError(.usage, "--nest and --flatten are opposites", advice: "omit one of them")
            }
            reader = try NestedReader(reader)
        }
        if let condition = arguments.text("where") { reader = try FilteredReader(reader, condition, threads: options.threads) }
        // CSV inputs were read with the selected columns only, and their dialect matches these.
        let isFlat = arguments.has("flatten"), areChosen = readsColumns && files.allSatisfy(\.isCSV)
        let columns = areChosen ? [] : arguments.names("columns"), key = arguments.names("key"), limit = try arguments.count("limit")
        guard given != nil || !columns.isEmpty || !key.isEmpty || limit != nil || isFlat else { return reader }
        return try ShapedReader(reader, columns: columns, name: given, key: key, limit: limit, isFlat: isFlat)
    }

    private func summarise(_ files: [OpenedFile], _ target: String, rows: Int, rejected: Int, remarks: [String]) throws(FirnError) {
        let sizes = files.compactMap(\.size), size = sizes.count == files.count ? sizes.reduce(0, +) : nil
        let written = target == "-" || Paths.kind(target) != .file ? nil : Int(clamping: try Paths.size(target))
        let seconds = Machine.seconds - session.startedAt
        if arguments.has("json") {
            var line = JSONLine()
            line.addHead()
            line.add("rows", rows)
            line.add("rejected", rejected)
            line.add("bytesIn", size)
            line.add("bytesOut", written)
            line.add("seconds", seconds)
            line.add("remarks", remarks)
            // If the data is written to standard output, the summary must not be mixed into it.
            if target == "-" { Session.complain(line.object + "\n") } else { try session.out.write(line.object + "\n") }
            return
        }
        guard !session.isQuiet else { return }
        var parts = [Quantity.count(rows, "row")]
        if rejected > 0 { parts.append("\(Quantity.count(rejected)) rejected") }
        if let size, let written {
            let ratio =
                size * 20 > written * 21
                ? " (\(Quantity.ratio(size, written)) smaller)"
                : written * 20 > size * 21 ? " (\(Quantity.ratio(written, size)) larger)" : ""
            parts.append("\(Quantity.bytes(size)) → \(Quantity.bytes(written))\(ratio)")
        }
        parts.append(Quantity.seconds(seconds))
        Session.complain("\(target == "-" ? "standard output" : DisplayWidth.visible(target)): \(parts.joined(separator: ", "))\n")
    }
}
