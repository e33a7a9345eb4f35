import FirnBytes
import FirnTable

/// Comparisons of columns of times of day, which are stored as texts, and of decimals that are stored as doubles.
extension Binder {
    /// Returns a time of day in the form in which the operand stores times: '10:00' as '10:00:00'; and a decimal as the double that stores
    /// it. Other constants are returned unchanged.
    func stored(_ constant: ConstantSyntax, in operand: Operand, _ comparator: Comparator) -> ConstantSyntax {
        if case .decimal(let decimal) = constant.value, operand.storesDecimals {
            // A decimal of more digits is between two doubles that store decimals.
            guard Decimal("\(decimal.double)")?.compare(decimal) == 0 else { return constant }
            var stored = constant
            stored.value = .double(decimal.double)
            return stored
        }
        guard !comparator.isTextual, comparator != .text, case .string(let text) = constant.value, case .path(let path) = operand,
            case .time(let unit)? = path.logical, let time = unit.stored(timeOfDay: text)
        else { return constant }
        var stored = constant
        stored.value = .string(time)
        return stored
    }
}

extension Operand {
    /// Whether the values are decimals of at most 15 digits, which are stored as the nearest doubles.
    var storesDecimals: Bool {
        guard case .path(let path) = self, path.type.kind == .double, case .decimal? = path.logical else { return false }
        return true
    }
}
