import FirnBytes
import FirnTable

/// Computes the numbers that measures aggregate, for vectors in which every row has a value: columns, and expressions of columns as
/// doubles. Expressions that several measures share are computed once, into buffers that are allocated once. Not thread-safe.
final class NumberProgram {
    private enum Step: Equatable {
        case words(slot: Int), reals(slot: Int)
        /// An int step converted to doubles.
        case converted(Int)
        case pairs(ArithmeticOperator, Int, Int)
        case before(ArithmeticOperator, Double, Int), behind(ArithmeticOperator, Int, Double)
    }
    private enum State { case unknown, made, notDone }
    private var steps: [Step] = []
    private var states: [State] = []
    private var room: UnsafeMutableRawPointer?

    deinit { room?.deallocate() }

    /// Discards the results of the previous vector.
    func begin() { for i in states.indices { states[i] = .unknown } }

    // MARK: Making

    /// Returns the step that computes an operand as words; nil if it is not a column of ints.
    func words(of operand: Operand) -> Int? {
        guard case .path(let path) = operand, path.isPlain, path.type.kind == .int else { return nil }
        return add(.words(slot: path.slot))
    }

    /// Returns the step that computes an operand as doubles; nil if the program cannot compute it.
    func reals(of operand: Operand) -> Int? {
        switch operand {
        case .constant: return nil
        case .path(let path):
            guard path.isPlain else { return nil }
            switch path.type.kind {
            case .int: return words(of: operand).map { add(.converted($0)) }
            case .float, .double: return add(.reals(slot: path.slot))
            default: return nil
            }
        case .arithmetic(let op, .constant(let constant), let right, .double):
            guard let number = constant.value.number, let right = reals(of: right) else { return nil }
            return add(.before(op, number, right))
        case .arithmetic(let op, let left, .constant(let constant), .double):
            guard let number = constant.value.number, let left = reals(of: left) else { return nil }
            return add(.behind(op, left, number))
        case .arithmetic(let op, let left, let right, .double):
            guard let left = reals(of: left), let right = reals(of: right) else { return nil }
            return add(.pairs(op, left, right))
        case .arithmetic: return nil
        }
    }

    private func add(_ step: Step) -> Int {
        if let known = steps.firstIndex(of: step) { return known }
        steps.append(step)
        states.append(.unknown)
        room?.deallocate()
        room = .allocate(byteCount: steps.count * vectorSize * 8, alignment: 64)
        return steps.count - 1
    }

    // MARK: Computing

    private func words(_ step: Int) -> UnsafeMutablePointer<Int64> { (room! + step * vectorSize * 8).assumingMemoryBound(to: Int64.self) }
    private func reals(_ step: Int) -> UnsafeMutablePointer<Double> { (room! + step * vectorSize * 8).assumingMemoryBound(to: Double.self) }

    /// Returns the words of a step for all rows of a vector or for the `only` ones; nil if a row has no value. They are valid until
    /// `begin`.
    func words(_ step: Int, _ scan: SegmentScan, _ vector: Int, _ count: Int, only rows: UnsafeBufferPointer<Int32>?) throws(FirnError)
        -> UnsafePointer<Int64>?
    {
        try make(step, scan, vector, count, rows) ? UnsafePointer(words(step)) : nil
    }

    /// Returns the doubles of a step; see `words`.
    func reals(_ step: Int, _ scan: SegmentScan, _ vector: Int, _ count: Int, only rows: UnsafeBufferPointer<Int32>?) throws(FirnError)
        -> UnsafePointer<Double>?
    {
        try make(step, scan, vector, count, rows) ? UnsafePointer(reals(step)) : nil
    }

    private func make(_ step: Int, _ scan: SegmentScan, _ vector: Int, _ count: Int, _ rows: UnsafeBufferPointer<Int32>?) throws(FirnError)
        -> Bool
    {
        switch states[step] {
        case .made: return true
        case .notDone: return false
        case .unknown: break
        }
        let isMade = try compute(step, scan, vector, count, rows)
        states[step] = isMade ? .made : .notDone
        return isMade
    }

    private func compute(_ step: Int, _ scan: SegmentScan, _ vector: Int, _ count: Int, _ rows: UnsafeBufferPointer<Int32>?)
        throws(FirnError) -> Bool
    {
        let n = rows?.count ?? count
        switch steps[step] {
        case .words(let slot): return try scan.numbers(slot, vector, only: rows, into: .words(words(step)))
        case .reals(let slot): return try scan.numbers(slot, vector, only: rows, into: .reals(reals(step)))
        case .converted(let from):
            guard try make(from, scan, vector, count, rows) else { return false }
            let out = reals(step), words = words(from)
            for i in 0..<n { out[i] = Double(words[i]) }
        case .pairs(let op, let left, let right):
            guard try make(left, scan, vector, count, rows), try make(right, scan, vector, count, rows) else { return false }
            let out = reals(step), x = reals(left), y = reals(right)
            switch op {
            case .add: for i in 0..<n { out[i] = x[i] + y[i] }
            case .subtract: for i in 0..<n { out[i] = x[i] - y[i] }
            case .multiply: for i in 0..<n { out[i] = x[i] * y[i] }
            case .divide: for i in 0..<n { out[i] = x[i] / y[i] }
            }
        case .before(let op, let x, let right):
            guard try make(right, scan, vector, count, rows) else { return false }
            let out = reals(step), y = reals(right)
            switch op {
            case .add: for i in 0..<n { out[i] = x + y[i] }
            case .subtract: for i in 0..<n { out[i] = x - y[i] }
            case .multiply: for i in 0..<n { out[i] = x * y[i] }
            case .divide: for i in 0..<n { out[i] = x / y[i] }
            }
        case .behind(let op, let left, let y):
            guard try make(left, scan, vector, count, rows) else { return false }
            let out = reals(step), x = reals(left)
            switch op {
            case .add: for i in 0..<n { out[i] = x[i] + y }
            case .subtract: for i in 0..<n { out[i] = x[i] - y }
            case .multiply: for i in 0..<n { out[i] = x[i] * y }
            case .divide: for i in 0..<n { out[i] = x[i] / y }
            }
        }
        return true
    }
}
