import FirnBytes
import FirnExchange
import FirnTable

/// How the values of one path are stored in a column.
final class ColumnPlan: Sendable {
    struct Field: Sendable {
        /// The key, and the name of the column. They are equal unless two keys are the same text in different bytes.
        var name: [UInt8]
        var column: String
        var plan: ColumnPlan
        var isOptional: Bool
        var writesNull: Bool
        /// Of a companion: the column whose texts it holds.
        var textsOf: String?
    }

    /// The type of the column; never optional.
    let type: ColumnType
    let notation: Notation
    /// The fields of an embedded object.
    let fields: [Field]
    /// The elements of a list or the values of a map.
    let element: ColumnPlan?
    /// Whether objects of the type are collections within collections: JSON has the value of the only field in place of the object.
    let isBare: Bool
    /// Of type any: whether null is a value, so that it differs from a missing one.
    let keepsNull: Bool
    /// Attributes of the column, which a given schema has.
    let attributes: [SchemaAttribute]
    /// Of type string: whether any value is read, as its JSON text.
    let isJSON: Bool
    /// Of numbers: whether the original texts of some values are kept, and whether some of these have no number.
    let keepsTexts: Bool
    let hasTextsForNull: Bool

    init(
        _ type: ColumnType, notation: Notation = .plain, fields: [Field] = [], element: ColumnPlan? = nil, isBare: Bool = false,
        keepsNull: Bool = false, attributes: [SchemaAttribute] = [], keepsTexts: Bool = false, hasTextsForNull: Bool = false
    ) {
        self.keepsTexts = keepsTexts
        self.hasTextsForNull = hasTextsForNull
        self.attributes = attributes
        var column = ColumnSchema("", type)
        if !attributes.isEmpty { column.otherAttributes = attributes }
        isJSON = column.logical == .json
        self.isBare = isBare
        self.keepsNull = keepsNull
        self.type = type
        self.notation = notation
        self.fields = fields
        self.element = element
    }

    /// Whether the column has a companion: original texts of its values, or of the parts of its values, are kept.
    var needsCompanion: Bool { keepsTexts || element?.needsCompanion ?? false || fields.contains { $0.plan.needsCompanion } }

    /// The number of columns in the plan, with nested ones.
    var nodeCount: Int { 1 + (element?.nodeCount ?? 0) + fields.reduce(0) { $0 + $1.plan.nodeCount } }

    /// Returns an empty column for the plan.
    func column(optional: Bool) -> Column {
        var type = type
        type.isOptional = optional
        let leaf = element ?? self
        return Column(type, fields: leaf.fields.map { $0.plan.column(optional: $0.isOptional) })
    }
}

/// Infers the types that fit all observed values: it chooses the `ColumnPlan` of each path and names the embedded types.
struct JSONTypes {
    private(set) var embedded: [TypeSchema] = []
    private var notes: [String] = []
    /// The paths of the objects that are maps.
    private var maps: [String] = []
    /// What a lossless conversion cannot accept: one sentence each.
    private(set) var losses: [String] = []
    private var names: Set<String>
    /// Whether null and missing must differ in every column of objects.
    private let keepsNulls: Bool
    /// Whether columns of numbers keep original texts.
    private let keepsTexts: Bool
    private let keys: (UInt32) -> [UInt8]
    /// Whether given columns of the rows that no row has are left out.
    private let omitsMissing: Bool
    /// Returns the line of a duplicate key. In a document each call can read the text up to it, so only some calls are made.
    private let line: (Shape.Duplicate) -> Int
    private var lines = 0
    private static let maximumLines = 20

    /// The maximum depth of embedded objects; deeper ones are stored in columns of type any.
    static let maximumEmbeddingDepth = 7

    /// The keys of which only the last value is read: one sentence each.
    private(set) var repeated: [String] = []

    /// By the name of a given embedded type: how often each field was null, and how often it was missing.
    private var givenCounts: [String: [(nulls: Int, missing: Int)]] = [:]

    /// What was changed, or decided by the values: one sentence each.
    var remarks: [String] {
        let notes = repeated + notes
        if maps.isEmpty { return notes }
        let shown = maps.prefix(8).joined(separator: ", ") + (maps.count > 8 ? " and \(maps.count - 8) others" : "")
        return notes + ["objects whose keys are data became maps: \(shown); --object PATH keeps them as objects"]
    }

    init(
        names taken: [String], keepsNulls: Bool = false, keepsTexts: Bool = false, given: GivenRows? = nil,
        omitsMissing: Bool = false, line: @escaping (Shape.Duplicate) -> Int,
        keys: @escaping (UInt32) -> [UInt8]
    ) {
        self.line = line
        self.keepsNulls = keepsNulls
        self.keepsTexts = keepsTexts
        self.omitsMissing = omitsMissing
        names = Set(taken + (given?.schema.types.map(\.name) ?? []))
        self.keys = keys
    }

    /// Returns the fields of the objects at a node: the given ones, then the others in the order of first appearance.
    mutating func fields(_ node: Shape.Node, path: String, shownPath: String = "", depth: Int, given: [ColumnPlan.Field] = [])
        -> [ColumnPlan.Field]
    {
        let objects = node.pointee.objects
        noteRepeated(node, shownPath)
        let shapes = given.isEmpty ? [:] : Dictionary(node.pointee.members.map { (keys($0.key), $0.node) }) { first, _ in first }
        let known = given.compactMap { field -> ColumnPlan.Field? in
            var field = field
            guard let shape = shapes[field.name] else {
                if omitsMissing, depth == 0, objects > 0 { return nil }
                if objects > 0 { notes.append("the schema's column \"\(field.column)\" is in no row") }
                return field
            }
            field.writesNull = writesNull(
                "column \"\(field.column)\"", nulls: shape.pointee.nulls, missing: objects - shape.pointee.presence)
            note(shape, as: field.plan)
            let shown = PathPins.spelled(String(decoding: field.name, as: UTF8.self))
            noteAllRepeated(shape, (shownPath.isEmpty ? "" : shownPath + ".") + shown)
            return field
        }
        var taken = Set(given.map(\.column))
        let names = Set(given.map(\.name))
        let others = node.pointee.members.filter { names.isEmpty || !names.contains(keys($0.key)) }
        return known
            + others.sorted { $0.node.pointee.first < $1.node.pointee.first }.map { member in
                let shape = member.node, name = keys(member.key), column = unique(String(decoding: name, as: UTF8.self), &taken, shownPath)
                let childPath = path + "_" + column
                let childShownPath = (shownPath.isEmpty ? "" : shownPath + ".") + PathPins.spelled(String(decoding: name, as: UTF8.self))
                let missing = objects - shape.pointee.presence, nulls = shape.pointee.nulls
                let isMixed = missing > 0 && nulls > 0, shownPath = childShownPath
                let made =
                    keepsNulls && isMixed
                    ? anyPlan(shape, shownPath)
                    : plan(shape, path: childPath, shownPath: shownPath, depth: depth, name: depth == 0 ? column : nil)
                // A column of type any, or one without any value, keeps both at no cost.
                if isMixed, made.type == ColumnType(.any) || shape.pointee.hasNoValues {
                    if keepsNulls {
                        notes.append(
                            "column \"\(shownPath)\": null in some objects and missing in others; the column of type any keeps both")
                    }
                    let plan = ColumnPlan(ColumnType(.any), keepsNull: true)
                    return ColumnPlan.Field(name: name, column: column, plan: plan, isOptional: true, writesNull: false)
                }
                let writesNull = writesNull("column \"\(shownPath)\"", nulls: nulls, missing: missing)
                return ColumnPlan.Field(
                    name: name, column: column, plan: made,
                    isOptional: missing + nulls > 0 || made.hasTextsForNull, writesNull: writesNull)
            }
    }

    /// Appends the companions of fields that keep original texts.
    static func addCompanions(to fields: inout [ColumnPlan.Field]) {
        guard fields.contains(where: \.plan.needsCompanion) else { return }
        let type = TypeSchema("", columns: columns(fields))
        for (position, field) in fields.enumerated() where field.plan.needsCompanion {
            let companion = type.makeCompanion(of: type.columns[position])
            fields.append(
                ColumnPlan.Field(
                    name: [], column: companion.name, plan: ColumnPlan(ColumnType(.string)), isOptional: true, writesNull: false,
                    textsOf: field.column))
        }
    }

    /// Notes that objects at a node have a key twice.
    private mutating func noteRepeated(_ node: Shape.Node, _ shownPath: String) {
        guard let twice = node.pointee.duplicate else { return }
        let key = String(decoding: keys(twice.key), as: UTF8.self)
        lines += 1
        let place = lines <= JSONTypes.maximumLines ? " (line \(line(twice)))" : ""
        repeated.append(
            (shownPath.isEmpty
                ? "the key \"\(key)\" occurs twice in one row" : "column \"\(shownPath)\": the key \"\(key)\" occurs twice in one object")
                + "\(place); its last value was used")
        losses.append("\(shownPath.isEmpty ? "a row" : "an object of \"\(shownPath)\"") has the key \"\(key)\" twice\(place)")
    }

    /// Returns the plan for values of any kind, in which objects have no columns.
    private mutating func anyPlan(_ node: Shape.Node, _ shownPath: String) -> ColumnPlan {
        noteAllRepeated(node, shownPath)
        return ColumnPlan(ColumnType(.any))
    }

    /// Notes that objects at and below a node have a key twice.
    mutating func noteAllRepeated(_ node: Shape.Node, _ shownPath: String) {
        noteRepeated(node, shownPath)
        let prefix = shownPath.isEmpty ? "" : shownPath + "."
        for member in node.pointee.members {
            noteAllRepeated(member.node, prefix + PathPins.spelled(String(decoding: keys(member.key), as: UTF8.self)))
        }
        for inner in [node.pointee.element, node.pointee.mapValue].compactMap(\.self) { noteAllRepeated(inner, prefix + "*") }
    }

    /// Returns whether null is written rather than omitted. Only one of null and missing can survive a round trip. `column` names the column
    /// in remarks.
    private mutating func writesNull(_ column: String, nulls: Int, missing: Int) -> Bool {
        if missing > 0, nulls > 0 {
            losses.append("\(column) is null in some objects and missing in others, which would become the same")
            notes.append(
                "\(column): \(nulls) \(nulls == 1 ? "value was" : "values were") null and \(missing) missing; both are now \(nulls > missing ? "null" : "missing") (--lossless keeps both)"
            )
        }
        return nulls > missing
    }

    /// Counts nulls and missing fields in the objects at a node whose type was given.
    private mutating func note(_ node: Shape.Node, as plan: ColumnPlan) {
        let leaf = plan.element ?? plan
        guard leaf.type.kind == .embedded, let name = leaf.type.target else { return }
        if leaf.isBare {
            for member in node.pointee.members { note(member.node, as: leaf.fields[0].plan) }
            for inner in [node.pointee.element, node.pointee.mapValue].compactMap(\.self) { note(inner, as: leaf.fields[0].plan) }
            return
        }
        switch plan.type.collection {
        case .none: break
        case .list, .set: return node.pointee.element.map { note($0, as: leaf) } ?? ()
        case .map:
            for member in node.pointee.members { note(member.node, as: leaf) }
            return node.pointee.mapValue.map { note($0, as: leaf) } ?? ()
        }
        let shapes = Dictionary(node.pointee.members.map { (keys($0.key), $0.node) }) { first, _ in first }
        for (position, field) in leaf.fields.enumerated() {
            let shape = shapes[field.name]
            givenCounts[name, default: Array(repeating: (0, 0), count: leaf.fields.count)][position].nulls += shape?.pointee.nulls ?? 0
            givenCounts[name]![position].missing += node.pointee.objects - (shape?.pointee.presence ?? 0)
            if let shape { note(shape, as: field.plan) }
        }
    }

    /// Returns the given types other than that of the rows, with the notation of their nulls.
    mutating func noted(_ given: GivenRows) -> [TypeSchema] {
        given.schema.types.filter { $0.name != given.type.name }.map { type in
            var type = type
            for (position, count) in (givenCounts[type.name] ?? []).enumerated() {
                type.columns[position].writesNull = writesNull(
                    "column \"\(type.columns[position].name)\" of type \"\(type.name)\"", nulls: count.nulls, missing: count.missing)
            }
            return type
        }
    }

    /// Returns a name that is not used yet. Keys can have different bytes and be the same text (é as one or two code points).
    private mutating func unique(_ key: String, _ taken: inout Set<String>, _ shownPath: String) -> String {
        var name = key, copy = 2
        while !taken.insert(name).inserted {
            name = "\(key)_\(copy)"
            copy += 1
        }
        if copy > 2 {
            let owner = shownPath.isEmpty ? "the rows" : "the objects of \"\(shownPath)\""
            notes.append("two keys of \(owner) are the same text in different code points; one is now the column \"\(name)\"")
            losses.append("two keys of \(owner) are the same text in different code points: \"\(key)\"")
        }
        return name
    }

    /// Returns the plan for the values at a node other than null. `name` names the column in remarks; nil: the path does.
    mutating func plan(_ node: Shape.Node, path: String, shownPath: String = "", depth: Int, name: String? = nil) -> ColumnPlan {
        let shape = node.pointee
        if keepsTexts, let choice = NumberChoice(shape, name ?? JSONTypes.columnName(shownPath)) {
            notes += choice.remarks
            guard case .number(let kind, let notation, let keeps, let hasNulls) = choice.result else { return ColumnPlan(ColumnType(.any)) }
            return ColumnPlan(ColumnType(kind), notation: notation, keepsTexts: keeps, hasTextsForNull: hasNulls)
        }
        let numbers = shape.ints + shape.doubles + shape.numberTexts
        let kinds = [shape.bools, numbers, shape.strings, shape.arrays, shape.objects].count { $0 > 0 }
        if kinds == 0 { return ColumnPlan(ColumnType(.string)) }
        if kinds > 1 {
            let filled = numbers + shape.bools + shape.strings + shape.arrays + shape.objects
            if numbers * 2 > filled {
                let name = JSONTypes.columnName(shownPath)
                let others = filled - numbers
                notes.append(
                    "column \"\(name)\" is of type any: \(others) of \(filled) values \(others == 1 ? "is not a number" : "are not numbers")"
                )
            }
            return anyPlan(node, shownPath)
        }
        if shape.bools > 0 { return ColumnPlan(ColumnType(.bool)) }
        if numbers > 0 { return number(shape, shownPath: shownPath) }
        if shape.strings > 0 {
            let (kind, notation) = TextForm.kindAndNotation(shape.form)
            return ColumnPlan(ColumnType(kind), notation: notation)
        }
        if shape.arrays > 0 {
            guard let element = shape.element else {
                return ColumnPlan(ColumnType(.string, collection: .list), element: ColumnPlan(ColumnType(.string)))
            }
            return collection(.list, element, path: path, shownPath: shownPath, depth: depth)
        }
        return object(node, path: path, shownPath: shownPath, depth: depth)
    }

    /// The name of a column in remarks: the path of its values, or of rows that are not objects `value`.
    private static func columnName(_ shownPath: String) -> String { shownPath.isEmpty ? "value" : shownPath }

    private mutating func number(_ shape: Shape, shownPath: String) -> ColumnPlan {
        if shape.numberTexts > 0 || (shape.doubles > 0 && shape.hasWideInts) {
            notes.append(
                "column \"\(JSONTypes.columnName(shownPath))\": some numbers need more digits than a double has; the column holds decimals")
            return ColumnPlan(ColumnType(.decimal))
        }
        if shape.doubles == 0 { return ColumnPlan(ColumnType(.int)) }
        let isAllPointZero = shape.ints == 0 && shape.pointZeros > 0 && !shape.hasWholeDoubles
        if shape.ints == 0, shape.fraction > 1 { return ColumnPlan(ColumnType(.double), notation: .fixed(UInt8(shape.fraction))) }
        return ColumnPlan(ColumnType(.double), notation: isAllPointZero ? .pointZero : .plain)
    }

    private mutating func collection(_ kind: CollectionKind, _ element: Shape.Node, path: String, shownPath: String, depth: Int)
        -> ColumnPlan
    {
        let isNested = element.pointee.arrays > 0 || (element.pointee.objects > 0 && isMap(element)),
            inside = shownPath.isEmpty ? "*" : shownPath + ".*"
        var single: ColumnPlan
        if isNested {
            single =
                depth >= JSONTypes.maximumEmbeddingDepth
                ? anyPlan(element, inside) : nested(element, in: kind, path: path, shownPath: inside, depth: depth)
        } else {
            single = plan(element, path: path, shownPath: inside, depth: depth)
        }
        if single.type.isCollection { single = ColumnPlan(ColumnType(.any)) }
        let type = ColumnType(
            single.type.kind, collection: kind, elementOptional: element.pointee.nulls > 0 || single.hasTextsForNull,
            target: single.type.target)
        return ColumnPlan(type, notation: single.notation, element: single)
    }

    /// Returns the plan for collections within a collection: objects of a type with one field, which JSON does not show. Collections of
    /// values of several kinds are of type any.
    private mutating func nested(_ element: Shape.Node, in kind: CollectionKind, path: String, shownPath: String, depth: Int) -> ColumnPlan
    {
        let name = newName(path + (kind == .map ? "_value" : "_item")), position = embedded.count
        embedded.append(TypeSchema(name, columns: [], isEmbedded: true, envelope: TypeSchema.bareEnvelope))
        let inner = plan(element, path: name, shownPath: shownPath, depth: depth + 1)
        guard inner.type.isCollection, inner.type.kind != .any else {
            embedded.removeSubrange(position...)
            names.remove(name)
            return ColumnPlan(ColumnType(.any))
        }
        let field = ColumnPlan.Field(name: Array("value".utf8), column: "value", plan: inner, isOptional: false, writesNull: false)
        embedded[position].columns = JSONTypes.columns([field])
        return ColumnPlan(ColumnType(.embedded, target: name), fields: [field], isBare: true)
    }

    private mutating func newName(_ path: String) -> String {
        var name = path, copy = 2
        while !names.insert(name).inserted {
            name = "\(path)_\(copy)"
            copy += 1
        }
        return name
    }

    /// Whether the objects at a node are maps: `MapFinder` has converted those. Objects without any key are maps too.
    private func isMap(_ node: Shape.Node) -> Bool { node.pointee.mapValue != nil || node.pointee.members.isEmpty }

    /// Adds a remark about objects that become a map.
    private mutating func noteMap(_ shownPath: String, _ node: Shape.Node) {
        guard node.pointee.hadKeys else { return }
        maps.append("\"\(shownPath)\"")
    }

    /// Adds a remark about rows that become maps because they have too many different keys.
    mutating func noteRowsAsMaps() {
        notes.append(
            "the keys of the rows are data, or too many for columns: each row is a map in the column \"value\""
        )
    }

    private mutating func object(_ node: Shape.Node, path: String, shownPath: String, depth: Int) -> ColumnPlan {
        if isMap(node) {
            if !shownPath.isEmpty { noteMap(shownPath, node) }
            noteRepeated(node, shownPath)
            ShapeTree.collapse(node)
            return collection(.map, node.pointee.mapValue!, path: path, shownPath: shownPath, depth: depth)
        }
        if depth >= JSONTypes.maximumEmbeddingDepth { return anyPlan(node, shownPath) }
        let name = newName(path), position = embedded.count
        embedded.append(TypeSchema(name, columns: [], isEmbedded: true))
        let fields = fields(node, path: path, shownPath: shownPath, depth: depth + 1)
        embedded[position].columns = JSONTypes.columns(fields)
        return ColumnPlan(ColumnType(.embedded, target: name), fields: fields)
    }

    static func columns(_ fields: [ColumnPlan.Field]) -> [ColumnSchema] {
        fields.enumerated().map { index, field in
            var type = field.plan.type
            type.isOptional = field.isOptional
            var column = ColumnSchema(field.column, type, id: UInt32(index), notation: field.plan.notation, writesNull: field.writesNull)
            if !field.plan.attributes.isEmpty { column.otherAttributes = field.plan.attributes }
            if let target = field.textsOf {
                column.originalTextOf = target
                // Texts of parts have no other form.
                if let of = fields.first(where: { $0.column == target }), of.plan.keepsTexts {
                    column.otherAttributes.append(OriginalToken.attribute)
                }
            }
            return column
        }
    }
}
