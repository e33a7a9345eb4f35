import FirnBytes
import FirnExchange
import FirnTable

/// What all strings of a path have in common, in 16 bits: nothing seen, nothing in common, a UUID with the case of its letters, or a date
/// notation.
enum TextForm {
    static let unseen: UInt16 = 0
    static let other: UInt16 = 1
    private static let uuidDigits: UInt16 = 2
    private static let uuidLower: UInt16 = 3
    private static let uuidUpper: UInt16 = 4

    static func common(_ form: UInt16, _ bytes: UnsafeRawBufferPointer) -> UInt16 { common(form, of(bytes)) }

    static func common(_ a: UInt16, _ b: UInt16) -> UInt16 {
        if a == b || b == unseen { return a }
        if a == unseen { return b }
        let low = min(a, b), high = max(a, b)
        return low == uuidDigits && high <= uuidUpper ? high : other
    }

    @inline(__always)
    private static func of(_ bytes: UnsafeRawBufferPointer) -> UInt16 {
        let count = bytes.count
        if count < 10 || count > 36 || (count > 10 && count < 19) { return other }
        return bytes[4] == UInt8(ascii: "-") || count == 36 ? examine(bytes) : other
    }

    @inline(never)
    private static func examine(_ bytes: UnsafeRawBufferPointer) -> UInt16 {
        if bytes.count == 36 {
            guard let uuid = IdentifierText.parseUUID(bytes) else { return other }
            return uuid.letters == .none ? uuidDigits : uuid.letters == .lower ? uuidLower : uuidUpper
        }
        guard let date = DateText.parse(bytes) else { return other }
        return UInt16(date.notation.code) << 8 | UInt16(date.notation.parameter)
    }

    /// Returns the kind and notation of a column whose strings all have the form.
    static func kindAndNotation(_ form: UInt16) -> (kind: ScalarKind, notation: Notation) {
        switch form {
        case unseen, other: (.string, .plain)
        case uuidDigits, uuidLower: (.uuid, .plain)
        case uuidUpper: (.uuid, .uuidUpper)
        default: (.date, Notation(code: UInt8(form >> 8), parameter: UInt8(form & 0xFF)))
        }
    }
}
