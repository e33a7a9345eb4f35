import FirnBytes
import FirnTable

/// Comparisons of columns of times of day, which are stored as texts.
extension Binder {
    /// Returns a time of day in the form in which the operand stores times: '10:00' as '10:00:00'. Other constants are returned unchanged.
    func stored(_ constant: ConstantSyntax, in operand: Operand, _ comparator: Comparator) -> ConstantSyntax {
        guard !comparator.isTextual, comparator != .text, case .string(let text) = constant.value, case .path(let path) = operand,
            case .time(let unit)? = path.logical, let time = unit.stored(timeOfDay: text)
        else { return constant }
        var stored = constant
        stored.value = .string(time)
        return stored
    }
}
