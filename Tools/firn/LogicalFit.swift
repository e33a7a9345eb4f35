import FirnBytes
import FirnTable

extension Column {
    /// Returns the first row whose value is not one of a logical type: an integer of other bits, a decimal with other digits, a text that is
    /// no time of day. Returns nil if there is none, or for logical types that exclude no values.
    func firstRow(outside logical: LogicalType) -> Int? {
        guard !type.isCollection else { return nil }
        switch (logical, type.kind) {
        case (.integer(let bits, let isSigned), .int) where bits < 64:
            let low = isSigned ? -(Int64(1) << Int64(bits - 1)) : 0, high = (Int64(1) << Int64(isSigned ? bits - 1 : bits)) - 1
            return (0..<count).first { isPresent($0) && !(low...high ~= words[$0]) }
        case (.integer(64, isSigned: false), .int): return (0..<count).first { isPresent($0) && words[$0] < 0 }
        case (.decimal(let precision, let scale), .double) where 0...15 ~= scale && precision <= 15:
            let unit = Column.power(scale), limit = Column.power(precision)
            return (0..<count).first { row in
                guard isPresent(row), reals[row].isFinite else { return isPresent(row) }
                let scaled = (reals[row] * unit).rounded()
                return scaled.magnitude >= limit || scaled / unit != reals[row]
            }
        case (.time(let unit), .string):
            return (0..<count).first { isPresent($0) && unit.stored(timeOfDay: text.string($0)) == nil }
        default: return nil
        }
    }

    /// 10 to the power of 0 to 15, which a double represents exactly.
    private static func power(_ digits: Int) -> Double { (0..<digits).reduce(1.0) { power, _ in power * 10 } }
}
