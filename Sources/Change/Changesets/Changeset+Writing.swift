import FirnBytes
import FirnTable

/// Writing a difference as a changes file.
extension TableDifference {
    /// Passes the schema of the changes file to `begin`, and then its rows to `write`.
    package func writeChanges(begin: (Schema) throws(FirnError) -> Void, write: (String, Batch) throws(FirnError) -> Void) throws(FirnError)
    {
        try Changeset.write([ChangedType(self)], options: options, begin: begin, write: write)
    }
}

extension Changeset {
    /// Passes the schema of a changes file for these types to `begin`, and then its rows to `write`. `options` has names and threads.
    package static func write(
        _ types: [ChangedType], options: DifferenceOptions, begin: (Schema) throws(FirnError) -> Void,
        write: (String, Batch) throws(FirnError) -> Void
    ) throws(FirnError) {
        var draft = ChangesetDraft(options)
        try draft.take(types)
        try begin(draft.schema)
        try draft.write(write)
    }
}

/// A changes file that is being written.
private struct ChangesetDraft {
    private struct Entry {
        let type: ChangedType
        let key: [String]
        let hashes: (old: Hash128?, new: Hash128?)
        var pairs = 0
        /// The content hash depends on the key of the changes, not on the keys of the types, so these are compared separately.
        var differs: Bool { hashes.old != hashes.new || (type.old == nil) != (type.new == nil) || type.keys.old != type.keys.new }
    }

    private let options: DifferenceOptions
    private let oldKeys: LinkedRowKeys, newKeys: LinkedRowKeys
    private var entries: [Entry] = []
    private var hasEdits = false
    private var sides: [(entry: Int, old: ChangedSide?, new: ChangedSide?)] = []

    init(_ options: DifferenceOptions) {
        self.options = options
        oldKeys = LinkedRowKeys(.old, file: options.oldName)
        newKeys = LinkedRowKeys(.new, file: options.newName)
    }

    mutating func take(_ types: [ChangedType]) throws(FirnError) {
        let linked = try linkedByPosition(types)
        for var type in types {
            // Rows that links identify by position must be matched by position here too.
            if type.old != nil, type.new != nil, linked.contains(type.name) { type = ChangedType(old: type.old, new: type.new) }
            for (table, name) in [(type.old, options.oldName), (type.new, options.newName)] {
                if let table { try checkKey(table, type.key, name) }
            }
            try enter(type)
        }
        for i in entries.indices where entries[i].differs {
            let type = entries[i].type
            let old = type.old.map { ChangedSide(.old, $0, options.oldName, oldKeys) },
                new = type.new.map { ChangedSide(.new, $0, options.newName, newKeys) }
            if let table = type.old { try oldKeys.add(table) }
            if let table = type.new { try newKeys.add(table) }
            sides.append((i, old, new))
        }
    }

    private mutating func enter(_ type: ChangedType) throws(FirnError) {
        let key = type.key
        entries.append(
            Entry(
                type: type, key: key,
                hashes: (
                    try type.old.map { (table) throws(FirnError) in try hash(table, key, options.oldName) },
                    try type.new.map { (table) throws(FirnError) in try hash(table, key, options.newName) }
                )))
    }

    /// Returns the types without key that links of these types refer to.
    private func linkedByPosition(_ types: [ChangedType]) throws(FirnError) -> Set<String> {
        var found: Set<String> = []
        for table in types.flatMap({ [$0.old, $0.new] }).compactMap({ $0 }) {
            let named: Set<String>
            do throws(Damage) { named = try table.namedTargets() } catch { throw FirnError(error, in: options.newName) }
            for target in named.union(table.schema.links(of: table.type).columns.map(\.target))
            where table.schema[target]?.key.isEmpty ?? false { found.insert(target) }
        }
        return found
    }

    private func checkKey(_ table: any Table, _ key: [String], _ name: String) throws(FirnError) {
        let names = Set(key + table.type.keyNames)
        for column in table.type.columns where names.contains(column.name) {
            if column.type.kind != .link, try !table.hasNamedLinks([column.name], name) { continue }
            throw FirnError(
                .unsupported,
                "changes of rows of \"\(table.type.name)\" cannot be written: the key column \"\(column.name)\" contains links",
                at: .init(file: name),
                advice: "give the type a key of plain values")
        }
    }

    private func hash(_ table: any Table, _ key: [String], _ name: String) throws(FirnError) -> Hash128 {
        var asked = ContentHash.Options()
        asked.key = key
        asked.name = name
        asked.threads = options.execution.threads
        return try ContentHash(of: table, options: asked).hash
    }

    var schema: Schema {
        Schema(
            [Changeset.facts, Changeset.sideFacts("old"), Changeset.sideFacts("new")]
                + sides.flatMap { ($0.old?.types ?? []) + ($0.new?.types ?? []) }.distinct
                + oldKeys.types + newKeys.types + editedTypes)
    }

    private var editedTypes: [TypeSchema] {
        sides.compactMap { side in
            guard let old = side.old?.types.first, side.new != nil, old.columns.contains(where: { CellEdits.mayEdit($0.type) }) else {
                return nil
            }
            return CellEdits.type(entries[side.entry].type.name)
        }
    }

    mutating func write(_ write: (String, Batch) throws(FirnError) -> Void) throws(FirnError) {
        for side in sides {
            let type = entries[side.entry].type
            var rows = try DifferingRows(type, options)
            let edits = try WrittenEdits(type, &rows, options)
            entries[side.entry].pairs = rows.pairs.count
            try side.old?.write(rows.pairs.map { ($0.old, $0.cells) }, rows.removed, rows.shared.map(\.old), write)
            try side.new?.write(rows.pairs.map { ($0.new, $0.cells) }, rows.added, rows.shared.map(\.new), write)
            if !edits.isEmpty {
                hasEdits = true
                try edits.write(type.name, write)
            }
        }
        try oldKeys.write(write)
        try newKeys.write(write)
        try addKeyless()
        try writeFacts(write)
    }

    /// Adds types without key that are not among the compared ones. Links identify their rows by position, so the rows must be the same
    /// when the changes are applied.
    private mutating func addKeyless() throws(FirnError) {
        for table in oldKeys.keyless + newKeys.keyless where !entries.contains(where: { $0.type.name == table.type.name }) {
            let name = table.type.name
            let twins = try [entries.compactMap(\.type.old), entries.compactMap(\.type.new)].map {
                (tables) throws(FirnError) -> (any Table)? in
                do throws(Damage) { return try tables.first?.related(name) } catch { throw FirnError(error, in: options.oldName) }
            }
            guard twins[0] != nil || twins[1] != nil else { continue }
            try enter(ChangedType(old: twins[0], new: twins[1]))
            guard !entries.last!.differs else {
                throw FirnError(
                    .unsupported,
                    "changes cannot be written: links refer to rows of \"\(name)\", which have no key and are not the same in both files",
                    at: .init(file: options.newName),
                    advice: "compare all types of the files together, or give \"\(name)\" a key")
            }
        }
    }

    private func writeFacts(_ write: (String, Batch) throws(FirnError) -> Void) throws(FirnError) {
        func strings(_ words: [String]) -> Value { .list(words.map { .string($0) }) }
        func text(_ hash: Hash128?) -> Value { .string(hash.map { "\($0)" } ?? "") }
        var old: [[Value]] = [], new: [[Value]] = []
        for entry in entries {
            func row(_ table: (any Table)?, _ own: [String], _ hash: Hash128?) -> [Value] {
                guard let table, let hash else { return [.null, .list([]), .list([]), .int(0), .list([]), .string("")] }
                let required = table.type.columns.filter { !$0.type.isOptional && !($0.type.kind == .any && !$0.type.isCollection) }.map(
                    \.name)
                return [
                    .string(table.type.name), strings(entry.key), strings(own), .int(Int64(entry.pairs)), strings(required), text(hash),
                ]
            }
            old.append(row(entry.type.old, entry.type.keys.old, entry.hashes.old))
            new.append(row(entry.type.new, entry.type.keys.new, entry.hashes.new))
        }
        let single = entries.count == 1 ? entries[0] : nil
        let facts: [Value] = [
            .int(hasEdits ? Changeset.version : 2), .string((single?.type.new ?? single?.type.old)?.type.name ?? ""),
            strings(single?.key ?? []),
            .int(Int64(entries.reduce(0) { $0 + $1.pairs })), .bool(false), text(ofFile(\.old, \.hashes.old)),
            text(ofFile(\.new, \.hashes.new)),
        ]
        for (type, rows) in [(Changeset.facts, [facts]), (Changeset.sideFacts("old"), old), (Changeset.sideFacts("new"), new)] {
            var batch = Batch(type, in: Schema([type]))
            for row in rows { for (i, value) in row.enumerated() { batch.columns[i].append(value) } }
            batch.count = rows.count
            try write(type.name, batch)
        }
    }

    /// Returns the hash of all types of one side, as that of a file.
    private func ofFile(_ table: KeyPath<ChangedType, (any Table)?>, _ hash: KeyPath<Entry, Hash128?>) -> Hash128 {
        ContentHash.ofFile(
            entries.compactMap { entry in entry.type[keyPath: table].flatMap { table in entry[keyPath: hash].map { (table.type.name, $0) } }
            })
    }
}

extension [TypeSchema] {
    /// The types without repeated names: types share the types of their objects.
    fileprivate var distinct: [TypeSchema] {
        var seen: Set<String> = []
        return filter { seen.insert($0.name).inserted }
    }
}

/// One side of a type in a changes file.
private struct ChangedSide {
    private let table: any Table
    private let name: String
    private let keys: LinkedRowKeys
    /// The type of the rows, and the embedded types.
    let types: [TypeSchema]

    init(_ names: SideNames, _ table: any Table, _ name: String, _ keys: LinkedRowKeys) {
        self.table = table
        self.name = name
        self.keys = keys
        types = ([table.type] + table.schema.embedded(from: table.type)).enumerated().map { i, type in
            var copy = type
            copy.name = names.type(type.name)
            // The envelope of an embedded type belongs to its values; that of rows describes a source.
            if !copy.isEmbedded { copy.envelope = nil }
            copy.key = []
            for c in copy.columns.indices {
                if let target = copy.columns[c].type.target {
                    copy.columns[c].type.target = copy.columns[c].type.kind == .link ? names.key(target) : names.type(target)
                }
                copy.columns[c].indexes = []
                if i == 0 { copy.columns[c].type.isOptional = true }
            }
            return copy
        }
    }

    private func refusal(_ column: String, _ mayLink: Bool) -> FirnError {
        guard mayLink else { return FirnError(.unsupported, "objects in column \"\(column)\" nest too deep", at: .init(file: name)) }
        return FirnError(
            .unsupported,
            "changes of \"\(table.type.name).\(column)\" cannot be written: a link refers to a row that does not exist, and may not be null",
            at: .init(file: name),
            advice: "remove links to rows that do not exist")
    }

    /// In columns of `shared`, rows of `pairs` are written only with the cells that the pair names.
    func write(
        _ pairs: [(location: RowLocation, cells: [Int])], _ rest: [RowLocation], _ shared: [Int],
        _ write: (String, Batch) throws(FirnError) -> Void
    ) throws(FirnError) {
        let reader = RowReader(table, name: name), schema = Schema(types + keys.types), type = types[0]
        let rest = rest.map { (location: $0, cells: Optional<Set<Int>>.none) },
            rows = pairs.map { (location: $0.location, cells: Optional(Set($0.cells))) } + rest
        let numbers = Dictionary(shared.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
        var start = 0
        while start < rows.count {
            let end = min(rows.count, start + segmentSize)
            var batch = Batch(type, in: schema)
            for (columnPosition, column) in type.columns.enumerated() {
                let number = numbers[columnPosition], source = table.type.columns[columnPosition].type,
                    mayLink = table.schema.mayHoldLinks(source)
                for row in rows[start..<end] {
                    if let number, let cells = row.cells, !cells.contains(number) {
                        batch.columns[columnPosition].append(.null)
                        continue
                    }
                    var value = try reader.value(row.location, columnPosition)
                    if mayLink { value = try value.mapLinks(source, in: table.schema, keys.link) }
                    guard batch.columns[columnPosition].append(value) else { throw refusal(column.name, mayLink) }
                }
            }
            batch.count = end - start
            try write(type.name, batch)
            start = end
        }
    }
}
