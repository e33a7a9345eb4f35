import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange
import FirnModel

/// An operand opened for reading, whatever its format.
final class OpenedFile {
    enum Content {
        case stored(Database, DatabaseSnapshot)
        case stream(any BatchReader)
    }

    let address: Address
    let format: FormatName
    let content: Content
    /// Bytes of the file as it lies on the disk; nil for a pipe.
    let size: Int?

    /// For messages.
    let name: String

    /// `allowsEmpty`: for the command that reports damage itself: a `.firn` file without a complete version is opened too, and no warning is given
    /// where an older version is read because the newest does not hold.
    init(_ operand: String, _ options: ReadingOptions, progress: Progress, allowsEmpty: Bool = false) throws(FirnError) {
        let address = Address(operand), name = address.path == "-" ? "standard input" : address.path
        self.address = address
        self.name = name
        let input = try Input(path: address.path, staysOffDisk: options.staysOffDisk)
        size = input.totalBytes.map { Int(clamping: $0) }
        let first = try input.peek(8192)
        if options.format == nil, let kind = FormatName.foreign(first) {
            throw FirnError(.notThisFormat, "this is \(kind), which this version does not read", at: .init(file: name),
                            advice: "turn it into csv, json or ndjson first (\(FormatName.allCases.map(\.rawValue).joined(separator: ", ")) are read)")
        }
        format = options.format ?? FormatName.detect(path: address.path, firstBytes: first)
        guard format == .firn else {
            if let version = address.version {
                throw FirnError(.usage, "only .firn files have versions, and this is \(format.rawValue)", at: .init(file: "\(address.path)@\(version)"))
            }
            let stem = Address.stem(of: address.path)
            let given = try options.schema?.given(wanted: options.typeName ?? address.type, stem: stem)
            content = .stream(try FormatShelf.reader(input, format: format, options, typeName: address.type ?? stem, given: options.forced ?? given, progress: progress))
            return
        }
        guard address.path != "-", input.compression == .none else {
            throw FirnError(.usage, "a .firn file is read in place, not from a pipe or compressed", at: .init(file: name), advice: "name the file itself")
        }
        guard !first.isEmpty else { throw FirnError(.notThisFormat, "the file is empty", at: .init(file: name)) }
        var database = try options.keys.open(path: address.path)
        if options.restores, database.fallback != nil {
            // A writer restores a damaged root before anything else: what it goes on from is looked at here, too.
            let restored = try options.keys.open(path: address.path, writable: true).restored
            if let restored { Session.complain(DisplayWidth.visible("firn: \(name): the newest root was damaged (\(restored.what)) and is restored") + "\n") }
            database = try options.keys.open(path: address.path)
        }
        let snapshot: DatabaseSnapshot
        do throws(FirnError) { snapshot = if let word = address.version { try database.snapshot(at: word) } else { try database.snapshot() } } catch {
            throw error.pointing(toLogOf: name)
        }
        // Of a file that is whole, that is no sign of damage.
        if snapshot.version == 0, let word = address.version, !allowsEmpty, try database.snapshot().version > 0 {
            throw FirnError(.notFound, "version \(word) is the file before anything was committed", at: .init(file: name)).pointing(toLogOf: name)
        }
        // Version 0 is what stands in a file before its first commit, and what is left when the only commit is damaged.
        guard snapshot.version > 0 || allowsEmpty else {
            throw FirnError(.damaged, "there is no complete version in it", at: .init(file: name), advice: "'firn verify \(name)' tells what is wrong")
        }
        // A version that was asked for by name is read as it is.
        if let fallback = database.fallback, !allowsEmpty, address.version == nil || !FallbackNotices.isStrict { try FallbackNotices.report(name, fallback, version: snapshot.version) }
        content = .stored(database, snapshot)
    }

    /// Throws `.notFound` if the operand names no file, without reading anything.
    static func check(_ operand: String) throws(FirnError) {
        let path = Address(operand).path
        if !Paths.exists(path) { _ = try File(path: path, .read) }
    }

    /// Opens a `.firn` file, and nothing else.
    /// `restores`: the file is written next, so that a damaged root is restored first.
    convenience init(stored operand: String, keys: KeyRing, allowsEmpty: Bool = false, restores: Bool = false) throws(FirnError) {
        var options = ReadingOptions(threads: 1)
        options.restores = restores
        options.keys = keys
        options.format = .firn
        try self.init(operand, options, progress: Progress(), allowsEmpty: allowsEmpty)
    }

    /// The key of an encrypted `.firn` file.
    var key: EncryptionKey? {
        guard case .stored(let database, _) = content else { return nil }
        return database.key
    }

    var isCSV: Bool { format == .csv || format == .tsv }

    /// The types whose rows are listed by themselves.
    var schema: Schema {
        switch content {
        case .stored(_, let snapshot): snapshot.schema
        case .stream(let reader): reader.schema
        }
    }

    /// The name of the one type meant: the one given, the one the operand names, or the only one there is.
    func typeName(_ given: String?) throws(FirnError) -> String {
        let roots = schema.roots
        if let name = given ?? (format == .firn ? address.type : nil) {
            guard roots.contains(where: { $0.name == name }) else { throw unknownType(name, in: schema, of: address.path) }
            return name
        }
        guard let first = roots.first else { throw FirnError(.schema, "there are no types in it", at: .init(file: name)) }
        guard roots.count == 1 else {
            throw FirnError(.usage, "it has several types: \(roots.map(\.name).joined(separator: ", "))", at: .init(file: name),
                            advice: "choose one: \(address.path):\(first.name)")
        }
        return first.name
    }

    /// All rows of one type. Rows that come as text are read to the end and held in memory.
    func table(_ given: String?) throws(FirnError) -> any Table {
        let wanted = try typeName(given)
        switch content {
        case .stored(_, let snapshot):
            guard let table = snapshot.table(named: wanted) else { throw unknownType(wanted, in: schema, of: address.path) }
            return table
        case .stream(let reader):
            var batches: [Batch] = []
            while let (type, batch) = try reader.next() { if type == wanted { batches.append(batch) } }
            return MemoryTable(reader.schema[wanted]!, schema: reader.schema, batches: batches)
        }
    }

    /// The rows as batches; `type` chooses one type of a file that has several.
    func reader(_ given: String?, threads: Int, progress: Progress) throws(FirnError) -> any BatchReader {
        switch content {
        case .stream(let reader): return reader
        case .stored(_, let snapshot):
            guard given != nil || address.type != nil else {
                let tables = snapshot.schema.roots.compactMap { snapshot.table(named: $0.name) }
                return StoredReader(tables, schema: snapshot.schema, path: address.path, threads: threads, progress: progress)
            }
            let table = try table(given)
            return StoredReader([table], schema: snapshot.schema.reachable(from: table.type.name), path: address.path, threads: threads, progress: progress)
        }
    }
}

extension Schema {
    /// One root type and the embedded types that its columns lead to; with links, the types of their rows too.
    func reachable(from name: String, throughLinks: Bool = false) -> Schema {
        var wanted: Set<String> = [name], waiting = [name]
        while let next = waiting.popLast() {
            for column in self[next]?.columns ?? [] {
                if column.type.kind == .embedded || throughLinks, let target = column.type.target, wanted.insert(target).inserted { waiting.append(target) }
            }
        }
        return Schema(types.filter { wanted.contains($0.name) })
    }

    /// The same with another name for a type, wherever it stands.
    func renaming(_ name: String, to new: String) -> Schema {
        Schema(types.map { type in
            var type = type
            if type.name == name { type.name = new }
            for i in type.columns.indices where type.columns[i].type.target == name { type.columns[i].type.target = new }
            return type
        })
    }
}
