import FirnExchange
import FirnTable

/// How the values of a leaf are converted.
enum LeafForm: Equatable {
    case bool
    /// INT32 and INT64, signed.
    case int
    /// INT32 as an unsigned number.
    case unsigned
    /// INT64 as an unsigned number: a decimal.
    case unsigned64
    case real, float16
    case date
    case timestamp(ParquetFormat.Unit)
    case int96
    /// A time of day: text. `seconds` are stored as milliseconds, and have no digits after the point.
    case time(ParquetFormat.Unit), seconds
    /// Decimals that a double holds exactly; those with up to 34 digits; and longer ones, as text.
    case decimalReal(scale: Int), decimal(scale: Int), decimalText(scale: Int)
    case uuid
    /// Text in UTF-8.
    case text
    case bytes
    /// Months, days and milliseconds: text.
    case interval
    /// A column without any value.
    case null
    /// Only where the facts of Firn say so: 12 bytes; the text of a decimal; and values of any kind as `ExactJSON`.
    case objectID, number, exactJSON

    var kind: ScalarKind {
        switch self {
        case .bool: .bool
        case .int, .unsigned: .int
        case .unsigned64, .decimal: .decimal
        case .real, .decimalReal: .double
        case .float16: .float
        case .date, .timestamp, .int96: .date
        case .uuid: .uuid
        case .objectID: .objectID
        case .time, .seconds, .decimalText, .text, .interval, .null, .number, .exactJSON: .string
        case .bytes: .data
        }
    }
}

extension ParquetNode {
    /// The type of a leaf: how it is converted, what its column is, and how it is written.
    func leafType() throws(ParquetFault) -> (form: LeafForm, kind: ScalarKind, notation: Notation) {
        guard let physical else { throw ParquetFault("\"\(path)\" is a group", at: element.offset) }
        if let logical, let typed = try annotated(logical, physical) { return typed }
        switch physical {
        case .boolean: return (.bool, .bool, .plain)
        case .int32, .int64: return (.int, .int, .plain)
        case .int96: return (.int96, .date, .plain)
        case .float: return (.real, .float, .plain)
        case .double: return (.real, .double, .plain)
        case .byteArray, .fixed: return (.bytes, .data, .plain)
        }
    }

    /// What the values are in formats with more types than Firn stores; nil if the type of the column says it.
    var logicalType: LogicalType? {
        switch logical {
        case nil:
            switch physical {
            case .int32: .integer(bits: 32, isSigned: true)
            case .int96: .timestamp(.nanosecond, zone: nil)
            default: nil
            }
        case .int(let width): width == 64 ? nil : .integer(bits: width, isSigned: true)
        case .uint(let width): .integer(bits: width, isSigned: false)
        case .float16: .float16
        case .decimal(let precision, let scale): .decimal(precision: precision, scale: scale)
        case .date: .date
        case .time(let unit, _): .time(unit.timeUnit)
        case .timestamp(let unit, let utc): .timestamp(unit.timeUnit, zone: utc ? "UTC" : nil)
        case .interval: .interval
        case .enumeration: .enumeration([])
        case .json: .json
        case .geometry(let system), .geography(let system): .geometry(system: system)
        case .string, .map, .list, .null, .bson, .uuid, .variant: nil
        }
    }

    /// Returns nil for an annotation that does not concern values.
    private func annotated(_ logical: ParquetFormat.Logical, _ physical: ParquetFormat.Physical) throws(ParquetFault)
        -> (form: LeafForm, kind: ScalarKind, notation: Notation)?
    {
        func plain(_ form: LeafForm) -> (form: LeafForm, kind: ScalarKind, notation: Notation) { (form, form.kind, .plain) }
        let isWhole = physical == .int32 || physical == .int64, isText = physical == .byteArray || physical == .fixed
        switch logical {
        case .string, .enumeration, .json: if isText { return plain(.text) }
        case .bson, .geometry, .geography: if isText { return plain(.bytes) }
        case .null: return plain(.null)
        case .date: if physical == .int32 { return (.date, .date, .dateOnly) }
        case .time(let unit, _): if isWhole { return plain(.time(unit)) }
        case .timestamp(let unit, _): if physical == .int64 { return plain(.timestamp(unit)) }
        case .int(let width):
            if isWhole, (width == 64) == (physical == .int64) { return plain(.int) }
        case .uint(let width):
            if physical == .int64, width == 64 { return plain(.unsigned64) }
            if physical == .int32, width < 64 { return plain(.unsigned) }
        case .uuid: if physical == .fixed, element.length == 16 { return plain(.uuid) }
        case .float16: if physical == .fixed, element.length == 2 { return plain(.float16) }
        case .interval: if physical == .fixed, element.length == 12 { return plain(.interval) }
        case .decimal(let precision, let scale): if isWhole || isText { return try decimal(precision, scale) }
        case .map, .list, .variant: break
        }
        throw ParquetFault(
            "column \"\(path)\" is annotated as \(logical), which \(physical.name) cannot be", at: element.offset, code: .unsupported)
    }

    private func decimal(_ precision: Int, _ scale: Int) throws(ParquetFault) -> (form: LeafForm, kind: ScalarKind, notation: Notation) {
        guard precision > 0, scale >= 0, scale <= precision, precision <= 1 << 20 else {
            throw ParquetFault("column \"\(path)\" is a decimal with the precision \(precision) and the scale \(scale)", at: element.offset)
        }
        if precision <= 15 { return (.decimalReal(scale: scale), .double, .fixed(UInt8(scale))) }
        return precision <= 34 || hasFewDigits ? (.decimal(scale: scale), .decimal, .plain) : (.decimalText(scale: scale), .string, .plain)
    }
}

/// How a node becomes a column.
final class ParquetPlan {
    indirect enum Shape {
        case leaf(position: Int, form: LeafForm)
        /// Values as `ExactJSON`: an empty column for them, and the types of objects.
        case json(position: Int, empty: Column, schema: Schema)
        /// Original texts, which are metadata of the file.
        case given(OriginalTextRows.Texts)
        /// Objects of an embedded type.
        case object(fields: [ParquetPlan])
        /// A list. The levels are those of the repeated node.
        case list(element: ParquetPlan, definition: Int, repetition: Int)
        /// A list in a list or map: an object whose only field is the list.
        case wrapped(ParquetPlan)
        /// A map with text keys.
        case map(key: ParquetPlan, value: ParquetPlan, definition: Int, repetition: Int)
    }

    let name: String
    let shape: Shape
    /// The type of the column.
    let type: ColumnType
    let notation: Notation
    /// The definition level from which the node itself has a value.
    let definition: Int
    let leaves: Range<Int>
    let node: ParquetNode?
    /// The column, if the facts of Firn describe it.
    let known: ColumnSchema?

    init(
        _ name: String, _ shape: Shape, _ type: ColumnType, notation: Notation = .plain, definition: Int, leaves: Range<Int>,
        node: ParquetNode? = nil, known: ColumnSchema? = nil
    ) {
        self.known = known
        self.name = name
        self.shape = shape
        self.type = type
        self.notation = notation
        self.definition = definition
        self.leaves = leaves
        self.node = node
    }

    /// The empty column of this plan.
    var column: Column {
        switch shape {
        case .leaf, .given: Column(type)
        case .json(_, let empty, _): empty
        case .object(let fields):
            {
                var column = Column(type); column.children = fields.map(\.column); return column
            }()
        case .wrapped(let inner):
            {
                var column = Column(type); column.children = [inner.column]; return column
            }()
        case .list(let element, _, _):
            {
                var column = Column(type); column.children = [element.column]; return column
            }()
        case .map(let key, let value, _, _):
            {
                var column = Column(type); column.children = [key.column, value.column]; return column
            }()
        }
    }
}

/// Plans the columns of a file, and collects the types of their objects.
struct ParquetPlanner {
    private(set) var embedded: [TypeSchema] = []
    private(set) var remarks: [String] = []
    private var names = DistinctNames()
    private let facts: ParquetFacts?

    init(typeName: String, facts: ParquetFacts? = nil) {
        self.facts = facts
        _ = names.add(typeName)
        for type in facts?.schema.types ?? [] where type.isEmbedded { _ = names.add(type.name) }
    }

    /// Returns the columns of the rows. The facts of Firn say what they are, as far as they fit the columns of the file.
    mutating func columns(_ root: ParquetNode, typeName: String) throws(ParquetFault) -> [ParquetPlan] {
        guard let facts else { return try fields(root, path: typeName) }
        var out: [ParquetPlan] = []
        // Names that occur twice are not of Firn.
        guard Set(root.children.map(\.name)).count == root.children.count else { return try fields(root, path: typeName) }
        for child in root.children {
            if let position = facts.rows.index(of: child.name), let plan = facts.plan(child, like: facts.rows.columns[position]) {
                out.append(plan)
            } else {
                out += try fields([child], path: typeName)
            }
        }
        let targets = ParquetContent.targets(out.map(\.type), facts.schema.types)
        embedded += facts.schema.types.filter { $0.isEmbedded && targets.contains($0.name) }
        return out
    }

    /// Returns the columns of a group, with different names.
    mutating func fields(_ group: ParquetNode, path: String) throws(ParquetFault) -> [ParquetPlan] {
        try fields(group.children, path: path)
    }

    private mutating func fields(_ children: [ParquetNode], path: String) throws(ParquetFault) -> [ParquetPlan] {
        var used = DistinctNames(), out: [ParquetPlan] = []
        for child in children {
            if child.leaves.isEmpty {
                remarks.append("column \"\(child.path)\" is a group without columns, and is left out")
                continue
            }
            let name = used.add(child.name)
            if name != child.name { remarks.append("a second column \"\(child.path)\" is named \"\(name)\"") }
            out.append(try plan(child, name, path: path + "_" + name))
        }
        return out
    }

    mutating func plan(_ node: ParquetNode, _ name: String, path: String) throws(ParquetFault) -> ParquetPlan {
        guard node.repetition == .repeated else { return try single(node, name, path: path) }
        // A repeated node without an annotation is a list of required elements.
        let element = try single(node, name, path: path)
        return list(
            name, of: element, isOptional: false, definition: node.definition - 1, repeated: node, path: path, leaves: node.leaves)
    }

    /// Plans a node as one value: its repetition is that of the list that contains it, or optional or required.
    private mutating func single(_ node: ParquetNode, _ name: String, path: String) throws(ParquetFault) -> ParquetPlan {
        let isOptional = node.repetition == .optional
        guard node.isGroup else {
            let (form, kind, notation) = try node.leafType()
            return ParquetPlan(
                name, .leaf(position: node.leaves.lowerBound, form: form), ColumnType(kind, optional: isOptional || form == .null),
                notation: notation, definition: node.definition, leaves: node.leaves, node: node)
        }
        if node.repetition != .repeated || node.logical == .list || node.logical == .map {
            if node.logical == .list, let repeated = node.onlyRepeated { return try annotatedList(node, repeated, name, path: path) }
            if node.logical == .map, let entry = node.onlyRepeated, entry.isGroup,
                (1...2).contains(entry.children.count), !entry.children.contains(where: { $0.leaves.isEmpty })
            {
                return try map(node, entry, name, path: path)
            }
        }
        if node.logical == .variant { remarks.append("column \"\(node.path)\" is a variant, and is read as the fields that store it") }
        return try object(node, name, path: path)
    }

    private mutating func object(_ node: ParquetNode, _ name: String, path: String) throws(ParquetFault) -> ParquetPlan {
        let target = names.add(path), position = embedded.count
        embedded.append(TypeSchema(target, columns: [], isEmbedded: true))
        let fields = try fields(node, path: target)
        embedded[position].columns = ParquetPlanner.columns(fields)
        return ParquetPlan(
            name, .object(fields: fields), ColumnType(.embedded, optional: node.repetition == .optional, target: target),
            definition: node.definition, leaves: node.leaves, node: node)
    }

    /// Plans a group that is annotated as a list, in the standard shape or one of the older ones (LogicalTypes.md, "Lists").
    private mutating func annotatedList(_ node: ParquetNode, _ repeated: ParquetNode, _ name: String, path: String) throws(ParquetFault)
        -> ParquetPlan
    {
        let isElement =
            !repeated.isGroup || repeated.children.count != 1 || repeated.name == "array" || repeated.name == node.name + "_tuple"
            || repeated.logical == .list || repeated.logical == .map || repeated.children[0].repetition == .repeated
        let element =
            isElement
            ? try single(repeated, "element", path: repeated.isCollection ? path + "_item" : path)
            : try plan(repeated.children[0], "element", path: repeated.children[0].isCollection ? path + "_item" : path)
        return list(
            name, of: element, isOptional: node.repetition == .optional, definition: node.definition, repeated: repeated, path: path,
            leaves: node.leaves)
    }

    private mutating func list(
        _ name: String, of element: ParquetPlan, isOptional: Bool, definition: Int, repeated: ParquetNode, path: String, leaves: Range<Int>
    ) -> ParquetPlan {
        let inner = wrapped(element, path: path + "_item")
        return ParquetPlan(
            name, .list(element: inner, definition: repeated.definition, repetition: repeated.depth),
            ColumnType(
                inner.type.kind, optional: isOptional, collection: .list, elementOptional: inner.type.isOptional, target: inner.type.target),
            notation: inner.notation, definition: definition, leaves: leaves, node: inner.node)
    }

    /// Returns a plan that can be an element: collections become objects with one field.
    private mutating func wrapped(_ plan: ParquetPlan, path: String) -> ParquetPlan {
        guard plan.type.isCollection else { return plan }
        var type = plan.type
        type.isOptional = false
        let inner = ParquetPlan(
            "value", plan.shape, type, notation: plan.notation, definition: plan.definition, leaves: plan.leaves, node: plan.node)
        let target = names.add(path)
        var wrapper = TypeSchema(target, columns: ParquetPlanner.columns([inner]), isEmbedded: true)
        wrapper.envelope = TypeSchema.bareEnvelope
        embedded.append(wrapper)
        return ParquetPlan(
            plan.name, .wrapped(inner), ColumnType(.embedded, optional: plan.type.isOptional, target: target), definition: plan.definition,
            leaves: plan.leaves)
    }

    private mutating func map(_ node: ParquetNode, _ entry: ParquetNode, _ name: String, path: String) throws(ParquetFault) -> ParquetPlan {
        let keyNode = entry.children[0], isOptional = node.repetition == .optional
        if entry.children.count == 2, !keyNode.isGroup, keyNode.repetition != .repeated {
            let key = try plan(keyNode, "key", path: path + "_key")
            if case .leaf(_, .text) = key.shape {
                let content = entry.children[1]
                let value = wrapped(try plan(content, "value", path: content.isCollection ? path + "_value" : path), path: path + "_value")
                return ParquetPlan(
                    name, .map(key: key, value: value, definition: entry.definition, repetition: entry.depth),
                    ColumnType(
                        value.type.kind, optional: isOptional, collection: .map, elementOptional: value.type.isOptional,
                        target: value.type.target),
                    notation: value.notation, definition: node.definition, leaves: node.leaves, node: value.node)
            }
        }
        // Keys that are not texts: a list of entries. Without values, a list of keys.
        let element =
            entry.children.count == 1
            ? try plan(keyNode, "key", path: path) : try object(entry, "entry", path: path + "_entry")
        return list(
            name, of: element, isOptional: isOptional, definition: node.definition, repeated: entry, path: path, leaves: node.leaves)
    }

    static func columns(_ fields: [ParquetPlan]) -> [ColumnSchema] {
        fields.enumerated().map { index, field in
            if var known = field.known {
                known.id = UInt32(index)
                return known
            }
            var column = ColumnSchema(field.name, field.type, id: UInt32(index), notation: field.notation)
            if case .leaf = field.shape, let logical = field.node?.logicalType, logical.fits(field.type) { column.logical = logical }
            return column
        }
    }
}

extension ParquetNode {
    /// Whether the node becomes a list or map.
    var isCollection: Bool { repetition == .repeated || isGroup && (logical == .list || logical == .map) }

    /// The only child, if it is repeated and has columns.
    var onlyRepeated: ParquetNode? {
        guard children.count == 1, children[0].repetition == .repeated, !children[0].leaves.isEmpty else { return nil }
        return children[0]
    }
}
