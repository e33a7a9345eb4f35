import FirnBytes
import FirnModel

/// Groups and aggregates, bound.
struct GroupPlan: Sendable {
    struct Measure: Sendable {
        var function: Aggregate.Function
        /// Nil: counts rows.
        var operand: Operand?
        var isDistinct: Bool
        var type: ColumnType
        var name: String
    }
    var keys: [BoundPath] = []
    var measures: [Measure] = []
    var columns: [ColumnSchema] = []
    /// Applied to the result, as a table of its own.
    var after: QueryRequest

    init(_ request: QueryRequest, _ binder: inout Binder) throws(QueryError) {
        after = QueryRequest(select: request.select, sort: request.sort, distinct: request.distinct, limit: request.limit, offset: request.offset)
        for text in request.groupBy {
            binder.text = text
            let path = try binder.scalar(try binder.path(text), for: "group by")
            keys.append(path)
            columns.append(ColumnSchema(text, path.type, id: UInt32(columns.count)))
        }
        for aggregate in request.aggregates {
            binder.text = aggregate.path ?? ""
            let measure = try GroupPlan.bind(aggregate, &binder)
            measures.append(measure)
            columns.append(ColumnSchema(measure.name, measure.type, id: UInt32(columns.count)))
        }
        for (i, column) in columns.enumerated() where columns[..<i].contains(where: { $0.name == column.name }) {
            throw binder.error("two columns of the result are called '\(column.name)': give one another name with 'as'", at: 0)
        }
    }

    private static func bind(_ aggregate: Aggregate, _ binder: inout Binder) throws(QueryError) -> Measure {
        guard let text = aggregate.path else { return Measure(function: .count, operand: nil, isDistinct: false, type: ColumnType(.int), name: aggregate.name) }
        let path: BoundPath
        if aggregate.function == .count, !aggregate.isDistinct {
            path = try binder.bind(try binder.path(text))
            guard !path.isMany else { throw binder.error("count needs one value a row, but '\(text)' is a list: sum(\(text).@count) counts its elements", at: 0) }
        } else {
            path = try binder.scalar(try binder.path(text), for: aggregate.function.rawValue)
        }
        let kind = path.type.kind
        let type: ColumnType
        switch aggregate.function {
        case .count: type = ColumnType(.int)
        case .min, .max: type = ColumnType(kind, optional: true, target: path.type.target)
        case .sum, .avg:
            guard kind.isNumber || kind == .any else { throw binder.error("\(aggregate.function.rawValue) needs numbers, but '\(text)' is of type \(path.type.name)", at: 0) }
            type = BoundPath.aggregateType(aggregate.function == .sum ? .sum : .average, kind)
        }
        return Measure(function: aggregate.function, operand: .path(path), isDistinct: aggregate.isDistinct,
                       type: aggregate.function == .sum && kind != .any ? ColumnType(type.kind) : type, name: aggregate.name)
    }
}
