import FirnExchange
import FirnTable

extension CSVGuess {
    /// The types in which the column can be united with those of other inputs, narrowest first: all ordinary cells are written back as the
    /// same text, and the original texts of the others remain valid. The first one is that of `choice`.
    func readings(_ choice: CSVChoice) -> [ColumnFacts.Reading] {
        guard filled > 0 else { return [] }
        var all = [ColumnFacts.Reading(choice.kind, choice.notation)]
        if choice.kind == .date, let main = odd?.dates.max(by: { $0.sample.count < $1.sample.count }) {
            for notation in main.commonTimes where notation != choice.notation { all.append(ColumnFacts.Reading(.date, notation)) }
        }
        guard choice.kind.isNumber else { return all }
        let digits = UInt8(clamping: max(maximumDigits, 0)), even = fewestDigits == maximumDigits, layout = NumberLayout(choice.notation)
        func add(_ shape: CSVShape, _ kind: ScalarKind, _ notation: Notation = .plain, if fits: Bool = true) {
            var reading = ColumnFacts.Reading(kind, notation)
            if var layout {
                layout.digits = notation
                reading.notation = layout.notation
            }
            if fits, sharedShapes.contains(shape), !all.contains(reading) { all.append(reading) }
        }
        // `numbers` are not the shapes of long decimals.
        let isWhole = odd?.longDecimals.count ?? 0 == 0
        if choice.exceptions == nil, isWhole { add(.int, .int) }
        if choice.kind != .decimal || choice.exceptions == nil && isWhole {
            add(.plain, .double)
            add(.pointZero, .double, .pointZero)
            add(.exponent, .double, .twoDigitExponent(pointZero: false), if: layout == nil)
            add(.exponentPointZero, .double, .twoDigitExponent(pointZero: true), if: layout == nil)
            add(.fixed, .double, .fixed(digits), if: even && maximumDigits <= 22)
        }
        // A double whose text has another spelling may have lost digits that a decimal would keep.
        add(.decimal, .decimal, if: choice.kind == .int || choice.exceptions?.unusualCount ?? 0 == 0)
        return all
    }
}
