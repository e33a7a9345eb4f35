import FirnTable

/// The schema of a file that is written: its nodes in the order of the format, and its leaves.
struct SchemaElements {
    /// A leaf, with the names that lead to it and its levels.
    struct Leaf: Sendable {
        var shape: LeafShape
        var path: [String]
        var maximumDefinition: Int
        var maximumRepetition: Int
    }

    struct Node {
        var name: String
        var repetition: ParquetFormat.Repetition?
        var childCount: Int?
        var leaf: LeafShape?
        /// The annotation of a group.
        var group: ParquetFormat.Logical?
        var depth: Int
    }

    private(set) var nodes: [Node] = []
    private(set) var leaves: [Leaf] = []
    /// The number of leaves of each column.
    private(set) var leafCounts: [Int] = []

    init(_ shapes: [ParquetShape], name: String) {
        nodes.append(Node(name: name, repetition: nil, childCount: shapes.count, depth: 0))
        for shape in shapes {
            let before = leaves.count
            add(shape, Parent(path: [], definition: 0, repetition: 0, depth: 1))
            leafCounts.append(leaves.count - before)
        }
    }

    private struct Parent {
        var path: [String]
        var definition: Int
        var repetition: Int
        var depth: Int

        func inner(_ name: String, isOptional: Bool = false, isRepeated: Bool = false) -> Parent {
            Parent(
                path: path + [name], definition: definition + (isOptional || isRepeated ? 1 : 0),
                repetition: repetition + (isRepeated ? 1 : 0),
                depth: depth + 1)
        }
    }

    private mutating func add(_ shape: ParquetShape, _ parent: Parent) {
        let repetition: ParquetFormat.Repetition = shape.isOptional ? .optional : .required
        let inner = parent.inner(shape.name, isOptional: shape.isOptional)
        switch shape.content {
        case .leaf(let leaf):
            nodes.append(Node(name: shape.name, repetition: repetition, leaf: leaf, depth: parent.depth))
            leaves.append(
                Leaf(
                    shape: leaf, path: inner.path, maximumDefinition: inner.definition, maximumRepetition: inner.repetition))
        case .object(let fields):
            nodes.append(Node(name: shape.name, repetition: repetition, childCount: fields.count, depth: parent.depth))
            for field in fields { add(field, inner) }
        case .wrapped(let collection): add(ParquetShape(shape.name, isOptional: shape.isOptional, collection.content), parent)
        case .list(let element):
            nodes.append(Node(name: shape.name, repetition: repetition, childCount: 1, group: .list, depth: parent.depth))
            nodes.append(Node(name: "list", repetition: .repeated, childCount: 1, depth: inner.depth))
            add(element, inner.inner("list", isRepeated: true))
        case .map(let value):
            nodes.append(Node(name: shape.name, repetition: repetition, childCount: 1, group: .map, depth: parent.depth))
            nodes.append(Node(name: "key_value", repetition: .repeated, childCount: 2, depth: inner.depth))
            let entry = inner.inner("key_value", isRepeated: true)
            let key = LeafShape(
                physical: .byteArray, logical: .string, form: .text, column: ColumnSchema("key", ColumnType(.string)))
            add(ParquetShape("key", isOptional: false, .leaf(key)), entry)
            add(value, entry)
        }
    }
}

/// The schema of Parquet files of a schema as text: one `message` for each type of rows.
package struct ParquetSchemaText {
    package let text: String

    package init(_ schema: Schema) {
        var lines: [String] = []
        for type in schema.roots {
            if !lines.isEmpty { lines.append("") }
            let elements = SchemaElements(ParquetShapes(type, in: schema).shapes, name: type.name)
            lines.append("message \(type.name) {")
            var open: [Int] = []
            for node in elements.nodes.dropFirst() {
                while let last = open.last, last >= node.depth {
                    open.removeLast()
                    lines.append(String(repeating: "  ", count: last) + "}")
                }
                lines.append(String(repeating: "  ", count: node.depth) + ParquetSchemaText.line(node))
                if node.leaf == nil { open.append(node.depth) }
            }
            for depth in open.reversed() { lines.append(String(repeating: "  ", count: depth) + "}") }
            lines.append("}")
        }
        text = lines.map { $0 + "\n" }.joined()
    }

    private static func line(_ node: SchemaElements.Node) -> String {
        let repetition = node.repetition.map { "\($0) " } ?? ""
        guard let leaf = node.leaf else {
            return "\(repetition)group \(node.name)" + (node.group.map { " (\($0 == .map ? "MAP" : "LIST"))" } ?? "") + " {"
        }
        let physical =
            switch leaf.physical {
            case .boolean: "boolean"
            case .int32: "int32"
            case .int64: "int64"
            case .int96: "int96"
            case .float: "float"
            case .double: "double"
            case .byteArray: "binary"
            case .fixed: "fixed_len_byte_array(\(leaf.length))"
            }
        return "\(repetition)\(physical) \(node.name)" + (annotation(leaf.logical).map { " (\($0))" } ?? "") + ";"
    }

    private static func annotation(_ logical: ParquetFormat.Logical?) -> String? {
        func name(_ unit: ParquetFormat.Unit) -> String { unit == .nanos ? "NANOS" : unit == .micros ? "MICROS" : "MILLIS" }
        switch logical {
        case nil: return nil
        case .string: return "STRING"
        case .map: return "MAP"
        case .list: return "LIST"
        case .enumeration: return "ENUM"
        case .decimal(let precision, let scale): return "DECIMAL(\(precision),\(scale))"
        case .date: return "DATE"
        case .time(let unit, let utc): return "TIME(\(name(unit)),\(utc))"
        case .timestamp(let unit, let utc): return "TIMESTAMP(\(name(unit)),\(utc))"
        case .int(let bits): return "INTEGER(\(bits),true)"
        case .uint(let bits): return "INTEGER(\(bits),false)"
        case .null: return "UNKNOWN"
        case .json: return "JSON"
        case .bson: return "BSON"
        case .uuid: return "UUID"
        case .float16: return "FLOAT16"
        case .variant: return "VARIANT"
        case .geometry(let system): return "GEOMETRY" + (system.map { "(\($0))" } ?? "")
        case .geography(let system): return "GEOGRAPHY" + (system.map { "(\($0))" } ?? "")
        case .interval: return "INTERVAL"
        }
    }
}
