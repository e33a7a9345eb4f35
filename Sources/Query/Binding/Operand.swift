import FirnBytes
import FirnTable

/// A side of a comparison, a sort key or a selected value, with its names and types bound to a table.
indirect enum Operand: Sendable {
    /// One value, or a list of them.
    case constant(ConstantSyntax)
    case path(BoundPath)
    case arithmetic(ArithmeticOperator, Operand, Operand, ScalarKind)
}

/// A bound path: the column that a reader decodes (a slot of the plan), and the steps from there that are done in memory.
struct BoundPath: Sendable {
    var slot: Int
    var steps: [Step]
    /// The type of the result; of one element if `isMany`.
    var type: ColumnType
    /// Whether there are several values for each row. A comparison then needs a quantifier, or uses ANY.
    var isMany: Bool
    var quantifier: Quantifier?
    /// The path as written.
    var syntax: PathSyntax
    /// Whether the path names a collection column or its elements directly, not through embedded objects.
    var isPrimitiveCollection: Bool
    /// How the column that the values are read from describes them; plain for computed values.
    var description = Description()
    var notation: Notation { description.notation }
    var logical: LogicalType? { schema("").logical }

    /// The notation and the attributes of a column.
    struct Description: Sendable {
        var notation = Notation.plain
        var attributes: [SchemaAttribute] = []

        init() {}

        init(_ column: ColumnSchema) {
            notation = column.notation
            attributes = column.otherAttributes
        }
    }

    /// Returns the schema of a column with the values of the path.
    func schema(_ name: String, id: Int = 0) -> ColumnSchema {
        var column = ColumnSchema(name, type, id: UInt32(id), notation: notation)
        if !description.attributes.isEmpty { column.otherAttributes = description.attributes }
        return column
    }

    enum Step: Sendable, Equatable {
        /// A field of an embedded object.
        case field(Int)
        /// From a collection to its elements (a map's values).
        case enter
        /// From a map to its keys.
        case keys
        case pick(Pick)
        case key([UInt8])
        /// The number of elements, or of bytes of a string or binary.
        case count
        /// The number of bytes of an element; 0 for null.
        case length
        case aggregate(PathStep)
        /// Steps into mixed values.
        case anyKey(String), anyPick(Pick), anyEnter, anyCount
        /// The same as `anyKey`, which also reads the rows that mixed values link to: a member of the plan.
        case anyMember(Int)
        /// From links to a column of the rows that they lead to, by a hop of the plan.
        case follow(Int)
        /// Makes links to missing rows null.
        case resolve(Int)
        /// From links to the lists of rows that link to their targets, by backlinks of the plan; or the number of these rows, over several
        /// backlinks.
        case inverse(Int), inverseCount([Int])
        /// The number of elements that match a subquery of the plan.
        case subquery(Int)
    }

    enum Pick: Sendable, Equatable {
        case at(Int), first, last
    }

    /// Whether the path reads rows other than those of the scanned table.
    var leavesTable: Bool {
        steps.contains { step in
            switch step {
            case .follow, .resolve, .anyMember, .inverse, .inverseCount, .subquery: true
            default: false
            }
        }
    }

    /// The path as written, without a quantifier.
    var text: String { PathSyntax(syntax.steps).description }

    /// Whether the path is a slot without steps: one stored value for each row.
    var isPlain: Bool { steps.isEmpty && !isMany && !type.isCollection }
}

/// The values of an operand for the rows of one vector.
struct Values {
    var column: Column
    /// Where each row's elements begin in `column`; nil if there is one value for each row.
    var offsets: [Int]?
    /// Rows that match no comparison (`list[0]` of an empty list).
    var absent: Bits?
    /// Rows whose sum does not fit its type. It is an error to use them.
    var unfit: [Int] = []

    static let unfitError = FirnError(.unsupported, "a @sum of ints does not fit into 64 bits")

    /// Returns the values, or throws `unfitError` if the sum of any row does not fit.
    func whole() throws(FirnError) -> Values {
        guard unfit.isEmpty else { throw Values.unfitError }
        return self
    }
}

extension Operand {
    var isConstant: Bool {
        if case .constant = self { true } else { false }
    }

    /// The kind of the values; nil for null, lists and constants without a kind.
    var kind: ScalarKind? {
        switch self {
        case .constant(let constant): constant.value.scalarKind
        case .path(let path): path.type.kind
        case .arithmetic(_, _, _, let kind): kind
        }
    }

    var isMany: Bool {
        switch self {
        case .constant: false
        case .path(let path): path.isMany
        case .arithmetic(_, let left, let right, _): left.isMany || right.isMany
        }
    }

    /// The type of a column that holds the result.
    var type: ColumnType {
        switch self {
        case .constant(let constant): ColumnType(constant.value.scalarKind ?? .any, optional: true)
        case .path(let path): path.type
        case .arithmetic(_, _, _, let kind): ColumnType(kind, optional: true)
        }
    }

    /// Whether the operand reads rows other than those of the scanned table.
    var leavesTable: Bool {
        switch self {
        case .constant: false
        case .path(let path): path.leavesTable
        case .arithmetic(_, let left, let right, _): left.leavesTable || right.leavesTable
        }
    }

    /// Returns the values for all rows of a vector, or only for the `chosen` ones, consecutively. If `checked`, int overflow is an error,
    /// as sums require; otherwise ints wrap, as in comparisons.
    func evaluate(_ scan: SegmentScan, _ vector: Int, _ rows: Int, only chosen: UnsafeBufferPointer<Int32>? = nil, checked: Bool = false)
        throws(FirnError) -> Values
    {
        let chosen = chosen.flatMap { $0.count < rows ? $0 : nil }
        switch self {
        case .constant(let constant):
            var column = Column(ColumnType(.any))
            for _ in 0..<(chosen?.count ?? rows) { column.append(constant.value) }
            return Values(column: column)
        case .path(let path):
            var values: Values
            if let chosen {
                values = Values(column: try scan.column(path.slot, vector, only: chosen))
            } else {
                values = Values(column: try scan.column(path.slot, vector))
            }
            for step in path.steps { try values.apply(step, scan) }
            return values
        case .arithmetic(let op, let left, let right, let kind):
            return try Operand.combine(op, kind, checked: checked, left, right) { (operand) throws(FirnError) in
                try operand.evaluate(scan, vector, rows, only: chosen, checked: checked)
            }
        }
    }

    /// The same for rows in an array.
    func evaluate(_ scan: SegmentScan, _ vector: Int, _ rows: Int, only chosen: [Int32]) throws(FirnError) -> Values {
        try chosen.withUnsafeBufferPointer { (chosen) throws(FirnError) in try evaluate(scan, vector, rows, only: chosen) }
    }

    private static func combine(
        _ op: ArithmeticOperator, _ kind: ScalarKind, checked: Bool, _ left: Operand, _ right: Operand,
        _ values: (Operand) throws(FirnError) -> Values
    ) throws(FirnError) -> Values {
        let shape: Values, a: NumberSource, b: NumberSource
        switch (left, right) {
        case (_, .constant(let constant)):
            shape = try values(left)
            (a, b) = (.column(shape.column), .constant(constant.value))
        case (.constant(let constant), _):
            shape = try values(right)
            (a, b) = (.constant(constant.value), .column(shape.column))
        default:
            var (x, y) = (try values(left), try values(right))
            if let offsets = x.offsets, y.offsets == nil {
                y = y.expanded(offsets)
            } else if let offsets = y.offsets, x.offsets == nil {
                x = x.expanded(offsets)
            }
            (a, b) = (.column(x.column), .column(y.column))
            var merged = x
            merged.unfit += y.unfit
            if let more = y.absent {
                merged.absent = merged.absent.map { Bits(words: zip($0.words, more.words).map { $0 | $1 }, count: more.count) } ?? more
            }
            shape = merged
        }
        guard let column = NumberSource.combine(op, a, b, kind, shape.column.count, checked: checked) else {
            throw FirnError(
                .usage, "a number computed from ints does not fit into 64 bits",
                advice: "multiply one of them by 1.0, to compute with doubles")
        }
        return Values(column: column, offsets: shape.offsets, absent: shape.absent, unfit: shape.unfit)
    }
}
