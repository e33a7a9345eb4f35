import FirnExchange
import FirnTable

/// How a field becomes a column.
final class ArrowPlan {
    indirect enum Shape {
        case leaf(ArrowForm)
        /// Objects of an embedded type.
        case object([ArrowPlan])
        /// A list or a set.
        case list(ArrowPlan)
        /// A list in a list or map: an object whose only field is the list.
        case wrapped(ArrowPlan)
        /// A map with text keys.
        case map(key: ArrowPlan, value: ArrowPlan)
        /// Values of any kind, by the position of the alternative.
        case union([ArrowPlan])
        /// Indexes into a dictionary of such values.
        case dictionary(ArrowPlan)
        /// Runs of such values.
        case runs(ArrowPlan)
        /// A field of a type that contains itself, which the file does not have at this depth: no object has it.
        case absent
    }

    let name: String
    let shape: Shape
    /// The type of the column.
    let type: ColumnType
    let notation: Notation
    let logical: LogicalType?
    let field: ArrowField
    /// The column that Firn wrote; nil if the type of the field determines the column.
    var given: ColumnSchema?
    /// Whether this is the list in an object that stands for it: where the object is null, so is the list.
    var isWrapped = false
    /// Whether a null is an error.
    var isRequired: Bool { !type.isOptional && !isWrapped }

    init(
        _ name: String, _ shape: Shape, _ type: ColumnType, of field: ArrowField, notation: Notation = .plain, logical: LogicalType? = nil,
        given: ColumnSchema? = nil
    ) {
        self.name = name
        self.shape = shape
        self.type = type
        self.field = field
        self.notation = notation
        self.logical = logical
        self.given = given
    }

    /// Whether a value of the row type can be read by vector, directly from the buffers.
    var isPlain: Bool {
        guard case .leaf(let form) = shape else { return false }
        return form != .null && form != .textOfAny
    }
}

/// Plans the columns of a file, and collects the types of their objects.
struct ArrowPlanner {
    private(set) var embedded: [TypeSchema] = []
    private(set) var remarks: [String] = []
    /// Those of the remarks that are about fields without a column.
    private(set) var leftOut: [String] = []
    private var names = DistinctNames()
    /// The schema that Firn wrote; nil if there is none.
    private let record: Schema?
    /// The nodes of the rows that have nulls, although the schema declares none.
    private let hasNulls: Set<Int>
    private var isInDictionary = false

    init(typeName: String, record: Schema?, hasNulls: Set<Int>) {
        self.record = record
        self.hasNulls = hasNulls
        _ = names.add(typeName)
        for type in record?.types ?? [] where type.isEmbedded { _ = names.add(type.name) }
    }

    /// Returns the columns of the rows. Those of `given` that still fit the fields are taken as they are.
    mutating func rows(_ fields: [ArrowField], path: String, given: TypeSchema?) throws(ArrowFault) -> [ArrowPlan] {
        var used = DistinctNames(), out: [ArrowPlan] = []
        for field in fields {
            if let column = given?.index(of: field.name).map({ given!.columns[$0] }), fits(field, column, depth: 0) {
                out.append(try plan(field, column))
                _ = used.add(field.name)
            } else if let plan = try add(field, &used, path: path) {
                out.append(plan)
            }
        }
        return out
    }

    /// Returns the columns of the fields of a group, with different names.
    private mutating func fields(_ fields: [ArrowField], path: String) throws(ArrowFault) -> [ArrowPlan] {
        var used = DistinctNames(), out: [ArrowPlan] = []
        for field in fields { if let plan = try add(field, &used, path: path) { out.append(plan) } }
        return out
    }

    private mutating func add(_ field: ArrowField, _ used: inout DistinctNames, path: String) throws(ArrowFault) -> ArrowPlan? {
        guard !field.isEmpty else {
            let remark = "column \"\(field.path)\" is a struct without fields, and is left out"
            remarks.append(remark)
            leftOut.append(remark)
            return nil
        }
        let name = used.add(field.name)
        if name != field.name { remarks.append("a second column \"\(field.path)\" is named \"\(name)\"") }
        return try plan(field, name, path: path + "_" + name)
    }

    private func isOptional(_ field: ArrowField) -> Bool { field.isNullable || !isInDictionary && hasNulls.contains(field.node) }

    mutating func plan(_ field: ArrowField, _ name: String, path: String) throws(ArrowFault) -> ArrowPlan {
        let isOptional = isOptional(field)
        if let dictionary = field.dictionary {
            let outer = isInDictionary
            isInDictionary = true
            defer { isInDictionary = outer }
            let values = try plan(dictionary.values, name, path: path)
            var type = values.type
            type.isOptional = isOptional
            return ArrowPlan(name, .dictionary(values), type, of: field, notation: values.notation, logical: values.logical)
        }
        if let (form, logical, notation) = try field.leaf() {
            return ArrowPlan(
                name, .leaf(form), ColumnType(form.kind, optional: isOptional || form == .null), of: field, notation: notation,
                logical: logical)
        }
        switch field.type {
        case .runs:
            let values = try plan(field.children[1], name, path: path)
            var type = values.type
            type.isOptional = type.isOptional || isOptional
            return ArrowPlan(name, .runs(values), type, of: field, notation: values.notation, logical: values.logical)
        case .structure: return try object(field, name, path: path)
        case .union: return try union(field, name, path: path)
        case .map: return try map(field, name, path: path)
        case .fixedList(let count):
            return list(
                field, name, of: try plan(field.children[0], "element", path: field.children[0].isCollection ? path + "_item" : path),
                path: path, logical: .fixedList(count))
        default:
            return list(
                field, name, of: try plan(field.children[0], "element", path: field.children[0].isCollection ? path + "_item" : path),
                path: path)
        }
    }

    private mutating func object(_ field: ArrowField, _ name: String, path: String) throws(ArrowFault) -> ArrowPlan {
        let target = names.add(path), position = embedded.count
        embedded.append(TypeSchema(target, columns: [], isEmbedded: true))
        let fields = try fields(field.children, path: target)
        embedded[position].columns = ArrowPlanner.columns(fields)
        return ArrowPlan(name, .object(fields), ColumnType(.embedded, optional: isOptional(field), target: target), of: field)
    }

    /// A union becomes values of any kind. The types of objects within it are not needed.
    private mutating func union(_ field: ArrowField, _ name: String, path: String) throws(ArrowFault) -> ArrowPlan {
        let known = embedded
        var alternatives: [ArrowPlan] = []
        for (i, child) in field.children.enumerated() { alternatives.append(try plan(child, child.name, path: path + "_\(i)")) }
        embedded = known
        return ArrowPlan(name, .union(alternatives), ColumnType(.any, optional: true), of: field)
    }

    private mutating func list(
        _ field: ArrowField, _ name: String, of element: ArrowPlan, path: String, logical: LogicalType? = nil
    ) -> ArrowPlan {
        let inner = wrapped(element, path: path + "_item")
        return ArrowPlan(
            name, .list(inner),
            ColumnType(
                inner.type.kind, optional: isOptional(field), collection: .list, elementOptional: inner.type.isOptional,
                target: inner.type.target), of: field, notation: inner.notation, logical: logical)
    }

    /// Returns a plan that can be an element: collections become objects with one field.
    private mutating func wrapped(_ plan: ArrowPlan, path: String) -> ArrowPlan {
        guard plan.type.isCollection else { return plan }
        var type = plan.type
        type.isOptional = false
        let inner = ArrowPlan("value", plan.shape, type, of: plan.field, notation: plan.notation, logical: plan.logical)
        inner.isWrapped = true
        let target = names.add(path)
        var wrapper = TypeSchema(target, columns: ArrowPlanner.columns([inner]), isEmbedded: true)
        wrapper.envelope = TypeSchema.bareEnvelope
        embedded.append(wrapper)
        return ArrowPlan(
            plan.name, .wrapped(inner), ColumnType(.embedded, optional: plan.type.isOptional, target: target), of: plan.field)
    }

    private mutating func map(_ field: ArrowField, _ name: String, path: String) throws(ArrowFault) -> ArrowPlan {
        let entry = field.children[0], keyField = entry.children[0], valueField = entry.children[1]
        let key = keyField.isEmpty ? nil : try plan(keyField, "key", path: path + "_key")
        if let key, key.type.kind == .string, !key.type.isCollection, key.hasTexts, !valueField.isEmpty {
            let value = wrapped(
                try plan(valueField, "value", path: valueField.isCollection ? path + "_value" : path), path: path + "_value")
            return ArrowPlan(
                name, .map(key: key, value: value),
                ColumnType(
                    value.type.kind, optional: isOptional(field), collection: .map, elementOptional: value.type.isOptional,
                    target: value.type.target), of: field, notation: value.notation)
        }
        // Keys that are not texts: a list of entries.
        return list(field, name, of: try object(entry, "entry", path: path + "_entry"), path: path)
    }

    static func columns(_ plans: [ArrowPlan]) -> [ColumnSchema] {
        plans.enumerated().map { index, plan in
            if let given = plan.given {
                var column = given
                column.type = plan.type
                column.metadata = ArrowMetadata.kept(plan.field.metadata, knowsExtension: plan.field.isKnownExtension)
                return column
            }
            var column = ColumnSchema(plan.name, plan.type, id: UInt32(index), notation: plan.notation)
            if let logical = plan.logical, logical.fits(plan.type) { column.logical = logical }
            let field = plan.field
            column.metadata = ArrowMetadata.kept(field.metadata, knowsExtension: field.isKnownExtension)
            return column
        }
    }
}

extension ArrowPlan {
    /// Whether the values are texts as they are stored.
    fileprivate var hasTexts: Bool {
        switch shape {
        case .leaf(.text): true
        case .dictionary(let values), .runs(let values): values.hasTexts
        default: false
        }
    }
}

extension ArrowField {
    /// Whether the field becomes a list or map.
    var isCollection: Bool {
        switch type {
        case .list, .largeListView, .fixedList, .map: true
        case .runs: children[1].isCollection
        default: false
        }
    }

    /// Whether the field has no values that a column could hold: a struct without fields, or a collection of such.
    var isEmpty: Bool {
        switch type {
        case .structure: children.allSatisfy(\.isEmpty)
        case .list, .largeListView, .fixedList, .map: children[0].isEmpty
        case .runs: children[1].isEmpty
        default: false
        }
    }
}

// MARK: Columns that Firn wrote

extension ArrowPlanner {
    /// Whether a field still has the type that Firn wrote a column with.
    fileprivate func fits(_ field: ArrowField, _ column: ColumnSchema, depth: Int) -> Bool {
        guard depth < 64, let record else { return false }
        let mapping = ArrowMapping(record)
        guard let expected = mapping.field(column) else { return false }
        return ArrowPlanner.same(field, expected)
    }

    /// Whether two fields have the same name and type, however their values are encoded. A time can have another unit.
    private static func same(_ field: ArrowField, _ expected: ArrowField) -> Bool {
        let isText: Bool = if case .text = field.type, case .text = expected.type { true } else { false }
        let isBytes: Bool = if case .bytes = field.type, case .bytes = expected.type { true } else { false }
        var isSame = isText || isBytes || field.type == expected.type
        switch (field.type, expected.type) {
        // Columns without a logical type get the unit that their values need.
        case (.timestamp(_, let zone), .timestamp(_, let other)): isSame = zone == other
        case (.date(true), .timestamp), (.timestamp, .date(true)): isSame = true
        case (.map, .map): isSame = true
        case (.list(.small), .list(.large)), (.list(.large), .list(.small)): isSame = true
        default: break
        }
        guard isSame, field.extensionName == expected.extensionName, field.children.count == expected.children.count else { return false }
        let isNamed = field.type == .structure
        return zip(field.children, expected.children).allSatisfy { (!isNamed || $0.name == $1.name) && same($0, $1) }
    }

    /// Plans a field as the column that Firn wrote.
    fileprivate mutating func plan(_ field: ArrowField, _ column: ColumnSchema) throws(ArrowFault) -> ArrowPlan {
        let plan = try given(field, column, isOptional: isOptional(field))
        plan.given = column
        return plan
    }

    private mutating func given(_ field: ArrowField, _ column: ColumnSchema, isOptional: Bool) throws(ArrowFault) -> ArrowPlan {
        var type = column.type
        type.isOptional = type.isOptional || isOptional
        if let dictionary = field.dictionary {
            var inner = column
            inner.type.isOptional = true
            let outer = isInDictionary
            isInDictionary = true
            defer { isInDictionary = outer }
            return ArrowPlan(column.name, .dictionary(try given(dictionary.values, inner, isOptional: true)), type, of: field)
        }
        if type.isCollection {
            var element = column
            element.type = column.type.element
            element.otherAttributes = []
            let entry = field.children[0]
            if type.collection == .map {
                let key = try given(entry.children[0], ColumnSchema("key", ColumnType(.string)), isOptional: false)
                let value = try given(entry.children[1], element, isOptional: self.isOptional(entry.children[1]))
                type.elementIsOptional = value.type.isOptional
                return ArrowPlan(column.name, .map(key: key, value: value), type, of: field)
            }
            let inner = try given(entry, element, isOptional: self.isOptional(entry))
            type.elementIsOptional = inner.type.isOptional
            return ArrowPlan(column.name, .list(inner), type, of: field)
        }
        if type.kind == .embedded, let record, let target = type.target.flatMap({ record[$0] }) {
            return try object(field, column, type, target)
        }
        guard let (form, _, _) = try field.leaf() else { throw ArrowFault("column \"\(field.path)\" has no values", at: field.offset) }
        return ArrowPlan(column.name, .leaf(ArrowPlanner.form(form, for: type.kind)), type, of: field)
    }

    /// The form in which values of a kind are read that Arrow has no type for.
    private static func form(_ form: ArrowForm, for kind: ScalarKind) -> ArrowForm {
        switch (form, kind) {
        case (.text, .decimal): .textOfDecimal
        case (.text, .any): .textOfAny
        case (.fixedBytes(12), .objectID): .objectID
        default: form
        }
    }

    private mutating func object(_ field: ArrowField, _ column: ColumnSchema, _ type: ColumnType, _ target: TypeSchema) throws(ArrowFault)
        -> ArrowPlan
    {
        // A type that contains itself is listed once; its deepest fields are missing in the file.
        let isFirst = !embedded.contains { $0.name == target.name }
        if isFirst { embedded.append(target) }
        if target.isBare {
            let only = target.columns[0]
            let inner = try given(field, only, isOptional: false)
            inner.isWrapped = true
            return ArrowPlan(column.name, .wrapped(inner), type, of: field)
        }
        var fields: [ArrowPlan] = []
        for column in target.columns {
            guard let child = field.children.first(where: { $0.name == column.name }) else {
                var missing = column.type
                missing.isOptional = true
                fields.append(ArrowPlan(column.name, .absent, missing, of: field))
                continue
            }
            fields.append(try given(child, column, isOptional: isOptional(child)))
        }
        if isFirst, let at = embedded.firstIndex(where: { $0.name == target.name }) {
            for i in embedded[at].columns.indices { embedded[at].columns[i].type = fields[i].type }
        }
        return ArrowPlan(column.name, .object(fields), type, of: field)
    }
}
