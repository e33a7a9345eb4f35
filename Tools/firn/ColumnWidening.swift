import FirnBytes
import FirnExchange
import FirnTable

/// Converts the columns of one input to those of a union.
struct ColumnWidening {
    private let sources: [Int?]
    /// The companions of the columns of the input.
    private let companions: [Int: Int]
    /// Those of JSON that are texts in the union.
    private let tokens: [Int]
    /// The columns, by position, whose companions are those of JSON.
    private let withTokens: Set<Int>
    private let from: (type: TypeSchema, schema: Schema)
    private let to: (type: TypeSchema, schema: Schema)
    private let empty: [Column]
    private var vacant = VacantColumns()

    /// `type` is the type of the rows of the input; `union` that of the union. Columns of the union that the input lacks become null.
    init(_ type: TypeSchema, in schema: Schema, to union: TypeSchema, in unionSchema: Schema) {
        from = (type, schema)
        to = (union, unionSchema)
        let companions = type.companions
        self.companions = type.scalarCompanions
        withTokens = Set(companions.filter { OriginalToken.isForm(of: type.columns[$0.value]) }.keys)
        let kept = Set(union.columns.filter(OriginalToken.isForm).compactMap(\.originalTextOf))
        tokens = withTokens.filter { !kept.contains(type.columns[$0].name) }.compactMap { companions[$0] }
        sources = union.columns.map { column in
            column.originalTextOf.map { name in type.index(of: name).flatMap { companions[$0] } } ?? type.index(of: column.name)
        }
        empty = union.columns.map { Column($0, in: unionSchema) }
    }

    mutating func columns(_ source: [Column], count: Int) throws(FirnError) -> [Column] {
        let rows = source
        var batch = source
        for position in tokens { batch[position] = OriginalToken.plain(batch[position]) }
        var result: [Column] = []
        result.reserveCapacity(sources.count)
        for (i, source) in sources.enumerated() {
            if let name = to.type.columns[i].originalTextOf, let target = to.type.index(of: name), target < i,
                let texts = originals(of: target, result[target], batch)
            {
                result.append(texts)
                continue
            }
            guard let source else {
                var column = empty[i]
                vacant.fill(&column, rows: count)
                result.append(column)
                continue
            }
            let old = Side(column: from.type.columns[source], schema: from.schema),
                new = Side(column: to.type.columns[i], schema: to.schema)
            var texts: Column?
            if new.type.kind == .string, old.type.kind != .string { texts = originals(of: source, batch) }
            if new.type.kind == .any, old.type.kind != .any, let kept = companions[source] {
                texts = withTokens.contains(source) ? rows[kept] : ColumnWidening.strings(rows[kept], of: batch[source])
            }
            result.append(try ColumnWidening.column(batch[source], from: old, to: new, originals: texts))
        }
        return result
    }

    /// Returns the original texts of cells that have no value, as tokens of strings.
    private static func strings(_ texts: Column, of values: Column) -> Column {
        var tokens = Column(texts.type)
        for row in 0..<texts.count {
            guard !values.isPresent(row), case .string(let text) = texts.value(at: row), tokens.append(.string("\"" + text + "\"")) else {
                tokens.appendNull()
                continue
            }
        }
        return tokens
    }

    /// Returns the original texts of a column of the input, with the whole text of each date whose text is its zone alone.
    private func originals(of source: Int, _ batch: [Column]) -> Column? {
        let column = from.type.columns[source]
        return companions[source].map {
            column.type.kind == .date ? DateText.withDates(batch[$0], of: batch[source], in: column.notation) : batch[$0]
        }
    }

    /// Returns the original texts of a column that has another notation in the input than in the union, where it is one of numbers with a
    /// layout or with exponents of two digits, or of dates with a zone: the text of each cell that is written differently in the union. Returns
    /// nil for other columns.
    private func originals(of target: Int, _ values: Column, _ batch: [Column]) -> Column? {
        let column = to.type.columns[target], layout = NumberLayout(column.notation)
        let hasZone = column.type.kind == .date && !column.notation.isLocal
        guard layout != nil || column.notation.hasTwoDigitExponent || hasZone, let source = sources[target],
            from.type.columns[source].notation != column.notation || from.type.columns[source].type.kind != column.type.kind
        else { return nil }
        let old = Side(column: from.type.columns[source], schema: from.schema), kept = originals(of: source, batch)
        var texts = Column(ColumnType(.string, optional: true))
        for row in 0..<values.count {
            if let kept, kept.isPresent(row) {
                let text = kept.value(at: row)
                if hasZone, values.isPresent(row), case .string(let text) = text {
                    let original = DateText.original(text, in: column.notation)
                    if text == CellText.text(values.value(at: row), column, in: to.schema) {
                        texts.appendNull()
                    } else {
                        _ = texts.append(.string(original))
                    }
                } else {
                    _ = texts.append(text)
                }
                continue
            }
            guard values.isPresent(row) else {
                texts.appendNull()
                continue
            }
            let text: String, new: String
            if let layout {
                (text, new) = (old.text(batch[source], row), NumberText.text(values, row: row, layout))
            } else if hasZone {
                let value = batch[source].value(at: row)
                (text, new) = (old.text(value), CellText.text(value, column, in: to.schema))
            } else {
                let value = batch[source].value(at: row)
                (text, new) = (ColumnWidening.text(value, old.column.notation), ColumnWidening.text(value, column.notation))
            }
            guard text != new, texts.append(.string(hasZone ? DateText.original(text, in: column.notation) : text)) else {
                texts.appendNull()
                continue
            }
        }
        return texts
    }

    /// The text of a double in a notation without a layout.
    private static func text(_ value: Value, _ notation: Notation) -> String {
        var out: [UInt8] = []
        JSONText.append(value, notation: notation, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// A column, and the schema in which its target is found.
    private struct Side {
        var column: ColumnSchema
        let schema: Schema
        var type: ColumnType { column.type }

        /// The elements of a collection.
        var elements: Side {
            var inner = self
            inner.column.type = type.element
            return inner
        }

        /// The type of embedded objects.
        var target: TypeSchema? { type.target.flatMap { schema[$0] } }
        func text(_ value: Value) -> String { CellText.text(value, column, in: schema) }

        /// The text of a row in CSV.
        func text(_ values: Column, _ row: Int) -> String {
            let isNumber = [.int, .double, .float, .decimal].contains(type.kind) && !type.isCollection
            if isNumber, let layout = NumberLayout(column.notation) { return NumberText.text(values, row: row, layout) }
            return text(values.value(at: row))
        }
    }

    /// `originals` are the original texts, which a column of texts keeps.
    private static func column(_ values: Column, from: Side, to: Side, originals: Column? = nil) throws(FirnError) -> Column {
        let isSameShape = from.type.collection == to.type.collection
        if isSameShape, from.type.kind == to.type.kind, from.type.kind != .embedded {
            var same = values
            same.type = to.type
            if to.type.isCollection, let last = same.children.indices.last { same.children[last].type = to.type.element }
            return same
        }
        if !to.type.isCollection || !isSameShape, values.nullCount == values.count, originals.map({ $0.nullCount == $0.count }) ?? true {
            var column = Column(to.column, in: to.schema), vacant = VacantColumns()
            vacant.fill(&column, rows: values.count)
            return column
        }
        if isSameShape, to.type.isCollection {
            var outer = values
            outer.type = to.type
            guard let last = outer.children.indices.last else { return outer }
            outer.children[last] = try column(values.children[last], from: from.elements, to: to.elements)
            return outer
        }
        if from.type.kind == .embedded, to.type.kind == .embedded, isSameShape { return try objects(values, from: from, to: to) }
        return try scalars(values, from: from, to: to, originals)
    }

    private static func objects(_ values: Column, from: Side, to: Side) throws(FirnError) -> Column {
        guard let inner = from.target, let outer = to.target else { trap("embedded columns have a target in their schema") }
        var column = Column(to.column, in: to.schema)
        (column.count, column.present, column.words) = (values.count, values.present, values.words)
        // Without values, the columns of the fields can be missing.
        guard values.children.count == inner.columns.count else {
            for i in column.children.indices { column.children[i].appendNulls(values.count) }
            return column
        }
        var fields = ColumnWidening(inner, in: from.schema, to: outer, in: to.schema)
        column.children = try fields.columns(values.children, count: values.count)
        return column
    }

    /// Converts values one by one.
    private static func scalars(_ values: Column, from: Side, to: Side, _ originals: Column?) throws(FirnError) -> Column {
        var column = Column(to.column, in: to.schema)
        for row in 0..<values.count {
            let value = values.value(at: row)
            if let originals, originals.isPresent(row) {
                let text = originals.value(at: row), wanted = to.type.kind == .any ? OriginalToken.value(text, instead: value) : text
                if column.append(wanted) { continue }
            }
            guard !value.isNull else {
                column.appendNull()
                continue
            }
            let converted: Value? =
                switch to.type.kind {
                case .string: .string(from.text(values, row))
                case .decimal: decimal(value, from)
                case .any: named(value, from.type, from.schema)
                default: value
                }
            guard let converted, column.append(converted) else {
                throw FirnError(
                    .schema, "column \"\(from.column.name)\": the value \"\(from.text(value))\" does not fit \(to.type.name)")
            }
        }
        return column
    }

    private static func decimal(_ value: Value, _ from: Side) -> Value? {
        if case .int = value { return value }
        return Decimal(from.text(value)).map(Value.decimal)
    }

    /// Returns the value with the names of the fields of objects, for a column of type any.
    private static func named(_ value: Value, _ type: ColumnType, _ schema: Schema) -> Value {
        switch value {
        case .list(let items): return .list(items.map { named($0, type.element, schema) })
        case .set(let items): return .set(items.map { named($0, type.element, schema) })
        case .map(let entries): return .map(entries.map { Value.Entry($0.key, named($0.value, type.element, schema)) })
        case .object(let entries):
            let target = type.target.flatMap { schema[$0] }, fields = target?.columns ?? []
            if target?.isBare ?? false, let value = entries.first?.value { return named(value, fields[0].type, schema) }
            let present = zip(fields, entries).filter { !$0.1.value.isNull || $0.0.writesNull }
            return .map(
                present.map { Value.Entry($0.0.name, named($0.1.value, $0.0.type, schema)) }.sorted {
                    $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
                })
        default: return value
        }
    }
}

extension ColumnFacts {
    /// Returns what values that were read have in common. `isText`: whether other notations are other texts.
    static func of(_ values: Column, _ column: ColumnSchema, in schema: Schema, isText: Bool) -> ColumnFacts {
        let values = column.type.isCollection ? values.children.last ?? values : values
        guard values.nullCount < values.count else { return ColumnFacts(hasValues: false, readings: []) }
        var readings = [Reading(column.type.kind, column.notation)]
        switch column.type.kind {
        case .int:
            if (0..<values.count).allSatisfy({ !values.isPresent($0) || Int64(exactly: Double(values.words[$0])) == values.words[$0] }) {
                readings.append(Reading(.double))
            }
            readings.append(Reading(.decimal))
        case .double:
            if !isText, column.notation != .plain { readings.append(Reading(.double)) }
            var scalar = column
            scalar.type = column.type.element
            let isDecimal = (0..<values.count).allSatisfy { row in
                guard values.isPresent(row) else { return true }
                let text = CellText.text(.double(values.reals[row]), scalar, in: schema)
                return Decimal(text)?.description == text
            }
            if isDecimal { readings.append(Reading(.decimal)) }
        default: break
        }
        return ColumnFacts(hasValues: true, readings: readings)
    }
}
