import FirnBytes
import FirnExchange
import FirnTable

/// One column of a union of inputs: what the columns of that name have in common.
final class UnionColumn {
    /// A type and notation that the column has in some inputs. The type is never optional and has no target.
    struct Use {
        var type: ColumnType
        var notation: Notation
        /// Whether the objects stand for their only value.
        let isBare: Bool
        var inputs = 1
        /// The first input that has it.
        let first: Int
    }

    let name: String
    /// Whether values whose notations differ become text, rather than values in one notation.
    private let keepsNotations: Bool
    /// The number of inputs that have the column, and the first of them.
    private(set) var inputs = 0
    let first: Int
    private(set) var uses: [Use] = []
    /// The fields of embedded objects.
    private(set) var fields: UnionType?
    private var isOptional = false, elementIsOptional = false, writesNull = false
    /// The type in the first input, for a column without any value.
    private let vacant: ColumnSchema
    /// What fits all values so far; nil before the first input with values.
    private var common: [ColumnFacts.Reading]?
    /// Whether an input is CSV, where another notation is another text.
    private var isText = false
    /// Whether an input has a value in the column whose facts are not known.
    private(set) var isUnsure = false
    /// Whether an input has original texts of the column, and whether some of them are texts, or tokens of JSON.
    private var hasOriginals: Bool { hasTexts || hasTokens }
    private var hasTexts = false, hasTokens = false
    /// Whether an input without a layout of numbers has original texts that may be numbers.
    private var hasNumbersInTexts = false
    /// The layouts of dates that fit all values so far, without their zones; nil before the first input with values.
    private var commonTimes: [DateTimeLayout]?
    /// Whether an input is neither CSV nor a .firn file, so that zones of dates have no original texts.
    private var hasOtherInputs = false
    /// Whether all inputs are JSON, where a date is a string.
    private var areJSON = true
    /// The types that fit all values so far, in some notation.
    private var commonKinds: Set<ScalarKind>?

    /// The logical types and metadata of the inputs.
    private(set) var attributes = UnionAttributes()

    init(_ column: ColumnSchema, input: Int, keepsNotations: Bool) {
        name = column.name
        self.keepsNotations = keepsNotations
        vacant = column
        first = input
    }

    /// Adds the column of one input. `facts`: nil if nothing is known about its values.
    func add(
        _ column: ColumnSchema, _ facts: ColumnFacts?, _ input: UnionInput, path: [String], originals: ColumnSchema?
    ) throws(FirnError) {
        inputs += 1
        if let originals { if OriginalToken.isForm(of: originals) { hasTokens = true } else { hasTexts = true } }
        if originals != nil, NumberLayout(column.notation) == nil, facts?.hasNumbersInTexts ?? true { hasNumbersInTexts = true }
        attributes.add(column.otherAttributes)
        isOptional = isOptional || column.type.isOptional
        elementIsOptional = elementIsOptional || column.type.elementIsOptional
        writesNull = writesNull || column.writesNull
        guard column.type.kind != .link else {
            throw FirnError(
                .schema, "column \"\(column.name)\" links to rows by row number, and combining inputs changes the row numbers",
                at: .init(file: input.name), advice: "omit it with --columns, or convert each input separately")
        }
        if let facts, !facts.hasValues {
            isOptional = true
            return
        }
        // Columns of CSV with collections or objects were read from JSON.
        let isJSON = column.type.isCollection || column.type.kind == .embedded || column.type.kind == .any
        isText = isText || (input.isText && !isJSON)
        hasOtherInputs = hasOtherInputs || !(input.isText || input.format == .firn) || isJSON
        areJSON = areJSON && [.json, .ndjson].contains(input.format)
        if facts == nil { isUnsure = true }
        var type = column.type
        (type.isOptional, type.elementIsOptional, type.target) = (false, false, nil)
        let isBare = column.type.target.flatMap { input.schema[$0] }?.isBare ?? false
        if let known = uses.firstIndex(where: { $0.type == type && $0.notation == column.notation && $0.isBare == isBare }) {
            uses[known].inputs += 1
        } else {
            uses.append(Use(type: type, notation: column.notation, isBare: isBare, first: input.index))
        }
        if let facts { fit(facts.readings) }
        guard column.type.kind == .embedded, let target = column.type.target.flatMap({ input.schema[$0] }) else { return }
        guard !path.contains(target.name) else {
            throw FirnError(
                .schema, "objects of column \"\(column.name)\" contain objects of their own type, and cannot be combined",
                at: .init(file: input.name), advice: "convert each input separately")
        }
        if fields == nil { fields = UnionType(name: target.name, keepsNotations: keepsNotations) }
        try fields?.add(target, input.json, path: path + [target.name])
    }

    /// Adds what fits all values of one input.
    func fit(_ readings: [ColumnFacts.Reading]) {
        guard !readings.isEmpty else { return }
        common = common.map { known in known.filter(readings.contains) } ?? readings
        let times = readings.compactMap { reading in
            reading.kind == .date ? DateTimeLayout(reading.notation).flatMap { $0.zone == .none ? nil : $0.inZone(.zulu) } : nil
        }
        commonTimes = commonTimes.map { known in known.filter(times.contains) } ?? times
        commonKinds = commonKinds.map { $0.intersection(readings.map(\.kind)) } ?? Set(readings.map(\.kind))
    }

    /// Whether the inputs disagree, so that the values must be known to choose a type.
    var isContested: Bool { uses.count > 1 }
    /// Whether the values of all inputs are single values or all are elements of one kind of collection, without objects.
    private var isScalar: Bool { Set(uses.map(\.type.collection)).count == 1 && !uses.contains { $0.type.kind == .embedded } }
    /// Whether values must be read before the type can be chosen.
    var needsValues: Bool { isContested && isUnsure && isScalar }

    /// The column of the union, without id and target. `isEverywhere`: whether every input has it.
    func column(isEverywhere: Bool) -> ColumnSchema {
        var column = vacant
        (column.id, column.indexes) = (0, [])
        column.writesNull = writesNull
        column.otherAttributes = attributes.united
        if let use = uses.first {
            (column.type, column.notation) = (use.type, use.notation)
            if isContested { choose(&column) }
        }
        column.type.target = nil
        column.type.isOptional = isOptional || !isEverywhere
        column.type.elementIsOptional = column.type.isCollection && elementIsOptional
        if column.type.kind == .any { (column.type.isOptional, column.type.elementIsOptional) = (true, column.type.isCollection) }
        // A logical type does not outlast the storage type that it needs.
        if column.logical == nil, column.otherAttributes.count > 0 { column.logical = nil }
        return column
    }

    private func choose(_ column: inout ColumnSchema) {
        column.notation = .plain
        let isOneShape = Set(uses.map(\.type)).count == 1 && Set(uses.map(\.isBare)).count == 1
        if isOneShape, uses[0].type.kind == .embedded || uses[0].type.kind == .any { return }
        if isScalar {
            // What fits all values of JSON says nothing about their notation.
            if let reading = common?.first, isText || commonExponents == nil {
                (column.type.kind, column.notation) = (reading.kind, reading.notation)
                return
            }
            if let notation = commonTime {
                (column.type.kind, column.notation) = (.date, notation)
                return
            }
            if let (kind, layout) = commonLayout {
                (column.type.kind, column.notation) = (kind, layout.notation)
                return
            }
            if let exponents = commonExponents {
                (column.type.kind, column.notation) = (.double, exponents)
                return
            }
            if isText, !keepsNotations, let value = commonValue {
                (column.type.kind, column.notation) = value
                return
            }
            // Strings that were dates or UUIDs in some inputs keep their texts.
            if areJSON, uses.allSatisfy({ [.string, .date, .uuid].contains($0.type.kind) }) {
                column.type = uses[0].type
                column.type.kind = .string
                return
            }
            // Values of one kind, which JSON writes in one notation.
            if Set(uses.map(\.type.kind)).count == 1, !isText { return }
        }
        let hasText = uses.allSatisfy { !$0.type.isCollection && UnionColumn.hasText($0.type.kind) }
        if isScalar, hasText, isText {
            column.type.kind = .string
        } else {
            column.type = isScalar ? uses[0].type : ColumnType(.any)
            column.type.kind = .any
        }
    }

    /// Whether values that are texts because of their notations can be united by value.
    var hasValuesInCommon: Bool { keepsNotations && isText && isScalar && commonValue != nil }

    /// The type of values that differ in their notation alone, with a notation for all of them; nil for other columns.
    private var commonValue: (ScalarKind, Notation)? {
        let kinds = Set(uses.map(\.type.kind)), numbers: [ScalarKind] = [.int, .double, .decimal]
        guard !uses.contains(where: { $0.type.isCollection }) else { return nil }
        if kinds.isSubset(of: numbers) { return numbers.first { commonKinds?.contains($0) ?? false }.map { ($0, .plain) } }
        guard kinds.count == 1, let kind = kinds.first, kind == .date || kind == .bool || kind == .uuid else { return nil }
        let areDays =
            kind == .date && uses.allSatisfy { $0.notation == .dateOnly || DateLayout($0.notation).map { $0.time == nil } ?? false }
        return (kind, areDays ? .dateOnly : .plain)
    }

    /// The notation of doubles of which some inputs write exponents of two digits; nil for other columns.
    private var commonExponents: Notation? {
        guard uses.allSatisfy({ $0.type.kind == .double && !$0.type.isCollection && NumberLayout($0.notation) == nil }) else { return nil }
        return uses.first { $0.notation.hasTwoDigitExponent }?.notation
    }

    /// The notation of dates of CSV and .firn files that differ in their zones; the zones of those that differ from it are original texts.
    /// Nil for other columns.
    private var commonTime: Notation? {
        let main = uses.max { $0.inputs < $1.inputs }
        guard !hasOtherInputs, let layout = commonTimes?.first, let main, let zoned = DateTimeLayout(main.notation),
            uses.allSatisfy({ $0.type.kind == .date && !$0.type.isCollection })
        else { return nil }
        return layout.inZone(zoned.zone, quarters: zoned.quarters).notation
    }

    /// The type and layout of numbers that differ only in their groups of digits and in the number of digits of their fractions; nil if any
    /// of them has another decimal mark, or is no number.
    private var commonLayout: (ScalarKind, NumberLayout)? {
        let layouts = uses.compactMap { use in NumberLayout(use.notation).map { (layout: $0, inputs: use.inputs) } }
        guard let main = layouts.max(by: { ($0.layout.group != .none ? 1 : 0, $0.inputs) < ($1.layout.group != .none ? 1 : 0, $1.inputs) }),
            !hasNumbersInTexts, layouts.allSatisfy({ $0.layout.hasComma == main.layout.hasComma }),
            let kind = [ScalarKind.int, .double, .decimal].first(where: { commonKinds?.contains($0) ?? false }),
            uses.allSatisfy({ use in
                !use.type.isCollection && (NumberLayout(use.notation) != nil || use.type.kind == .int || !main.layout.hasComma)
            })
        else { return nil }
        var layout = main.layout
        if layouts.contains(where: { $0.layout.digits != layout.digits }) || layouts.count < uses.count { layout.digits = .plain }
        return (kind, layout)
    }

    /// Whether cells of the column, as it is in the union, can have another text than export would write.
    func needsCompanion(_ column: ColumnSchema) -> Bool {
        guard ![.string, .any, .link, .data].contains(column.type.kind) else { return false }
        if column.type.isCollection || column.type.kind == .embedded { return hasOriginals }
        let hasZones = column.type.kind == .date && commonTime == column.notation
        return hasOriginals || isContested && (NumberLayout(column.notation) != nil || column.notation.hasTwoDigitExponent || hasZones)
    }

    /// Whether the original texts of the column, as it is in the union, are tokens of JSON.
    func keepsTokens(_ column: ColumnSchema) -> Bool { hasTokens && !hasTexts && NumberLayout(column.notation) == nil }

    /// Whether original texts of inputs are not kept in the union, as texts or in a companion.
    func losesOriginals(_ column: ColumnSchema) -> Bool {
        hasOriginals && (column.type.kind != .string || column.type.isCollection) && !(column.type.kind == .any && !hasTexts)
            && !needsCompanion(column)
    }

    /// Whether values of a kind have a text that is read back as the same value.
    private static func hasText(_ kind: ScalarKind) -> Bool {
        switch kind {
        case .any, .data, .link, .embedded: false
        default: true
        }
    }
}

/// The columns of a union of inputs, in the order of first appearance.
final class UnionType {
    let name: String
    private let keepsNotations: Bool
    private(set) var columns: [UnionColumn] = []
    private var positions: [String: Int] = [:]
    private(set) var inputs = 0
    /// Of an embedded type: how its objects are written in JSON.
    private var envelope: String?
    private(set) var attributes = UnionAttributes()

    init(name: String, keepsNotations: Bool) {
        self.name = name
        self.keepsNotations = keepsNotations
    }

    func add(_ type: TypeSchema, _ input: UnionInput, path: [String] = []) throws(FirnError) {
        inputs += 1
        attributes.add(type.otherAttributes)
        if type.isEmbedded, inputs == 1 { envelope = type.envelope }
        let companions = type.companions
        for position in type.visibleColumns {
            let column = type.columns[position]
            let known = positions[column.name] ?? columns.count
            if known == columns.count {
                positions[column.name] = known
                columns.append(UnionColumn(column, input: input.index, keepsNotations: keepsNotations))
            }
            try columns[known].add(
                column, path.isEmpty ? input.facts(position) : nil, input, path: path,
                originals: companions[position].map { type.columns[$0] })
        }
    }

    subscript(name: String) -> UnionColumn? { positions[name].map { columns[$0] } }

    /// Returns the type, and the embedded types of its columns. `names` are the names in use.
    func types(named name: String, _ names: inout Set<String>) -> [TypeSchema] {
        var type = TypeSchema(name, columns: [], envelope: envelope), others: [TypeSchema] = []
        type.otherAttributes = attributes.united
        for (i, union) in columns.enumerated() {
            var column = union.column(isEverywhere: union.inputs == inputs)
            column.id = UInt32(i + 1)
            if column.type.kind == .embedded, let fields = union.fields {
                var target = fields.name, number = 1
                while !names.insert(target).inserted {
                    number += 1
                    target = "\(fields.name)\(number)"
                }
                column.type.target = target
                var inner = fields.types(named: target, &names)
                inner[0].isEmbedded = true
                fields.addCompanions(to: &inner[0])
                others += inner
            }
            type.columns.append(column)
        }
        return [type] + others
    }

    /// Adds the companions of columns to the type of the union.
    func addCompanions(to type: inout TypeSchema) {
        let companions = type.columns.compactMap { column -> ColumnSchema? in
            guard let union = self[column.name], union.needsCompanion(column) else { return nil }
            var companion = type.makeCompanion(of: column)
            if union.keepsTokens(column) { companion.otherAttributes.append(OriginalToken.attribute) }
            return companion
        }
        for companion in companions {
            type.columns.append(companion)
            type.columns[type.columns.count - 1].id = UInt32(type.columns.count)
        }
    }
}

/// One input, as far as a union must know it.
struct UnionInput {
    let index: Int
    let name: String
    let isText: Bool
    let format: FormatName
    let schema: Schema
    /// Returns what is known about the values of a column of the rows.
    let facts: (Int) -> ColumnFacts?

    /// The same input for values within JSON.
    var json: UnionInput { UnionInput(index: index, name: name, isText: false, format: .json, schema: schema, facts: facts) }
}
