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
        var options = try readingOptions()
        guard !target.isEmpty else { throw FirnError(.usage, "the name of OUT is empty") }
        let form = try OutputForm(arguments, target: target), format = form.format
        if target != "-", Paths.kind(target) == .directory, !format.keepsFolderTypes { try Replacement.check(target, overwrite: true) }
        options.keepsObjectFacts = format == .firn && !ConvertCommand.shaping.contains(where: arguments.has)
        if target != "-", Paths.kind(target) != .other, !isFolder(target, format) {
            try Replacement.check(target, overwrite: arguments.has("force"))
        }
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }

        let (file, notes) = try open(inputs, options, progress, target, format)
        let key = try outputKey(file, format), guardian = try guardian(file, target, options.keys)
        let history = replacedHistory(target, options.keys)
        defer { guardian?.cancel() }
        if let snapshot = wholeVersion(file, format) {
            var writing = WritingOptions(arguments, threads: options.threads)
            writing.key = key
            writing.sources = SourceModes(file.paths)
            let writer = try FirnWriter(path: target, writing, source: file.name)
            try writer.copy(snapshot, progress)
            display.end()
            if let history { session.remark(history) }
            let rows = snapshot.schema.roots.reduce(0) { $0 + (snapshot.table(named: $1.name)?.rowCount ?? 0) }
            try summarise(file, target, rows: rows, rejected: 0, remarks: notes)
            return .done
        }
        let reader = try pipeline(file, options, progress, for: format)
        let writer = try writer(
            target, form, reader.schema, key, try losslessCheck(file, format), source: file, threads: options.threads)
        try writer.begin(reader.schema)
        var rows = 0
        while let (type, batch) = try reader.next() {
            try progress.check()
            try writer.write(batch, type: type)
            // A row of an embedded type only keeps the schema version.
            if reader.schema[type]?.isEmbedded != true { rows += batch.count }
        }
        try writer.finish()
        try options.rejected?.finish()
        display.end()

        let
            remarks =
                notes + reader.remarks + ConvertCommand.omissions(reader.schema, format) + writer.remarks + (history.map { [$0] } ?? []),
            rejected = options.rejected?.count ?? 0
        for remark in remarks { session.remark(remark) }
        for remark in options.rejected?.remarks ?? [] { session.remark(remark) }
        try summarise(file, target, rows: rows, rejected: rejected, remarks: remarks)
        return rejected > 0 ? .rejected : .done
    }

    /// Returns a remark on the versions and tags of the .firn file that OUT replaces; nil if it has none.
    private func replacedHistory(_ target: String, _ keys: KeyRing) -> String? {
        guard arguments.has("force"), target != "-", Paths.kind(target) == .file, let old = try? keys.open(path: target),
            let kept = try? old.versions().map(\.version), let tags = try? old.tags(), kept.count > 1 || !tags.isEmpty
        else { return nil }
        let versions = Set(kept + tags.map(\.version)).count
        let named = tags.isEmpty ? "" : " and \(Quantity.count(tags.count, "tag")) (\(tags.map(\.name).listed()))"
        return "\(target) had \(Quantity.count(versions, "version"))\(named); the new file has one"
    }

    /// Returns what a format does not keep of rows that were read from JSON or CSV.
    private static func omissions(_ schema: Schema, _ format: FormatName) -> [String] {
        guard ![.firn, .json, .ndjson].contains(format) else { return [] }
        var omissions: [String] = []
        if FormatShelf.isPartOfDocument(schema) { omissions.append("the JSON around the rows in their document was left out") }
        guard !format.isText else { return omissions }
        for type in schema.roots {
            for column in type.visible.columns where column.type.kind == .date && column.notation == .yearMonth {
                omissions.append("column \"\(column.name)\": months are written as their first day")
            }
        }
        return omissions
    }

    /// If OUT is one of the inputs, begins a transaction that blocks commits to it until it is replaced. Such a commit would be lost.
    private func guardian(_ input: OpenedFile, _ target: String, _ keys: KeyRing) throws(FirnError) -> DatabaseTransaction? {
        for file in input.parts {
            guard case .stored(let database, let snapshot) = file.content, target != "-", Paths.isSame(file.address.path, target) else {
                continue
            }
            if let fallback = database.fallback {
                // Replacing the file would permanently delete what is left of the newest commit.
                throw FirnError(
                    .damaged, "a commit was interrupted or the file is damaged: \(fallback.what)",
                    at: .init(file: target, byte: UInt64(clamping: fallback.offset)),
                    advice: "convert to another file, and keep this one")
            }
            let guardian = try keys.open(path: target, writable: true).begin(wait: .no)
            let newest = try database.snapshot().version
            guard file.address.version != nil || newest == snapshot.version else {
                guardian.cancel()
                throw FirnError(
                    .locked, "another process committed to the file after this command opened it", at: .init(file: target),
                    advice: "run it again")
            }
            return guardian
        }
        return nil
    }

    /// The flags that select, rename or change rows.
    private static let shaping = ["type", "columns", "where", "limit", "key", "flatten", "nest", "json-column"]

    /// Returns the version to copy unchanged, with row ids and indexes: if input and OUT are .firn files and no flag selects or renames
    /// anything.
    private func wholeVersion(_ file: OpenedFile, _ format: FormatName) -> DatabaseSnapshot? {
        guard format == .firn, file.address.type == nil, case .stored(_, let snapshot) = file.content,
            !(ConvertCommand.shaping + ["lossless", "rejects", "schema"]).contains(where: arguments.has)
        else { return nil }
        return snapshot
    }

    /// Returns the check of `--lossless` for a CSV input, which compares bytes. For JSON, the reader does the check, and the result is nil.
    private func losslessCheck(_ file: OpenedFile, _ format: FormatName) throws(FirnError) -> LosslessCheck? {
        guard arguments.has("lossless") else { return nil }
        guard format == .firn, file.union == nil else {
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
    private func outputKey(_ file: OpenedFile, _ format: FormatName) throws(FirnError) -> EncryptionKey? {
        let encryption = try CopyEncryption(arguments), keys = Set(file.keys)
        if arguments.has("key-file"), keys == [nil] {
            throw FirnError(
                .usage,
                "--key-file is the key of an encrypted input, and \(file.fileCount == 1 ? "the input is not" : "no input is") encrypted",
                advice: "use --new-key-file to encrypt OUT")
        }
        guard format == .firn else {
            if arguments.has("new-key-file") {
                throw FirnError(.usage, "only .firn files can be encrypted, and OUT is \(format.rawValue)", advice: "omit --new-key-file")
            }
            return nil
        }
        var key = encryption.key(of: file.keys.first ?? nil)
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

    /// Whether OUT is a folder for files of the format.
    private func isFolder(_ target: String, _ format: FormatName) -> Bool {
        format.keepsFolderTypes && (target.hasSuffix("/") || target != "-" && Paths.kind(target) == .directory)
    }

    private func writer(
        _ target: String, _ form: OutputForm, _ schema: Schema, _ key: EncryptionKey?, _ check: LosslessCheck?, source: OpenedFile,
        threads: Int
    ) throws(FirnError) -> any BatchWriter {
        var options = WritingOptions(arguments, threads: threads)
        options.key = key
        if !source.hasCSV {
            options.encoding = arguments.text("encoding")
            options.writesSurroundings = !["columns", "where", "limit"].contains(where: arguments.has)
        }
        options.sources = SourceModes(source.paths)
        let format = form.format
        options.writesStream = OutputForm.isStream(target)
        try options.readPages(arguments, format)
        guard format != .firn else { return try FirnWriter(path: target, options, source: source.name, check: check) }
        guard format != .sqlite else { return try FormatShelf.writer(database: target, options) }
        let roots = schema.roots
        if format.keepsFolderTypes, roots.count > 1 || isFolder(target, format) {
            let each = options
            return try FolderWriter(target, ending: format.rawValue) { (path, group, schema, types) throws(FirnError) in
                var options = each
                options.folderTypes = types
                return try FormatShelf.writer(
                    try Output(path: path, force: each.overwrites, sources: each.sources, group: group), format: format, options,
                    schema: schema)
            }
        }
        guard roots.count <= 1 || format == .json else {
            throw FirnError(
                .usage,
                "\(format.rawValue) files contain one type, and the input has several: \(roots.map(\.name).listed())",
                advice: "choose one with --type")
        }
        return try FormatShelf.writer(
            try Output(path: target, force: options.overwrites, sources: options.sources, packing: form.packing(options)), format: format,
            options, schema: schema)
    }

    /// Whether the columns of CSV are selected when it is read. Conditions can name columns that are not kept, and columns can be fields.
    private var readsColumns: Bool { !["where", "nest", "json-column"].contains(where: arguments.has) }

    private func readingOptions() throws(FirnError) -> ReadingOptions {
        var options = try ReadingOptions(arguments, threads: session.threads())
        options.readsStoredJSON = false
        if readsColumns { options.columns = arguments.columnNames("columns") }
        // The condition is about the columns that these flags make.
        if !["nest", "json-column", "schema"].contains(where: arguments.has), let condition = arguments.text("where") {
            options.condition = try QueryCommand.parsed(condition, and: nil)?.predicate
        }
        return options
    }

    private func open(
        _ inputs: [String], _ options: ReadingOptions, _ progress: Progress, _ target: String, _ format: FormatName
    ) throws(FirnError) -> (file: OpenedFile, remarks: [String]) {
        let (file, remarks) = try OpenedFile.input(inputs, options, progress: progress, target: target)
        // If no input is CSV, --encoding applies to the CSV that is written.
        try ReadingOptions.check(arguments, for: .init([file]), writesCSV: format == .csv || format == .tsv)
        return (file, remarks)
    }

    private func pipeline(_ file: OpenedFile, _ options: ReadingOptions, _ progress: Progress, for format: FormatName) throws(FirnError)
        -> any BatchReader
    {
        let keysOfLinks = format == .sqlite, keepsLinks = format.keepsLinks
        // Without some of its rows, links to a type do not lead to the same rows as before.
        let leavesOutRows = arguments.has("where") || arguments.has("limit")
        let given = arguments.text("type")
        // --type selects a type of the input if there is one of that name; otherwise it names the result.
        let chooses = given.map { name in file.schema.roots.contains { $0.name == name } } ?? false
        func open() throws(FirnError) -> any BatchReader {
            if keysOfLinks, let keyed = try file.keyedReader(chooses ? given : nil, options, progress) { return keyed }
            let reader = try file.reader(
                chooses ? given : nil, threads: options.threads, progress: progress, batchRows: format.isText ? 1 << 14 : segmentSize,
                needed: needed)
            guard keepsLinks, !leavesOutRows, let stored = reader as? StoredReader, stored.hasLinks else { return reader }
            return try RankedLinksReader(stored, try file.tables(), path: file.name) ?? reader
        }
        var reader = try open()
        if case .stored = file.content {
            let wanted = JSONColumnsReader.Wanted(names: options.jsonColumns)
            reader = try JSONColumnsReader.applied(to: reader, wanted, options, file: file.name, format: .firn) { _ throws(FirnError) in
                try open()
            }
        }
        if arguments.has("nest") {
            guard !arguments.has("flatten") else {
                throw FirnError(.usage, "--nest and --flatten are opposites", advice: "omit one of them")
            }
            reader = try NestedReader(reader)
        }
        if let condition = arguments.text("where") {
            reader = try FilteredReader(reader, condition, threads: options.threads, inputs: file.union == nil ? nil : file.name)
        }
        if keepsLinks, let changed = RowIDLinksReader(reader, whole: leavesOutRows ? [] : Set(reader.schema.types.map(\.name))) {
            reader = changed
        }
        // CSV inputs were read with the selected columns only, and their dialect matches these.
        let isFlat = arguments.has("flatten"), areChosen = file.union.map(\.choosesColumns) ?? (readsColumns && file.isCSV)
        let columns = areChosen ? [] : arguments.columnNames("columns"), key = arguments.columnNames("key"),
            limit = try arguments.count("limit")
        guard given != nil || !columns.isEmpty || !key.isEmpty || limit != nil || isFlat else { return reader }
        return try ShapedReader(reader, columns: columns, name: given, key: key, limit: limit, isFlat: isFlat)
    }

    /// Returns the columns of a stored type that the flags need; nil for all.
    private func needed(_ type: TypeSchema, _ schema: Schema) -> Set<Int>? {
        let chosen = arguments.columnNames("columns"), condition = arguments.text("where") ?? ""
        guard !chosen.isEmpty, !arguments.has("nest"), !arguments.has("json-column") else { return nil }
        // Conditions that can need columns without their names.
        let words = condition.lowercased()
        if ["\\", "@links", "self", "obj"].contains(where: words.contains) { return nil }
        var needed: Set<Int> = []
        for name in chosen + arguments.columnNames("key") {
            guard let path = FieldPath.find(name, in: type, schema) else { return nil }
            needed.insert(path.path[0])
        }
        for (position, column) in type.columns.enumerated() where condition.contains(column.name) { needed.insert(position) }
        for (position, companion) in type.companions where needed.contains(position) { needed.insert(companion) }
        return needed
    }

    private func summarise(_ file: OpenedFile, _ target: String, rows: Int, rejected: Int, remarks: [String]) throws(FirnError) {
        let size = file.size
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
            if let union = file.union {
                line.add("files", union.members.enumerated()) { member, inner in
                    inner.add("file", member.element.operand)
                    inner.add("rows", union.rowCounts[member.offset])
                }
            }
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
