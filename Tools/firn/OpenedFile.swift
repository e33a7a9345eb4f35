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
    let staysOffDisk: Bool
    let threads: Int
    /// The tables of a stream with several types, once they were read.
    var collected: [String: any Table]?

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
        if options.format == nil { try OpenedFile.refuseForeign(first, name) }
        format = options.format ?? FormatName.detect(path: address.path, firstBytes: first)
        guard format == .firn else {
            storedKey = nil
            content = .stream(try OpenedFile.stream(input, format, at: address, options, name: name, progress: progress))
            return
        }
        try OpenedFile.checkStored(address, input, isEmpty: first.isEmpty, name)
        let database = try OpenedFile.database(address.path, options, name)
        let snapshot = try OpenedFile.snapshot(of: database, address, name, allowsEmpty: allowsEmpty)
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
    /// Whether a file is encrypted.
    var hasKey: Bool { keys.contains { $0 != nil } }
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

    /// See `BatchReader.textReasons`.
    var textReasons: [(column: String, reason: String)] { if case .stream(let reader) = content { reader.textReasons } else { [] } }
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
