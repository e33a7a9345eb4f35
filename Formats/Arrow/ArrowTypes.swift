import FirnBytes
import FirnExchange
import FirnTable

/// How the values of a field without children are converted.
enum ArrowForm: Equatable {
    /// A column without any value.
    case null
    case bool
    /// Bytes, of which zero is false.
    case bool8
    case int(bits: Int, isSigned: Bool)
    /// Unsigned 64-bit integers: decimals.
    case unsigned64
    case real(bits: Int)
    case dayDate, milliDate
    case timestamp(TimeUnit)
    case time(TimeUnit)
    /// Decimals that a double holds exactly; those with up to 34 digits; and longer ones, as text. Each has a number of bits.
    case decimalReal(scale: Int, bits: Int), decimal(scale: Int, bits: Int), decimalText(scale: Int, bits: Int)
    case uuid, objectID
    case text, bytes
    case fixedBytes(Int)
    case interval(ArrowFormat.IntervalUnit)
    /// Texts that Firn wrote: decimals, and values of any kind as JSON.
    case textOfDecimal, textOfAny

    var kind: ScalarKind {
        switch self {
        case .bool, .bool8: .bool
        case .int: .int
        case .unsigned64, .decimal, .textOfDecimal: .decimal
        case .real(let bits): bits == 64 ? .double : .float
        case .decimalReal: .double
        case .dayDate, .milliDate, .timestamp: .date
        case .uuid: .uuid
        case .objectID: .objectID
        case .null, .time, .decimalText, .text, .interval: .string
        case .bytes, .fixedBytes: .data
        case .textOfAny: .any
        }
    }

    /// The number of bytes of a stored value; 0 if it is not fixed.
    var stride: Int {
        switch self {
        case .null, .bool, .text, .bytes, .textOfDecimal, .textOfAny: 0
        case .bool8: 1
        case .int(let bits, _), .real(let bits): bits / 8
        case .dayDate: 4
        case .unsigned64, .milliDate, .timestamp: 8
        case .time(let unit): unit.digits <= 3 ? 4 : 8
        case .decimalReal(_, let bits), .decimal(_, let bits), .decimalText(_, let bits): bits / 8
        case .uuid: 16
        case .objectID: 12
        case .fixedBytes(let count): count
        case .interval(let unit): unit.width
        }
    }

    /// The bytes of a converted value in memory, without those of texts.
    var footprint: Int {
        switch self {
        case .dayDate, .milliDate, .timestamp, .decimal, .unsigned64, .uuid, .objectID, .textOfDecimal: 16
        case .time: 26
        case .interval, .decimalText: 64
        case .textOfAny: 48
        case .fixedBytes(let count): 8 + count
        default: 8
        }
    }
}

extension ArrowField {
    /// The type of a field without children: how it is converted, and what its column is; nil if it has children.
    func leaf() throws(ArrowFault) -> (form: ArrowForm, logical: LogicalType?, notation: Notation)? {
        switch (extensionName, type) {
        case ("arrow.uuid", .fixedBytes(16)): return (.uuid, nil, .plain)
        case ("arrow.json", .text): return (.text, .json, .plain)
        case ("arrow.bool8", .int(8, true)): return (.bool8, nil, .plain)
        case ("geoarrow.wkb", .bytes), ("ogc.wkb", .bytes): return (.bytes, .geometry(system: coordinateSystem), .plain)
        default: break
        }
        switch type {
        case .null: return (.null, nil, .plain)
        case .bool: return (.bool, nil, .plain)
        case .int(64, false): return (.unsigned64, .integer(bits: 64, isSigned: false), .plain)
        case .int(let bits, let isSigned):
            return (.int(bits: bits, isSigned: isSigned), bits == 64 ? nil : .integer(bits: bits, isSigned: isSigned), .plain)
        case .float(let bits): return (.real(bits: bits), bits == 16 ? .float16 : nil, .plain)
        case .decimal(let precision, let scale, let bits):
            let logical = LogicalType.decimal(precision: precision, scale: scale)
            if precision <= 15, (0...15).contains(scale) {
                return (.decimalReal(scale: scale, bits: bits), logical, scale == 0 ? .plain : .fixed(UInt8(scale)))
            }
            return precision <= 34
                ? (.decimal(scale: scale, bits: bits), logical, .plain) : (.decimalText(scale: scale, bits: bits), logical, .plain)
        case .date(let isDays): return (isDays ? .dayDate : .milliDate, .date, .dateOnly)
        case .time(let unit): return (.time(unit), .time(unit), .plain)
        case .timestamp(let unit, let zone): return (.timestamp(unit), .timestamp(unit, zone: zone), zone == nil ? .localDateTime : .plain)
        case .interval(let unit): return (.interval(unit), .interval, .plain)
        case .duration(let unit): return (.int(bits: 64, isSigned: true), .duration(unit), .plain)
        case .bytes: return (.bytes, nil, .plain)
        case .text: return (.text, nil, .plain)
        case .fixedBytes(let count): return (.fixedBytes(count), nil, .plain)
        case .list, .largeListView, .fixedList, .structure, .map, .union, .runs: return nil
        }
    }

    /// Whether what the extension says is kept by the type of the column, so that it need not be kept as metadata.
    var isKnownExtension: Bool {
        switch (extensionName, type) {
        case ("arrow.uuid", .fixedBytes(16)), ("arrow.json", .text), ("arrow.bool8", .int(8, true)): true
        case ("geoarrow.wkb", .bytes), ("ogc.wkb", .bytes): true
        default: false
        }
    }

    /// The reference system in the metadata of a geometry: the text of the member `crs`, or its JSON; nil if there is none.
    private var coordinateSystem: String? {
        guard let text = metadata(ArrowFormat.extensionMetadata), let document = ExactJSON.document(text),
            case .map(let members) = document, let system = members.first(where: { $0.key == "crs" })?.value
        else { return nil }
        switch system {
        case .null: return nil
        case .string(let text): return text
        default:
            var out: [UInt8] = []
            ExactJSON.append(system, to: &out)
            return String(decoding: out, as: UTF8.self)
        }
    }

    /// What users call the type.
    var typeName: String { ArrowSchemaText.name(self) }
}
