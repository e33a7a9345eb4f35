import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnExchange
import FirnQuery
import FirnTable

/// Unites the rows of several inputs by the names of their columns.
///
/// The inputs are read one after the other, twice: first for their columns and types, then for their rows. Columns that an input lacks are
/// null in its rows. If the types of a column differ, it gets a type in which every value keeps its text; otherwise type any, if no input is
/// CSV. Every difference is reported, in one line for each column.
final class InputUnion {
    /// What is known of an input after its first reading.
    struct Member {
        let operand: String
        let name: String
        let format: FormatName
        let size: Int?
        let key: EncryptionKey?
        /// The position of its schema in `schemas`.
        var schema = 0
    }

    let operands: [String]
    /// The positions of the inputs among those that were given, and the number of those. The condition excludes the others.
    private let kept: [Int], givenCount: Int
    private(set) var members: [Member] = []
    /// The schema of the united rows; one type, and the types of its objects.
    private(set) var schema = Schema()
    private(set) var remarks: [String] = []
    /// What was guessed about the notation of each input, and padded or left out for it.
    var guesses: [String] { notes.lines }
    private var notes: RepeatedRemarks
    /// Why columns are text in some of the inputs.
    private(set) var textReasons = RepeatedReasons()
    /// The inputs that stay open between the two readings.
    private(set) var held: [Int: OpenedFile] = [:]
    /// Inputs that can be opened only once.
    private var pipes: [Int: Input] = [:]
    private var schemas: [Schema] = []
    private var schemaPositions: [Schema: Int] = [:]
    private var options: ReadingOptions
    private let wanted: String?
    private let target: String?
    private let progress: Progress
    private var typeName: String
    let rows: UnionType
    /// The attributes of the files.
    private(set) var attributes = UnionAttributes()
    /// The columns from the names of folders, and their positions in `partitions` by name.
    let partitions: HivePartitions
    private(set) var partitionColumns: [String: Int] = [:]
    /// The number of rows read of each input.
    var rowCounts: [Int] = []

    /// The maximum number of inputs that stay open between the readings.
    private static let maximumHeldReaders = 16

    /// - Parameters:
    ///   - typeName: The name of the type of the rows.
    ///   - wanted: The type to read of inputs that have several.
    ///   - target: The file that is written: if it is an input, it stays open.
    init(
        _ operands: [String], typeName: String, wanted: String?, options: ReadingOptions, progress: Progress, target: String? = nil
    ) throws(FirnError) {
        let paths = operands.map { Address($0).path }
        partitions = paths.allSatisfy(InputUnion.canBePart) ? HivePartitions(paths) : HivePartitions([])
        var kept = Array(operands.indices)
        if let condition = options.condition {
            kept.removeAll { [partitions] in RowExclusion.excludes(condition, partitions.columns, partitions.values(ofInput: $0)) }
            // One input supplies the columns.
            if kept.isEmpty { kept = [0] }
        }
        (self.kept, givenCount) = (kept, operands.count)
        let operands = kept.map { operands[$0] }
        self.operands = operands
        notes = RepeatedRemarks(isOne: operands.count == 1)
        self.typeName = typeName
        self.wanted = wanted
        self.target = target
        self.progress = progress
        var options = options
        options.rowType = typeName
        options.mayLackColumns = true
        // Only CSV readers select columns.
        let isText = operands.allSatisfy { operand in
            [.csv, .tsv].contains(options.format ?? FormatName(extensionOf: Address(operand).path) ?? .json)
        }
        if !isText { options.columns = [] }
        options.keepsTokens = operands.allSatisfy { operand in
            [.json, .ndjson].contains(options.format ?? FormatName(extensionOf: Address(operand).path) ?? .csv)
        }
        self.options = options
        rows = UnionType(name: typeName, keepsNotations: options.union != .values)
        try survey()
        try decide()
    }

    /// Whether an input can have columns from the names of folders, by its name.
    static func canBePart(_ path: String) -> Bool {
        FormatName(extensionOf: path).map { [.firn, .parquet, .arrow].contains($0) } ?? true
    }

    /// Whether inputs were left out by the names of folders, although the files have the columns themselves. Then the names do not count.
    var misjudgesFolders: Bool {
        operands.count < givenCount && partitions.columns.contains { partitionColumns[$0.name] == nil }
    }

    // MARK: First reading

    private func survey() throws(FirnError) {
        var total: Int? = 0
        progress.fixTotal(bytes: nil)
        for (index, operand) in operands.enumerated() {
            let file = try open(index, dropsRejects: true)
            var member = Member(operand: operand, name: file.name, format: file.format, size: file.size, key: file.key)
            let type = try rowType(of: file)
            if index == 0, file.format == .firn {
                typeName = type.name
                options.rowType = type.name
            }
            let schema = Self.plain(file.schema.reachable(from: type.name), root: type.name, named: typeName)
            let known = schemaPositions[schema] ?? schemas.count
            if known == schemas.count {
                schemas.append(schema)
                schemaPositions[schema] = known
            }
            member.schema = known
            let reader: (any BatchReader)? = if case .stream(let reader) = file.content { reader } else { nil }
            try rows.add(
                type,
                UnionInput(
                    index: index, name: file.name, isText: file.isCSV, format: file.format, schema: file.schema,
                    facts: { position in reader?.facts(ofColumn: position) }))
            attributes.add(file.schema.otherAttributes)
            if index == 0 { note(first: type) } else { note(type, file) }
            for guess in reader?.guesses ?? [] { notes.add(guess, of: file.name) }
            for (column, reason) in reader?.textReasons ?? [] { textReasons.add(reason, for: column, of: file.name) }
            members.append(member)
            rowCounts.append(0)
            let stays = staysOpen(file)
            if stays { held[index] = file }
            total = total.flatMap { total in file.size.map { total + $0 * (stays ? 2 : 3) } }
        }
        if options.union == .strict { try checkNames() }
        progress.fixTotal(bytes: total)
    }

    /// Whether a file is kept open: some files, of formats that are not held in memory.
    private func staysOpen(_ file: OpenedFile) -> Bool {
        if case .stored = file.content, target == file.address.path { return true }
        guard operands.count <= Self.maximumHeldReaders, file.address.path != "-" else { return false }
        // The second reading records rejected rows.
        return file.format == .firn || file.format != .json && options.rejected == nil
    }

    private func open(_ index: Int, dropsRejects: Bool) throws(FirnError) -> OpenedFile {
        var options = options
        if dropsRejects, options.rejected != nil { options.dropsRejected = true }
        guard Address(operands[index]).path == "-" else { return try OpenedFile(operands[index], options, progress: progress) }
        let input: Input
        if let known = pipes[index] {
            input = known
            try input.rewind()
        } else {
            input = try Input(path: "-", staysOffDisk: options.staysOffDisk)
        }
        pipes[index] = input
        return try OpenedFile("-", options, progress: progress, input: input)
    }

    /// The type of an input's rows.
    private func rowType(of file: OpenedFile) throws(FirnError) -> TypeSchema {
        let chooses = wanted.map { name in file.schema.roots.contains { $0.name == name } } ?? false
        let name = try file.typeName(chooses ? wanted : nil)
        guard let type = file.schema[name] else { throw unknownType(name, in: file.schema, of: file.name) }
        return type
    }

    /// A schema without what may differ between readings of one input.
    private static func plain(_ schema: Schema, root: String, named name: String) -> Schema {
        var schema = schema
        for i in schema.types.indices { schema.types[i].envelope = nil }
        return schema.renaming(root, to: name)
    }

    // MARK: The union

    private var first: TypeSchema?
    private var hasOneEnvelope = true, hasOneOrder = true
    /// Whether the columns of an input have names of their own.
    private var hasNames = false
    private var firstInOtherOrder: String?
    private var inOtherOrder = 0

    private func note(first type: TypeSchema) {
        first = type
        hasNames = FormatShelf.hasNames(type)
    }

    private func note(_ type: TypeSchema, _ file: OpenedFile) {
        if type.envelope != first?.envelope { hasOneEnvelope = false }
        hasNames = hasNames || FormatShelf.hasNames(type)
        let positions = type.columns.compactMap { first?.index(of: $0.name) }
        if zip(positions, positions.dropFirst()).contains(where: { $0 > $1 }) {
            inOtherOrder += 1
            if firstInOtherOrder == nil { firstInOtherOrder = file.name }
        }
    }

    private func checkNames() throws(FirnError) {
        let advice = "omit --union strict to combine inputs with different columns; columns that an input lacks are null in its rows"
        guard let odd = rows.columns.first(where: { $0.inputs < members.count }) else { return }
        guard odd.first == 0 else {
            throw FirnError(
                .schema, "the file has a column \"\(odd.name)\", which \(members[0].name) does not have",
                at: .init(file: members[odd.first].name), advice: advice)
        }
        let lacking = members.first { schemas[$0.schema][typeName]?.index(of: odd.name) == nil }
        throw FirnError(
            .schema, "the file has no column \"\(odd.name)\", which \(members[0].name) has",
            at: lacking.map { .init(file: $0.name) }, advice: advice)
    }

    private func decide() throws(FirnError) {
        try readContested()
        var names: Set<String> = [typeName]
        var types = rows.types(named: typeName, &names)
        let isText = members.allSatisfy { [.csv, .tsv].contains($0.format) }
        if let first {
            types[0].key = first.key
            if isText || hasOneEnvelope {
                types[0].envelope = members.count > 1 ? FormatShelf.envelope(ofSeveral: first, hasNames: hasNames) : first.envelope
            }
        }
        if !options.columns.isEmpty { try choose(&types[0]) }
        if let column = options.filename {
            guard types[0].index(of: column) == nil else {
                throw FirnError(.usage, "the inputs have a column \"\(column)\" already", advice: "choose another name for --filename")
            }
            types[0].columns.append(ColumnSchema(column, ColumnType(.string), id: UInt32(types[0].columns.count + 1)))
        }
        if members.allSatisfy({ [.firn, .parquet, .arrow].contains($0.format) }) {
            // Columns of the files themselves have precedence.
            for (position, column) in partitions.columns.enumerated() where types[0].index(of: column.name) == nil {
                partitionColumns[column.name] = position
                var added = column
                added.id = UInt32(types[0].columns.count + 1)
                types[0].columns.append(added)
            }
        }
        rows.addCompanions(to: &types[0])
        schema = Schema(types)
        schema.otherAttributes = attributes.united
        remarks = UnionReport(self, types[0], order: (inOtherOrder, firstInOtherOrder)).lines
        if partitions.columns.isEmpty, let ignored = HivePartitions(operands.map { Address($0).path }).columns.first {
            remarks.append(
                "names of folders such as \"\(ignored.name)=…\" are columns of Parquet, Arrow and .firn files only; use --filename to add the paths"
            )
        }
        if let one = partitions.differing.first, let other = partitions.differing.last {
            let and = one == other ? "" : " and \"\(other)\""
            remarks.append("no columns from the names of folders, as these do not agree: \"\(one)\"\(and)")
        }
        if !partitionColumns.isEmpty {
            let names = types[0].columns.map(\.name).filter { partitionColumns[$0] != nil }.map { "\"\($0)\"" }
            remarks.append("columns from the names of folders: \(names.joined(separator: ", "))")
            if operands.count < givenCount {
                remarks.append("the names of folders exclude \(givenCount - operands.count) of \(givenCount) files")
            }
        }
    }

    /// Puts the columns of `--columns`, which some inputs may lack, in their order.
    private func choose(_ type: inout TypeSchema) throws(FirnError) {
        let all = type
        if let unknown = options.columns.first(where: { all.index(of: $0) == nil }) {
            // CSV inputs were read without their other columns, among which the error looks for a similar name.
            var whole = options
            whole.columns = []
            let union = try? InputUnion(operands, typeName: typeName, wanted: wanted, options: whole, progress: Progress())
            throw unknownColumn(unknown, of: union?.schema.types.first ?? all)
        }
        let positions = try options.columns.map { (name) throws(FirnError) in try all.position(of: name) }
        guard positions != Array(all.columns.indices) else { return }
        let key = all.key.map { positions.firstIndex(of: $0) }
        type.columns = positions.map { all.columns[$0] }
        for i in type.columns.indices { type.columns[i].id = UInt32(i + 1) }
        type.key = key.contains(nil) ? [] : key.compactMap(\.self)
        type.envelope = nil
    }

    /// Reads the values of columns whose types differ, where the reader did not report what fits them.
    private func readContested() throws(FirnError) {
        let contested = rows.columns.filter(\.needsValues)
        guard !contested.isEmpty else { return }
        for (index, member) in members.enumerated() where ![.csv, .tsv].contains(member.format) {
            let names = contested.map(\.name).filter { schemas[member.schema][typeName]?.index(of: $0) != nil }
            guard !names.isEmpty else { continue }
            let file = try open(index, dropsRejects: true), type = try rowType(of: file)
            let reader = try file.reader(type.name, threads: options.threads, progress: progress)
            while let (name, batch) = try reader.next() {
                guard name == type.name else { continue }
                for column in names {
                    guard let position = type.index(of: column), let union = rows[column] else { continue }
                    var facts = ColumnFacts.of(
                        batch.columns[position], type.columns[position], in: reader.schema, isText: member.format == .firn)
                    // Original texts can have digits that a double lost and a decimal would keep.
                    if type.companions[position] != nil, type.columns[position].type.kind == .double {
                        facts.readings.removeAll { $0.kind == .decimal }
                    }
                    if facts.hasValues { union.fit(facts.readings) }
                }
            }
        }
    }

    // MARK: Second reading

    /// Opens an input for its rows.
    func reader(_ index: Int) throws(FirnError) -> (reader: any BatchReader, type: TypeSchema) {
        let file: OpenedFile
        if let known = held.removeValue(forKey: index) { file = known } else { file = try open(index, dropsRejects: false) }
        let type = try rowType(of: file)
        let reader = try file.reader(type.name, threads: options.threads, progress: progress)
        guard Self.plain(file.schema.reachable(from: type.name), root: type.name, named: typeName) == schemas[members[index].schema] else {
            throw FirnError(.inputOutput, "the input changed while it was read", at: .init(file: file.name), advice: "run it again")
        }
        return (reader, type)
    }

    /// The value that a column from the names of folders has in all rows of an input.
    func partition(_ column: Int, of input: Int) -> Value { partitions.values(ofInput: kept[input])[column] }

    /// Whether the union has the columns of `--columns` only. Otherwise all are read, and fields of objects can be chosen.
    var choosesColumns: Bool { !options.columns.isEmpty }

    /// The name of the column that keeps the names of the inputs.
    var filename: String? { options.filename }
}
