import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange
import FirnTable

/// The steps of opening a file.
extension OpenedFile {
    // MARK: Other formats

    /// Throws if the first bytes are those of a format that no module reads.
    static func refuseForeign(_ first: [UInt8], _ name: String) throws(FirnError) {
        guard let kind = FormatName.foreign(first), !FormatName.isParquet(first), !FormatName.isSQLite(first), !FormatName.isArrow(first)
        else { return }
        throw FirnError(
            .notThisFormat, "this is \(kind), which cannot be read", at: .init(file: name),
            advice: kind == "compressed twice"
                ? "decompress it once"
                : "convert it to csv, json or ndjson first (\(FormatName.allCases.map(\.rawValue).joined(separator: ", ")) are read)")
    }

    /// Returns a reader of a file of another format than `.firn`, or of the JSON document around its rows if the operand names that.
    static func stream(
        _ input: Input, _ format: FormatName, at address: Address, _ options: ReadingOptions, name: String, progress: Progress
    ) throws(FirnError) -> any BatchReader {
        if let version = address.version, let refusal = FormatShelf.refusal(ofVersion: version, format) {
            throw FirnError(.usage, refusal.message, at: .init(file: "\(address.path)@\(version)"), advice: refusal.advice)
        }
        var options = options
        options.version = address.version
        if format.hasObjects { options.rowType = address.type }
        let stem = Address.stem(of: address.path)
        var given = options.given
        if let schema = options.schema {
            given = try schema.given(wanted: options.typeName ?? (schema.hasSeveral ? address.type : nil), stem: stem)
        }
        let reader = try OpenedFile.reader(
            input, format: format, options, typeName: options.rowType ?? stem, given: given, name: name, progress: progress)
        let document = try OpenedFile.document(of: reader.schema, address, budget: .process)
        if let wanted = address.type, document == nil, !format.hasObjects, options.schema?.has(wanted) != true {
            try OpenedFile.check(wanted, reader.schema, of: name, stem: stem, given: options.rowType)
        }
        return document ?? reader
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
    static let documentName = "document"

    /// Returns a reader of the document around the rows if the operand names it; nil if it does not, or if there is none.
    static func document(of schema: Schema, _ address: Address, budget: MemoryBudget) throws(FirnError) -> (any BatchReader)? {
        guard address.type == documentName else { return nil }
        let documents = schema.roots.compactMap { FormatShelf.document(around: $0, budget) }
        guard documents.count == 1 else { return nil }
        return try FormatShelf.reader(document: documents[0], name: address.path, typeName: documentName)
    }

    // MARK: Stored files

    /// Throws if a `.firn` file cannot be opened by its path, or has no bytes.
    static func checkStored(_ address: Address, _ input: Input, isEmpty: Bool, _ name: String) throws(FirnError) {
        // Opening a named pipe again would wait for another writer.
        guard address.path != "-", input.compression == .none, Paths.kind(address.path) != .other else {
            throw FirnError(
                .usage, "a .firn file cannot be read from a pipe or compressed", at: .init(file: name), advice: "name the uncompressed file"
            )
        }
        if isEmpty { throw FirnError(.notThisFormat, "the file is empty", at: .init(file: name)) }
    }

    /// Opens a `.firn` file, and restores a damaged root first if the options require this.
    static func database(_ path: String, _ options: ReadingOptions, _ name: String) throws(FirnError) -> Database {
        let database = try options.keys.open(path: path)
        guard options.restores, database.fallback != nil else { return database }
        // A writer first restores a damaged root. The restored version is the one that the command must read.
        let restored = try options.keys.open(path: path, writable: true).restored
        if let restored {
            Session.complain(DisplayWidth.visible("firn: \(name): the newest root was damaged (\(restored.what)) and is restored") + "\n")
        }
        return try options.keys.open(path: path)
    }

    /// Returns the version that the operand names, or the newest one.
    static func snapshot(of database: Database, _ address: Address, _ name: String, allowsEmpty: Bool) throws(FirnError)
        -> DatabaseSnapshot
    {
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
        return snapshot
    }

    /// Returns a reader of a stored type with columns that are read as JSON.
    static func reader(_ snapshot: DatabaseSnapshot, at address: Address, _ options: ReadingOptions, progress: Progress)
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
}
