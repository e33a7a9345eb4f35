import FirnBytes
import FirnModel

/// A side of a comparison, a sort key or a selected value, with its names and types bound to a table.
indirect enum Operand: Sendable {
    /// One value, or a list of them.
    case constant(ConstantSyntax)
    case path(BoundPath)
    case arithmetic(ArithmeticOperator, Operand, Operand, ScalarKind)
}

/// A path: what one reader gives (a slot of the plan), and the steps from there that are done in memory.
struct BoundPath: Sendable {
    var slot: Int
    var steps: [Step]
    /// Of the result: of one element where `isMany`.
    var type: ColumnType
    /// Several values a row: a comparison needs a quantifier or takes ANY.
    var isMany: Bool
    var quantifier: Quantifier?
    /// As written.
    var syntax: PathSyntax
    /// The column or the elements of the column that the path names directly, not something behind embedded objects.
    var isPrimitiveCollection: Bool
    /// How the column that the values come from writes them; plain of what is computed.
    var notation = Notation.plain

    enum Step: Sendable, Equatable {
        /// A field of an embedded object.
        case field(Int)
        /// From a collection to its elements (a map's values).
        case enter
        /// From a map to its keys.
        case keys
        case pick(Pick)
        case key([UInt8])
        /// How many elements, or bytes of a string or binary.
        case count
        /// Bytes of an element; none for null.
        case length
        case aggregate(PathStep)
        /// Into values of any kind.
        case anyKey(String), anyPick(Pick), anyEnter, anyCount
        /// From links to a column of the rows that they lead to: a hop of the plan.
        case follow(Int)
        /// Makes links to rows that are not there null.
        case resolve(Int)
        /// From links to the lists of those rows that link to them: backlinks of the plan; or how many there are of several kinds.
        case inverse(Int), inverseCount([Int])
        /// How many elements a subquery of the plan holds for.
        case subquery(Int)
    }

    enum Pick: Sendable, Equatable {
        case at(Int), first, last
    }

    /// Looks beyond the rows of the table that is searched.
    var leavesTable: Bool {
        steps.contains { step in
            switch step {
            case .follow, .resolve, .inverse, .inverseCount, .subquery: true
            default: false
            }
        }
    }

    /// As written, without a quantifier.
    var text: String { PathSyntax(syntax.steps).description }

    /// Nothing but the slot: one value a row, as the file holds it.
    var isPlain: Bool { steps.isEmpty && !isMany && !type.isCollection }
}

/// The values of an operand for the rows of one vector.
struct Values {
    var column: Column
    /// Where each row's elements begin in `column`; nil if there is one a row.
    var offsets: [Int]?
    /// Rows that take part in no comparison (`list[0]` of an empty list).
    var absent: Bits?
    /// Rows for which a sum does not fit its type: an error for those who ask about them.
    var unfit: [Int] = []

    static let unfitError = FirnError(.unsupported, "a @sum of ints does not fit into 64 bits")

    /// For those who ask about all the rows.
    func whole() throws(FirnError) -> Values {
        guard unfit.isEmpty else { throw Values.unfitError }
        return self
    }
}

extension Operand {
    var isConstant: Bool {
        if case .constant = self { true } else { false }
    }

    /// Nil for null, lists and constants without a kind.
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

    /// The value type of the result, for columns that hold it.
    var type: ColumnType {
        switch self {
        case .constant(let constant): ColumnType(constant.value.scalarKind ?? .any, optional: true)
        case .path(let path): path.type
        case .arithmetic(_, _, _, let kind): ColumnType(kind, optional: true)
        }
    }

    /// Looks beyond the rows of the table that is searched.
    var leavesTable: Bool {
        switch self {
        case .constant: false
        case .path(let path): path.leavesTable
        case .arithmetic(_, let left, let right, _): left.leavesTable || right.leavesTable
        }
    }

    /// The values for all rows of a vector, or for some of them alone, one after the other. `checked`: ints that overflow are an error, as
    /// sums want them; in comparisons they wrap.
    func evaluate(_ scan: SegmentScan, _ vector: Int, _ rows: Int, only chosen: UnsafeBufferPointer<Int32>? = nil, checked: Bool = false) throws(FirnError) -> Values {
        let chosen = chosen.flatMap { $0.count < rows ? $0 : nil }
        switch self {
        case .constant(let constant):
            var column = Column(ColumnType(.any))
            for _ in 0..<(chosen?.count ?? rows) { column.append(constant.value) }
            return Values(column: column)
        case .path(let path):
            var values: Values
            if let chosen { values = Values(column: try scan.column(path.slot, vector, only: chosen)) } else { values = Values(column: try scan.column(path.slot, vector)) }
            for step in path.steps { try values.apply(step, scan) }
            return values
        case .arithmetic(let op, let left, let right, let kind):
            return try Operand.combine(op, kind, checked: checked, left, right) { (operand) throws(FirnError) in
                try operand.evaluate(scan, vector, rows, only: chosen, checked: checked)
            }
        }
    }

    /// The same with the rows in an array.
    func evaluate(_ scan: SegmentScan, _ vector: Int, _ rows: Int, only chosen: [Int32]) throws(FirnError) -> Values {
        var out: Result<Values, FirnError>?
        chosen.withUnsafeBufferPointer { chosen in
            do throws(FirnError) { out = .success(try evaluate(scan, vector, rows, only: chosen)) } catch { out = .failure(error) }
        }
        return try out!.get()
    }

    private static func combine(_ op: ArithmeticOperator, _ kind: ScalarKind, checked: Bool, _ left: Operand, _ right: Operand,
                                _ values: (Operand) throws(FirnError) -> Values) throws(FirnError) -> Values {
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
            if let offsets = x.offsets, y.offsets == nil { y = y.expanded(offsets) } else if let offsets = y.offsets, x.offsets == nil { x = x.expanded(offsets) }
            (a, b) = (.column(x.column), .column(y.column))
            var merged = x
            merged.unfit += y.unfit
            if let more = y.absent { merged.absent = merged.absent.map { Bits(words: zip($0.words, more.words).map { $0 | $1 }, count: more.count) } ?? more }
            shape = merged
        }
        guard let column = NumberSource.combine(op, a, b, kind, shape.column.count, checked: checked) else {
            throw FirnError(.usage, "a number computed from ints does not fit into 64 bits", advice: "multiply one of them by 1.0, to compute with doubles")
        }
        return Values(column: column, offsets: shape.offsets, absent: shape.absent, unfit: shape.unfit)
    }
}
