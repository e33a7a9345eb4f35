import FirnBytes
import FirnExchange
import FirnTable

/// Combines columns with names such as `birth.index` and `birth.year` in columns of objects: the reverse of `--flatten`. An object is
/// missing if none of its fields has a value.
final class NestedReader: BatchReader {
    let schema: Schema
    private let source: any BatchReader
    private let root: Group
    private let typeName: String
    private var notes: [String] = []
    /// The original texts of the fields of each object that has some, in the order of their columns.
    private var gathered: [GatheredTexts] = []

    /// The columns and objects of an object, in order of first appearance.
    private final class Group {
        enum Member {
            case column(Int)
            case object(Group)
        }
        var members: [(name: String, member: Member)] = []
        var positions: [String: Int] = [:]
        /// The type of the objects; set when the schema is made.
        var type = ""
    }

    init(_ source: any BatchReader) throws(FirnError) {
        self.source = source
        guard source.schema.roots.count == 1, let type = source.schema.roots.first else {
            throw FirnError(.usage, "--nest needs an input of one type", advice: "choose one with FILE:Type")
        }
        typeName = type.name
        let root = Group()
        self.root = root
        // Original texts of columns that become fields follow the columns, one column for each object.
        let isField = { (column: ColumnSchema) in FieldPath.parts(of: column.name).count > 1 }
        for (position, column) in type.columns.enumerated()
        where !(type.companionTarget(position).map { isField(type.columns[$0]) } ?? false) {
            let parts = FieldPath.parts(of: column.name)
            guard parts.count <= NestedReader.maximumDepth else { throw NestedReader.tooDeep(column.name, parts.count) }
            var group = root
            for part in parts.dropLast() {
                if let known = group.positions[part] {
                    guard case .object(let inner) = group.members[known].member else { throw NestedReader.conflict(column.name, part) }
                    group = inner
                } else {
                    let inner = Group()
                    group.positions[part] = group.members.count
                    group.members.append((part, .object(inner)))
                    group = inner
                }
            }
            let last = parts[parts.count - 1]
            guard group.positions.updateValue(group.members.count, forKey: last) == nil else {
                throw NestedReader.conflict(column.name, last)
            }
            group.members.append((last, .column(position)))
        }
        var made = type, types: [TypeSchema] = []
        made.columns = try NestedReader.columns(root, type, path: type.name, taken: Set(source.schema.types.map(\.name)), &types)
        let companions = type.companions
        for (name, member) in root.members {
            guard case .object(let group) = member else { continue }
            let texts = GatheredTexts(NestedReader.texts(group, type, companions))
            guard !texts.members.isEmpty, let at = made.index(of: name) else { continue }
            gathered.append(texts)
            var companion = made.makeCompanion(of: made.columns[at])
            companion.id = UInt32(made.columns.count)
            made.columns.append(companion)
        }
        let key = type.key.map { position in root.members.firstIndex { if case .column(position) = $0.member { true } else { false } } }
        made.key = key.contains(nil) ? [] : key.compactMap(\.self)
        if key.contains(nil) { notes = ["the key consists of fields of objects, which cannot be a key, and is left out"] }
        if types.isEmpty, !type.columns.contains(where: { $0.type.isCollection || $0.type.kind == .embedded }) {
            notes.append("--nest: no name of a column has parts, such as a.b, and no column contains JSON arrays or objects")
        }
        made.envelope = nil
        var whole = source.schema
        whole.types = source.schema.types.map { $0.name == type.name ? made : $0 } + types
        schema = whole
    }

    /// The maximum number of names in a path; also the limit for values of type any.
    private static let maximumDepth = Value.maximumDepth

    private static func tooDeep(_ column: String, _ count: Int) -> FirnError {
        let name = column.count > 60 ? column.prefix(60) + "…" : column
        return FirnError(
            .usage,
            "--nest: column \"\(name)\" cannot be nested: its name has \(count) parts, and objects nest at most \(maximumDepth) deep",
            advice: "omit --nest, or select other columns with --columns")
    }

    private static func conflict(_ column: String, _ part: String) -> FirnError {
        FirnError(
            .usage, "--nest: column \"\(column)\" cannot be nested, because \"\(part)\" is both a value and an object",
            advice: "select other columns with --columns")
    }

    /// Returns the columns of a group, and appends the types of the objects in it.
    private static func columns(_ group: Group, _ flat: TypeSchema, path: String, taken: Set<String>, _ types: inout [TypeSchema])
        throws(FirnError) -> [ColumnSchema]
    {
        var columns: [ColumnSchema] = []
        for (name, member) in group.members {
            let id = UInt32(columns.count)
            switch member {
            case .column(let position):
                var column = flat.columns[position]
                (column.name, column.id) = (name, id)
                columns.append(column)
            case .object(let inner):
                var target = path + "_" + name, copy = 2
                while taken.contains(target) || types.contains(where: { $0.name == target }) {
                    target = path + "_" + name + "_\(copy)"
                    copy += 1
                }
                inner.type = target
                let index = types.count
                types.append(TypeSchema(target, columns: [], isEmbedded: true))
                types[index].columns = try self.columns(inner, flat, path: target, taken: taken, &types)
                let isOptional = types[index].columns.allSatisfy(\.type.isOptional)
                columns.append(ColumnSchema(name, ColumnType(.embedded, optional: isOptional, target: target), id: id))
            }
        }
        return columns
    }

    /// Returns the companions of the columns in a group, in the order of the fields.
    private static func texts(_ group: Group, _ type: TypeSchema, _ companions: [Int: Int], path: [[UInt8]] = []) -> [GatheredTexts.Member]
    {
        group.members.flatMap { (name, member) -> [GatheredTexts.Member] in
            let path = path + [Array(name.utf8)]
            switch member {
            case .object(let inner): return texts(inner, type, companions, path: path)
            case .column(let position):
                guard let companion = companions[position] else { return [] }
                return [
                    GatheredTexts.Member(
                        column: position, companion: companion, path: path, isToken: OriginalToken.isForm(of: type.columns[companion]),
                        isParts: type.hasPartTexts(position))
                ]
            }
        }
    }

    var remarks: [String] { notes + gathered.flatMap(\.remarks) + source.remarks }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        guard let (name, batch) = try source.next() else { return nil }
        guard name == typeName else { return (name, batch) }
        var columns = columns(root, batch)
        for i in gathered.indices { columns.append(gathered[i].column(of: batch)) }
        return (name, Batch(count: batch.count, columns: columns))
    }

    /// Returns the companions of the columns in a group: a text without a value is in an object too.
    private func texts(in group: Group) -> [Int] {
        group.members.flatMap { member -> [Int] in
            switch member.member {
            case .column(let position): gathered.flatMap(\.members).first { $0.column == position }.map { [$0.companion] } ?? []
            case .object(let inner): texts(in: inner)
            }
        }
    }

    private func columns(_ group: Group, _ batch: Batch) -> [Column] {
        group.members.map { member in
            switch member.member {
            case .column(let position): return batch.columns[position]
            case .object(let inner):
                let fields = columns(inner, batch)
                var object = Column(
                    ColumnType(.embedded, optional: fields.allSatisfy(\.type.isOptional), target: inner.type),
                    fields: fields.map(\.emptyCopy))
                object.children = fields
                object.count = batch.count
                if object.type.isOptional {
                    let texts = texts(in: inner).map { batch.columns[$0] }
                    object.present = Bits(count: batch.count) { row in
                        fields.contains { $0.isPresent(row) } || texts.contains { $0.isPresent(row) }
                    }
                }
                return object
            }
        }
    }
}

extension Bits {
    fileprivate init(count: Int, _ isSet: (Int) -> Bool) {
        self.init(repeating: false, count: count)
        for row in 0..<count where isSet(row) { self[row] = true }
    }
}
