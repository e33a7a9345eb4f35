import FirnBytes
import FirnExchange
import FirnTable

/// What becomes of a column in a file that is written: a node of its schema. `ParquetShapes` makes them, and nothing else decides it: the
/// writer and `firn schema --as parquet` use the same.
final class ParquetShape: Sendable {
    indirect enum Content: Sendable {
        case leaf(LeafShape)
        /// Objects of an embedded type.
        case object([ParquetShape])
        case list(ParquetShape)
        /// A map with text keys.
        case map(ParquetShape)
        /// A collection in a collection: the only field of objects, in their place.
        case wrapped(ParquetShape)
    }

    let name: String
    let isOptional: Bool
    let content: Content

    init(_ name: String, isOptional: Bool, _ content: Content) {
        self.name = name
        self.isOptional = isOptional
        self.content = content
    }
}

/// How the values of a leaf are stored.
struct LeafShape: Sendable {
    var physical: ParquetFormat.Physical
    /// The number of bytes of a value of FIXED_LEN_BYTE_ARRAY.
    var length = 0
    var logical: ParquetFormat.Logical?
    var form: LeafForm
    /// The digits that values can have, if it is a decimal.
    var precision = 0
    /// The names of the fields of objects that are stored as JSON.
    var fields: Schema?
    var column: ColumnSchema
}

/// Makes the shapes of the columns of a type.
struct ParquetShapes {
    private let schema: Schema
    private(set) var shapes: [ParquetShape] = []
    /// The positions of the columns in the type. Original texts are not columns of the file.
    let columns: [Int]

    /// `sample` has some rows of each column of the type: dates without a logical type get the unit that these need.
    init(_ type: TypeSchema, in schema: Schema, sample: [Column] = []) {
        self.schema = schema
        columns = type.visibleColumns
        for position in columns {
            let column = type.columns[position], rows = sample.indices.contains(position) ? sample[position] : nil
            shapes.append(shape(column, column.name, isOptional: column.type.isOptional, rows, depth: 0))
        }
    }

    private func shape(_ column: ColumnSchema, _ name: String, isOptional: Bool, _ sample: Column?, depth: Int) -> ParquetShape {
        let type = column.type, children = sample?.children ?? []
        if type.isCollection {
            var element = column
            element.type = type.element
            element.otherAttributes = []
            let isMap = type.collection == .map
            let inner = shape(
                element, isMap ? "value" : "element", isOptional: type.elementIsOptional, isMap ? children.last : children.first,
                depth: depth)
            return ParquetShape(name, isOptional: isOptional, isMap ? .map(inner) : .list(inner))
        }
        if type.kind == .embedded, let target = type.target.flatMap({ schema[$0] }), depth < Column.maximumNesting {
            if target.isBare {
                let bare = shape(target.columns[0], "value", isOptional: false, children.first, depth: depth + 1)
                return ParquetShape(name, isOptional: isOptional, .wrapped(bare))
            }
            let fields = target.columns.enumerated().map { i, field in
                shape(
                    field, field.name, isOptional: field.type.isOptional, children.indices.contains(i) ? children[i] : nil, depth: depth + 1
                )
            }
            // A group needs a field.
            if !fields.isEmpty { return ParquetShape(name, isOptional: isOptional, .object(fields)) }
        }
        return ParquetShape(name, isOptional: isOptional || type.kind == .any, .leaf(leaf(column, sample)))
    }

    private func leaf(_ column: ColumnSchema, _ sample: Column?) -> LeafShape {
        if let logical = column.logical, let known = known(logical, column) { return known }
        func leaf(
            _ physical: ParquetFormat.Physical, _ form: LeafForm, _ logical: ParquetFormat.Logical? = nil, length: Int = 0
        ) -> LeafShape { LeafShape(physical: physical, length: length, logical: logical, form: form, column: column) }
        switch column.type.kind {
        case .bool: return leaf(.boolean, .bool)
        case .int, .link: return leaf(.int64, .int)
        case .float: return leaf(.float, .real)
        case .double: return leaf(.double, .real)
        case .string: return leaf(.byteArray, .text, .string)
        case .decimal: return leaf(.byteArray, .number, .string)
        case .data: return leaf(.byteArray, .bytes)
        case .date:
            let notation = column.notation.standardDate
            if notation == .dateOnly { return leaf(.int32, .date, .date) }
            let unit = ParquetShapes.unit(notation, sample)
            return leaf(.int64, .timestamp(unit), .timestamp(unit, utc: !notation.isLocal))
        case .objectID: return leaf(.fixed, .objectID, length: 12)
        case .uuid: return leaf(.fixed, .uuid, .uuid, length: 16)
        case .any, .embedded:
            var shape = leaf(.byteArray, .exactJSON, .json)
            shape.fields = column.type.kind == .embedded ? schema : nil
            return shape
        }
    }

    /// Returns the unit of dates: microseconds, unless their notation or the sample needs another. Parquet has no seconds.
    private static func unit(_ notation: Notation, _ sample: Column?) -> ParquetFormat.Unit {
        let hasNanos = notation.fixedDigits ?? 0 > 6
        guard let sample, sample.extra.count == sample.count else { return hasNanos ? .nanos : .micros }
        switch DateUnits(sample).unit(notation) {
        case .nanosecond: return .nanos
        case .microsecond: return .micros
        case .millisecond, .second: return .millis
        }
    }

    /// Returns how a logical type is stored; nil if as its storage type.
    private func known(_ logical: LogicalType, _ column: ColumnSchema) -> LeafShape? {
        func leaf(
            _ physical: ParquetFormat.Physical, _ form: LeafForm, _ logical: ParquetFormat.Logical?, length: Int = 0
        ) -> LeafShape { LeafShape(physical: physical, length: length, logical: logical, form: form, column: column) }
        // Parquet has no seconds.
        func unit(_ unit: TimeUnit) -> ParquetFormat.Unit {
            unit == .nanosecond ? .nanos : unit == .microsecond ? .micros : .millis
        }
        switch logical {
        case .integer(64, let isSigned): return isSigned ? leaf(.int64, .int, .int(64)) : leaf(.int64, .unsigned64, .uint(64))
        case .integer(let bits, let isSigned):
            return isSigned ? leaf(.int32, .int, .int(bits)) : leaf(.int32, .unsigned, .uint(bits))
        case .float16: return leaf(.fixed, .float16, .float16, length: 2)
        case .decimal(let precision, let scale): return decimal(precision, scale, column)
        case .date: return leaf(.int32, .date, .date)
        case .time(let given):
            let unit = unit(given)
            return leaf(
                unit == .millis ? .int32 : .int64, given == .second ? .seconds : .time(unit), .time(unit, utc: false))
        case .timestamp(let given, let zone): return leaf(.int64, .timestamp(unit(given)), .timestamp(unit(given), utc: zone != nil))
        case .duration: return leaf(.int64, .int, nil)
        case .interval: return leaf(.fixed, .interval, .interval, length: 12)
        case .enumeration: return leaf(.byteArray, .text, .enumeration)
        case .json: return leaf(.byteArray, .text, .json)
        case .geometry(let system): return leaf(.byteArray, .bytes, .geometry(system))
        case .fixedList: return nil
        }
    }

    private func decimal(_ precision: Int, _ scale: Int, _ column: ColumnSchema) -> LeafShape? {
        // Parquet has no negative scale, and no more digits after the point than digits.
        let digits = max(scale < 0 ? precision - scale : precision, scale), places = max(0, scale)
        guard digits <= ParquetShapes.maximumDigits else { return nil }
        let form: LeafForm =
            switch column.type.kind {
            case .double: .decimalReal(scale: places)
            case .decimal: .decimal(scale: places)
            default: .decimalText(scale: places)
            }
        // A reader takes decimals of up to 15 digits as doubles.
        if case .decimalReal = form, digits > 15 { return nil }
        let logical = ParquetFormat.Logical.decimal(precision: digits, scale: places)
        var leaf =
            digits <= 9
            ? LeafShape(physical: .int32, logical: logical, form: form, column: column)
            : digits <= 18
                ? LeafShape(physical: .int64, logical: logical, form: form, column: column)
                : LeafShape(
                    physical: .fixed, length: ParquetShapes.bytes(ofDigits: digits), logical: logical, form: form, column: column)
        leaf.precision = digits
        return leaf
    }

    /// More digits are stored as text.
    private static let maximumDigits = 1 << 12

    /// The number of bytes that hold a sign and this many digits.
    static func bytes(ofDigits digits: Int) -> Int {
        // A digit has log2(10) bits.
        Int((Double(digits) * 3.321928094887362 + 1) / 8) + 1
    }
}
