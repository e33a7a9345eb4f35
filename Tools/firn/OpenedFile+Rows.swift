import FirnBytes
import FirnDatabase
import FirnExchange
import FirnTable

/// The types of an opened file, and their rows.
extension OpenedFile {
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
                .usage, "the file has several types: \(roots.map(\.name).listed())", at: .init(file: name),
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
        guard format == .sqlite || isFolder, case .stream(let reader) = content else { return false }
        return !reader.hasLinks
    }

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
    var isSecret: Bool { staysOffDisk || hasKey }

    /// Returns the rows as batches; `given` selects one type of a file that has several. `needed` returns the positions of the columns of a
    /// type whose values are needed, as far as a format can leave out others; nil for all. `batchRows` is the number of rows of a batch of a
    /// .firn file.
    func reader(
        _ given: String?, threads: Int, progress: Progress, batchRows: Int = segmentSize,
        needed: (TypeSchema, Schema) -> Set<Int>? = { _, _ in nil }
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
                    needed: tables.first.flatMap { needed($0.type, snapshot.schema) }, batchRows: batchRows)
            }
            let table = try table(given)
            return StoredReader(
                [table], schema: snapshot.schema.reachable(from: table.type.name), path: address.path, threads: threads, progress: progress,
                needed: needed(table.type, snapshot.schema), batchRows: batchRows)
        }
    }
}
