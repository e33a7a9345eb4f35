import FirnBytes

/// A sum of doubles with about 106 bits, so that rows can be removed again.
struct SQLSum {
    private(set) var high = 0.0, low = 0.0

    init(_ high: Double = 0, _ low: Double = 0) { (self.high, self.low) = (high, low) }

    /// The exact difference of two doubles.
    init(_ a: Double, minus b: Double) {
        high = a - b
        let part = high - a
        low = (a - (high - part)) - (b + part)
    }

    static func + (a: SQLSum, b: SQLSum) -> SQLSum {
        let sum = a.high + b.high, part = sum - a.high
        let error = (a.high - (sum - part)) + (b.high - part) + a.low + b.low, high = sum + error
        return SQLSum(high, error - (high - sum))
    }

    static prefix func - (a: SQLSum) -> SQLSum { SQLSum(-a.high, -a.low) }

    static func * (a: SQLSum, b: SQLSum) -> SQLSum {
        let product = a.high * b.high
        let error = (-product).addingProduct(a.high, b.high) + a.high * b.low + a.low * b.high, high = product + error
        return SQLSum(high, error - (high - product))
    }

    static func / (a: SQLSum, n: Double) -> SQLSum {
        let first = a.high / n, rest = a.high.addingProduct(-first, n) + a.low
        return SQLSum(first) + SQLSum(rest / n)
    }

    var value: Double { high + low }
}

/// Variances, covariances and what follows from them, over the rows in which each argument has a value. The sums are those of differences
/// from the first row. The result is NULL if an argument is infinite or greater than 1e150.
final class SQLMoments: SQLAggregate {
    enum Function: Sendable {
        case variance(isSample: Bool), deviation(isSample: Bool), covariance(isSample: Bool), correlation, slope, intercept, determination

        var isPair: Bool {
            switch self {
            case .variance, .deviation: false
            default: true
            }
        }
    }
    private let function: Function
    private var origin: (x: Double, y: Double)?
    private var count = 0, large = 0
    private var x = SQLSum(), y = SQLSum(), xx = SQLSum(), yy = SQLSum(), xy = SQLSum()

    init(_ function: Function) { self.function = function }

    func add(_ call: SQLCall) throws(FirnError) { try change(call, by: 1) }
    func remove(_ call: SQLCall) throws(FirnError) { try change(call, by: -1) }

    private func change(_ call: SQLCall, by sign: Int) throws(FirnError) {
        // The first argument of functions of two is the dependent one, y.
        guard let first = try call.number(0), let second = function.isPair ? try call.number(1) : first else { return }
        guard first.magnitude <= 1e150, second.magnitude <= 1e150 else {
            large += sign
            return
        }
        let origin = origin ?? (second, first)
        self.origin = origin
        count += sign
        let dx = SQLSum(second, minus: origin.x)
        func signed(_ value: SQLSum) -> SQLSum { sign > 0 ? value : -value }
        x = x + signed(dx)
        xx = xx + signed(dx * dx)
        guard function.isPair else { return }
        let dy = SQLSum(first, minus: origin.y)
        y = y + signed(dy)
        yy = yy + signed(dy * dy)
        xy = xy + signed(dx * dy)
    }

    /// Returns the sum of the products of the differences from the means.
    private func deviations(_ products: SQLSum, _ a: SQLSum, _ b: SQLSum) -> Double { (products + -(a * b / Double(count))).value }

    func value(_ call: SQLCall) throws(FirnError) -> SQLValue { large == 0 && count > 0 ? result.map(SQLValue.real) ?? .null : .null }

    private var result: Double? {
        let n = Double(count), sx = max(0, deviations(xx, x, x)), sy = max(0, deviations(yy, y, y)), sxy = deviations(xy, x, y)
        func divided(_ sum: Double, _ isSample: Bool) -> Double? { isSample ? (count > 1 ? sum / (n - 1) : nil) : sum / n }
        switch function {
        case .variance(let isSample): return divided(sx, isSample)
        case .deviation(let isSample): return divided(sx, isSample).map { $0.squareRoot() }
        case .covariance(let isSample): return divided(sxy, isSample)
        case .correlation:
            guard sx > 0, sy > 0 else { return nil }
            return max(-1, min(1, sxy / (sx.squareRoot() * sy.squareRoot())))
        case .slope: return sx > 0 ? sxy / sx : nil
        case .intercept:
            guard sx > 0, let origin else { return nil }
            return origin.y + (y / n).value - sxy / sx * (origin.x + (x / n).value)
        case .determination: return sx > 0 ? (sy > 0 ? min(1, sxy / sx * (sxy / sy)) : 1) : nil
        }
    }
}
