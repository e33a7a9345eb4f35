import FirnBytes
import FirnModel

/// How the values of a column in one table are compared with those of its namesake in the other.
/// Every case has a hash and an equality that agree: equal values have equal hashes.
enum Meaning: Sendable {
    /// bool, int or link on both sides.
    case words
    /// date, uuid or object id on both sides.
    case pairs
    /// double or float on both sides (0 = -0, NaN = NaN).
    case reals
    /// Numbers of different kinds, or decimals: by value, to the precision of the coarser kind.
    case numbers
    /// string or data on both sides.
    case text
    /// One value of different kinds that are not both numbers: by the text that a file would show.
    case written
    /// Collections, embedded objects and any.
    case values

    init(_ left: ColumnType, _ right: ColumnType) {
        func isNumber(_ type: ColumnType) -> Bool { [.int, .float, .double, .decimal].contains(type.kind) }
        func isOpen(_ type: ColumnType) -> Bool { type.isCollection || type.kind == .any || type.kind == .embedded }
        if isOpen(left) || isOpen(right) {
            self = .values
        } else if left.kind != right.kind {
            self = isNumber(left) && isNumber(right) ? .numbers : .written
        } else {
            self = switch left.kind {
            case .bool, .int, .link: .words
            case .date, .uuid, .objectID: .pairs
            case .float, .double: .reals
            case .decimal: .numbers
            default: .text
            }
        }
    }
}

extension Value {
    /// Whether two values mean the same: numbers by value whatever their kind (to the precision of the coarser one, or within `tolerance`),
    /// lists in order, sets and maps without order, objects by field with an absent field = null. An empty list is not null.
    static func sameMeaning(_ a: Value, _ b: Value, tolerance: Double) -> Bool {
        switch (a, b) {
        case (.list(let x), .list(let y)):
            return x.count == y.count && zip(x, y).allSatisfy { sameMeaning($0, $1, tolerance: tolerance) }
        case (.set, .set), (.set, .list), (.list, .set): return sameSet(a.elements, b.elements, tolerance: tolerance)
        case (.map(let x), .map(let y)), (.map(let x), .object(let y)), (.object(let x), .map(let y)), (.object(let x), .object(let y)):
            return sameFields(x, y, tolerance: tolerance)
        default:
            return a.number != nil && b.number != nil ? sameNumber(a, b, tolerance: tolerance) : a == b
        }
    }

    private var elements: [Value] {
        switch self {
        case .list(let values), .set(let values): values
        default: []
        }
    }

    private static func sameSet(_ a: [Value], _ b: [Value], tolerance: Double) -> Bool {
        let x = distinctSorted(a), y = distinctSorted(b)
        return x.count == y.count && zip(x, y).allSatisfy { sameMeaning($0, $1, tolerance: tolerance) }
    }

    private static func sameFields(_ a: [Entry], _ b: [Entry], tolerance: Double) -> Bool {
        func fields(_ entries: [Entry]) -> [Entry] {
            let present = entries.filter { !$0.value.isNull }
            return present.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        }
        let x = fields(a), y = fields(b)
        return x.count == y.count && zip(x, y).allSatisfy { $0.key.utf8.elementsEqual($1.key.utf8) && sameMeaning($0.value, $1.value, tolerance: tolerance) }
    }

    /// Both must be numbers.
    static func sameNumber(_ a: Value, _ b: Value, tolerance: Double) -> Bool {
        if order(a, b) == 0 { return true }
        let x = a.number ?? .nan, y = b.number ?? .nan
        if tolerance > 0, (x - y).magnitude <= tolerance { return true }
        switch (a, b) {
        case (.float, .double), (.double, .float), (.float, .decimal), (.decimal, .float): return Float(x) == Float(y)
        case (.double, .decimal), (.decimal, .double): return x == y
        default: return false
        }
    }

    /// The same for all values that mean the same. Collections and objects all share one.
    var meaningHash: UInt64 {
        switch self {
        case .null: nullHash
        case .bool(let x): mix(x ? 1 : 0, 1)
        case .int, .float, .double, .decimal: numberHash(number ?? .nan)
        case .string(let x): hashText(x, seed: 3)
        case .data(let x): x.withUnsafeBytes { mix(hashBytes($0), 4) }
        case .date(let x): mix(UInt64(bitPattern: x.seconds), UInt64(UInt32(bitPattern: x.nanoseconds)))
        case .objectID(let x), .uuid(let x): mix(x.high, x.low)
        case .link(let x): mix(UInt64(bitPattern: x), 8)
        case .list, .set, .map, .object: 9
        }
    }

    /// Gives the fields of embedded objects the names they have in the schema.
    func named(_ type: ColumnType, in schema: Schema) -> Value {
        guard type.kind == .embedded, let target = type.target.flatMap({ schema[$0] }) else { return self }
        switch self {
        case .list(let values): return .list(values.map { $0.named(type.element, in: schema) })
        case .set(let values): return .set(values.map { $0.named(type.element, in: schema) })
        case .map(let entries) where type.collection == .map:
            return .map(entries.map { Entry($0.key, $0.value.named(type.element, in: schema)) })
        case .object(let entries):
            return .object(entries.enumerated().map { i, entry in
                guard i < target.columns.count else { return entry }
                return Entry(target.columns[i].name, entry.value.named(target.columns[i].type, in: schema))
            })
        default: return self
        }
    }
}

/// The hash of an absent value.
let nullHash: UInt64 = 0x6E75_6C6C_5EED_0001

@inline(__always)
func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = (a ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: b ^ 0xD1B5_4A32_D192_ED03)
    return product.high ^ product.low
}

/// By value across number kinds: the coarsest kind decides, so all are taken as floats.
@inline(__always)
func numberHash(_ x: Double) -> UInt64 {
    let coarse = Float(x)
    return coarse.isNaN ? 0x4E61_4E : mix(UInt64((coarse == 0 ? 0 : coarse).bitPattern), 2)
}

@inline(__always)
func realHash(_ x: Double) -> UInt64 { x.isNaN ? 0x4E61_4E : mix((x == 0 ? 0 : x).bitPattern, 2) }

@inline(__always)
func hashBytes(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    let count = bytes.count
    let length = UInt64(truncatingIfNeeded: count)
    if count > 16 { return hash64(bytes) }
    if count >= 8 {
        return mix(bytes.loadUnaligned(as: UInt64.self) &+ length, bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self))
    }
    if count >= 4 {
        let low = UInt64(bytes.loadUnaligned(as: UInt32.self)), high = UInt64(bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
        return mix(low | high << 32, length)
    }
    var word: UInt64 = 0
    for byte in bytes { word = word << 8 | UInt64(byte) }
    return mix(word, length)
}

func hashText(_ text: String, seed: UInt64) -> UInt64 {
    var text = text
    return text.withUTF8 { mix(hashBytes(UnsafeRawBufferPointer($0)), seed) }
}
