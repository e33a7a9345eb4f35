import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange
import FirnTable

/// An operand opened for reading, in any format.
final class OpenedFile {
    enum Content {
        case stored(Database, DatabaseSnapshot)
        case stream(any BatchReader)
    }

    let address: Address
    let format: FormatName
    let content: Content
    /// The size of the file on disk in bytes; nil for a pipe.
    let size: Int?

    /// The name of the file in messages.
    let name: String
    /// The inputs of a union; nil for one file.
    let union: InputUnion?
    /// Whether this is a folder of a file for each type.
    let isFolder: Bool
    /// Whether the input can have several types, and links between them.
    var hasObjects: Bool { format.hasObjects || isFolder }
    private let staysOffDisk: Bool
    let threads: Int

    /// Opens an operand: one file, or the files of a folder or pattern as one table.
    /// - Parameter target: The file that is written, which a folder or pattern does not stand for.
    /// - Returns: The input, and what to report about its name.
    static func input(
        _ operands: [String], _ options: ReadingOptions, progress: Progress, target: String? = nil
    ) throws(FirnError) -> (file: OpenedFile, remarks: [String]) {
        var (inputs, remarks) = try InputPaths.all(operands, except: target), paths = inputs.flatMap(\.paths)
        if paths.count == 1, !inputs[0].isSeveral, options.filename == nil {
            return (try OpenedFile(paths[0], options, progress: progress), remarks)
        }
        if inputs.count == 1, let folder = inputs[0].folder, options.filename == nil, options.schema == nil,
            let found = try TypeFolder(folder.files, options, progress: progress)
        {
            return (try OpenedFile(found, options, Address(operands[0])), remarks)
        }
        remarks += leaveOutEmpty(&paths)
        var each = options
        each.readsStoredJSON = true
        func united() throws(FirnError) -> InputUnion {
            try InputUnion(
                paths, typeName: inputs[0].typeName, wanted: options.typeName, options: each, progress: progress, target: target)
        }
        var union = try united()
        if union.misjudgesFolders {
            each.condition = nil
            union = try united()
        }
        // One of several inputs can lack a column.
        for name in options.jsonColumns { _ = try union.schema.roots.first?.position(of: name) }
        return (OpenedFile(union, options, named: operands.count == 1 ? operands[0] : operands.joined(separator: ", ")), remarks)
    }

    /// Removes text files without any byte from several inputs, unless all are empty: they have no header and add no rows. Returns what to
    /// report.
    private static func leaveOutEmpty(_ paths: inout [String]) -> [String] {
        let empty = paths.filter { path in
            let file = Address(path).path
            return file != "-" && FormatName(extensionOf: file) != .firn && Paths.kind(file) == .file && (try? Paths.size(file)) == 0
        }
        guard !empty.isEmpty, empty.count < paths.count else { return [] }
        let names = Set(empty)
        paths.removeAll { names.contains($0) }
        return [
            empty.count == 1
                ? "\"\(empty[0])\" is empty and adds no rows" : "\(empty.count) inputs are empty and add no rows (first: \"\(empty[0])\")"
        ]
    }

    /// Opens a folder of a file for each type.
    private init(_ folder: TypeFolder, _ options: ReadingOptions, _ address: Address) throws(FirnError) {
        (union, storedKey, isFolder) = (nil, nil, true)
        (staysOffDisk, threads) = (options.staysOffDisk, options.threads)
        (self.address, name, format, size) = (address, address.path, folder.format, folder.size)
        content = .stream(folder.reader)
        if let wanted = address.type, folder.reader.schema[wanted] == nil { throw unknownType(wanted, in: schema, of: name) }
    }

    private init(_ union: InputUnion, _ options: ReadingOptions, named name: String) {
        isFolder = false
        self.union = union
        (staysOffDisk, threads) = (options.staysOffDisk, options.threads)
        self.name = name
        storedKey = nil
        address = Address(path: name)
        format = union.members[0].format
        let sizes = union.members.compactMap(\.size)
        size = sizes.count == union.members.count ? sizes.reduce(0, +) : nil
        content = .stream(UnitedReader(union))
    }

    /// `allowsEmpty`: for the command that reports damage itself: a `.firn` file without a complete version is opened too, and no warning
    /// is given where an older version is read because the newest does not hold.
    /// `input`: the operand's input at its beginning, if it is open already.
    init(
        _ operand: String, _ options: ReadingOptions, progress: Progress, allowsEmpty: Bool = false, input opened: Input? = nil
    ) throws(FirnError) {
        (union, isFolder) = (nil, false)
        (staysOffDisk, threads) = (options.staysOffDisk, options.threads)
        let address = Address(operand), name = address.path == "-" ? "standard input" : address.path
        self.address = address
        self.name = name
        guard !operand.isEmpty else { throw FirnError(.usage, "the name of a file is empty") }
        let input: Input
        if let opened { input = opened } else { input = try Input(path: address.path, staysOffDisk: options.staysOffDisk) }
        input.progress = progress
        size = input.totalBytes.map { Int(clamping: $0) }
        let first = try input.peek(8192)
        if options.format == nil, let kind = FormatName.foreign(first), !FormatName.isParquet(first), !FormatName.isSQLite(first),
            !FormatName.isArrow(first)
        {
            throw FirnError(
                .notThisFormat, "this is \(kind), which cannot be read", at: .init(file: name),
                advice: kind == "compressed twice"
                    ? "decompress it once"
                    : "convert it to csv, json or ndjson first (\(FormatName.allCases.map(\.rawValue).joined(separator: ", ")) are read)")
        }
        format = options.format ?? FormatName.detect(path: address.path, firstBytes: first)
        guard format == .firn else {
            if let version = address.version, let refusal = FormatShelf.refusal(ofVersion: version, format) {
                throw FirnError(.usage, refusal.message, at: .init(file: "\(address.path)@\(version)"), advice: refusal.advice)
            }
            var options = options
            options.version = address.version
            if format.hasObjects { options.rowType = address.type }
            let stem = Address.stem(of: address.path)
            let given = try options.schema.map { (schema) throws(FirnError) in
                try schema.given(wanted: options.typeName ?? (schema.hasSeveral ? address.type : nil), stem: stem)
            }
            let reader = try OpenedFile.reader(
                input, format: format, options, typeName: options.rowType ?? stem, given: given, name: name, progress: progress)
            let document = try OpenedFile.document(of: reader.schema, address, budget: .process)
            if let wanted = address.type, document == nil, !format.hasObjects, options.schema?.has(wanted) != true {
                try OpenedFile.check(wanted, reader.schema, of: name, stem: stem, given: options.rowType)
            }
            (storedKey, content) = (nil, .stream(document ?? reader))
            return
        }
        // Opening a named pipe again would wait for another writer.
        guard address.path != "-", input.compression == .none, Paths.kind(address.path) != .other else {
            throw FirnError(
                .usage, "a .firn file cannot be read from a pipe or compressed", at: .init(file: name), advice: "name the uncompressed file"
            )
        }
        guard !first.isEmpty else { throw FirnError(.notThisFormat, "the file is empty", at: .init(file: name)) }
        var database = try options.keys.open(path: address.path)
        if options.restores, database.fallback != nil {
            // A writer first restores a damaged root. The restored version is the one that the command must read.
            let restored = try options.keys.open(path: address.path, writable: true).restored
            if let restored {
                Session.complain(
                    DisplayWidth.visible("firn: \(name): the newest root was damaged (\(restored.what)) and is restored") + "\n")
            }
            database = try options.keys.open(path: address.path)
        }
        let snapshot: DatabaseSnapshot
        do throws(FirnError) {
            snapshot = if let word = address.version { try database.snapshot(at: word) } else { try database.snapshot() }
        } catch {
            throw error.pointing(toLogOf: name)
        }
        // If later versions can be read, version 0 is no sign of damage.
        if snapshot.version == 0, let word = address.version, !allowsEmpty, try database.snapshot().version > 0 {
            throw FirnError(.notFound, "version \(word) is the empty file before the first commit", at: .init(file: name)).pointing(
                toLogOf: name)
        }
        // Version 0 is read before the first commit, and also if the only commit is damaged.
        guard snapshot.version > 0 || allowsEmpty else {
            throw FirnError(
                .damaged, "the file has no complete version", at: .init(file: name), advice: "'firn verify \(name)' reports what is damaged"
            )
        }
        // A fallback does not affect a version that was selected explicitly, so --strict permits it.
        if let fallback = database.fallback, !allowsEmpty, address.version == nil || !FallbackNotices.isStrict {
            try FallbackNotices.report(name, fallback, version: snapshot.version)
        }
        storedKey = database.key
        if !options.jsonColumns.isEmpty, options.readsStoredJSON {
            content = .stream(try OpenedFile.reader(snapshot, at: address, options, progress: progress))
        } else if snapshot.schema[OpenedFile.documentName] == nil,
            let document = try OpenedFile.document(of: snapshot.schema, address, budget: .process)
        {
            content = .stream(document)
        } else {
            content = .stored(database, snapshot)
        }
    }

    /// Returns a reader of a text format. Columns that are to be read as JSON are.
    private static func reader(
        _ input: Input, format: FormatName, _ options: ReadingOptions, typeName: String, given: GivenSchema?, name: String,
        progress: Progress
    ) throws(FirnError) -> any BatchReader {
        let isCSV = format == .csv || format == .tsv
        var wanted = JSONColumnsReader.Wanted(names: options.jsonColumns, mayLack: options.mayLackColumns), given = given
        if options.nests, isCSV {
            wanted.detects = !options.mayLackColumns
            given = given.map { FlatSchema($0) }.map { flat in
                (wanted.given, wanted.schema) = (flat.json, flat.schema)
                return flat.given
            }
        }
        let types = given
        func open(_ options: ReadingOptions) throws(FirnError) -> any BatchReader {
            try FormatShelf.reader(input, format: format, options, typeName: typeName, given: types, progress: progress)
        }
        return try JSONColumnsReader.applied(to: try open(options), wanted, options, file: name, format: format) { rest throws(FirnError) in
            try input.rewind()
            return try open(rest)
        }
    }

    /// Returns a reader of a stored type with columns that are read as JSON.
    private static func reader(_ snapshot: DatabaseSnapshot, at address: Address, _ options: ReadingOptions, progress: Progress)
        throws(FirnError) -> any BatchReader
    {
        let chosen = options.typeName ?? address.type
        let names = chosen.map { [$0] } ?? snapshot.schema.roots.map(\.name)
        let tables = try names.map { (name) throws(FirnError) -> any Table in
            guard let table = snapshot.table(named: name) else { throw unknownType(name, in: snapshot.schema, of: address.path) }
            return table
        }
        let schema = chosen.map { snapshot.schema.reachable(from: $0) } ?? snapshot.schema
        func open() -> any BatchReader {
            StoredReader(tables, schema: schema, path: address.path, threads: options.threads, progress: progress)
        }
        let wanted = JSONColumnsReader.Wanted(names: options.jsonColumns, mayLack: options.mayLackColumns)
        return try JSONColumnsReader.applied(to: open(), wanted, options, file: address.path, format: .firn) { _ in open() }
    }

    /// Throws `.usage` unless the type that an operand names is the only one of the file. Its rows can have another name in a union.
    private static func check(_ wanted: String, _ schema: Schema, of path: String, stem: String, given name: String?) throws(FirnError) {
        if wanted == stem || schema[wanted] != nil && wanted != name { return }
        guard wanted != documentName else {
            throw FirnError(
                .usage, "there is no JSON document around the rows", at: .init(file: path), advice: "name the file without \":\(wanted)\"")
        }
        throw unknownType(wanted, in: name.map { schema.renaming($0, to: stem) } ?? schema, of: path)
    }

    /// The type that stands for the JSON document around the rows: `FILE:document`.
    private static let documentName = "document"

    /// Returns a reader of the document around the rows if the operand names it; nil if it does not, or if there is none.
    private static func document(of schema: Schema, _ address: Address, budget: MemoryBudget) throws(FirnError) -> (any BatchReader)? {
        guard address.type == documentName else { return nil }
        let documents = schema.roots.compactMap { FormatShelf.document(around: $0, budget) }
        guard documents.count == 1 else { return nil }
        return try FormatShelf.reader(document: documents[0], name: address.path, typeName: documentName)
    }

    /// Throws `.notFound` if the file of the operand does not exist. Reads nothing.
    static func check(_ operand: String) throws(FirnError) {
        let path = Address(operand).path
        guard !path.isEmpty else { throw FirnError(.usage, "the name of a file is empty") }
        if !Paths.exists(path), !FilePattern.isPattern(path) { _ = try File(path: path, .read) }
    }

    /// Opens a `.firn` file; other formats are an error. `restores`: the caller is going to write the file, so a damaged root is restored
    /// first.
    convenience init(stored operand: String, keys: KeyRing, allowsEmpty: Bool = false, restores: Bool = false) throws(FirnError) {
        var options = ReadingOptions(threads: 1)
        options.restores = restores
        options.keys = keys
        options.format = .firn
        try self.init(operand, options, progress: Progress(), allowsEmpty: allowsEmpty)
    }

    /// The formats of the input, of which a union can have several.
    var formats: Set<FormatName> { union.map { Set($0.members.map(\.format)) } ?? [format] }
    /// The keys of the `.firn` files; nil for files that are not encrypted.
    var keys: [EncryptionKey?] { union?.members.map(\.key) ?? [key] }
    /// The number of files.
    var fileCount: Int { union?.members.count ?? 1 }
    /// The paths of the files.
    var paths: [String] { union?.operands.map { Address($0).path } ?? [address.path] }
    /// Open files: of a union, those that stay open before its rows are read.
    var parts: [OpenedFile] { union.map { Array($0.held.values) } ?? [self] }

    /// The key of an encrypted file.
    var key: EncryptionKey? {
        if let storedKey { return storedKey }
        guard case .stream(let reader) = content else { return nil }
        return reader.key
    }
    /// The key of a `.firn` file, also if its rows are read as a stream.
    private let storedKey: EncryptionKey?

    /// Whether some rows are from JSON.
    var isJSON: Bool { !formats.isDisjoint(with: [.json, .ndjson]) }
    /// Whether all rows are from CSV.
    var isCSV: Bool { formats.isSubset(of: [.csv, .tsv]) }
    /// Whether some rows are from CSV.
    var hasCSV: Bool { !formats.isDisjoint(with: [.csv, .tsv]) }

    /// The schema of the version or stream.
    var schema: Schema {
        switch content {
        case .stored(_, let snapshot): snapshot.schema
        case .stream(let reader): reader.schema
        }
    }

    /// Returns the type that `given` or the operand names; nil if neither names one. Throws if they name different types.
    func chosenType(_ given: String?) throws(FirnError) -> String? {
        guard union == nil, hasObjects, let named = address.type else { return given }
        guard given == nil || given == named else {
            throw FirnError(
                .usage, "--type names \"\(given ?? "")\", and \(address.path):\(named) names another type", advice: "omit one of them")
        }
        return named
    }

    /// Returns the name of the type to use: `given`, the type that the operand names, or the only type. Throws if there is no such type or
    /// a choice is needed.
    func typeName(_ given: String?) throws(FirnError) -> String {
        let roots = schema.roots
        if union != nil, let only = roots.first { return only.name }
        if let name = try chosenType(given) {
            guard roots.contains(where: { $0.name == name }) else { throw unknownType(name, in: schema, of: address.path) }
            return name
        }
        guard let first = roots.first else { throw FirnError(.schema, "the file has no types", at: .init(file: name)) }
        guard roots.count == 1 else {
            throw FirnError(
                .usage, "the file has several types: \(roots.map(\.name).joined(separator: ", "))", at: .init(file: name),
                advice: "choose one: \(address.path):\(first.name)")
        }
        return first.name
    }

    /// Returns all rows of one type. Those of another format are read completely, and kept in memory or in a temporary file
    /// (`CollectedTables`).
    func table(_ given: String?) throws(FirnError) -> any Table {
        let wanted = try typeName(given)
        switch content {
        case .stored(_, let snapshot):
            guard let table = snapshot.table(named: wanted) else { throw unknownType(wanted, in: schema, of: address.path) }
            return table
        case .stream(let reader):
            if streamsTypes, let table = (reader as? TypesReader)?.table(wanted) { return table }
            if hasObjects, !streamsTypes { return try allTables(reader)[wanted]! }
            reader.choose(wanted)
            let collected = CollectedTables(reader.schema, of: name, isSecret: isSecret, threads: threads)
            try collected.add(reader, only: wanted)
            return try collected.tables()[wanted]!
        }
    }

    /// Returns the rows of a large file whose format can be read in any order, without reading them; otherwise nil.
    func largeTable(_ given: String?) throws(FirnError) -> (any Table)? {
        guard case .stream(let reader as any TableReader) = content, reader.valueBytes > CollectedTables.maximumHeldBytes else {
            return nil
        }
        _ = try typeName(given)
        return reader.table
    }

    /// Returns a reader in which links are the keys of the rows that they lead to; nil if there are no such links. `given` selects one type.
    func keyedReader(_ given: String?, _ options: ReadingOptions, _ progress: Progress) throws(FirnError) -> (any BatchReader)? {
        guard hasObjects, union == nil, !streamsTypes else { return nil }
        let (keyed, keys) = FormatShelf.keyedLinks(schema)
        var result = keyed
        if let name = given ?? address.type { result = keyed.reachable(from: try typeName(name)) }
        guard result.roots.contains(where: { keys[$0.name] != nil }) else { return nil }
        let tables = try result.roots.map { (type) throws(FirnError) in try table(type.name) }
        let reader = StoredReader(tables, schema: schema, path: name, threads: options.threads, progress: progress)
        return try KeyedLinksReader(reader, tables, schema: result, keys: keys, path: name)
    }

    /// Whether the types can be read one by one: a database or folder whose rows have no links.
    var streamsTypes: Bool {
        guard format == .sqlite || isFolder, case .stream = content else { return false }
        return !schema.types.contains { $0.columns.contains { $0.type.kind == .link } }
    }

    /// The tables of a stream with several types, once they were read.
    private var collected: [String: any Table]?

    /// Returns the tables of a stream with several types, whose links lead to each other. The first call reads all rows.
    func allTables(_ reader: any BatchReader) throws(FirnError) -> [String: any Table] {
        if let collected { return collected }
        let collection = CollectedTables(reader.schema, of: name, isSecret: isSecret, threads: threads)
        try collection.add(reader)
        let tables = try collection.tables()
        collected = tables
        return tables
    }

    /// Whether rows must not be written to disk unencrypted.
    var isSecret: Bool { staysOffDisk || keys != [nil] }

    /// Returns the rows as batches; `given` selects one type of a file that has several. `needed` returns the positions of the columns of a
    /// type whose values are needed, as far as a format can leave out others; nil for all.
    func reader(
        _ given: String?, threads: Int, progress: Progress, needed: (TypeSchema, Schema) -> Set<Int>? = { _, _ in nil }
    ) throws(FirnError) -> any BatchReader {
        switch content {
        case .stream(let reader):
            guard format == .realm || format == .sqlite || isFolder, let name = given ?? address.type else { return reader }
            return ChosenReader(reader, try typeName(name))
        case .stored(_, let snapshot):
            guard given != nil || address.type != nil else {
                let tables = snapshot.schema.roots.compactMap { snapshot.table(named: $0.name) }
                return StoredReader(
                    tables, schema: snapshot.schema, path: address.path, threads: threads, progress: progress,
                    needed: tables.first.flatMap { needed($0.type, snapshot.schema) })
            }
            let table = try table(given)
            return StoredReader(
                [table], schema: snapshot.schema.reachable(from: table.type.name), path: address.path, threads: threads, progress: progress,
                needed: needed(table.type, snapshot.schema))
        }
    }
}

extension Schema {
    /// Returns the schema of one type and of the embedded types of its columns; with `throughLinks`, also of the types that it links to.
    func reachable(from name: String, throughLinks: Bool = false) -> Schema {
        var wanted: Set<String> = [name], waiting = [name]
        while let next = waiting.popLast() {
            for column in self[next]?.columns ?? [] {
                if column.type.kind == .embedded || throughLinks, let target = column.type.target, wanted.insert(target).inserted {
                    waiting.append(target)
                }
            }
        }
        var schema = self
        schema.types = types.filter { wanted.contains($0.name) }
        return schema
    }

    /// Returns the schema with a type renamed, also as the target of columns.
    func renaming(_ name: String, to new: String) -> Schema {
        var schema = self
        schema.types = types.map { type in
            var type = type
            if type.name == name { type.name = new }
            for i in type.columns.indices where type.columns[i].type.target == name { type.columns[i].type.target = new }
            return type
        }
        return schema
    }
}

extension Session {
    /// Prints what was guessed about the notation of files, for commands that print no other remarks of readers.
    func remark(guessesOf files: [OpenedFile], isOneOfSeveral: Bool = false) {
        for file in files {
            if let union = file.union { for guess in union.guesses { remark(guess) } }
            guard file.union == nil, case .stream(let reader) = file.content else { continue }
            for guess in reader.guesses { remark(isOneOfSeveral ? "\(file.name): \(guess)" : guess) }
        }
    }
}
