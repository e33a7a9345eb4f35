import FirnBytes
import FirnTable

/// One side of an arithmetic operation over a vector.
enum NumberSource {
    case column(Column)
    case constant(Value)

    private var present: Bits? {
        if case .column(let column) = self { column.present } else { nil }
    }

    private func value(_ row: Int) -> Value {
        switch self {
        case .column(let column): column.value(at: row)
        case .constant(let value): value
        }
    }

    /// Combines two sides. Returns nil if `checked` and an int of a row with a value overflows or is divided by zero.
    static func combine(
        _ op: ArithmeticOperator, _ a: NumberSource, _ b: NumberSource, _ kind: ScalarKind, _ count: Int, checked: Bool = false
    ) -> Column? {
        var out = Column(ColumnType(kind, optional: true))
        var isNull = false
        if case .constant(.null) = a { isNull = true }
        if case .constant(.null) = b { isNull = true }
        if isNull || kind == .any || kind == .decimal {
            for row in 0..<count { out.append(isNull ? .null : Comparison.combine(op, a.value(row), b.value(row))) }
            return out
        }
        out.count = count
        switch (a.present, b.present) {
        case (nil, nil): break
        case (let bits?, nil), (nil, let bits?): out.present = bits
        case (let x?, let y?): out.present = Bits(words: zip(x.words, y.words).map { $0 & $1 }, count: count)
        }
        if kind == .int {
            var fits = true
            out.words = [Int64](unsafeUninitializedCapacity: count) { buffer, filled in
                filled = count
                a.withWords(b) { x, y, xStep, yStep in
                    if !checked || op == .divide {
                        for i in 0..<count { buffer[i] = Comparison.whole(op, x[i &* xStep], y[i &* yStep]) }
                        if checked { fits = fitsDivided(x, y, xStep, yStep, count, out.present) }
                        return
                    }
                    for i in 0..<count {
                        let (value, overflow) =
                            switch op {
                            case .add: x[i &* xStep].addingReportingOverflow(y[i &* yStep])
                            case .subtract: x[i &* xStep].subtractingReportingOverflow(y[i &* yStep])
                            default: x[i &* xStep].multipliedReportingOverflow(by: y[i &* yStep])
                            }
                        buffer[i] = value
                        if overflow, out.present?[i] ?? true { fits = false }
                    }
                }
            }
            return fits ? out : nil
        }
        out.reals = [Double](unsafeUninitializedCapacity: count) { buffer, filled in
            let target = buffer.baseAddress!
            a.withReals(b, count) { x, y in
                switch op {
                case .add: each(count, x, y, target) { $0 + $1 }
                case .subtract: each(count, x, y, target) { $0 - $1 }
                case .multiply: each(count, x, y, target) { $0 * $1 }
                case .divide: each(count, x, y, target) { $0 / $1 }
                }
            }
            if kind == .float { for i in 0..<count { target[i] = Double(Float(target[i])) } }
            filled = count
        }
        return out
    }

    private static func fitsDivided(
        _ x: UnsafePointer<Int64>, _ y: UnsafePointer<Int64>, _ xStep: Int, _ yStep: Int, _ count: Int, _ present: Bits?
    ) -> Bool {
        for i in 0..<count where y[i &* yStep] == 0 || y[i &* yStep] == -1 && x[i &* xStep] == .min {
            if present?[i] ?? true { return false }
        }
        return true
    }

    /// The doubles of a column, or one double for all rows.
    private enum Reals {
        case many(UnsafePointer<Double>)
        case one(Double)
    }

    @inline(__always)
    private static func each(_ count: Int, _ x: Reals, _ y: Reals, _ out: UnsafeMutablePointer<Double>, _ body: (Double, Double) -> Double)
    {
        switch (x, y) {
        case (.many(let x), .many(let y)): for i in 0..<count { out[i] = body(x[i], y[i]) }
        case (.many(let x), .one(let y)): for i in 0..<count { out[i] = body(x[i], y) }
        case (.one(let x), .many(let y)): for i in 0..<count { out[i] = body(x, y[i]) }
        case (.one(let x), .one(let y)): for i in 0..<count { out[i] = body(x, y) }
        }
    }

    private func withReals(_ other: NumberSource, _ count: Int, _ body: (Reals, Reals) -> Void) {
        withReals(count) { x in other.withReals(count) { y in body(x, y) } }
    }

    private func withReals(_ count: Int, _ body: (Reals) -> Void) {
        switch self {
        case .constant(let value): body(.one(value.number ?? .nan))
        case .column(let column) where column.type.kind == .int:
            withUnsafeTemporaryAllocation(of: Double.self, capacity: count) { room in
                let target = room.baseAddress!
                column.words.withUnsafeBufferPointer { words in for i in 0..<count { target[i] = Double(words[i]) } }
                body(.many(target))
            }
        case .column(let column): column.reals.withUnsafeBufferPointer { body(.many($0.baseAddress!)) }
        }
    }

    /// Calls `body` with both sides as words, and with the step from one row to the next: 0 for a constant.
    private func withWords(_ other: NumberSource, _ body: (UnsafePointer<Int64>, UnsafePointer<Int64>, Int, Int) -> Void) {
        withWords { x, xStep in other.withWords { y, yStep in body(x, y, xStep, yStep) } }
    }

    private func withWords(_ body: (UnsafePointer<Int64>, Int) -> Void) {
        switch self {
        case .column(let column): column.words.withUnsafeBufferPointer { if let base = $0.baseAddress { body(base, 1) } }
        case .constant(.int(let word)): withUnsafePointer(to: word) { body($0, 0) }
        case .constant: trap("only ints have words")
        }
    }
}
