import FirnBytes

/// Returns one value as the text that a file would show, for comparing a column of text with one of another kind, and for messages. Numbers
/// are the shortest text that reads back as the same value, unless the notation requires another.
package func canonicalText(_ value: Value, notation: Notation = .plain) -> String {
    switch value {
    case .null: return ""
    case .bool(let x):
        if notation == .capitalised { return x ? "True" : "False" }
        if notation == .upperCase { return x ? "TRUE" : "FALSE" }
        return x ? "true" : "false"
    case .int(let x), .link(let x): return String(x)
    case .float(let x): return realText(Double(x), shortest: "\(x)", notation)
    case .double(let x): return realText(x, shortest: "\(x)", notation)
    case .string(let x): return x
    case .data(let x): return x.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    case .date(let x): return dateText(x, notation)
    case .decimal(let x): return x.description
    case .objectID(let x): return x.objectIDText
    case .uuid(let x): return notation == .uuidUpper ? x.uuidText.uppercased() : x.uuidText
    case .list(let values), .set(let values): return "[" + values.map { nestedText($0) }.joined(separator: ",") + "]"
    case .map(let entries), .object(let entries):
        return "{"
            + entries.filter { !$0.value.isNull || $0.key.isEmpty }.map { JSONString.quoted($0.key) + ":" + nestedText($0.value) }.joined(
                separator: ",") + "}"
    }
}

/// Returns a value inside a collection as JSON.
package func nestedText(_ value: Value) -> String {
    switch value {
    case .null: "null"
    case .string(let x): JSONString.quoted(x)
    case .double(let x) where !x.isFinite: "null"
    case .float(let x) where !x.isFinite: "null"
    case .bool, .int, .float, .double, .link, .list, .set, .map, .object: canonicalText(value)
    default: JSONString.quoted(canonicalText(value))
    }
}

/// Returns a cell as JSON, with dates, identifiers and numbers in the notation of its column, also within lists, sets and maps.
package func nestedText(_ value: Value, notation: Notation) -> String {
    func members(_ entries: [Value.Entry]) -> String {
        "{" + entries.map { JSONString.quoted($0.key) + ":" + nestedText($0.value, notation: notation) }.joined(separator: ",") + "}"
    }
    return switch value {
    case .date, .uuid: JSONString.quoted(canonicalText(value, notation: notation))
    case .float(let x) where x.isFinite: canonicalText(value, notation: notation)
    case .double(let x) where x.isFinite: canonicalText(value, notation: notation)
    case .list(let values), .set(let values): "[" + values.map { nestedText($0, notation: notation) }.joined(separator: ",") + "]"
    case .map(let entries): members(entries)
    default: nestedText(value)
    }
}

private func realText(_ x: Double, shortest: String, _ notation: Notation) -> String {
    guard x.isFinite else { return x.isNaN ? "NaN" : (x < 0 ? "-Infinity" : "Infinity") }
    if notation.writesPointZero { return shortest }
    if notation.code == Notation.fixed(0).code, let text = fixedText(x, digits: Int(notation.parameter)) { return text }
    return shortest.hasSuffix(".0") ? String(shortest.dropLast(2)) : shortest
}

/// Returns nil outside the range in which the digits are exact.
private func fixedText(_ x: Double, digits: Int) -> String? {
    guard digits <= 15 else { return nil }
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = (x.magnitude * scale).rounded()
    guard scaled < 0x1p53 else { return nil }
    var text = String(Int64(scaled))
    while text.utf8.count <= digits { text = "0" + text }
    if digits > 0 { text.insert(".", at: text.index(text.endIndex, offsetBy: -digits)) }
    return x.sign == .minus ? "-" + text : text
}

private func dateText(_ x: Timestamp, _ notation: Notation) -> String {
    func two(_ n: Int64) -> String { (n < 10 ? "0" : "") + String(n) }
    let layout = DateTimeLayout(notation) ?? DateTimeLayout(followsT: true, zone: .zulu, fraction: .needed)
    let seconds = x.seconds &+ Int64(layout.quarters) * 900
    let days = seconds / 86400 - (seconds % 86400 < 0 ? 1 : 0), rest = (seconds % 86400 + 86400) % 86400
    let (year, month, day) = CivilDate.date(ofDay: days)
    var digits = String(year.magnitude)
    while digits.utf8.count < 4 { digits = "0" + digits }
    let date = (year < 0 ? "-" : "") + digits + "-" + two(month) + "-" + two(day)
    if notation == .dateOnly { return date }
    let time = two(rest / 3600) + ":" + two(rest / 60 % 60) + ":" + two(rest % 60)
    var fraction = String(x.nanoseconds)
    while fraction.utf8.count < 9 { fraction = "0" + fraction }
    // Where the notation does not state the digits, there are all or none.
    let isStated = notation != .plain && notation != .localDateTime && DateTimeLayout(notation) != nil
    fraction = "." + fraction.prefix(isStated ? layout.digits(Int64(x.nanoseconds)) : x.nanoseconds == 0 ? 0 : 9)
    return date + (layout.followsT ? "T" : " ") + time + (fraction == "." ? "" : fraction) + layout.zoneText
}
