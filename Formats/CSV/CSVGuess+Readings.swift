import FirnExchange
import FirnTable

extension CSVGuess {
    /// All types that round-trip every cell without original texts, narrowest first. The first one is that of `choice`.
    func readings(_ choice: CSVChoice) -> [ColumnFacts.Reading] {
        guard filled > 0 else { return [] }
        var all = [ColumnFacts.Reading(choice.kind, choice.notation)]
        guard odd == nil, otherCount == 0 else { return all }
        let digits = UInt8(clamping: max(maximumDigits, 0)), even = fewestDigits == maximumDigits
        func add(_ shape: CSVShape, _ kind: ScalarKind, _ notation: Notation = .plain, if fits: Bool = true) {
            let reading = ColumnFacts.Reading(kind, notation)
            if fits, numbers.contains(shape), !all.contains(reading) { all.append(reading) }
        }
        add(.int, .int)
        add(.plain, .double)
        add(.pointZero, .double, .pointZero)
        add(.fixed, .double, .fixed(digits), if: even && maximumDigits <= 22)
        add(.decimal, .decimal)
        return all
    }

    /// The type that round-trips every cell without original texts, for rows that are united with those of other inputs: there, another
    /// type may be chosen for the column.
    func choiceWithoutOriginals(dates wanted: [Notation]) -> CSVChoice {
        let choice = choice(dates: wanted)
        guard choice.exceptions != nil else { return choice }
        var whole = CSVChoice()
        if filled == numberCount + (odd?.longDecimals.count ?? 0), numbers.contains(.decimal) { whole.kind = .decimal }
        return whole
    }
}
