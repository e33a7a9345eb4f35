import FirnBytes
import FirnExchange

/// A node of the schema: a column of values, or a group of nodes.
final class ParquetNode {
    let name: String
    let element: ParquetElement
    let repetition: ParquetFormat.Repetition
    let children: [ParquetNode]
    let physical: ParquetFormat.Physical?
    /// The level at which this node has a value.
    let definition: Int
    /// The number of repeated nodes from the root to this one.
    let depth: Int
    /// The position of its first leaf, and the position after its last one.
    let leaves: Range<Int>
    /// The names from below the root to this node.
    let path: String
    /// Whether it is a decimal that declares more digits than `decimal128` holds, although no value has so many. `ParquetContent` sets it.
    var hasFewDigits = false

    private static let maximumDepth = 64

    var isGroup: Bool { physical == nil }

    /// Builds the tree of a footer. The root is the whole schema.
    static func tree(_ elements: [ParquetElement]) throws(ParquetFault) -> ParquetNode {
        guard let first = elements.first else { throw ParquetFault("the footer has no schema") }
        var position = 0, leaf = 0
        let root = try ParquetNode(elements, &position, &leaf, Parent(path: "", definition: 0, repetition: 0, level: 0))
        guard position == elements.count else {
            throw ParquetFault("the schema has \(elements.count - position) nodes that belong to no group", at: first.offset)
        }
        return root
    }

    private struct Parent {
        var path: String
        var definition: Int
        var repetition: Int
        var level: Int
    }

    private init(_ elements: [ParquetElement], _ position: inout Int, _ leaf: inout Int, _ parent: Parent) throws(ParquetFault) {
        guard position < elements.count else {
            throw ParquetFault("a group of the schema has more children than there are nodes", at: elements[0].offset)
        }
        let element = elements[position], isRoot = position == 0
        position += 1
        guard parent.level < ParquetNode.maximumDepth else {
            throw ParquetFault.unknown("the schema nests deeper than \(ParquetNode.maximumDepth) levels", at: element.offset)
        }
        self.element = element
        name = element.name
        path = isRoot ? "" : parent.path.isEmpty ? element.name : parent.path + "." + element.name
        if isRoot {
            repetition = .required
        } else {
            guard let known = ParquetFormat.Repetition(rawValue: element.repetition ?? -1) else {
                throw ParquetFault.unknown("column \"\(path)\" has the unknown repetition \(element.repetition ?? -1)", at: element.offset)
            }
            repetition = known
        }
        definition = parent.definition + (repetition == .required ? 0 : 1)
        depth = parent.repetition + (repetition == .repeated ? 1 : 0)
        if let code = element.unknownLogical {
            throw ParquetFault.unknown(
                "column \"\(path)\" has the logical type \(code), which is not known", at: element.offset,
                advice: "a newer version of Firn might read it")
        }
        let start = leaf
        // Groups have no type. A group without children is not a column either.
        guard !isRoot, let code = element.physical else {
            physical = nil
            guard element.childCount >= 0, element.childCount <= elements.count - position else {
                throw ParquetFault("\"\(name)\" has \(element.childCount) children, more than there are nodes", at: element.offset)
            }
            var nodes: [ParquetNode] = []
            let inner = Parent(path: path, definition: definition, repetition: depth, level: parent.level + 1)
            for _ in 0..<element.childCount { nodes.append(try ParquetNode(elements, &position, &leaf, inner)) }
            children = nodes
            leaves = start..<leaf
            return
        }
        guard let physical = ParquetFormat.Physical(rawValue: code) else {
            throw ParquetFault.unknown("column \"\(path)\" has the unknown physical type \(code)", at: element.offset)
        }
        guard element.childCount == 0 else { throw ParquetFault("column \"\(path)\" has a type and children", at: element.offset) }
        if physical == .fixed, element.length < 0 || element.length > 1 << 30 {
            throw ParquetFault("column \"\(path)\" has values of \(element.length) bytes", at: element.offset)
        }
        self.physical = physical
        children = []
        leaf += 1
        leaves = start..<leaf
    }

    /// The annotation of the node, also if it is written in the former way.
    var logical: ParquetFormat.Logical? {
        if let logical = element.logical { return logical }
        guard let code = element.converted, let converted = ParquetFormat.Converted(rawValue: code) else { return nil }
        switch converted {
        case .utf8: return .string
        case .map, .mapKeyValue: return isGroup ? .map : nil
        case .list: return .list
        case .enumeration: return .enumeration
        case .decimal: return .decimal(precision: element.precision ?? 0, scale: element.scale ?? 0)
        case .date: return .date
        case .timeMillis: return .time(.millis, utc: true)
        case .timeMicros: return .time(.micros, utc: true)
        case .timestampMillis: return .timestamp(.millis, utc: true)
        case .timestampMicros: return .timestamp(.micros, utc: true)
        case .uint8: return .uint(8)
        case .uint16: return .uint(16)
        case .uint32: return .uint(32)
        case .uint64: return .uint(64)
        case .int8: return .int(8)
        case .int16: return .int(16)
        case .int32: return .int(32)
        case .int64: return .int(64)
        case .json: return .json
        case .bson: return .bson
        case .interval: return .interval
        }
    }

    /// All leaves below this node, or the node itself.
    var allLeaves: [ParquetNode] { isGroup ? children.flatMap(\.allLeaves) : [self] }
}
