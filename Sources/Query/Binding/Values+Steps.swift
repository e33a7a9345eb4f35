import FirnBytes
import FirnTable

extension Values {
    /// Applies one step of a path to the values.
    mutating func apply(_ step: BoundPath.Step, _ scan: SegmentScan) throws(FirnError) {
        switch step {
        case .field(let index):
            guard column.children.indices.contains(index) else {
                throw FirnError(.unsupported, "embedded objects are nested too deep for queries")
            }
            column = column.children[index].nulled(by: column.present)
        case .enter: enter(column.type.collection == .map ? 1 : 0)
        case .keys: enter(0)
        case .pick(let pick): self.pick(pick)
        case .key(let key): self.pick(key: key)
        case .count: column = counts()
        case .length: column = lengths(nullIsZero: true)
        case .aggregate(let function): aggregate(function)
        case .anyKey(let key): mapAny { $0.member(key) }
        case .anyMember(let number): try enter(scan.slots.members[number], scan, scan.slots.schema)
        case .anyPick(let pick): mapAny { $0.element(pick) }
        case .anyCount: mapAny { $0.size }
        case .anyEnter: enterAny()
        case .follow(let hop): column = try scan.follow(hop, column)
        case .resolve(let hop): column.present = try scan.live(hop, column)
        case .inverse(let number): column = try scan.sources(number, column)
        case .subquery(let number): try scan.slots.subqueries[number].count(&self, scan, number)
        case .inverseCount(let numbers): column = try scan.sourceCounts(numbers, column)
        }
    }

    /// Returns each value repeated once for every element of its row in `offsets`.
    func expanded(_ offsets: [Int]) -> Values {
        var rows: [Int] = []
        rows.reserveCapacity(offsets.last ?? 0)
        for row in 0..<(offsets.count - 1) { for _ in offsets[row]..<offsets[row + 1] { rows.append(row) } }
        return Values(column: column.gather(rows), offsets: offsets, absent: absent, unfit: unfit)
    }

    private mutating func enter(_ child: Int) {
        if let offsets { self.offsets = offsets.map { column.offsets[$0] } } else { offsets = column.offsets }
        column = column.children[child]
    }

    private mutating func pick(_ pick: BoundPath.Pick) {
        var empty = Bits(repeating: false, count: column.count)
        let positions = (0..<column.count).map { row -> Int? in
            let range = column.offsets[row]..<column.offsets[row + 1]
            guard !range.isEmpty else {
                empty[row] = true
                return nil
            }
            switch pick {
            case .first: return range.lowerBound
            case .last: return range.upperBound - 1
            case .at(let index): return index < range.count ? range.lowerBound + index : nil
            }
        }
        column = column.children[column.type.collection == .map ? 1 : 0].gatherOptional(positions)
        if offsets == nil { absent = empty }
    }

    private mutating func pick(key: [UInt8]) {
        let keys = column.children[0].text
        let positions = key.withUnsafeBytes { wanted in
            keys.bytes.withUnsafeBytes { bytes in
                (0..<column.count).map { row -> Int? in
                    (column.offsets[row]..<column.offsets[row + 1]).first {
                        TextTest.order(UnsafeRawBufferPointer(rebasing: bytes[keys.range($0)]), wanted) == 0
                    }
                }
            }
        }
        column = column.children[1].gatherOptional(positions)
    }

    private func counts() -> Column {
        if !column.type.isCollection { return lengths(nullIsZero: false) }
        var out = Column(ColumnType(.int))
        out.count = column.count
        out.words = (0..<column.count).map { Int64(column.offsets[$0 + 1] - column.offsets[$0]) }
        return out
    }

    private func lengths(nullIsZero: Bool) -> Column {
        var out = Column(ColumnType(.int, optional: true))
        out.count = column.count
        out.words = (0..<column.count).map { Int64(column.text.length($0)) }
        if !nullIsZero { out.present = column.present }
        return out
    }

    /// Aggregates the elements of each row. Nulls are ignored, as are NaN for minimum and maximum and non-numbers for sum and average.
    private mutating func aggregate(_ function: PathStep) {
        let offsets = offsets ?? [0]
        var out = Column(BoundPath.aggregateType(function, column.type.kind))
        for row in 0..<(offsets.count - 1) {
            if out.append(Values.aggregate(function, column, offsets[row]..<offsets[row + 1])) { continue }
            // Not an error yet, because the row may be deleted or excluded by other tests.
            unfit.append(row)
            out.appendNull()
        }
        column = out
        self.offsets = nil
    }

    static func aggregate(_ function: PathStep, _ column: Column, _ range: Range<Int>) -> Value {
        switch function {
        case .minimum, .maximum:
            var best: Value?
            for i in range {
                let value = column.value(at: i)
                if value.isNull || value.isNotNumber { continue }
                if let held = best, Value.order(value, held) * (function == .minimum ? 1 : -1) >= 0 { continue }
                best = value
            }
            return best ?? .null
        default:
            var sum = Sum()
            for i in range where column.isPresent(i) { sum.add(column, i) }
            return function == .sum ? sum.total(column.type.kind) : sum.average
        }
    }

    private mutating func mapAny(_ body: (Value) -> Value) {
        var out = Column(ColumnType(.any))
        for row in 0..<column.count { out.append(body(column.value(at: row))) }
        column = out
    }

    private mutating func enterAny() {
        var out = Column(ColumnType(.any)), ends = [0]
        for row in 0..<column.count {
            for value in column.value(at: row).members { out.append(value) }
            ends.append(out.count)
        }
        offsets = offsets.map { $0.map { ends[$0] } } ?? ends
        column = out
    }
}

extension BoundPath {
    static func aggregateType(_ function: PathStep, _ kind: ScalarKind) -> ColumnType {
        switch function {
        case .minimum, .maximum: ColumnType(kind, optional: true)
        case .average: ColumnType(kind == .decimal ? .decimal : kind == .any ? .any : .double, optional: true)
        default: ColumnType(kind == .float ? .double : kind, optional: true)
        }
    }
}

/// A sum of numbers of any kind: ints exactly in 128 bits, decimals in 34 digits, other numbers as doubles.
struct Sum: Sendable {
    var count = 0
    var whole = WideInt()
    var real = 0.0
    var decimal: Decimal?

    mutating func add(_ column: Column, _ row: Int) {
        switch column.type.kind {
        case .int: add(whole: column.words[row])
        case .float, .double: add(real: column.reals[row])
        default: add(column.value(at: row))
        }
    }

    @inline(__always)
    mutating func add(whole value: Int64) {
        count &+= 1
        whole.add(value)
    }

    @inline(__always)
    mutating func add(real value: Double) {
        count &+= 1
        real += value
    }

    mutating func add(_ value: Value) {
        switch value {
        case .int(let x): add(whole: x)
        case .float(let x): add(real: Double(x))
        case .double(let x): add(real: x)
        case .decimal(let x):
            count &+= 1
            decimal = decimal.map { $0 + x } ?? x
        default: break
        }
    }

    mutating func add(_ other: Sum) {
        count &+= other.count
        whole.add(other.whole)
        real += other.real
        if let more = other.decimal { decimal = decimal.map { $0 + more } ?? more }
    }

    /// Returns the sum for a column of the kind. An int sum beyond 64 bits becomes the nearest double, which an int column rejects.
    func total(_ kind: ScalarKind) -> Value {
        switch kind {
        case .int: whole.int.map(Value.int) ?? .double(whole.double)
        case .float, .double: .double(real)
        case .decimal: .decimal(decimal ?? Decimal(0 as Int64))
        default: mixed
        }
    }

    private var mixed: Value {
        if let decimal {
            return .decimal(
                decimal + (Decimal(whole.description) ?? Decimal(whole.double)) + (real == 0 ? Decimal(0 as Int64) : Decimal(real)))
        }
        if real != 0 { return .double(real + whole.double) }
        return whole.int.map(Value.int) ?? .double(whole.double)
    }

    var average: Value {
        guard count > 0 else { return .null }
        if let decimal {
            return .decimal(
                (decimal + (Decimal(whole.description) ?? Decimal(whole.double)) + (real == 0 ? Decimal(0 as Int64) : Decimal(real)))
                    / Decimal(Int64(count)))
        }
        return .double((real + whole.double) / Double(count))
    }
}

/// A 128-bit signed integer for sums of up to 2^63 64-bit integers.
struct WideInt: Sendable, Equatable, CustomStringConvertible {
    var high: Int64 = 0
    var low: UInt64 = 0

    @inline(__always)
    mutating func add(_ value: Int64) {
        let (sum, carry) = low.addingReportingOverflow(UInt64(bitPattern: value))
        low = sum
        high = high &+ (value >> 63) &+ (carry ? 1 : 0)
    }

    mutating func add(_ other: WideInt) {
        let (sum, carry) = low.addingReportingOverflow(other.low)
        low = sum
        high = high &+ other.high &+ (carry ? 1 : 0)
    }

    /// nil if the number does not fit into 64 bits.
    var int: Int64? { high == Int64(bitPattern: low) >> 63 ? Int64(bitPattern: low) : nil }
    var double: Double { int.map { Double($0) } ?? Double(high) * 0x1p64 + Double(low) }

    var description: String {
        if let int { return "\(int)" }
        var magnitude = (high: UInt64(bitPattern: high), low: low)
        if high < 0 {
            let (low, carry) = (~magnitude.low).addingReportingOverflow(1)
            magnitude = (~magnitude.high &+ (carry ? 1 : 0), low)
        }
        let base: UInt64 = 1_000_000_000_000_000_000
        var parts: [String] = []
        while magnitude.high != 0 || magnitude.low != 0 {
            let top = magnitude.high.quotientAndRemainder(dividingBy: base)
            let rest = base.dividingFullWidth((top.remainder, magnitude.low))
            magnitude = (top.quotient, rest.quotient)
            parts.append("\(rest.remainder)")
        }
        var text = high < 0 ? "-" : ""
        for (i, part) in parts.reversed().enumerated() { text += (i > 0 ? String(repeating: "0", count: 18 - part.count) : "") + part }
        return text
    }
}

extension Column {
    /// Returns the rows at the given positions; nil produces a row without a value.
    func gatherOptional(_ positions: [Int?]) -> Column {
        var out = emptyCopy
        out.type.isOptional = true
        var run: [Int] = []
        for position in positions {
            if let position {
                run.append(position)
            } else {
                out.appendGathered(self, rows: run)
                run.removeAll(keepingCapacity: true)
                out.appendNull()
            }
        }
        out.appendGathered(self, rows: run)
        return out
    }

    /// Returns the column with null in the rows whose bit in `parent` is clear.
    func nulled(by parent: Bits?) -> Column {
        guard let parent else { return self }
        var out = self
        out.type.isOptional = true
        out.present = present.map { Bits(words: zip($0.words, parent.words).map { $0 & $1 }, count: count) } ?? parent
        return out
    }
}

extension Value {
    func member(_ key: String) -> Value {
        switch self {
        case .map(let entries), .object(let entries): entries.first { $0.key.utf8.elementsEqual(key.utf8) }?.value ?? .null
        default: .null
        }
    }

    fileprivate func element(_ pick: BoundPath.Pick) -> Value {
        guard case .list(let values) = self else { return .null }
        switch pick {
        case .first: return values.first ?? .null
        case .last: return values.last ?? .null
        case .at(let index): return index < values.count ? values[index] : .null
        }
    }

    fileprivate var size: Value {
        switch self {
        case .list(let x), .set(let x): .int(Int64(x.count))
        case .map(let x), .object(let x): typedLink == nil ? .int(Int64(x.count)) : .null
        case .string(let x): .int(Int64(x.utf8.count))
        case .data(let x): .int(Int64(x.count))
        default: .null
        }
    }

    fileprivate var members: [Value] {
        switch self {
        case .list(let x), .set(let x): x
        case .map(let x), .object(let x): typedLink == nil ? x.map(\.value) : [self]
        case .null: []
        default: [self]
        }
    }
}
