import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange
import FirnTable

/// The inputs whose rows are added to a type. They are read with the types that it has.
struct AddedInputs {
    let paths: [String]
    private let target: TargetType
    private var options: ReadingOptions
    private let progress: Progress
    /// Whether rows may lack columns that cannot be null, because they replace values of rows that exist.
    private let replaces: Bool
    private var opened: [String: OpenedFile] = [:]
    /// The columns from the names of folders.
    private let partitions: HivePartitions
    private(set) var remarks: RepeatedRemarks
    /// What was found out about the operands.
    let notes: [String]
    var rejected: RejectedRows? { options.rejected }
    var formats = ReadingOptions.Formats()

    init(_ session: Session, _ target: TargetType, _ progress: Progress, replaces: Bool) throws(FirnError) {
        (self.target, self.progress, self.replaces) = (target, progress, replaces)
        var options = try ReadingOptions(session.arguments, threads: try session.threads())
        options.typeName = nil
        options.mayLackColumns = true
        let (inputs, notes) = try InputPaths.all(Array(session.arguments.operands.dropFirst()), except: target.path)
        self.notes = notes
        paths = inputs.flatMap(\.paths)
        remarks = RepeatedRemarks(isOne: paths.count == 1)
        let files = paths.map { Address($0).path }
        partitions = HivePartitions(files.allSatisfy(InputUnion.canBePart) ? files : [])
        let given = AddedInputs.given(target.type, target.schema, optional: replaces)
        options.given = given
        // CSV has objects as columns such as name.first, and collections as JSON.
        options.nests = given.type.columns.contains { $0.type.isCollection || $0.type.kind == .embedded || $0.type.kind == .any }
        self.options = options
        if paths.count > 1 { progress.fixTotal(bytes: nil) }
        // The first input, and those that can take long to arrive, are opened before other writers have to wait.
        for (i, path) in paths.enumerated() where i == 0 || path == "-" || Paths.kind(Address(path).path) == .other {
            opened[path] = try open(path)
        }
        if paths.count == 1, let only = opened.values.first { try ReadingOptions.check(session.arguments, for: .init([only])) }
    }

    /// The types with which text is read. Links are left out: the row that a link leads to is not in the input.
    private static func given(_ type: TypeSchema, _ schema: Schema, optional: Bool) -> GivenSchema {
        let isFlat = !type.columns.contains { $0.type.isCollection || $0.type.kind == .embedded || $0.type.kind == .any }
        var given = isFlat ? type : type.visible
        if optional {
            for i in given.columns.indices where !given.key.contains(i) && given.columns[i].type.kind != .any {
                given.columns[i].type.isOptional = given.columns[i].type.isOptional || !given.columns[i].type.isCollection
            }
        }
        given.key = []
        given.columns.removeAll { schema.leadsToRows($0.type) }
        for i in given.columns.indices { given.columns[i].indexes = [] }
        var all = schema.reachable(from: type.name)
        for i in all.types.indices { all.types[i] = all.types[i].name == type.name ? given : all.types[i].visible }
        return GivenSchema(all, rows: type.name)
    }

    private func open(_ path: String) throws(FirnError) -> OpenedFile {
        do throws(FirnError) { return try OpenedFile(path, options, progress: progress) } catch { throw located(error, path) }
    }

    /// Adds the input to an error. The types are those of the file, so advice about a schema does not apply.
    private func located(_ error: FirnError, _ input: String) -> FirnError {
        var error = error
        if error.location == nil { error.location = .init(file: input) }
        if error.code == .rejected, error.advice?.contains("in the schema") == true {
            error.advice =
                "correct the row, choose the mark before fractions with --decimal, or set such rows aside with --rejects FILE"
        }
        error.message = error.message.replacing("the schema's type", with: "type")
        return error
    }

    /// Calls `body` with the batches of each input, as columns of the type.
    mutating func forEachBatch(_ body: (_ batch: Batch, _ fit: ColumnFit, _ input: String) throws(FirnError) -> Void) throws(FirnError) {
        for (input, path) in paths.enumerated() {
            let known = opened.removeValue(forKey: path), file: OpenedFile
            if let known { file = known } else { file = try open(path) }
            formats.add(file)
            let reader = try reader(file)
            do throws(FirnError) {
                try check(file, reader.schema)
                try read(reader, of: file.name, input, body)
            } catch {
                throw located(error, file.name)
            }
            // Columns are nested for the type of the file, not because of a flag.
            for remark in reader.remarks where !remark.hasPrefix("--nest:") { remarks.add(remark, of: file.name) }
        }
    }

    /// Throws if it is not known which part of a JSON document the rows are, and if an object would lose fields that the input lacks.
    private func check(_ file: OpenedFile, _ schema: Schema) throws(FirnError) {
        if file.isJSON, options.rows == nil, FormatShelf.isPartOfDocument(schema) {
            throw FirnError(
                .usage, "the input is one JSON document, and its rows can be the document itself or one of its members",
                advice: "--rows '' reads the document as one row, --rows /NAME the member NAME")
        }
        guard replaces, file.isCSV, let rows = schema.roots.first else { return }
        for column in rows.columns where column.type.kind == .embedded && !column.type.isCollection {
            guard let own = target.type.index(of: column.name).map({ target.type.columns[$0] }),
                let given = column.type.target.flatMap({ schema[$0] }), let fields = own.type.target.flatMap({ target.schema[$0] }),
                let lost = fields.visible.columns.first(where: { given.index(of: $0.name) == nil })
            else { continue }
            throw FirnError(
                .schema, "the input has some fields of the objects in column \"\(column.name)\", and not \"\(column.name).\(lost.name)\"",
                advice: "add the other fields: objects are replaced as a whole")
        }
    }

    private func reader(_ file: OpenedFile) throws(FirnError) -> any BatchReader {
        // A type of the same name is meant, if the input has several.
        let isKnown = file.hasObjects && file.address.type == nil && file.schema.roots.contains { $0.name == target.type.name }
        let name = isKnown ? target.type.name : try file.typeName(nil)
        let reader = try file.reader(file.hasObjects ? name : nil, threads: options.threads, progress: progress)
        return options.nests && file.isCSV ? try NestedReader(reader) : reader
    }

    private mutating func read(
        _ reader: any BatchReader, of name: String, _ input: Int, _ body: (Batch, ColumnFit, String) throws(FirnError) -> Void
    ) throws(FirnError) {
        guard var rows = reader.schema.roots.first else { throw FirnError(.schema, "the input has no rows") }
        let constants = try constants(rows, input, name)
        rows.columns += constants.map(\.column)
        let root = rows.name, fit = try fit(rows, reader.schema)
        var count = 0
        while let (type, next) = try reader.next() {
            guard type == root else { continue }
            try progress.check()
            var batch = next
            for (column, value) in constants {
                var one = Column(column.type)
                if !one.append(value) { one.appendNull() }
                batch.columns.append(one.gather(repeatElement(0, count: batch.count)))
            }
            try body(try fit.fit(batch, after: count), fit, name)
            count += batch.count
        }
        let type = target.type
        for i in type.visibleColumns where !fit.has(i) && !replaces && count > 0 {
            remarks.add("column \"\(type.columns[i].name)\" is not in the input; null in its rows", of: name)
        }
    }

    /// Returns the columns with one value in all rows of an input: that of `--filename`, and those from the names of folders.
    private func constants(_ rows: TypeSchema, _ input: Int, _ name: String) throws(FirnError) -> [(column: ColumnSchema, value: Value)] {
        var found: [(column: ColumnSchema, value: Value)] = []
        if let column = options.filename {
            guard rows.index(of: column) == nil else {
                throw FirnError(.usage, "the input has a column \"\(column)\" already", advice: "choose another name for --filename")
            }
            found.append((ColumnSchema(column, ColumnType(.string)), .string(name)))
        }
        for (column, value) in zip(partitions.columns, partitions.values(ofInput: input))
        where rows.index(of: column.name) == nil && target.type.index(of: column.name) != nil {
            found.append((column, value))
        }
        return found
    }

    private func fit(_ rows: TypeSchema, _ schema: Schema) throws(FirnError) -> ColumnFit {
        let type = target.type
        for column in rows.visible.columns {
            guard let own = type.index(of: column.name).map({ type.columns[$0] }) else { continue }
            guard target.schema.leadsToRows(own.type) || schema.leadsToRows(column.type) else { continue }
            throw FirnError(
                .schema, "column \"\(column.name)\" has links, and the rows that they lead to are not in the input",
                advice: "leave the column out, or use 'firn diff --changes' and 'firn patch', which find rows by key")
        }
        if replaces, let missing = type.key.map({ type.columns[$0].name }).first(where: { rows.index(of: $0) == nil }) {
            throw FirnError(
                .schema, "the input has no column \"\(missing)\", which is in the key of \"\(type.name)\"",
                advice: Suggestion.nearest(to: missing, among: rows.columns.map(\.name)).map { "did you mean \"\($0)\"?" })
        }
        return try ColumnFit(
            rows, schema, to: type, in: target.schema, source: "the input", only: replaces ? type.key : nil,
            advice: "rename or remove it in the input; 'firn diff --changes' and 'firn patch' add columns")
    }
}

extension Schema {
    /// Whether values of a column are links, or objects with links.
    func leadsToRows(_ type: ColumnType, inside: Set<String> = []) -> Bool {
        if type.kind == .link { return true }
        guard type.kind == .embedded, let target = type.target.flatMap({ self[$0] }), !inside.contains(target.name) else { return false }
        return target.columns.contains { leadsToRows($0.type, inside: inside.union([target.name])) }
    }
}
