import FirnBytes
import FirnTable

/// `x.@type == 'string'`: tests the kind of each value.
final class TypeNode: PredicateNode, @unchecked Sendable {
    let operand: Operand
    let kinds: Set<UInt8>
    let inverted: Bool
    let quantifier: Quantifier
    private let describe: @Sendable () -> String
    var text: String { describe() }

    static let null: UInt8 = 0, list: UInt8 = 100, set: UInt8 = 101, map: UInt8 = 102

    init(
        _ operand: Operand, _ kinds: Set<UInt8>, inverted: Bool, quantifier: Quantifier?,
        text: @autoclosure @escaping @Sendable () -> String
    ) {
        self.operand = operand
        self.kinds = kinds
        self.inverted = inverted
        self.quantifier = quantifier ?? .any
        describe = text
        super.init(cost: 30)
    }

    override func narrow(_ scan: SegmentScan, _ vector: Int, _ rows: Int, _ mask: UnsafeMutablePointer<UInt64>) throws(FirnError) {
        let values = try operand.evaluate(scan, vector, rows)
        try values.narrow(mask, rows, quantifier) { (column, out) throws(FirnError) in
            Kernel.each(column.count, nil, out) { kinds.contains(TypeNode.kind(column.value(at: $0))) != inverted }
        }
    }

    override func outline(_ indent: String) -> String { indent + text + note("computed") }

    static func kind(_ value: Value) -> UInt8 {
        switch value {
        case .null: null
        case .list: list
        case .set: set
        case .map, .object: value.typedLink == nil ? map : ScalarKind.link.rawValue
        default: value.scalarKind?.rawValue ?? null
        }
    }

    /// Returns the kinds that a type name stands for, or nil if it is not the name of a type.
    static func kinds(named name: String) -> Set<UInt8>? {
        func kinds(_ list: ScalarKind...) -> Set<UInt8> { Set(list.map(\.rawValue)) }
        switch name.lowercased() {
        case "null": return [null]
        case "int", "integer", "int16", "int32", "int64", "short", "long", "byte", "char": return kinds(.int)
        case "bool", "boolean": return kinds(.bool)
        case "string": return kinds(.string)
        case "binary", "data", "bytearray", "byte[]", "bindata": return kinds(.data)
        case "date", "timestamp", "datetimeoffset": return kinds(.date)
        case "float": return kinds(.float)
        case "double": return kinds(.double)
        case "decimal", "decimal128": return kinds(.decimal)
        case "objectid": return kinds(.objectID)
        case "uuid", "guid": return kinds(.uuid)
        case "link", "objectlink": return kinds(.link)
        case "object", "dictionary": return [map]
        case "array", "list": return [list]
        case "collection": return [list, set, map]
        case "numeric": return kinds(.int, .float, .double, .decimal)
        default: return nil
        }
    }

    static let names = [
        "null", "int", "bool", "string", "binary", "date", "float", "double", "decimal", "objectid", "uuid", "link", "object", "array",
        "collection", "numeric",
    ]
}

extension Binder {
    /// Binds a comparison with `@type`; returns nil for other comparisons.
    mutating func typeTest(_ syntax: ComparisonSyntax) throws(QueryError) -> PredicateNode? {
        guard case .path(var path) = syntax.left, path.steps.last == .type else { return nil }
        path.steps.removeLast()
        guard syntax.comparator.isEquality || syntax.comparator == .isIn, !syntax.folding.isNeeded else {
            throw error("@type can only be used with ==, != and IN", at: syntax.position.offset)
        }
        var names = try list(syntax.right) ?? []
        if names.isEmpty, case .constant(let constant) = syntax.right { names = [constant] }
        if names.isEmpty, case .argument(let index, let position) = syntax.right {
            names = [ConstantSyntax(try argument(index, at: position.offset), at: position)]
        }
        var kinds: Set<UInt8> = []
        for name in names {
            guard case .string(let text) = name.value, let more = TypeNode.kinds(named: text) else {
                throw error("\(name) is not the name of a type", at: name.position.offset, expected: TypeNode.names.joined(separator: ", "))
            }
            kinds.formUnion(more)
        }
        let bound = try entered(try bind(path), at: path.position.offset)
        return TypeNode(
            .path(bound), kinds, inverted: syntax.comparator == .notEqual, quantifier: bound.quantifier, text: syntax.description)
    }
}
