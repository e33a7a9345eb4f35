import FirnBytes
import FirnCodecs
import FirnTable

/// The numbers of a column, as predictions use them: its integers, or the integers that stand for its doubles.
struct NumberColumn: Sendable {
    var index: Int
    /// Nil if the numbers are the integers of the column.
    var form: NumberForm?
    /// The bytes of the column without a prediction.
    var bytes: Int

    /// 86,400 if most numbers are the seconds of whole days, 1 otherwise.
    var unit: Int64 = 1

    /// Whether it is a column of floats, not of doubles.
    var isSingle = false

    /// The digits after the point; 0 for integers and for multiples of another base; nil if sums of numbers mean nothing.
    var digits: Int? { form.map { $0.isLinear ? $0.digits ?? 0 : nil } ?? 0 }

    /// Whether a prediction of such columns is looked for.
    static func accepts(_ column: Column) -> Bool {
        switch column.type.kind {
        case .int, .float, .double: !column.type.isCollection
        case .date: !column.type.isCollection
        default: false
        }
    }

    /// Returns the numbers of some rows, 0 where there is none, and appends the places of rows with a value but without a number.
    func numbers(of column: Column, rows: Range<Int>, exceptions: inout [Int]) -> [Int64] {
        guard let form else {
            return rows.map { column.present?[$0] ?? true ? column.words[$0] : 0 }
        }
        return rows.map { row in
            guard column.present?[row] ?? true else { return 0 }
            if let number = form.integer(column.reals[row]) { return number }
            exceptions.append(row - rows.lowerBound)
            return 0
        }
    }
}

/// The numbers of a column in the rows of a sample.
struct NumberSample: Sendable {
    let column: NumberColumn
    /// 0 where there is none.
    let numbers: [Int64]
    /// The bits of each double; empty for integers.
    let doubles: [UInt64]
    /// The numbers themselves, not what represents them; not a number where there is none.
    let values: [Double]
    /// Whether a row has no value, or a double that is no number.
    let isMissing: [Bool]
    /// How many rows have a double that is no number.
    let exceptions: Int
    /// The greatest magnitude.
    let most: UInt64

    /// The seconds of a day.
    private static let day: Int64 = 86_400

    init(_ column: NumberColumn, of part: Column) {
        var exceptions: [Int] = []
        numbers = column.numbers(of: part, rows: 0..<part.count, exceptions: &exceptions)
        doubles = column.form == nil ? [] : part.reals.map(\.bitPattern)
        var isMissing = (0..<part.count).map { !(part.present?[$0] ?? true) }
        values = isMissing.indices.map { [numbers] row in
            isMissing[row] ? .nan : column.form == nil ? Double(numbers[row]) : part.reals[row]
        }
        for row in exceptions { isMissing[row] = true }
        self.isMissing = isMissing
        self.exceptions = exceptions.count
        most = numbers.reduce(1) { max($0, $1.magnitude) }
        var own = column
        if part.type.kind == .date, numbers.count(where: { $0 % NumberSample.day == 0 }) * 5 > numbers.count * 4 {
            own.unit = NumberSample.day
        }
        self.column = own
    }

    private init(_ all: NumberSample, each hop: Int) {
        let places = Array(stride(from: 0, to: all.numbers.count, by: hop))
        numbers = places.map { all.numbers[$0] }
        doubles = all.doubles.isEmpty ? [] : places.map { all.doubles[$0] }
        values = places.map { all.values[$0] }
        isMissing = places.map { all.isMissing[$0] }
        exceptions = all.exceptions
        most = all.most
        column = all.column
    }

    /// Returns every `hop`th row.
    func rows(each hop: Int) -> NumberSample { NumberSample(self, each: hop) }

    /// Returns the number of rows whose doubles differ from those of another column.
    func differing(_ other: NumberSample) -> Int {
        var count = 0
        for i in 0..<min(doubles.count, other.doubles.count) where doubles[i] != other.doubles[i] { count &+= 1 }
        return count
    }
}

/// The steps of a column between a few rows of a sample that are far from each other: they show whether it is the sum of two others.
struct FarSteps: Sendable {
    private static let rows = 16
    /// How many steps must agree, and how many must not be zero.
    private static let least = 4

    /// In units of the column.
    private let steps: [Int64]
    /// A bit for each step that is not zero.
    private let moved: UInt32

    init(_ sample: NumberSample) {
        let count = sample.numbers.count, far = max(1, count / FarSteps.rows)
        let numbers = stride(from: 0, to: count, by: far).prefix(FarSteps.rows).map { sample.numbers[$0] / sample.column.unit }
        let steps = zip(numbers, numbers.dropFirst()).map { $1 &- $0 }
        self.steps = steps
        moved = steps.indices.reduce(0) { $0 | (steps[$1] == 0 ? 0 : 1 << UInt32($1)) }
    }

    /// Whether the sample has rows enough.
    var isWhole: Bool { steps.count == FarSteps.rows - 1 }

    /// Whether both columns change between some rows.
    func moves(with other: FarSteps) -> Bool { (moved & other.moved).nonzeroBitCount >= FarSteps.least }

    /// Returns the signs with which two columns have these steps as their sum. `scales`: what the numbers of the three columns are
    /// multiplied by.
    func sums(_ a: FarSteps, _ b: FarSteps, scales: (own: Int64, a: Int64, b: Int64)) -> [(Int64, Int64)] {
        guard isWhole, a.isWhole, b.isWhole else { return [] }
        var same = SIMD4<Int>.zero
        for k in 0..<FarSteps.rows - 1 {
            let t = steps[k] &* scales.own, u = a.steps[k] &* scales.a, v = b.steps[k] &* scales.b
            same[0] &+= t == u &+ v ? 1 : 0
            same[1] &+= t == u &- v ? 1 : 0
            same[2] &+= t == v &- u ? 1 : 0
            same[3] &+= t == 0 &- u &- v ? 1 : 0
            // Most pairs end here.
            if k == 4, same == .zero { return [] }
        }
        let signs: [(Int64, Int64)] = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
        return signs.indices.filter { same[$0] >= FarSteps.least }.map { signs[$0] }
    }
}

/// Estimates how many bits integers take when each is stored with a code for its magnitude.
struct CodeLength {
    /// Small numbers have a code each; larger ones two for each power of two, and the rest of their bits.
    private var counts = [Int](repeating: 0, count: CodeLength.small + 2 * 60)
    private var extra = 0
    private var total = 0
    private static let small = 32

    /// The distances of the numbers from `center` are multiples of `unit`.
    init(_ numbers: some Sequence<Int64>, around center: Int64, unit: Int64 = 1) {
        for number in numbers {
            let distance = number &- center
            let magnitude = zigzag(unit == 1 ? distance : distance / unit)
            total += 1
            if magnitude < UInt64(CodeLength.small) {
                counts[Int(magnitude)] += 1
            } else {
                let exponent = 63 - magnitude.leadingZeroBitCount
                counts[CodeLength.small + 2 * (exponent - 5) + Int(magnitude >> UInt64(exponent - 1)) & 1] += 1
                extra += exponent - 1
            }
        }
    }

    /// The bits of one number.
    var bits: Double {
        guard total > 0 else { return 0 }
        var bits = Double(extra)
        let all = logarithm(Double(total))
        for count in counts where count > 0 { bits += Double(count) * (all - logarithm(Double(count))) }
        return bits / Double(total)
    }

    /// Returns the bits of one number, around a number in their middle, and of one step.
    static func bits(_ numbers: [Int64]) -> Double {
        let hop = max(1, numbers.count / 31)
        let middle = stride(from: 0, to: numbers.count, by: hop).map { numbers[$0] }.sorted()
        guard !middle.isEmpty else { return 0 }
        let center = middle[middle.count / 2]
        return CodeLength(numbers, around: center, unit: unit(numbers, around: center)).bits
    }

    /// Returns the greatest number that divides the distances of the numbers from `center`, which the integer encodings factor out: whole
    /// days are multiples of 86,400 seconds.
    private static func unit(_ numbers: [Int64], around center: Int64) -> Int64 {
        var unit: UInt64 = 0
        for number in numbers {
            var rest = (number &- center).magnitude
            while rest != 0 { (unit, rest) = (rest, unit % rest) }
            if unit == 1 { return 1 }
        }
        return unit == 0 || unit > UInt64(Int64.max) ? 1 : Int64(unit)
    }
}
