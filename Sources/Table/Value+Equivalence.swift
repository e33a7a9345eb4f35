import FirnBytes

extension Value {
    /// Returns whether two values are equivalent: numbers are compared by value whatever their kind (`sameNumber`), lists in order, sets and
    /// maps without order, and objects by field, where an absent field equals null. An empty list is not null.
    package static func areEquivalent(_ a: Value, _ b: Value, tolerance: Double) -> Bool {
        switch (a, b) {
        case (.list(let x), .list(let y)):
            return x.count == y.count && zip(x, y).allSatisfy { areEquivalent($0, $1, tolerance: tolerance) }
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
        return x.count == y.count && zip(x, y).allSatisfy { areEquivalent($0, $1, tolerance: tolerance) }
    }

    private static func sameFields(_ a: [Entry], _ b: [Entry], tolerance: Double) -> Bool {
        func fields(_ entries: [Entry]) -> [Entry] {
            let present = entries.filter { !$0.value.isNull }
            return present.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        }
        let x = fields(a), y = fields(b)
        return x.count == y.count
            && zip(x, y).allSatisfy { $0.key.utf8.elementsEqual($1.key.utf8) && areEquivalent($0.value, $1.value, tolerance: tolerance) }
    }

    /// Returns whether two numbers are equal: by exact value; by their shortest decimal text if they are of different kinds (the float 0.1,
    /// the double 0.1 and the decimal 0.1 are three values of one number); or within `tolerance`. Both values must be numbers.
    package static func sameNumber(_ a: Value, _ b: Value, tolerance: Double) -> Bool {
        if order(a, b) == 0 { return true }
        if tolerance > 0, isWithin(tolerance, a, b) { return true }
        switch (a, b) {
        case (.float(let x), .double(let y)), (.double(let y), .float(let x)): return Float(y) == x && Double("\(x)") == y
        case (.decimal(let x), .float(let y)), (.float(let y), .decimal(let x)): return Float(x.double) == y && x.isWritten("\(y)")
        case (.decimal(let x), .double(let y)), (.double(let y), .decimal(let x)): return x.double == y && x.isWritten("\(y)")
        default: return false
        }
    }

    /// Returns whether two numbers differ by at most `tolerance`: exactly for integers and decimals.
    private static func isWithin(_ tolerance: Double, _ a: Value, _ b: Value) -> Bool {
        switch (a, b) {
        case (.int(let x), .int(let y)): return isWithin(tolerance, x, y)
        case (.decimal, _), (_, .decimal):
            guard let x = a.writtenDecimal, let y = b.writtenDecimal, let limit = Decimal("\(tolerance)") else { break }
            guard let order = (x - y).compare(limit), let opposite = (y - x).compare(limit) else { return false }
            return order <= 0 && opposite <= 0
        default: break
        }
        return ((a.number ?? .nan) - (b.number ?? .nan)).magnitude <= tolerance
    }

    /// Returns whether two integers differ by at most `tolerance`.
    package static func isWithin(_ tolerance: Double, _ a: Int64, _ b: Int64) -> Bool {
        Double(UInt64(bitPattern: a > b ? a &- b : b &- a)) <= tolerance
    }

    /// The number as a decimal, a float or double by its shortest text; nil if it is no number.
    private var writtenDecimal: Decimal? {
        switch self {
        case .int(let x): Decimal(x)
        case .float(let x): Decimal("\(x)")
        case .double(let x): Decimal("\(x)")
        case .decimal(let x): x
        default: nil
        }
    }

    /// A hash that is the same for all equivalent values. All collections and objects share one hash.
    package var equivalenceHash: UInt64 {
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
}

extension Decimal {
    /// Returns whether the text, which must be that of a finite number, has exactly this value.
    fileprivate func isWritten(_ text: String) -> Bool { Decimal(text).flatMap { compare($0) } == 0 }
}
