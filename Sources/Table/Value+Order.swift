/// The total order of values across kinds: null < bool < numbers (by value, whatever their kind) < string < data < date < object id < UUID
/// < link < list < set < map and object. Strings and data are ordered by bytes.
extension Value {
    private var rank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int, .float, .double, .decimal: 2
        case .string: 3
        case .data: 4
        case .date: 5
        case .objectID: 6
        case .uuid: 7
        case .link: 8
        case .list: 9
        case .set: 10
        case .map, .object: 11
        }
    }

    /// Returns -1, 0 or 1. NaN sorts before every other number and equals itself, so this is a total order.
    package static func order(_ a: Value, _ b: Value) -> Int {
        if a.rank != b.rank { return a.rank < b.rank ? -1 : 1 }
        switch (a, b) {
        case (.null, _): return 0
        case (.bool(let x), .bool(let y)): return x == y ? 0 : (y ? -1 : 1)
        case (.int(let x), .int(let y)), (.link(let x), .link(let y)): return compare(x, y)
        case (.string(let x), .string(let y)): return lexical(x.utf8, y.utf8)
        case (.data(let x), .data(let y)): return lexical(x, y)
        case (.date(let x), .date(let y)): return compare(x, y)
        case (.objectID(let x), .objectID(let y)), (.uuid(let x), .uuid(let y)): return compare(x, y)
        case (.list(let x), .list(let y)), (.set(let x), .set(let y)):
            for (p, q) in zip(x, y) {
                let order = order(p, q)
                if order != 0 { return order }
            }
            return compare(x.count, y.count)
        case (.map(let x), .map(let y)), (.map(let x), .object(let y)), (.object(let x), .map(let y)), (.object(let x), .object(let y)):
            let p = x.filter { !$0.value.isNull }.sorted { lexical($0.key.utf8, $1.key.utf8) < 0 }
            let q = y.filter { !$0.value.isNull }.sorted { lexical($0.key.utf8, $1.key.utf8) < 0 }
            for (e, f) in zip(p, q) {
                let keys = lexical(e.key.utf8, f.key.utf8)
                if keys != 0 { return keys }
                let values = order(e.value, f.value)
                if values != 0 { return values }
            }
            return compare(p.count, q.count)
        default: return numbers(a, b)
        }
    }

    /// The value as a double, if it is a number.
    package var number: Double? {
        switch self {
        case .int(let x): Double(x)
        case .float(let x): Double(x)
        case .double(let x): x
        case .decimal(let x): x.double
        default: nil
        }
    }

    private static func numbers(_ a: Value, _ b: Value) -> Int {
        switch (a, b) {
        case (.decimal(let x), _): return decimal(x, b)
        case (_, .decimal(let y)): return -decimal(y, a)
        case (.int(let x), _): return whole(x, b.number ?? .nan)
        case (_, .int(let y)): return -whole(y, a.number ?? .nan)
        default: return doubles(a.number ?? .nan, b.number ?? .nan)
        }
    }

    /// Compares a decimal with any number exactly: neither is rounded.
    private static func decimal(_ x: Decimal, _ other: Value) -> Int {
        let isNaN: Bool, order: Int?
        switch other {
        case .decimal(let y): (isNaN, order) = (y.isNaN, x.compare(y))
        case .int(let y): (isNaN, order) = (false, x.compare(Decimal(y)))
        default:
            let y = other.number ?? .nan
            (isNaN, order) = (y.isNaN, x.compare(y))
        }
        return order ?? (x.isNaN ? (isNaN ? 0 : -1) : 1)
    }

    private static func doubles(_ x: Double, _ y: Double) -> Int {
        if x.isNaN || y.isNaN { return x.isNaN ? (y.isNaN ? 0 : -1) : 1 }
        return x == y ? 0 : (x < y ? -1 : 1)
    }

    /// Compares an integer with a double exactly: the integer is not rounded.
    private static func whole(_ x: Int64, _ y: Double) -> Int {
        if y.isNaN { return 1 }
        if y >= 0x1p63 { return -1 }
        if y < -0x1p63 { return 1 }
        let floor = y.rounded(.down)
        let order = compare(x, Int64(floor))
        return order != 0 ? order : (floor < y ? -1 : 0)
    }

    private static func compare<T: Comparable>(_ x: T, _ y: T) -> Int { x == y ? 0 : (x < y ? -1 : 1) }

    private static func lexical(_ x: some Collection<UInt8>, _ y: some Collection<UInt8>) -> Int {
        x.elementsEqual(y) ? 0 : (x.lexicographicallyPrecedes(y) ? -1 : 1)
    }
}
