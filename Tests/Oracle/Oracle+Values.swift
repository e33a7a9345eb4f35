import FirnQuery
import FirnTable
import Foundation

/// A number of any kind, compared exactly: small ones as decimals of 38 digits, huge and infinite ones as doubles.
package struct OracleNumber {
    package let double: Double
    package let isDecimal: Bool
    private let exact: Foundation.Decimal?

    package init?(_ value: Value) {
        switch value {
        case .int(let x): (double, isDecimal, exact) = (Double(x), false, Foundation.Decimal(x))
        case .float(let x): (double, isDecimal, exact) = (Double(x), false, OracleNumber.small(Double(x)))
        case .double(let x): (double, isDecimal, exact) = (x, false, OracleNumber.small(x))
        case .decimal(let x):
            double = Double(x.description.lowercased().replacingOccurrences(of: "infinity", with: "inf")) ?? .nan
            isDecimal = true
            exact = abs(double) < 1e20 ? Foundation.Decimal(string: x.description) : nil
        default: return nil
        }
    }

    /// Multiples of 2^-20 below 2^60 have few enough digits for a decimal.
    private static func small(_ x: Double) -> Foundation.Decimal? {
        guard abs(x) < 0x1p60, let units = Int64(exactly: (x * 0x1p20).rounded(.down)) ?? nil, Double(units) == x * 0x1p20 else {
            guard let whole = Int64(exactly: x) else { return nil }
            return Foundation.Decimal(whole)
        }
        return Foundation.Decimal(units) / Foundation.Decimal(1 << 20)
    }

    package var isNaN: Bool { double.isNaN }

    /// Returns nil if one of the numbers is NaN, except for two NaNs of which one is a decimal.
    package func order(_ other: OracleNumber) -> Int? {
        if isNaN || other.isNaN { return isNaN && other.isNaN && (isDecimal || other.isDecimal) ? 0 : nil }
        if let a = exact, let b = other.exact { return a == b ? 0 : a < b ? -1 : 1 }
        return double == other.double ? 0 : double < other.double ? -1 : 1
    }
}

extension Oracle {
    /// Returns a constant as the value that is compared with values of a kind.
    package func coerced(_ constant: ConstantSyntax, _ kind: ScalarKind) throws -> Value {
        let value = constant.value
        switch (kind, value) {
        case (_, .null), (.any, _): return value
        case (.int, .string(let text)), (.float, .string(let text)), (.double, .string(let text)):
            if let whole = Int64(text) { return .int(whole) }
            guard let real = Double(text) else { throw Unknown("text of no number") }
            return .double(real)
        case (.decimal, .string(let text)):
            guard let decimal = FirnTable.Decimal(text) else { throw Unknown("text of no number") }
            return .decimal(decimal)
        case (.decimal, .double(let x)): return .decimal(constant.digits.flatMap { FirnTable.Decimal($0) } ?? FirnTable.Decimal(x))
        case (.bool, .bool), (.string, .string), (.data, .data), (.date, .date), (.objectID, .objectID), (.uuid, .uuid), (.link, .link):
            return value
        case (.int, _), (.float, _), (.double, _), (.decimal, _):
            guard let number = OracleNumber(value) else { throw Unknown("kinds") }
            if kind == .int, number.double.isInfinite { throw Unknown("infinity") }
            return value
        default: throw Unknown("kinds")
        }
    }

    /// Among mixed values, null is ordered with no other value.
    package func compare(
        _ comparator: FirnQuery.Comparator, _ a: Value, _ b: Value, _ syntax: ComparisonSyntax?, areMixed: Bool = false
    ) -> Bool {
        if comparator.isTextual { return text(comparator, a, b, syntax) }
        if areMixed, a.isNull != b.isNull { return comparator == .notEqual }
        guard let order = order(a, b, syntax) else { return comparator == .notEqual }
        return switch comparator {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        default: order >= 0
        }
    }

    /// Returns nil if the values are unequal and neither is less.
    private func order(_ a: Value, _ b: Value, _ syntax: ComparisonSyntax?) -> Int? {
        func bytes<T: Comparable>(_ x: [T], _ y: [T]) -> Int { x == y ? 0 : x.lexicographicallyPrecedes(y) ? -1 : 1 }
        switch (a, b) {
        case (.null, .null): return 0
        case (.null, .string), (.null, .data): return -1
        case (.string, .null), (.data, .null): return 1
        case (.bool(let x), .bool(let y)): return bytes([x ? 1 : 0], [y ? 1 : 0])
        case (.string(let x), .string(let y)): return bytes(Array(folded(x, syntax).utf8), Array(folded(y, syntax).utf8))
        case (.data(let x), .data(let y)): return bytes(folded(x, syntax), folded(y, syntax))
        case (.date(let x), .date(let y)): return bytes([x.seconds, Int64(x.nanoseconds)], [y.seconds, Int64(y.nanoseconds)])
        case (.objectID(let x), .objectID(let y)), (.uuid(let x), .uuid(let y)): return bytes([x.high, x.low], [y.high, y.low])
        case (.link(let x), .link(let y)): return x == y ? 0 : nil
        case (.list, .list), (.set, .set), (.list, .set), (.set, .list), (.map, .map): return same(a, b, syntax) ? 0 : nil
        default:
            guard let x = OracleNumber(a), let y = OracleNumber(b) else { return nil }
            return x.order(y)
        }
    }

    /// Whether two collections have the same elements in the same order.
    package func same(_ a: Value, _ b: Value, _ syntax: ComparisonSyntax?) -> Bool {
        switch (a, b) {
        case (.null, .null): return true
        case (.map(let x), .map(let y)):
            return x.count == y.count && zip(x, y).allSatisfy { $0.key == $1.key && compare(.equal, $0.value, $1.value, syntax) }
        case (.list(let x), .list(let y)), (.list(let x), .set(let y)), (.set(let x), .list(let y)), (.set(let x), .set(let y)):
            return x.count == y.count && zip(x, y).allSatisfy { compare(.equal, $0, $1, syntax) }
        default: return false
        }
    }

    private static let lower: [Character: Character] = Dictionary(
        uniqueKeysWithValues: zip("ABCDEFGHIJKLMNOPQRSTUVWXYZÉÄ", "abcdefghijklmnopqrstuvwxyzéä"))
    private static let plain: [Character: Character] = ["É": "E", "é": "e", "Ä": "A", "ä": "a"]

    private func folded(_ text: String, _ syntax: ComparisonSyntax?) -> String {
        var text = text
        if syntax?.ignoresMarks ?? false { text = String(text.map { Oracle.plain[$0] ?? $0 }) }
        if syntax?.ignoresCase ?? false { text = String(text.map { Oracle.lower[$0] ?? $0 }) }
        return text
    }

    private func folded(_ bytes: [UInt8], _ syntax: ComparisonSyntax?) -> [UInt8] {
        syntax?.ignoresCase ?? false ? bytes.map { (65...90).contains($0) ? $0 + 32 : $0 } : bytes
    }

    package func text(_ comparator: FirnQuery.Comparator, _ a: Value, _ b: Value, _ syntax: ComparisonSyntax?) -> Bool {
        if b.isNull { return comparator == .like ? a.isNull : true }
        switch (a, b) {
        case (.string(let x), .string(let y)):
            return text(comparator, Array(folded(x, syntax).unicodeScalars), Array(folded(y, syntax).unicodeScalars), any: "*", one: "?")
        case (.data(let x), .data(let y)): return text(comparator, folded(x, syntax), folded(y, syntax), any: 42, one: 63)
        default: return false
        }
    }

    private func text<T: Equatable>(_ comparator: FirnQuery.Comparator, _ x: [T], _ y: [T], any: T, one: T) -> Bool {
        switch comparator {
        case .beginsWith: return x.starts(with: y)
        case .endsWith: return x.reversed().starts(with: y.reversed())
        case .contains: return y.count <= x.count && (0...(x.count - y.count)).contains { x[$0...].starts(with: y) }
        default:
            guard let first = y.first else { return x.isEmpty }
            let rest = Array(y.dropFirst())
            if first == any { return (0...x.count).contains { text(.like, Array(x[$0...]), rest, any: any, one: one) } }
            return !x.isEmpty && (first == one || first == x[0]) && text(.like, Array(x.dropFirst()), rest, any: any, one: one)
        }
    }

    /// Evaluates `@type == 'numeric'`.
    package func isNamed(_ name: Value, _ value: Value) -> Bool {
        guard case .string(let name) = name else { return false }
        let own: [String] =
            switch value {
            case .null: ["null"]
            case .bool: ["bool"]
            case .int: ["int", "numeric"]
            case .float: ["float", "numeric"]
            case .double: ["double", "numeric"]
            case .decimal: ["decimal", "numeric"]
            case .string: ["string"]
            case .data: ["binary"]
            case .date: ["date"]
            case .objectID: ["objectid"]
            case .uuid: ["uuid"]
            case .link: ["link"]
            case .list: ["array", "collection"]
            case .set: ["collection"]
            case .map, .object: ["object", "collection"]
            }
        return own.contains(name)
    }

    // MARK: Order

    /// Compares values in ascending order: null, booleans, numbers (NaN first), text, binary data, dates, object ids, UUIDs. Throws for
    /// lists and maps.
    package func sortOrder(_ a: Value, _ b: Value) throws -> Int {
        func rank(_ value: Value) throws -> Int {
            switch value {
            case .null: 0
            case .bool: 1
            case .int, .float, .double, .decimal: 2
            case .string: 3
            case .data: 4
            case .date: 5
            case .objectID: 6
            case .uuid: 7
            default: throw Unknown("the order of \(value)")
            }
        }
        let x = try rank(a), y = try rank(b)
        if x != y { return x < y ? -1 : 1 }
        if let p = OracleNumber(a), let q = OracleNumber(b), p.isNaN || q.isNaN { return p.isNaN && q.isNaN ? 0 : p.isNaN ? -1 : 1 }
        return compare(.less, a, b, nil) ? -1 : compare(.greater, a, b, nil) ? 1 : 0
    }

    /// Returns the rows of a type that a query selects, in order.
    package func rows(_ query: QuerySyntax, of type: String) throws -> [Int] {
        try rows(query, of: type, among: rows[type]!.indices.filter { rows[type]![$0] != nil })
    }

    /// Returns those of the given rows that a query selects, in order. Rows may be repeated.
    package func rows(_ query: QuerySyntax, of type: String, among candidates: [Int]) throws -> [Int] {
        var found = try candidates.filter { try holds(query.predicate, .row(type, $0)) }
        for descriptor in query.descriptors {
            switch descriptor {
            case .limit(let count): found = Array(found.prefix(count))
            case .offset(let count): found = Array(found.dropFirst(count))
            case .sort(let keys):
                let values = try found.map { id in try keys.map { try key($0.path, type, id) } }
                let ranks = try found.indices.sorted { a, b in
                    for (i, key) in keys.enumerated() {
                        let x = values[a][i], y = values[b][i]
                        if x.isLost != y.isLost { return x.isLost != key.ascending }
                        let order = try sortOrder(x.value, y.value)
                        if order != 0 { return (order < 0) == key.ascending }
                    }
                    return a < b
                }
                found = ranks.map { found[$0] }
            case .distinct(let paths):
                var met: [[Value]] = []
                found = try found.filter { id in
                    let values = try paths.map { try key($0, type, id) }
                    if values.contains(where: \.isLost) { return false }
                    if try met.contains(where: { try zip($0, values).allSatisfy { try sortOrder($0, $1.value) == 0 } }) { return false }
                    met.append(values.map(\.value))
                    return true
                }
            }
        }
        return found
    }

    /// Returns a sort key, and whether the object with the last property does not exist.
    private func key(_ path: PathSyntax, _ type: String, _ id: Int) throws -> (value: Value, isLost: Bool) {
        let result = try follow(path, .row(type, id))
        guard !result.isMany, !result.type.isCollection else { throw Unknown("several keys") }
        var isLost = false
        if path.steps.count > 1, case .name? = path.steps.last {
            let parent = try follow(PathSyntax(Array(path.steps.dropLast())), .row(type, id))
            if parent.type.kind == .link || parent.type.kind == .embedded, !parent.type.isCollection, !parent.isMany {
                isLost = parent.type.kind == .link ? row(parent.type.target, parent.values[0]) == nil : parent.values[0].isNull
            }
        }
        return (result.values[0], isLost)
    }
}
