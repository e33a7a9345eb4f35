import FirnBytes
import FirnExchange
import FirnTable

/// What all strings of a path have in common: nothing seen, nothing in common, a UUID with the case of its letters, or a form of dates.
///
/// A form of dates is 256 for days, and otherwise has bit 31, the ways to write fractional digits (12 bits from bit 16 on), the zone (3 bits
/// from bit 8 on), bit 7 if `T` precedes the time, and the offset in quarters of an hour plus 64 (7 bits).
enum TextForm {
    static let unseen: UInt32 = 0
    static let other: UInt32 = 1
    private static let uuidDigits: UInt32 = 2
    private static let uuidLower: UInt32 = 3
    private static let uuidUpper: UInt32 = 4
    private static let day: UInt32 = 256
    private static let time: UInt32 = 1 << 31
    private static let fractions: UInt32 = 0xFFF_0000

    static func common(_ form: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt32 { common(form, of(bytes)) }

    static func common(_ a: UInt32, _ b: UInt32) -> UInt32 {
        if a == b || b == unseen { return a }
        if a == unseen { return b }
        if a & b & time != 0, (a ^ b) & ~fractions == 0 { return a & b & fractions != 0 ? a & b : other }
        let low = min(a, b), high = max(a, b)
        return low == uuidDigits && high <= uuidUpper ? high : other
    }

    @inline(__always)
    private static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        let count = bytes.count
        if count < 10 || count > 36 || (count > 10 && count < 19) { return other }
        return bytes[4] == UInt8(ascii: "-") || count == 36 ? examine(bytes) : other
    }

    @inline(never)
    private static func examine(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        if bytes.count == 36, let uuid = IdentifierText.parseUUID(bytes) {
            return uuid.letters == .none ? uuidDigits : uuid.letters == .lower ? uuidLower : uuidUpper
        }
        guard let date = DateText.parse(bytes) else { return other }
        guard let written = date.time else { return day }
        let fractions = DateFractions(digits: written.digits, nanoseconds: date.nanoseconds)
        // Some styles, and eight digits, have no notation.
        guard let first = fractions.first, written.layout(first).notation != nil else { return other }
        return time | UInt32(fractions.rawValue) << 16 | UInt32(written.zone.rawValue) << 8 | (written.followsT ? 128 : 0)
            | UInt32(written.quarters + 64)
    }

    /// Returns the kind and notation of a column whose strings all have the form.
    static func kindAndNotation(_ form: UInt32) -> (kind: ScalarKind, notation: Notation) {
        switch form {
        case unseen, other: return (.string, .plain)
        case uuidDigits, uuidLower: return (.uuid, .plain)
        case uuidUpper: return (.uuid, .uuidUpper)
        case day: return (.date, .dateOnly)
        default: break
        }
        guard let fraction = DateFractions(rawValue: UInt16(form >> 16 & 0xFFF)).first,
            let zone = DateTimeLayout.Zone(rawValue: UInt8(form >> 8 & 7)),
            let notation = DateTimeLayout(
                followsT: form & 128 != 0, zone: zone, fraction: fraction, quarters: Int(form & 127) - 64
            ).notation
        else { return (.string, .plain) }
        return (.date, notation)
    }
}
