/// The numbers of a column in some rows, in groups of eight: what lines are fitted to.
struct LinePoints {
    typealias Group = SIMD8<Double>

    /// 0 in rows without a number, and after the last row.
    private var numbers: [Group]
    /// 1 in rows with a number, 0 in others.
    private var known: [Group]
    /// The number of rows with a number.
    let count: Int
    private let isComplete: Bool
    private let mean: Double
    /// Numbers less their mean, 0 in rows without one; empty if too few rows have one.
    private var centred: [Group] = []
    /// The sum of the squares of `centred`.
    private var square = 0.0

    /// With fewer rows nothing is fitted.
    static let minimumCount = 16

    init(_ sample: NumberSample) {
        let groups = (sample.numbers.count + 7) / 8
        (numbers, known) = (Array(repeating: .zero, count: groups), Array(repeating: .zero, count: groups))
        var count = 0
        for (i, number) in sample.numbers.enumerated() where !sample.isMissing[i] {
            numbers[i / 8][i % 8] = Double(number)
            known[i / 8][i % 8] = 1
            count += 1
        }
        self.count = count
        isComplete = count == sample.numbers.count
        guard count >= LinePoints.minimumCount else {
            mean = 0
            return
        }
        var sum = Group.zero
        for group in numbers { sum += group }
        mean = sum.sum() / Double(count)
        centred = numbers.indices.map { [mean] in (numbers[$0] - mean) * known[$0] }
        square = LinePoints.product(centred, centred)
    }

    private static func product(_ a: [Group], _ b: [Group]) -> Double {
        var sum = Group.zero
        for i in 0..<min(a.count, b.count) { sum += a[i] * b[i] }
        return sum.sum()
    }

    /// Whether rows enough have numbers, and not all the same.
    var varies: Bool { square > 0 && square.isFinite }

    /// Returns the magnitude of the coefficient of correlation, if rows without a number have the mean; 0 if there is none.
    func correlation(_ other: LinePoints) -> Double {
        guard varies, other.varies else { return 0 }
        return LinePoints.product(centred, other.centred).magnitude / (square.squareRoot() * other.square.squareRoot())
    }

    /// Returns the line that predicts these numbers best from others, in the rows that have both.
    func line(from source: LinePoints) -> LineFit? {
        if isComplete, source.isComplete {
            guard count >= LinePoints.minimumCount else { return nil }
            return LineFit(
                x: source.mean, y: mean, xx: source.square, xy: LinePoints.product(source.centred, centred), yy: square)
        }
        let groups = min(numbers.count, source.numbers.count)
        var n = Group.zero, x = Group.zero, y = Group.zero
        for i in 0..<groups {
            let both = known[i] * source.known[i]
            n += both
            x += source.numbers[i] * both
            y += numbers[i] * both
        }
        let rows = n.sum()
        guard rows >= Double(LinePoints.minimumCount) else { return nil }
        let meanX = x.sum() / rows, meanY = y.sum() / rows
        var xx = Group.zero, xy = Group.zero, yy = Group.zero
        for i in 0..<groups {
            let both = known[i] * source.known[i], dx = (source.numbers[i] - meanX) * both, dy = (numbers[i] - meanY) * both
            xx += dx * dx
            xy += dx * dy
            yy += dy * dy
        }
        return LineFit(x: meanX, y: meanY, xx: xx.sum(), xy: xy.sum(), yy: yy.sum())
    }
}

/// The line that fits points best.
struct LineFit {
    var slope: Double
    var offset: Double
    /// The magnitude of the coefficient of correlation.
    var correlation: Double

    /// The line through points with these means, squares and products of what differs from the means.
    init?(x: Double, y: Double, xx: Double, xy: Double, yy: Double) {
        guard xx > 0, yy > 0, xx.isFinite, yy.isFinite else { return nil }
        slope = xy / xx
        offset = y - slope * x
        correlation = xy.magnitude / (xx.squareRoot() * yy.squareRoot())
    }

    /// Rounds to some significant digits.
    static func rounded(_ x: Double, digits: Int) -> Double {
        guard x != 0, x.isFinite else { return x }
        var scale = 1.0
        while x.magnitude * scale < 1, scale < 1e15 { scale *= 10 }
        while x.magnitude * scale >= 10, scale > 1e-15 { scale /= 10 }
        let power = scale * (digits == 2 ? 10 : 1000)
        return (x * power).rounded() / power
    }
}
