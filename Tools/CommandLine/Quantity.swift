/// Formats numbers for human readers.
package enum Quantity {
    /// Returns the number of rows, and that of embedded objects if there are any: "3 rows, 7 embedded objects". Embedded objects are stored
    /// as rows of their own types, but belong to the rows that hold them.
    package static func content(_ types: [(rows: Int, isEmbedded: Bool)]) -> String {
        let rows = types.reduce(0) { $0 + ($1.isEmbedded ? 0 : $1.rows) }, embedded = types.reduce(0) { $0 + ($1.isEmbedded ? $1.rows : 0) }
        return count(rows, "row") + (embedded > 0 ? ", " + count(embedded, "embedded object") : "")
    }

    /// Formats a number with separators: `1,234,567`.
    package static func count(_ value: Int) -> String {
        let digits = String(value.magnitude)
        var out = ""
        for (i, digit) in digits.enumerated() {
            if i > 0, (digits.count - i) % 3 == 0 { out.append(",") }
            out.append(digit)
        }
        return (value < 0 ? "-" : "") + out
    }

    /// Formats a number with a noun: `1,894,210 rows`, `1 row`.
    package static func count(_ value: Int, _ noun: String) -> String { "\(count(value)) \(noun)\(value == 1 ? "" : "s")" }

    /// Formats a number of bytes in units of powers of 1,000: `76.1 MB`.
    package static func bytes(_ value: Int) -> String {
        guard value.magnitude >= 1000 else { return "\(value) B" }
        var size = Double(value), unit = 0
        let units = ["B", "kB", "MB", "GB", "TB", "PB"]
        while abs(size) >= 999.5, unit + 1 < units.count {
            size /= 1000
            unit += 1
        }
        return "\(decimal(size, abs(size) < 99.95 ? 1 : 0)) \(units[unit])"
    }

    /// Formats a duration: `0.31 s`, `12.4 s`, `2 min 05 s`.
    package static func seconds(_ value: Double) -> String {
        guard value.isFinite, value >= 0 else { return "–" }
        if value < 9.995 { return "\(decimal(value, 2)) s" }
        if value < 99.95 { return "\(decimal(value, 1)) s" }
        let whole = Int(min(value, 1e9).rounded())
        if whole < 3600 { return "\(whole / 60) min \(padded(whole % 60)) s" }
        return "\(whole / 3600) h \(padded(whole / 60 % 60)) min"
    }

    /// Formats a number with exactly `digits` digits after the decimal point.
    package static func decimal(_ value: Double, _ digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = (abs(value) * scale).rounded()
        guard scaled < 9e15 else { return "\(value)" }
        let whole = Int(scaled), unit = Int(scale)
        let sign = value < 0 && whole != 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(whole)" }
        let fraction = String(whole % unit)
        return "\(sign)\(whole / unit)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    /// Formats the quotient of `whole` and `part`: `7.9×`; `–` if `part` is not positive.
    package static func ratio(_ whole: Int, _ part: Int) -> String {
        part > 0 ? decimal(Double(whole) / Double(part), 1) + "×" : "–"
    }

    private static func padded(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
