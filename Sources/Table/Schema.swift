/// How the values of a column were written in their source, so that export writes the same text. The codes are written to files and never
/// change.
package struct Notation: Hashable, Sendable {
    package var code: UInt8
    package var parameter: UInt8

    package init(code: UInt8, parameter: UInt8 = 0) {
        self.code = code
        self.parameter = parameter
    }

    /// The shortest text that reads back as the same value; whole doubles without a point ("1", "1.5").
    package static let plain = Notation(code: 0)
    /// Doubles with exactly `digits` digits after the point ("1.50").
    package static func fixed(_ digits: UInt8) -> Notation { Notation(code: 1, parameter: digits) }
    /// Doubles, of which whole ones end in ".0" ("1.0").
    package static let pointZero = Notation(code: 2)
    /// Doubles, of which those below 1e-4 and from 1e16 on have an exponent with a sign and at least two digits ("1e-05", "1.5e+16"), as in
    /// Python. Other whole doubles are written as with `pointZero`, or as with `plain`.
    package static func twoDigitExponent(pointZero: Bool) -> Notation { Notation(code: 12, parameter: pointZero ? 1 : 0) }
    /// Bools as `True` and `False`.
    package static let capitalised = Notation(code: 3)
    /// Bools as `TRUE` and `FALSE`.
    package static let upperCase = Notation(code: 4)
    /// Dates as `2016-09-29`.
    package static let dateOnly = Notation(code: 5)
    /// Dates as `2016-09-29 10:11:12`, without time zone (read as UTC). `digits` is the number of fractional digits of the second.
    package static func dateTimeSpace(_ digits: UInt8) -> Notation { Notation(code: 6, parameter: digits) }
    /// Dates as `2016-09-29T10:11:12Z`. `digits` is the number of fractional digits of the second.
    package static func dateTimeZ(_ digits: UInt8) -> Notation { Notation(code: 7, parameter: digits) }
    /// Dates as `2016-09-29T10:11:12`, without time zone (read as UTC). `digits` is the number of fractional digits of the second.
    package static func dateTimeT(_ digits: UInt8) -> Notation { Notation(code: 8, parameter: digits) }
    /// UUIDs in upper case.
    package static let uuidUpper = Notation(code: 9)
    /// Dates as `2016-09-29T10:11:12`, without time zone (read as UTC), with as many fractional digits of the second as they need.
    package static let localDateTime = Notation(code: 11)

    /// Whether whole doubles end in ".0".
    package var writesPointZero: Bool { self == .pointZero || self == .twoDigitExponent(pointZero: true) }
    package var hasTwoDigitExponent: Bool { code == Notation.twoDigitExponent(pointZero: false).code }
}

/// A named property of a column, a type or a schema, which is stored with it.
package struct SchemaAttribute: Hashable, Sendable {
    package var name: String
    package var value: [UInt8]

    package init(_ name: String, _ value: [UInt8]) {
        self.name = name
        self.value = value
    }
}

/// The attributes of a column.
private final class ColumnExtras: Sendable {
    let originalTextOf: String?
    let others: [SchemaAttribute]

    /// Returns nil if there is no attribute.
    init?(originalTextOf: String?, others: [SchemaAttribute]) {
        if originalTextOf == nil, others.isEmpty { return nil }
        self.originalTextOf = originalTextOf
        self.others = others
    }
}

/// One column of a type. Columns that differ only in their indexes are equal.
package struct ColumnSchema: Hashable, Sendable {
    /// Assigned when the column is created, and never reused within the type. Files refer to columns by id; the name can change.
    package var id: UInt32
    package var name: String
    package var type: ColumnType
    package var notation: Notation
    /// JSON: null was written as `null`, not by omitting the key.
    package var writesNull: Bool
    package var indexes: IndexMarks
    /// The name of the column of the same type whose original texts this column holds; nil for an ordinary column. See `OriginalTexts`.
    package var originalTextOf: String? {
        get { more?.originalTextOf }
        set { more = ColumnExtras(originalTextOf: newValue, others: more?.others ?? []) }
    }
    /// All other attributes that are stored with the column: its logical type, metadata of applications, and those that this program does
    /// not know. They are kept as they are.
    package var otherAttributes: [SchemaAttribute] {
        get { more?.others ?? [] }
        set { more = ColumnExtras(originalTextOf: more?.originalTextOf, others: newValue) }
    }
    /// Whether the schema stores attributes of the column.
    package var hasAttributes: Bool { more != nil }
    /// Few columns have any: a reference keeps the others small.
    private var more: ColumnExtras?

    package init(
        _ name: String, _ type: ColumnType, id: UInt32 = 0, notation: Notation = .plain, writesNull: Bool = false, indexes: IndexMarks = []
    ) {
        self.id = id
        self.name = name
        self.type = type
        self.notation = notation
        self.writesNull = writesNull
        self.indexes = indexes
    }

    package static func == (a: ColumnSchema, b: ColumnSchema) -> Bool {
        a.id == b.id && a.name == b.name && a.type == b.type && a.notation == b.notation && a.writesNull == b.writesNull
            && (a.more === b.more || a.originalTextOf == b.originalTextOf && a.otherAttributes == b.otherAttributes)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(name)
        hasher.combine(type)
    }
}

/// One type: the schema of its rows.
package struct TypeSchema: Hashable, Sendable {
    package var id: UInt32
    package var name: String
    /// Whether its rows belong to owners and are not listed separately.
    package var isEmbedded: Bool
    package var columns: [ColumnSchema] {
        _read { yield list }
        // Modify in place: an observer would copy the whole list for each change of one column.
        _modify {
            positions = ColumnPositions()
            yield &list
        }
    }
    private var list: [ColumnSchema]
    /// The positions of the primary key's columns in `columns`; empty if there is no key.
    package var key: [Int]
    /// The text that surrounded the rows in their source (in the form of an outside format, such as the JSON around an array of rows); nil
    /// if there was none.
    package var envelope: String?
    /// The attributes that are stored with the type. Unknown ones are kept as they are.
    package var otherAttributes: [SchemaAttribute] = []
    private var positions = ColumnPositions()

    package init(
        _ name: String, columns: [ColumnSchema], key: [Int] = [], isEmbedded: Bool = false, id: UInt32 = 0, envelope: String? = nil
    ) {
        self.id = id
        self.name = name
        list = columns
        self.key = key
        self.isEmbedded = isEmbedded
        self.envelope = envelope
    }

    package static func == (a: TypeSchema, b: TypeSchema) -> Bool {
        a.id == b.id && a.name == b.name && a.isEmbedded == b.isEmbedded && a.columns == b.columns && a.key == b.key
            && a.envelope == b.envelope && a.otherAttributes == b.otherAttributes
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(name)
        hasher.combine(isEmbedded)
        hasher.combine(columns)
        hasher.combine(key)
        hasher.combine(envelope)
    }

    /// Returns the position of a column by name, or nil.
    /// - Complexity: O(1) after the first call, also for types with a million columns.
    package func index(of column: String) -> Int? { positions.names.first(column, of: columns.count) { columns[$0].name } }
    /// Returns the position of a column by id, or nil.
    /// - Complexity: O(1) after the first call.
    package func index(ofID id: UInt32) -> Int? { positions.ids.first(id, of: columns.count) { columns[$0].id } }

    /// Returns the position of the field that entry `i` of an object names, or nil. Entries without a name are matched by position. But a
    /// field can have an empty name; if the type has one, entries without a name refer to it, unless the object has all fields and none of
    /// its entries has a name.
    package func columnPosition(of i: Int, in entries: [Value.Entry]) -> Int? {
        guard entries[i].key.isEmpty else { return index(of: entries[i].key) }
        if let named = index(of: ""), entries.count != columns.count || !entries.allSatisfy(\.key.isEmpty) { return named }
        return i < columns.count ? i : nil
    }

    /// Returns whether single values of a column are read in random order, to compare them with a key that is searched for.
    package func isLookedUp(_ column: Int) -> Bool { key.contains(column) || columns[column].indexes.contains(.values) }
}

/// The types of a file or of a stream of batches.
package struct Schema: Hashable, Sendable {
    package var types: [TypeSchema]
    /// The attributes that are stored with the schema. Unknown ones are kept as they are.
    package var otherAttributes: [SchemaAttribute] = []

    package init(_ types: [TypeSchema] = []) { self.types = types }

    /// Returns the type with this name, or nil.
    package subscript(_ name: String) -> TypeSchema? { types.first { $0.name == name } }
    /// The types that are not embedded: their rows are listed separately.
    package var roots: [TypeSchema] { types.filter { !$0.isEmbedded } }
}
