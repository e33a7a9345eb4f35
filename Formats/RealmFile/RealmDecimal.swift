import FirnBytes
import FirnTable

/// Converts decimals of 32, 64 and 128 bits (IEEE 754-2008, binary integer coefficient) to those of Firn, which have 128 bits.
enum RealmDecimal {
    /// Returns nil for the bits that stand for null.
    static func read(_ array: RealmArray, _ row: Int) throws(Damage) -> Decimal? {
        switch array.width {
        case 4:
            let bits = array.bits32(row)
            return bits == 0x7C00_00AA ? nil : decimal(UInt64(bits), width: 32, exponentBits: 8, bias: 101, most: 9_999_999)
        case 8:
            let bits = array.bits64(row)
            return bits == 0x7C00_0000_0000_00AA
                ? nil : decimal(bits, width: 64, exponentBits: 10, bias: 398, most: 9_999_999_999_999_999)
        case 16:
            let low = array.bits64(2 * row), high = array.bits64(2 * row + 1)
            return low == 0xAA && high == 0x7C00_0000_0000_0000 ? nil : Decimal(high: high, low: low)
        default: throw Damage("decimals of \(array.width) bytes", at: array.offset)
        }
    }

    private static let bias128: UInt64 = 6176

    private static func decimal(_ bits: UInt64, width: UInt64, exponentBits: UInt64, bias: UInt64, most: UInt64) -> Decimal {
        let sign = (bits >> (width - 1) & 1) << 63, special = bits >> (width - 6) & 0x1F
        if special == 0x1E { return Decimal(high: sign | 0x7800_0000_0000_0000, low: 0) }
        if special == 0x1F { return Decimal(high: sign | 0x7C00_0000_0000_0000, low: 0) }
        let isLarge = special >> 3 == 3, coefficientBits = width - 1 - exponentBits - (isLarge ? 2 : 0)
        let exponent = bits >> coefficientBits & (1 << exponentBits - 1)
        var coefficient = bits & (1 << coefficientBits - 1)
        // The large form stands for a coefficient that begins with the bits 100.
        if isLarge { coefficient |= 4 << coefficientBits }
        if coefficient > most { coefficient = 0 }
        return Decimal(high: sign | (exponent + bias128 - bias) << 49, low: coefficient)
    }
}

extension RealmVersion {
    func appendDecimals(_ ref: Int, _ column: RealmColumn, _ rows: [Int], to out: inout Column) throws(Damage) {
        let array = try bytes.array(ref)
        guard !array.hasRefs, array.kind == .bytes || array.width == 0 else { throw Damage("this is not a node of decimals", at: ref) }
        for row in rows {
            let value = array.width == 0 ? (array.hasContext ? Decimal(0 as Int64) : nil) : try RealmDecimal.read(array, row)
            guard let value else {
                appendNull(column, to: &out)
                continue
            }
            let pair = Column.pair(value)
            out.notePresent()
            out.words.append(pair.0)
            out.extra.append(pair.1)
        }
    }
}
