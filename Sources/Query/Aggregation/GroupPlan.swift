import FirnBytes
import FirnTable

/// The bound groups and aggregates of a request.
struct GroupPlan: Sendable {
    struct Measure: Sendable {
        var function: Aggregate.Function
        /// nil: counts rows.
        var operand: Operand?
        var isDistinct: Bool
        var type: ColumnType
        var name: String
        /// For quantiles: the share of values that are less.
        var quantile = 0.5
        var summation = Aggregate.Summation.anyOrder
        /// The source text of the operand.
        var text = ""

        /// For sums of decimals that are stored as doubles: the number of digits after the point, to which they are exact.
        var scale: Int? {
            guard function == .sum || function == .avg, summation == .anyOrder, case .path(let path)? = operand, !path.isMany,
                path.type.kind == .double,
                case .decimal(_, let scale)? = path.logical, 0...15 ~= scale
            else { return nil }
            return scale
        }

        /// The column of the result. It has the notation and the logical type of the column whose values it has, and sums of decimals have
        /// their notation.
        func schema(id: Int) -> ColumnSchema {
            var column = ColumnSchema(name, type, id: UInt32(id))
            guard case .path(let path)? = operand else { return column }
            if [.min, .max, .first].contains(function) {
                column.notation = path.notation
                if let logical = path.logical, logical.fits(type) { column.logical = logical }
            } else if function == .sum, scale != nil {
                column.notation = path.notation
            }
            return column
        }

        /// Whether one pass over the same numbers computes both measures.
        func shares(with other: Measure) -> Bool {
            operand != nil && text == other.text && summation == other.summation && [.sum, .avg].contains(function)
                && [.sum, .avg].contains(other.function)
        }
    }
    var keys: [BoundPath] = []
    var measures: [Measure] = []
    var columns: [ColumnSchema] = []
    /// Whether the rows must be added one after another, which one thread does.
    var isSequential: Bool {
        measures.contains { $0.summation != .anyOrder && ($0.operand?.kind == .double || $0.operand?.kind == .float) }
    }
    /// The part of the rest that selects few groups by their measures alone, if it does.
    var selection: QueryRequest? {
        let names = Set(measures.map(\.name))
        guard after.limit != nil, after.distinct.isEmpty, after.sort.allSatisfy({ names.contains($0.path) }) else { return nil }
        return QueryRequest(sort: after.sort, limit: after.limit, offset: after.offset)
    }
    /// The rest of the request, which is applied to the result as a table.
    var after: QueryRequest

    init(_ request: QueryRequest, _ binder: inout Binder) throws(QueryError) {
        after = QueryRequest(
            select: request.select, sort: request.sort, distinct: request.distinct, limit: request.limit, offset: request.offset)
        for text in request.groupBy {
            binder.text = text
            let syntax = try binder.path(text), path = try binder.scalar(syntax, for: "group by")
            keys.append(path)
            // A name in back-quotes is the name of the column without them.
            var name = text
            if syntax.steps.count == 1, case .name(let column, _)? = syntax.steps.first { name = column }
            columns.append(path.schema(name, id: columns.count))
        }
        for aggregate in request.aggregates {
            binder.text = aggregate.path ?? ""
            let measure = try GroupPlan.bind(aggregate, &binder)
            measures.append(measure)
            columns.append(measure.schema(id: columns.count))
        }
        var names: Set<String> = []
        for column in columns where !names.insert(column.name).inserted {
            throw binder.error("two columns of the result have the name \"\(column.name)\": rename one with \"as\"", at: 0)
        }
    }

    private static func bind(_ aggregate: Aggregate, _ binder: inout Binder) throws(QueryError) -> Measure {
        guard let text = aggregate.path else {
            return Measure(function: .count, operand: nil, isDistinct: false, type: ColumnType(.int), name: aggregate.name)
        }
        let operand = try operand(aggregate, text, &binder)
        let kind = operand.kind ?? .any, of = operand.type
        let type: ColumnType
        switch aggregate.function {
        case .count: type = ColumnType(.int)
        case .min, .max, .first: type = ColumnType(kind, optional: true, target: of.target)
        case .sum, .avg, .median, .quantile:
            guard kind.isNumber || kind == .any else {
                throw binder.error("\(aggregate.function.rawValue) needs numbers, but \"\(text)\" is of type \"\(of.name)\"", at: 0)
            }
            type =
                switch aggregate.function {
                case .sum: BoundPath.aggregateType(.sum, kind)
                case .avg: BoundPath.aggregateType(.average, kind)
                default: ColumnType(.double, optional: true)
                }
        }
        return Measure(
            function: aggregate.function, operand: operand, isDistinct: aggregate.isDistinct,
            type: aggregate.function == .sum && kind != .any ? ColumnType(type.kind) : type, name: aggregate.name,
            quantile: aggregate.quantile, summation: aggregate.summation, text: text)
    }

    /// Binds the operand of an aggregate, which must have one value for each row.
    private static func operand(_ aggregate: Aggregate, _ text: String, _ binder: inout Binder) throws(QueryError) -> Operand {
        let expression: ExpressionSyntax =
            binder.column(text) != nil ? .path(PathSyntax([.name(text)])) : try Parser.expression(text)
        guard case .path(let syntax) = expression else {
            let operand = try binder.operand(expression)
            guard case .arithmetic = operand, !operand.isMany else {
                throw binder.error(
                    "\(aggregate.function.rawValue) needs one value a row, computed from columns, but \"\(text)\" is \(operand.isMany ? "a list" : "a constant")",
                    at: 0)
            }
            return operand
        }
        guard aggregate.function == .count, !aggregate.isDistinct else {
            return .path(try binder.scalar(syntax, for: aggregate.function.rawValue))
        }
        let path = try binder.bind(syntax)
        guard !path.isMany else {
            throw binder.error("count needs one value a row, but \"\(text)\" is a list: sum(\(text).@count) counts its elements", at: 0)
        }
        return .path(path)
    }
}
