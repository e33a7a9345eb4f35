import FirnBytes
import FirnTable

/// A predicate bound to a table. Shared by all threads; the state for a segment is in its `SegmentScan`.
class PredicateNode: @unchecked Sendable {
    /// The approximate cost of testing a row.
    let cost: Int

    init(cost: Int) { self.cost = cost }

    /// Clears the bits of rows that do not match in `mask`: 16 words, one bit for each row of the vector.
    func narrow(_ scan: SegmentScan, _ vector: Int, _ rows: Int, _ mask: UnsafeMutablePointer<UInt64>) throws(FirnError) {
        trap("every node narrows")
    }

    /// Returns what zones determine for a vector, or, if `vector` is nil, for the segment.
    func verdict(_ scan: SegmentScan, _ vector: Int?) throws(FirnError) -> Verdict { .unknown }

    /// Returns the lines of the predicate for `explain`.
    func outline(_ indent: String) -> String { indent + "all rows\n" }
    /// Returns the end of a test's line: how the test is evaluated, and its cost, which determines its position among others.
    final func note(_ how: String) -> String { "  (\(how), cost \(cost))\n" }
}

final class ConstantNode: PredicateNode, @unchecked Sendable {
    let value: Bool

    init(_ value: Bool) {
        self.value = value
        super.init(cost: 0)
    }

    override func narrow(_ scan: SegmentScan, _ vector: Int, _ rows: Int, _ mask: UnsafeMutablePointer<UInt64>) throws(FirnError) {
        if !value { Kernel.clear(mask, 16) }
    }
    override func verdict(_ scan: SegmentScan, _ vector: Int?) throws(FirnError) -> Verdict { value ? .all : .none }
    override func outline(_ indent: String) -> String { indent + (value ? "every row\n" : "no row\n") }
}

final class NotNode: PredicateNode, @unchecked Sendable {
    let inner: PredicateNode

    init(_ inner: PredicateNode) {
        self.inner = inner
        super.init(cost: inner.cost)
    }

    override func narrow(_ scan: SegmentScan, _ vector: Int, _ rows: Int, _ mask: UnsafeMutablePointer<UInt64>) throws(FirnError) {
        let copy = scan.takeMask()
        defer { scan.giveBack(copy) }
        copy.update(from: mask, count: 16)
        try inner.narrow(scan, vector, rows, copy)
        for w in 0..<16 { mask[w] &= ~copy[w] }
    }
    override func verdict(_ scan: SegmentScan, _ vector: Int?) throws(FirnError) -> Verdict { try inner.verdict(scan, vector).inverted }
    override func outline(_ indent: String) -> String { indent + "not\n" + inner.outline(indent + "  ") }
}

/// AND: each part tests only the rows that the parts before it left, in order of cost.
final class AndNode: PredicateNode, @unchecked Sendable {
    let parts: [PredicateNode]
    /// The number among the ANDs of the plan; nil within subqueries. Set before the query runs.
    var number: Int?

    init(_ parts: [PredicateNode]) {
        let parts = AndNode.joined(parts)
        self.parts = parts.enumerated().sorted { ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset) }.map(\.element)
        super.init(cost: parts.reduce(0) { $0 + $1.cost })
    }

    /// Flattens nested ANDs, and joins two ranges of one column to one range, which needs one search.
    private static func joined(_ parts: [PredicateNode]) -> [PredicateNode] {
        var out: [PredicateNode] = []
        for part in parts.flatMap({ ($0 as? AndNode)?.parts ?? [$0] }) {
            if let test = part as? TestNode, let index = out.firstIndex(where: { ($0 as? TestNode)?.joined(with: test) != nil }) {
                out[index] = (out[index] as! TestNode).joined(with: test)!
            } else {
                out.append(part)
            }
        }
        return out
    }

    override func narrow(_ scan: SegmentScan, _ vector: Int, _ rows: Int, _ mask: UnsafeMutablePointer<UInt64>) throws(FirnError) {
        let conjuncts = scan.conjuncts(of: self)
        conjuncts.settle(parts)
        var before = Kernel.ones(mask, 16)
        for position in parts.indices {
            let part = conjuncts.order[position]
            try parts[part].narrow(scan, vector, rows, mask)
            let after = Kernel.ones(mask, 16)
            conjuncts.tally.note(part, seen: before, passed: after)
            if after == 0 { return }
            before = after
        }
    }

    override func verdict(_ scan: SegmentScan, _ vector: Int?) throws(FirnError) -> Verdict {
        var result = Verdict.all
        for part in parts {
            let verdict = try part.verdict(scan, vector)
            if verdict == .none { return .none }
            if verdict == .unknown { result = .unknown }
        }
        return result
    }
    override func outline(_ indent: String) -> String { indent + "and\n" + parts.map { $0.outline(indent + "  ") }.joined() }
}

/// OR: each part tests only the rows that no part before it accepted.
final class OrNode: PredicateNode, @unchecked Sendable {
    let parts: [PredicateNode]

    init(_ parts: [PredicateNode]) {
        self.parts = parts.enumerated().sorted { ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset) }.map(\.element)
        super.init(cost: parts.reduce(0) { $0 + $1.cost })
    }

    override func narrow(_ scan: SegmentScan, _ vector: Int, _ rows: Int, _ mask: UnsafeMutablePointer<UInt64>) throws(FirnError) {
        let rest = scan.takeMask(), part = scan.takeMask()
        defer {
            scan.giveBack(rest)
            scan.giveBack(part)
        }
        rest.update(from: mask, count: 16)
        for node in parts {
            part.update(from: rest, count: 16)
            try node.narrow(scan, vector, rows, part)
            var any: UInt64 = 0
            for w in 0..<16 {
                rest[w] &= ~part[w]
                any |= rest[w]
            }
            if any == 0 { return }
        }
        for w in 0..<16 { mask[w] &= ~rest[w] }
    }

    override func verdict(_ scan: SegmentScan, _ vector: Int?) throws(FirnError) -> Verdict {
        var result = Verdict.none
        for part in parts {
            let verdict = try part.verdict(scan, vector)
            if verdict == .all { return .all }
            if verdict == .unknown { result = .unknown }
        }
        return result
    }
    override func outline(_ indent: String) -> String { indent + "or\n" + parts.map { $0.outline(indent + "  ") }.joined() }
}

/// A comparison of an operand with constants.
final class TestNode: PredicateNode, @unchecked Sendable {
    let operand: Operand
    let test: ElementTest
    let quantifier: Quantifier
    private let describe: @Sendable () -> String
    var text: String { describe() }
    /// The number of conditions that `joined` has made one test of.
    private let conditions: Int
    /// The text of more conditions is their number: each text is a function around another one, and releasing them nests as deep.
    private static let maximumDescribed = 256
    /// The slot whose zones and dictionary apply to the operand.
    let plainSlot: Int?
    /// The number among the text tests of the plan.
    private let number: Int?
    /// Whether the operand reads other rows; these are then fetched for candidate rows only.
    private let leavesTable: Bool
    /// The range to search for on the stored form, if the test is one range (if `isInverted`: its complement).
    private let sought: SoughtRange?
    private let isInverted: Bool

    init(
        _ operand: Operand, _ test: ElementTest, quantifier: Quantifier?, number: Int?, conditions: Int = 1,
        text: @autoclosure @escaping @Sendable () -> String
    ) {
        self.operand = operand
        self.test = test
        self.quantifier = quantifier ?? .any
        self.conditions = conditions
        describe = text
        if case .path(let path) = operand, path.isPlain { plainSlot = path.slot } else { plainSlot = nil }
        self.number = plainSlot == nil ? nil : number
        if case .path(let path) = operand { leavesTable = path.leavesTable } else { leavesTable = false }
        (sought, isInverted) = plainSlot == nil ? (nil, false) : test.sought
        super.init(cost: test.cost * (plainSlot == nil ? 4 : 1) + (leavesTable ? 40 : 0))
    }

    /// Returns one test for both, if both are ranges of the same column.
    func joined(with other: TestNode) -> TestNode? {
        guard let plainSlot, plainSlot == other.plainSlot, let form = test.joined(with: other.test) else { return nil }
        let count = conditions + other.conditions
        guard count <= TestNode.maximumDescribed else {
            return TestNode(
                operand, form, quantifier: quantifier, number: nil, conditions: count, text: "\(count) conditions on one column")
        }
        return TestNode(operand, form, quantifier: quantifier, number: nil, conditions: count, text: "\(self.text) AND \(other.text)")
    }

    override func narrow(_ scan: SegmentScan, _ vector: Int, _ rows: Int, _ mask: UnsafeMutablePointer<UInt64>) throws(FirnError) {
        if let slot = plainSlot {
            if try isReadSingly(scan, slot, vector, mask) { return try narrowCandidates(scan, vector, rows, mask) }
            let hits = scan.takeMask()
            defer { scan.giveBack(hits) }
            Kernel.clear(hits, 16)
            if let sought, case .done(let present) = try scan.search(slot, sought, vector, into: hits) {
                if isInverted { Kernel.invert(hits, 16) }
                keep(present, hits)
            } else if let number, let dictionary = try scan.dictionary(slot) {
                try coded(scan, slot, scan.codeSet(number, test, dictionary), vector, rows, hits)
            } else {
                test.apply(try scan.column(slot, vector), count: rows, candidates: mask, out: hits)
            }
            for w in 0..<16 { mask[w] &= hits[w] }
            return
        }
        if leavesTable { return try narrowCandidates(scan, vector, rows, mask) }
        let values = try operand.evaluate(scan, vector, rows)
        try values.narrow(mask, rows, quantifier) { (column, out) throws(FirnError) in
            test.apply(column, count: column.count, candidates: nil, out: out)
        }
    }

    /// Returns whether an index or other tests left so few strings that they are read individually. A pattern search on symbol-table codes
    /// must first build an automaton for the table, which takes as long as testing some hundreds of strings.
    private func isReadSingly(_ scan: SegmentScan, _ slot: Int, _ vector: Int, _ mask: UnsafeMutablePointer<UInt64>) throws(FirnError)
        -> Bool
    {
        guard case .text? = sought, Kernel.ones(mask, 16) <= 2, !scan.isLoaded(slot, vector) else { return false }
        return try scan.dictionary(slot) == nil
    }

    private func narrowCandidates(_ scan: SegmentScan, _ vector: Int, _ rows: Int, _ mask: UnsafeMutablePointer<UInt64>) throws(FirnError) {
        var candidates: [Int32] = []
        Scanner.rows(mask, into: &candidates)
        let values = try operand.evaluate(scan, vector, rows, only: candidates)
        let hits = scan.takeMask()
        defer { scan.giveBack(hits) }
        for w in 0..<16 {
            hits[w] = w < candidates.count >> 6 ? .max : w == candidates.count >> 6 ? (1 &<< UInt64(candidates.count & 63)) &- 1 : 0
        }
        try values.narrow(hits, candidates.count, quantifier) { (column, out) throws(FirnError) in
            test.apply(column, count: column.count, candidates: nil, out: out)
        }
        for (i, row) in candidates.enumerated() where hits[i >> 6] >> UInt64(i & 63) & 1 == 0 {
            mask[Int(row) >> 6] &= ~(1 << UInt64(row & 63))
        }
    }

    /// Applies the result for rows without a value.
    private func keep(_ present: Bits?, _ hits: UnsafeMutablePointer<UInt64>) {
        guard let present else { return }
        for w in present.words.indices { hits[w] = test.matchesNull ? hits[w] | ~present.words[w] : hits[w] & present.words[w] }
    }

    private func coded(
        _ scan: SegmentScan, _ slot: Int, _ set: SegmentScan.CodeSet, _ vector: Int, _ rows: Int, _ hits: UnsafeMutablePointer<UInt64>
    ) throws(FirnError) {
        if case .none = set, !test.matchesNull { return }
        if case .range(let low, let high) = set, case .done(let present) = try scan.search(slot, .codes(low, high), vector, into: hits) {
            return keep(present, hits)
        }
        let codes = try scan.codes(slot, vector)
        let form: ElementTest.Form
        switch set {
        case .none: form = .never
        case .all: form = .always
        case .range(let low, let high): form = .words(low, high, inverted: false)
        case .bits(let bits):
            codes.words.withUnsafeBufferPointer { words in bits.withUnsafeBufferPointer { Kernel.coded(words, in: $0, rows, hits) } }
            if let present = codes.present {
                for w in 0..<((rows + 63) / 64) { hits[w] = test.matchesNull ? hits[w] | ~present.words[w] : hits[w] & present.words[w] }
            }
            return
        }
        ElementTest(form: form, matchesNull: test.matchesNull).apply(codes, count: rows, candidates: nil, out: hits)
    }

    override func verdict(_ scan: SegmentScan, _ vector: Int?) throws(FirnError) -> Verdict {
        guard let slot = plainSlot else { return .unknown }
        if let vector { return test.verdict(try scan.zone(slot, vector)) }
        let verdict = test.verdict(try scan.zone(slot))
        guard verdict == .unknown, let values = test.equalValues, try !scan.mayHold(values, slot) else { return verdict }
        return .none
    }

    override func outline(_ indent: String) -> String {
        indent + text
            + note(leavesTable ? "through links" : plainSlot == nil ? "computed" : number != nil ? "on dictionary codes, if any" : "zones")
    }
}

/// A comparison of two operands, row by row or element by element.
final class PairNode: PredicateNode, @unchecked Sendable {
    let left: Operand, right: Operand
    let comparator: Comparator
    let folding: Folding
    let quantifier: Quantifier
    /// Whether the doubles of each side are decimals, which are compared with decimals.
    private let decimals: (left: Bool, right: Bool)
    private let describe: @Sendable () -> String
    var text: String { describe() }

    init(
        _ left: Operand, _ comparator: Comparator, _ right: Operand, folding: Folding, quantifier: Quantifier?,
        decimals: (left: Bool, right: Bool) = (false, false), text: @autoclosure @escaping @Sendable () -> String
    ) {
        self.left = left
        self.right = right
        self.comparator = comparator
        self.folding = folding
        self.quantifier = quantifier ?? .any
        self.decimals = decimals
        describe = text
        super.init(cost: 20)
    }

    override func narrow(_ scan: SegmentScan, _ vector: Int, _ rows: Int, _ mask: UnsafeMutablePointer<UInt64>) throws(FirnError) {
        var a = try left.evaluate(scan, vector, rows), b = try right.evaluate(scan, vector, rows)
        if let offsets = a.offsets, b.offsets == nil {
            b = b.expanded(offsets)
        } else if let offsets = b.offsets, a.offsets == nil {
            a = a.expanded(offsets)
        }
        let absent = b.absent
        a.unfit += b.unfit
        try a.narrow(mask, rows, quantifier) { (column, out) throws(FirnError) in compare(column, b.column, out) }
        if let absent { for w in 0..<absent.words.count { mask[w] &= ~absent.words[w] } }
    }

    private func compare(_ a: Column, _ b: Column, _ out: UnsafeMutablePointer<UInt64>) {
        let comparator = comparator, folding = folding
        if a.present == nil, b.present == nil, !comparator.isTextual, !a.type.isCollection, !b.type.isCollection {
            if a.type.kind == b.type.kind, a.type.kind == .int || a.type.kind == .bool || a.type.kind == .link {
                a.words.withUnsafeBufferPointer { x in b.words.withUnsafeBufferPointer { y in Kernel.pairs(x, y, comparator, a.count, out) }
                }
                return
            }
            if a.type.kind == .double || a.type.kind == .float, b.type.kind == .double || b.type.kind == .float {
                a.reals.withUnsafeBufferPointer { x in b.reals.withUnsafeBufferPointer { y in Kernel.pairs(x, y, comparator, a.count, out) }
                }
                return
            }
        }
        let areMixed = a.type.kind == .any || b.type.kind == .any
        let decimals = decimals
        Kernel.each(a.count, nil, out) {
            let x = decimals.left ? PairNode.decimal(a.value(at: $0)) : a.value(at: $0),
                y = decimals.right ? PairNode.decimal(b.value(at: $0)) : b.value(at: $0)
            return Comparison.holds(comparator, x, y, folding: folding, areMixed: areMixed)
        }
    }

    /// Returns the decimal that a double stores.
    private static func decimal(_ value: Value) -> Value {
        guard case .double(let x) = value, let decimal = Decimal("\(x)") else { return value }
        return .decimal(decimal)
    }

    override func outline(_ indent: String) -> String { indent + text + note("computed") }
}

extension Kernel {
    static func pairs<T: Comparable>(
        _ x: UnsafeBufferPointer<T>, _ y: UnsafeBufferPointer<T>, _ comparator: Comparator, _ count: Int,
        _ out: UnsafeMutablePointer<UInt64>
    ) {
        switch comparator {
        case .equal: each(count, nil, out) { x[$0] == y[$0] }
        case .notEqual: each(count, nil, out) { x[$0] != y[$0] }
        case .less: each(count, nil, out) { x[$0] < y[$0] }
        case .lessOrEqual: each(count, nil, out) { x[$0] <= y[$0] }
        case .greater: each(count, nil, out) { x[$0] > y[$0] }
        default: each(count, nil, out) { x[$0] >= y[$0] }
        }
    }
}

extension Values {
    /// Clears the bits of the rows in `mask` whose values do not satisfy the quantifier. `test` writes one bit for each value.
    func narrow(
        _ mask: UnsafeMutablePointer<UInt64>, _ rows: Int, _ quantifier: Quantifier,
        _ test: (Column, UnsafeMutablePointer<UInt64>) throws(FirnError) -> Void
    ) throws(FirnError) {
        for row in unfit where mask[row >> 6] >> UInt64(row & 63) & 1 == 1 { throw Values.unfitError }
        let words = max(16, (column.count + 63) / 64)
        let hits = UnsafeMutablePointer<UInt64>.allocate(capacity: words)
        defer { hits.deallocate() }
        Kernel.clear(hits, words)
        try test(column, hits)
        guard let offsets else {
            if let absent { for w in 0..<absent.words.count { hits[w] &= ~absent.words[w] } }
            for w in 0..<16 { mask[w] &= hits[w] }
            return
        }
        for row in 0..<rows where mask[row >> 6] >> UInt64(row & 63) & 1 == 1 {
            var passed = 0
            for i in offsets[row]..<offsets[row + 1] { passed += Int(hits[i >> 6] >> UInt64(i & 63) & 1) }
            let holds =
                switch quantifier {
                case .any: passed > 0
                case .all: passed == offsets[row + 1] - offsets[row]
                case .none: passed == 0
                }
            if !holds { mask[row >> 6] &= ~(1 << UInt64(row & 63)) }
        }
        if let absent { for w in 0..<absent.words.count { mask[w] &= ~absent.words[w] } }
    }
}
