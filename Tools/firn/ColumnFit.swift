import FirnBytes
import FirnExchange
import FirnTable

/// Makes the columns of a type from columns of an input with the same names.
///
/// Original texts (`Column.originalTextOf`) follow the column whose texts they are. Those that the type has no column for are left out; the
/// values remain.
package struct ColumnFit {
    private let type: TypeSchema
    private let schema: Schema
    private let given: TypeSchema
    private let givenSchema: Schema
    private let source: String
    /// For each column of the type, the position of the given column; nil if there is none, and the column is optional.
    private let positions: [Int?]
    /// For each column of the type, whether the input decides its value.
    private let decided: [Bool]

    /// - Parameters:
    ///   - source: How messages name the input.
    ///   - only: The columns that are needed; nil: all.
    ///   - advice: The next step if the type lacks a column of the input.
    package init(
        _ given: TypeSchema, _ givenSchema: Schema, to type: TypeSchema, in schema: Schema, source: String, only: [Int]? = nil,
        advice: String = "leave it out"
    ) throws(FirnError) {
        (self.given, self.givenSchema, self.type, self.schema, self.source) = (given, givenSchema, type, schema, source)
        for (i, column) in given.columns.enumerated() where type.index(of: column.name) == nil && !given.isCompanion(i) {
            let known = type.visible.columns.map(\.name)
            throw FirnError(
                .schema, "type \"\(type.name)\" has no column \"\(column.name)\", which \(source) has",
                advice: Suggestion.nearest(to: column.name, among: known).map { "did you mean \"\($0)\"?" } ?? advice)
        }
        let companions = given.companions
        var positions: [Int?] = [], decided: [Bool] = []
        for (i, column) in type.columns.enumerated() {
            if let target = type.companionTarget(i) {
                let from = given.index(of: type.columns[target].name), own = from.flatMap { companions[$0] }
                let isAlike = own.map { OriginalToken.isForm(of: given.columns[$0]) == OriginalToken.isForm(of: column) } ?? false
                positions.append(isAlike ? own : own == nil ? given.index(of: column.name) : nil)
                decided.append(from != nil || positions[i] != nil)
                continue
            }
            let position = given.index(of: column.name)
            guard position != nil || column.type.isOptional || only?.contains(i) == false else {
                throw FirnError(
                    .schema, "column \"\(column.name)\" of type \"\(type.name)\" cannot be null, and \(source) does not have it")
            }
            positions.append(position)
            decided.append(position != nil)
        }
        (self.positions, self.decided) = (positions, decided)
    }

    /// Whether the input has a column, or for original texts the column whose texts they are.
    package func has(_ column: Int) -> Bool { decided[column] }

    /// Whether the input has original texts for a column of original texts, rather than none.
    package func hasTexts(_ column: Int) -> Bool { positions[column] != nil }

    /// Returns the columns of the type. `row` is the number of rows of the input before the batch, for errors.
    package func fit(_ batch: Batch, after row: Int) throws(FirnError) -> Batch {
        var columns: [Column] = []
        for (i, column) in type.columns.enumerated() {
            if let position = positions[i] {
                let fitting = try fit(batch.columns[position], given.columns[position], to: column, after: row)
                try check(fitting, given.columns[position], column, after: row)
                columns.append(fitting)
            } else {
                var none = Column(column, in: schema)
                none.appendNulls(batch.count)
                columns.append(none)
            }
        }
        return Batch(count: batch.count, columns: columns)
    }

    private func fit(_ values: Column, _ given: ColumnSchema, to column: ColumnSchema, after row: Int?) throws(FirnError) -> Column {
        let from = given.type
        var values = values
        if values.present?.allSet == true { values.present = nil }
        if let present = values.present, !column.type.isOptional, column.type.kind != .any || column.type.isCollection {
            let null = (0..<values.count).first { !present[$0] } ?? 0
            throw FirnError(.rejected, "\(place(null, after: row))column \"\(column.name)\" cannot be null")
        }
        if isSame(from, column.type) { return retyped(values, column.type) }
        if let objects = try matched(values, from, to: column.type, after: row, path: column.name) { return objects }
        return try converted(values, given, to: column, after: row)
    }

    /// Throws if a value is none of the column's logical type, so that the file could not be written in other formats any more.
    private func check(_ values: Column, _ given: ColumnSchema, _ column: ColumnSchema, after row: Int) throws(FirnError) {
        guard let logical = column.logical, let wrong = values.firstRow(outside: logical) else { return }
        throw FirnError(
            .rejected,
            "\(place(wrong, after: row))column \"\(column.name)\" has the type \(logical), and the value is \(canonicalText(values.value(at: wrong)))"
        )
    }

    /// Returns the beginning of a message about a row. Of the elements of a collection, the row is not known.
    private func place(_ i: Int, after row: Int?) -> String { row.map { "row \($0 + i + 1): " } ?? "" }

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

    /// Returns objects with the fields of another type, matched by name; nil if these are not objects of two types.
    private func matched(_ values: Column, _ from: ColumnType, to type: ColumnType, after row: Int?, path: String) throws(FirnError)
        -> Column?
    {
        guard from.kind == .embedded, type.kind == .embedded, from.collection == type.collection,
            let x = from.target.flatMap({ givenSchema[$0] }), let y = type.target.flatMap({ schema[$0] })
        else { return nil }
        var out = values
        out.type = type
        guard !type.isCollection else {
            let last = values.children.count - 1, elements = values.children[last]
            guard let inner = try matched(elements, from.element, to: type.element, after: nil, path: path) else { return nil }
            if let present = elements.present, !present.allSet, !type.elementIsOptional { return nil }
            out.children[last] = inner
            return out
        }
        if let unknown = x.columns.first(where: { y.index(of: $0.name) == nil }) {
            throw FirnError(
                .schema, "the objects in column \"\(path)\" have no field \"\(unknown.name)\", which \(source) has",
                advice: Suggestion.nearest(to: unknown.name, among: y.columns.map(\.name)).map { "did you mean \"\($0)\"?" })
        }
        out.children = []
        for field in y.columns {
            guard let position = x.index(of: field.name) else {
                guard field.type.isOptional || field.type.isCollection else {
                    throw FirnError(
                        .schema, "the objects in column \"\(path)\" need a field \"\(field.name)\", which \(source) does not have")
                }
                var none = Column(field, in: schema)
                for _ in 0..<values.count { none.appendAbsent() }
                out.children.append(none)
                continue
            }
            var inner = values.children[position]
            // The fields of an object that is missing have no value.
            if !field.type.isOptional, let present = inner.present {
                for i in 0..<inner.count where !present[i] && (values.present?[i] ?? true) {
                    throw FirnError(.rejected, "\(place(i, after: row))field \"\(path).\(field.name)\" cannot be null")
                }
                inner.present = nil
            }
            out.children.append(try fit(inner, x.columns[position], to: field, after: row))
        }
        return out
    }

    /// Converts values one by one, without loss.
    private func converted(_ values: Column, _ given: ColumnSchema, to column: ColumnSchema, after row: Int?) throws(FirnError) -> Column {
        let isLongInteger = given.isLongInteger
        var out = Column(column, in: schema)
        for i in 0..<values.count {
            var value = values.value(at: i)
            if isLongInteger, case .string(let digits) = value, let whole = Int64(digits) { value = .int(whole) }
            guard let fitting = ColumnFit.converted(value, to: column.type), out.append(fitting) else {
                throw FirnError(
                    .schema,
                    "\(place(i, after: row))column \"\(column.name)\" is \(column.type.name), and \(source) has \(given.type.name): \"\(canonicalText(value))\""
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
    package var isLongInteger: Bool {
        guard type.kind == .string, !type.isCollection, case .decimal(_, scale: 0) = logical else { return false }
        return true
    }
}

extension Column {
    /// Whether the texts are integers of 64 bits.
    package var hasShortIntegers: Bool {
        (0..<count).allSatisfy { row in
            guard case .string(let digits) = value(at: row) else { return true }
            return Int64(digits) != nil
        }
    }
}
