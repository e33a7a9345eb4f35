import FirnBytes
import FirnTable

/// Makes the columns of a type from columns of a stream with the same names.
struct ColumnFit {
    private let type: TypeSchema
    private let schema: Schema
    private let given: TypeSchema
    private let givenSchema: Schema
    /// For each column of the type, the position of the given column; nil if there is none, and the column is optional.
    private let positions: [Int?]

    /// - Parameter only: The columns that are needed; nil: all.
    init(_ given: TypeSchema, _ givenSchema: Schema, to type: TypeSchema, _ schema: Schema, only: [Int]? = nil) throws(FirnError) {
        (self.given, self.givenSchema, self.type, self.schema) = (given, givenSchema, type, schema)
        for column in given.columns where type.index(of: column.name) == nil {
            let known = type.visible.columns.map(\.name)
            throw FirnError(
                .schema, "type \"\(type.name)\" has no column \"\(column.name)\", which the stream has",
                advice: Suggestion.nearest(to: column.name, among: known).map { "did you mean \"\($0)\"?" } ?? "leave it out")
        }
        var positions: [Int?] = []
        for (i, column) in type.columns.enumerated() {
            let position = given.index(of: column.name)
            guard position != nil || column.type.isOptional || only?.contains(i) == false else {
                throw FirnError(
                    .schema, "column \"\(column.name)\" of type \"\(type.name)\" cannot be null, and the stream does not have it")
            }
            positions.append(position)
        }
        self.positions = positions
    }

    /// Whether the stream has a column.
    func has(_ column: Int) -> Bool { positions[column] != nil }

    /// Returns the columns of the type. `row` is the number of rows of the stream before the batch, for errors.
    func fit(_ batch: Batch, after row: Int) throws(FirnError) -> Batch {
        var columns: [Column] = []
        for (i, column) in type.columns.enumerated() {
            if let position = positions[i] {
                columns.append(try fit(batch.columns[position], given.columns[position], to: column, after: row))
            } else {
                var none = Column(column, in: schema)
                none.appendNulls(batch.count)
                columns.append(none)
            }
        }
        return Batch(count: batch.count, columns: columns)
    }

    private func fit(_ values: Column, _ given: ColumnSchema, to column: ColumnSchema, after row: Int) throws(FirnError) -> Column {
        let from = given.type
        var values = values
        if values.present?.allSet == true { values.present = nil }
        if let present = values.present, !column.type.isOptional, column.type.kind != .any || column.type.isCollection {
            let null = (0..<values.count).first { !present[$0] } ?? 0
            throw FirnError(.rejected, "row \(row + null + 1): column \"\(column.name)\" cannot be null")
        }
        guard isSame(from, column.type) else { return try converted(values, given, to: column, after: row) }
        return retyped(values, column.type)
    }

    /// Whether values of both types are stored in the same arrays.
    private func isSame(_ a: ColumnType, _ b: ColumnType) -> Bool {
        guard a.kind == b.kind, a.collection == b.collection else { return false }
        if a.isCollection, a.elementIsOptional, !b.elementIsOptional { return false }
        guard a.kind == .embedded else { return true }
        guard let x = a.target.flatMap({ givenSchema[$0] }), let y = b.target.flatMap({ schema[$0] }) else { return false }
        return x.columns.count == y.columns.count
            && zip(x.columns, y.columns).allSatisfy {
                $0.name == $1.name && isSame($0.type, $1.type) && ($1.type.isOptional || !$0.type.isOptional)
            }
    }

    private func retyped(_ values: Column, _ type: ColumnType) -> Column {
        var out = values
        out.type = type
        if type.isCollection {
            out.children[out.children.count - 1] = retyped(values.children[values.children.count - 1], type.element)
        } else if type.kind == .embedded, let target = type.target.flatMap({ schema[$0] }), target.columns.count == values.children.count {
            out.children = zip(values.children, target.columns).map { retyped($0, $1.type) }
        }
        return out
    }

    /// Converts values one by one, without loss.
    private func converted(_ values: Column, _ given: ColumnSchema, to column: ColumnSchema, after row: Int) throws(FirnError) -> Column {
        let isLongInteger = given.isLongInteger
        var out = Column(column, in: schema)
        for i in 0..<values.count {
            var value = values.value(at: i)
            if isLongInteger, case .string(let digits) = value, let whole = Int64(digits) { value = .int(whole) }
            guard let fitting = ColumnFit.converted(value, to: column.type), out.append(fitting) else {
                throw FirnError(
                    .schema,
                    "row \(row + i + 1): column \"\(column.name)\" is \(column.type.name), and the stream has \(given.type.name): \"\(canonicalText(value))\""
                )
            }
        }
        return out
    }

    private static func converted(_ value: Value, to type: ColumnType) -> Value? {
        if value.isNull { return .null }
        switch (type.collection, value) {
        case (.none, _): return single(value, to: type.kind)
        case (.list, .list(let values)), (.list, .set(let values)): return elements(values, of: type).map { .list($0) }
        case (.set, .list(let values)), (.set, .set(let values)):
            return elements(values, of: type).map { .set(Value.distinctSorted($0)) }
        case (.map, .map(let entries)):
            var out: [Value.Entry] = []
            for entry in entries {
                guard let value = converted(entry.value, to: type.element) else { return nil }
                out.append(Value.Entry(entry.key, value))
            }
            return .map(out)
        default: return nil
        }
    }

    private static func elements(_ values: [Value], of type: ColumnType) -> [Value]? {
        var out: [Value] = []
        for value in values {
            guard let converted = converted(value, to: type.element) else { return nil }
            out.append(converted)
        }
        return out
    }

    private static func single(_ value: Value, to kind: ScalarKind) -> Value? {
        switch (value, kind) {
        case (_, .any): return value
        case (.int(let x), .double): return Int64(exactly: Double(x)) == x ? .double(Double(x)) : nil
        case (.int(let x), .float): return Int64(exactly: Float(x)) == x ? .float(Float(x)) : nil
        case (.int(let x), .decimal): return .decimal(Decimal(x))
        case (.int(let x), .link): return .link(x)
        case (.link(let x), .int): return .int(x)
        case (.float(let x), .double): return .double(Double(x))
        case (.double(let x), .float): return Double(Float(x)) == x || x.isNaN ? .float(Float(x)) : nil
        case (.double(let x), .int): return Int64(exactly: x).map { .int($0) }
        case (.decimal(let x), .int): return Int64("\(x)").map { .int($0) }
        default: return value
        }
    }
}

extension ColumnSchema {
    /// Whether the values are integers of more digits than a decimal has, as text: HUGEINT of DuckDB, NUMBER(38,0) of other databases.
    var isLongInteger: Bool {
        guard type.kind == .string, !type.isCollection, case .decimal(_, scale: 0) = logical else { return false }
        return true
    }
}

extension Column {
    /// Whether the texts are integers of 64 bits.
    var hasShortIntegers: Bool {
        (0..<count).allSatisfy { row in
            guard case .string(let digits) = value(at: row) else { return true }
            return Int64(digits) != nil
        }
    }
}
