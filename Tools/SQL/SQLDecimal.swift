import FirnBytes
import FirnTable

/// A decimal as SQLite stores one in a column declared DECIMAL, except that decimals of more than 15 digits are text, so that no digit is
/// lost.
enum SQLDecimal {
    case int(Int64), real(Double), text(String)

    init(_ value: Decimal) {
        let text = value.description
        var digits = 0, isNumber = true
        for byte in text.utf8 {
            switch byte {
            case 48...57: if digits > 0 || byte > 48 { digits += 1 }
            case UInt8(ascii: "E"), UInt8(ascii: "e"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): break
            default: isNumber = false
            }
        }
        // Digits of the exponent are counted too. Such numbers are rare, and as text they have the same meaning.
        guard isNumber, digits <= 15, let real = Double(text), real.isFinite, real != 0 || digits == 0 else {
            self = .text(text)
            return
        }
        self = Int64(exactly: real).map { .int($0) } ?? .real(real)
    }
}

// MARK: Columns of decimals

extension SQLDecimal {
    /// The collation that compares texts as decimals, by their exact values (`compare_decimals` on the C side). Columns that hold decimals of more than 15 digits are declared with it.
    static let collation = "firn_decimal"

    /// Returns whether a column has a decimal that no number of SQL represents exactly. A column that cannot be read counts as one: the error
    /// is reported when a statement reads it. Takes time proportional to the rows before the first such decimal.
    static func needsText(_ column: Int, of table: any Table) -> Bool {
        do throws(Damage) {
            for number in 0..<table.segmentCount {
                let segment = try table.segment(number), reader = try segment.column(column)
                var part = Column(reader.type)
                for vector in 0..<(reader.rowCount + vectorSize - 1) / vectorSize {
                    try reader.read(vector: vector, into: &part)
                    for row in 0..<part.count where part.isPresent(row) {
                        guard !isShort(high: UInt64(bitPattern: part.words[row]), low: UInt64(bitPattern: part.extra[row])) else {
                            continue
                        }
                        if case .decimal(let value) = part.value(at: row), case .text = SQLDecimal(value) { return true }
                    }
                }
            }
            return false
        } catch { return true }
    }

    /// Returns true only for decimals with few digits, without making their text. The form is that of IEEE 754 (BID).
    private static func isShort(high: UInt64, low: UInt64) -> Bool {
        // Not infinite, no NaN, a coefficient of at most 12 digits, and an exponent of at most two.
        high >> 61 & 3 != 3 && high & 0x1_FFFF_FFFF_FFFF == 0 && low < 1_000_000_000_000 && (6077...6275).contains(Int(high >> 49 & 0x3FFF))
    }
}
