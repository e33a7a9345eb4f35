import FirnDatabase
import FirnQuery
import FirnTable

/// Comparisons of numeric columns with integers and floats, exactly by value.
enum SQLNumbers {
    /// Compares a column of integers. The integers that satisfy a comparison form one range.
    static func ints(_ column: SQLConditions, _ comparator: Comparator, _ value: SQLValue) -> SQLCondition {
        if comparator == .notEqual {
            guard let word = whole(value) else { return .rows(column.present) }
            return .rows(column.ordered(.notEqual, .int(word)))
        }
        guard let range = range(comparator, value) else { return .never }
        if range.lowerBound == range.upperBound { return .rows(column.compare(.equal, .int(range.lowerBound))) }
        var parts: [PredicateSyntax] = []
        if range.lowerBound > .min { parts.append(column.compare(.greaterOrEqual, .int(range.lowerBound))) }
        if range.upperBound < .max { parts.append(column.compare(.lessOrEqual, .int(range.upperBound))) }
        return .rows(parts.isEmpty ? column.present : parts.count == 1 ? parts[0] : .and(parts))
    }

    static func bools(_ column: SQLConditions, _ comparator: Comparator, _ value: SQLValue) -> SQLCondition {
        let matches = [false, true].filter { truth in
            let x: Int64 = truth ? 1 : 0
            if comparator == .notEqual { return whole(value) != x }
            return range(comparator, value)?.contains(x) ?? false
        }
        switch matches.count {
        case 0: return .never
        case 2: return .rows(column.present)
        default: return .rows(column.compare(.equal, .bool(matches[0])))
        }
    }

    static func floats(_ column: SQLConditions, _ comparator: Comparator, _ value: SQLValue) -> SQLCondition {
        var comparator = comparator, limit: Double
        switch value {
        case .int(let x):
            limit = Double(x)
            // No float is between an integer and the double that it rounds to, except possibly that double itself.
            let isBelow = limit < 0x1p63 && Int64(limit) < x, isAbove = limit >= 0x1p63 || Int64(limit) > x
            if isBelow || isAbove {
                switch comparator {
                case .equal: return .never
                case .notEqual: return .rows(column.present)
                case .greater, .greaterOrEqual: comparator = isAbove ? .greaterOrEqual : .greater
                default: comparator = isAbove ? .less : .lessOrEqual
                }
            }
        case .real(let x): limit = x
        default: return .unknown
        }
        let near = Float(limit), back = Double(near)
        switch comparator {
        case .equal: return back == limit ? .rows(column.compare(.equal, .float(near))) : .never
        case .notEqual: return .rows(back == limit ? column.ordered(.notEqual, .float(near)) : column.present)
        case .greater:
            if limit == .infinity { return .never }
            return .rows(column.compare(.greaterOrEqual, .float(back <= limit ? near.nextUp : near)))
        case .greaterOrEqual: return .rows(column.compare(.greaterOrEqual, .float(back < limit ? near.nextUp : near)))
        case .less:
            if limit == -.infinity { return .never }
            return .rows(column.ordered(.lessOrEqual, .float(back >= limit ? near.nextDown : near)))
        default: return .rows(column.ordered(.lessOrEqual, .float(back > limit ? near.nextDown : near)))
        }
    }

    /// Returns the integer with exactly this value, or nil if there is none.
    static func whole(_ value: SQLValue) -> Int64? {
        switch value {
        case .int(let x): x
        case .real(let x): Int64(exactly: x)
        default: nil
        }
    }

    /// Returns the integers that satisfy a comparison (except `!=`), or nil if there are none.
    static func range(_ comparator: Comparator, _ value: SQLValue) -> ClosedRange<Int64>? {
        let floor: Int64, isWhole: Bool
        switch value {
        case .int(let x): (floor, isWhole) = (x, true)
        case .real(let x):
            if x >= 0x1p63 { return comparator == .less || comparator == .lessOrEqual ? .min ... .max : nil }
            if x < -0x1p63 { return comparator == .greater || comparator == .greaterOrEqual ? .min ... .max : nil }
            floor = Int64(x.rounded(.down))
            isWhole = x.rounded(.down) == x
        default: return nil
        }
        switch comparator {
        case .equal: return isWhole ? floor...floor : nil
        case .greater: return floor == .max ? nil : floor + 1 ... .max
        case .greaterOrEqual: return isWhole ? floor ... .max : floor == .max ? nil : floor + 1 ... .max
        case .less: return isWhole ? (floor == .min ? nil : .min...floor - 1) : .min...floor
        default: return .min...floor
        }
    }
}
