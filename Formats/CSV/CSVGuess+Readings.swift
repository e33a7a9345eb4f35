import FirnExchange
import FirnTable

extension CSVGuess {
    /// All types that round-trip every cell, narrowest first. The first one is `type`.
    var readings: [ColumnFacts.Reading] {
        guard cells > nulls else { return [] }
        let digits = UInt8(clamping: max(mostDigits, 0)), even = fewestDigits == mostDigits
        var all = [ColumnFacts.Reading(type.kind, type.notation)]
        func add(_ shape: CSVShape, _ kind: ScalarKind, _ notation: Notation = .plain, if fits: Bool = true) {
            let reading = ColumnFacts.Reading(kind, notation)
            if fits, self.shape.contains(shape), !all.contains(reading) { all.append(reading) }
        }
        add(.int, .int)
        add(.plain, .double)
        add(.pointZero, .double, .pointZero)
        add(.fixed, .double, .fixed(digits), if: even && mostDigits <= 22)
        add(.decimal, .decimal)
        return all
    }
}
