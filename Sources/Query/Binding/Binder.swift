import FirnBytes
import FirnTable

/// Binds the names and types of a query to a table. Reports all errors of a query before any row is read.
struct Binder {
    let type: TypeSchema
    let schema: Schema
    let arguments: [Value]
    let table: any Table
    let names: PropertyNames
    /// The tables of other types by name; nil if a table is not available.
    var others: [String: (any Table)?] = [:]
    /// The text that positions refer to.
    var text = ""
    var slots: SlotTable
    /// Whether 0 and 1 are booleans where a boolean is expected.
    var acceptsNumbersAsBooleans = false
    /// Whether the rows are embedded objects without row ids, so that their backlinks are not available.
    var isDetached = false
    /// The depth of nesting of the current condition.
    var depth = 0
    /// The number of text tests; each has a set of matching codes for each segment.
    var textTests = 0

    init(_ table: any Table, arguments: [Value], names: PropertyNames = PropertyNames()) {
        type = table.type
        schema = table.schema
        slots = SlotTable(table.schema)
        self.table = table
        self.arguments = arguments
        self.names = names
    }

    /// Returns the column of the rows that a path means by a name; nil if there is none.
    func column(_ name: String) -> Int? { names.column(name, in: type) }

    /// The limit of nesting. It is greater than that of the parser, and bounds trees that programs build.
    static let maximumDepth = 2 * Parser.maximumDepth

    func error(_ message: String, at position: Int, expected: String = "", suggestion: String? = nil) -> QueryError {
        QueryError(.binding, message, in: text, at: position, expected: expected, suggestion: suggestion)
    }

    // MARK: Predicates

    mutating func predicate(_ syntax: PredicateSyntax) throws(QueryError) -> PredicateNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Binder.maximumDepth else { throw error("conditions nest more than \(Binder.maximumDepth) deep", at: 0) }
        switch syntax {
        case .constant(let value): return ConstantNode(value)
        case .not(let inner): return NotNode(try predicate(inner))
        case .and(let parts): return AndNode(try predicates(parts))
        case .or(let parts): return OrNode(try predicates(parts))
        case .comparison(let comparison): return try self.comparison(comparison)
        }
    }

    private mutating func predicates(_ parts: [PredicateSyntax]) throws(QueryError) -> [PredicateNode] {
        var out: [PredicateNode] = []
        for part in parts { out.append(try predicate(part)) }
        return out
    }

    // MARK: Expressions

    func argument(_ index: Int, at position: Int) throws(QueryError) -> Value {
        guard index < arguments.count else {
            throw error(
                "Request for argument at index \(index) but \(arguments.isEmpty ? "no" : "only \(arguments.count)") arguments are provided",
                at: position)
        }
        return arguments[index]
    }

    /// Returns the constant for an argument. A link of a value of any type becomes a link to a row of its type.
    private static func constant(_ value: Value, at position: TextPosition) -> ConstantSyntax {
        guard let (typeName, rowID) = value.typedLink else { return ConstantSyntax(value, at: position) }
        var constant = ConstantSyntax(.link(rowID), at: position)
        constant.target = typeName
        return constant
    }

    /// Returns the constants of a list, or nil if the expression is not a list.
    mutating func list(_ expression: ExpressionSyntax) throws(QueryError) -> [ConstantSyntax]? {
        switch expression {
        case .list(_, let parts, _):
            var out: [ConstantSyntax] = []
            for part in parts {
                switch part {
                case .constant(let constant): out.append(constant)
                case .argument(let index, let position): out.append(Binder.constant(try argument(index, at: position.offset), at: position))
                case .object(let object, let position): out.append(try row(object, at: position))
                default: throw error("a list holds constants only", at: part.position)
                }
            }
            return out
        case .argument(let index, let position):
            switch try argument(index, at: position.offset) {
            case .list(let values), .set(let values): return values.map { Binder.constant($0, at: position) }
            default: return nil
            }
        default: return nil
        }
    }

    mutating func operand(_ expression: ExpressionSyntax) throws(QueryError) -> Operand {
        switch expression {
        case .constant(let constant): return .constant(constant)
        case .argument(let index, let position): return .constant(Binder.constant(try argument(index, at: position.offset), at: position))
        case .path(let path): return .path(try bind(path))
        case .list(_, _, let position): throw error("a list is not allowed here", at: position.offset)
        case .arithmetic(let op, let left, let right): return try arithmetic(op, left, right)
        case .subquery(let syntax): return .path(try subquery(syntax))
        case .object(let object, let position): return .constant(try row(object, at: position))
        case .geo(_, let position): throw error("a shape is allowed only on the right of GEOWITHIN", at: position.offset)
        }
    }

    private mutating func arithmetic(_ op: ArithmeticOperator, _ left: ExpressionSyntax, _ right: ExpressionSyntax) throws(QueryError)
        -> Operand
    {
        let a = try numeric(left), b = try numeric(right)
        if case .constant(let x) = a, case .constant(let y) = b {
            return .constant(ConstantSyntax(Comparison.combine(op, x.value, y.value), at: x.position))
        }
        guard !(a.isMany && b.isMany) else { throw error("two lists cannot be combined with \"\(op.rawValue)\"", at: right.position) }
        let kind = Binder.common(a.kind, b.kind)
        return .arithmetic(op, Binder.exact(a, kind), Binder.exact(b, kind), kind)
    }

    private mutating func numeric(_ expression: ExpressionSyntax) throws(QueryError) -> Operand {
        var operand = try operand(expression)
        if case .path(let path) = operand { operand = .path(try entered(path, at: expression.position)) }
        if case .constant(let constant) = operand, constant.value.isNull { return operand }
        guard let kind = operand.kind, kind.isNumber || kind == .any else {
            throw error("arithmetic needs numbers, not \(operand.kind?.queryName ?? "this")", at: expression.position)
        }
        return operand
    }

    /// Returns a literal with a decimal point as an exact decimal, if the kind is decimal.
    private static func exact(_ operand: Operand, _ kind: ScalarKind) -> Operand {
        guard kind == .decimal, case .constant(let constant) = operand, let digits = constant.digits, let decimal = Decimal(digits) else {
            return operand
        }
        return .constant(ConstantSyntax(.decimal(decimal), at: constant.position))
    }

    private static func common(_ a: ScalarKind?, _ b: ScalarKind?) -> ScalarKind {
        let kinds = [a ?? b ?? .int, b ?? a ?? .int]
        for kind in [ScalarKind.any, .decimal, .double, .float] where kinds.contains(kind) { return kind }
        return .int
    }

    /// Returns the path to the elements if a path ends in a collection; any other path unchanged.
    func entered(_ path: BoundPath, at position: Int) throws(QueryError) -> BoundPath {
        var path = path
        if path.type.isCollection {
            path.steps.append(.enter)
            path.type = path.type.element
            path.isMany = true
        } else if path.quantifier != nil, !path.isMany {
            guard path.type.kind == .any else {
                throw error("The keypath following \"\(path.quantifier!.rawValue)\" must contain a list", at: position)
            }
            path.steps.append(.anyEnter)
            path.isMany = true
        }
        return path
    }

    /// Binds a path that has one value for each row, for sorting, distinct rows and groups.
    mutating func scalar(_ path: PathSyntax, for purpose: String) throws(QueryError) -> BoundPath {
        let bound = try bind(path)
        guard !bound.type.isCollection, !bound.isMany, bound.type.kind != .embedded else {
            throw error(
                "\(purpose) needs one value a row, but \"\(bound.text)\" is \(bound.isMany ? "a list" : "of type \(bound.type.name)")",
                at: path.position.offset)
        }
        return resolved(bound)
    }

    /// As `scalar`, for a key of SORT.
    mutating func sortKey(_ path: PathSyntax) throws(QueryError) -> BoundPath {
        let bound = try scalar(path, for: "SORT")
        guard bound.type.kind != .link else {
            throw error(
                "property \"\(bound.text)\" of type \"object\" cannot be the final property in the key path: sort by a property of the object",
                at: path.position.offset)
        }
        return bound
    }
}

extension ScalarKind {
    /// The name of the kind in messages.
    var queryName: String {
        switch self {
        case .data: "binary"
        case .date: "timestamp"
        case .any: "mixed"
        case .embedded: "object"
        default: name
        }
    }
}
