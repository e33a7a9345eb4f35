import FirnBytes
import FirnTable

/// Comparisons of single values: all rules of null, of kinds and of text.
enum Comparison {
    /// Returns whether a comparison is true. Null is less than every text, except among mixed values, and not ordered with other values;
    /// values of incomparable kinds are unequal and not ordered.
    static func holds(_ comparator: Comparator, _ a: Value, _ b: Value, folding: Folding, areMixed: Bool = false) -> Bool {
        if comparator.isTextual { return textHolds(comparator, a, b, folding: folding) }
        if areMixed, a.isNull != b.isNull { return comparator == .notEqual }
        guard let order = order(a, b, folding: folding) else { return comparator == .notEqual }
        switch comparator {
        case .equal: return order == 0
        case .notEqual: return order != 0
        case .less: return order < 0
        case .lessOrEqual: return order <= 0
        case .greater: return order > 0
        case .greaterOrEqual: return order >= 0
        default: trap("IN and BETWEEN are bound to other tests")
        }
    }

    /// Returns -1, 0 or 1; nil if the values are not ordered (null and a number, different kinds, NaN).
    private static func order(_ a: Value, _ b: Value, folding: Folding) -> Int? {
        switch (a, b) {
        case (.null, .null): return 0
        case (.null, .string), (.null, .data): return -1
        case (.string, .null), (.data, .null): return 1
        case (.string(let x), .string(let y)) where folding.isNeeded:
            return Value.order(.data(folding.folded(Array(x.utf8))), .data(folding.folded(Array(y.utf8))))
        case (.data(let x), .data(let y)) where folding.isNeeded: return Value.order(.data(folding.folded(x)), .data(folding.folded(y)))
        // Whole collections are compared for equality only: element by element, by the same rules.
        case (.map(let x), .map(let y)):
            guard x.count == y.count else { return nil }
            let p = x.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) },
                q = y.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            return zip(p, q).allSatisfy { $0.key.utf8.elementsEqual($1.key.utf8) && order($0.value, $1.value, folding: folding) == 0 }
                ? 0 : nil
        case (.list, .list), (.set, .set), (.list, .set), (.set, .list):
            return elements(a).elementsEqual(elements(b)) { order($0, $1, folding: folding) == 0 } ? 0 : nil
        default: break
        }
        guard a.kindClass == b.kindClass else { return nil }
        // A float or double NaN equals nothing; two NaNs of which one is a decimal are equal. No NaN is ordered with numbers.
        if a.isNotNumber || b.isNotNumber { return a.isNotNumber && b.isNotNumber && (a.isDecimal || b.isDecimal) ? 0 : nil }
        return Value.order(a, b)
    }

    private static func elements(_ value: Value) -> [Value] {
        switch value {
        case .list(let x), .set(let x): x
        default: []
        }
    }

    private static func textHolds(_ comparator: Comparator, _ a: Value, _ b: Value, folding: Folding) -> Bool {
        if b.isNull { return comparator == .like ? a.isNull : true }
        guard let x = a.bytes, let y = b.bytes, a.kindClass == b.kindClass else { return false }
        let form: TextTest.Form =
            switch comparator {
            case .beginsWith: .prefix(y)
            case .endsWith: .suffix(y)
            case .contains: .contains(y)
            default: .like(y)
            }
        var scratch: [UInt8] = []
        return x.withUnsafeBytes { TextTest(form, folding: folding).matches($0, &scratch) }
    }

    /// Computes in the wider kind of int ⊂ float ⊂ double ⊂ decimal; null if either side is not a number. Ints wrap on overflow; an int
    /// divided by zero is the minimum or maximum int.
    static func combine(_ op: ArithmeticOperator, _ a: Value, _ b: Value) -> Value {
        guard let x = a.number, let y = b.number else { return .null }
        switch (a, b) {
        case (.decimal, _), (_, .decimal):
            let p = a.decimal, q = b.decimal
            return switch op {
            case .add: .decimal(p + q)
            case .subtract: .decimal(p - q)
            case .multiply: .decimal(p * q)
            case .divide: .decimal(p / q)
            }
        case (.int(let p), .int(let q)): return .int(whole(op, p, q))
        case (.double, _), (_, .double): return .double(real(op, x, y))
        default: return .float(Float(real(op, x, y)))
        }
    }

    @inline(__always)
    static func whole(_ op: ArithmeticOperator, _ x: Int64, _ y: Int64) -> Int64 {
        switch op {
        case .add: x &+ y
        case .subtract: x &- y
        case .multiply: x &* y
        case .divide: y == 0 ? (x < 0 ? .min : .max) : y == -1 ? 0 &- x : x / y
        }
    }

    @inline(__always)
    static func real(_ op: ArithmeticOperator, _ x: Double, _ y: Double) -> Double {
        switch op {
        case .add: x + y
        case .subtract: x - y
        case .multiply: x * y
        case .divide: x / y
        }
    }
}

extension Value {
    /// The class of the kind. Only values of one class are comparable.
    var kindClass: Int {
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
        case .list, .set: 9
        case .map, .object: 10
        }
    }

    /// Whether the value is a float or double NaN.
    var isUnordered: Bool {
        switch self {
        case .float(let x): x.isNaN
        case .double(let x): x.isNaN
        default: false
        }
    }

    /// Whether the value is a decimal NaN.
    private var isDecimalNaN: Bool {
        if case .decimal(let x) = self { x.isNaN } else { false }
    }

    /// Whether the value is a NaN of any kind.
    var isNotNumber: Bool { isUnordered || isDecimalNaN }

    var isDecimal: Bool {
        if case .decimal = self { true } else { false }
    }

    var bytes: [UInt8]? {
        switch self {
        case .string(let x): Array(x.utf8)
        case .data(let x): x
        default: nil
        }
    }

    var decimal: Decimal {
        switch self {
        case .decimal(let x): x
        case .int(let x): Decimal(x)
        default: Decimal(number ?? .nan)
        }
    }

    /// The kind of a column that can hold the value; nil for null and collections.
    package var scalarKind: ScalarKind? {
        switch self {
        case .bool: .bool
        case .int: .int
        case .float: .float
        case .double: .double
        case .string: .string
        case .data: .data
        case .date: .date
        case .decimal: .decimal
        case .objectID: .objectID
        case .uuid: .uuid
        case .link: .link
        default: nil
        }
    }
}

extension ScalarKind {
    var isNumber: Bool { self == .int || self == .float || self == .double || self == .decimal }
}
