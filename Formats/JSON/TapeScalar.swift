import CSimdJSON
import FirnBytes
import FirnExchange
import FirnTable

/// Converts single values of a tape to the kinds of columns. The functions return nil if a value would not be written back equal. Values
/// that JSON cannot represent are texts in the form that `JSONWriter` writes: dates, UUIDs, object ids, and bytes as base64.
enum TapeScalar {
    static func int(_ item: firn_json_item) -> Int64? {
        if item.tag == TapeTag.int { return item.integer }
        // 1.0 and 1e3 are whole numbers; -0 would be written as 0.
        if item.tag == TapeTag.numberText { return NumberText.wholeNumber(item.bytes) }
        guard item.tag == TapeTag.double, item.double != 0 || item.double.sign == .plus else { return nil }
        return Int64(exactly: item.double)
    }

    static func double(_ item: firn_json_item) -> Double? {
        switch item.tag {
        case TapeTag.double: return item.double
        case TapeTag.int:
            let value = Double(item.integer)
            return Int64(exactly: value) == item.integer || isShortest(String(item.integer), of: value) ? value : nil
        case TapeTag.numberText:
            guard let value = Double(item.string), value.isFinite,
                isShortest(item.string, of: value) || NumberText.isExactly(item.bytes, value)
            else { return nil }
            return value
        default: return nil
        }
    }

    /// Whether a text is the number that a double is written as. This is so for large numbers, although their digits exceed the precision
    /// of a double.
    static func isShortest(_ text: String, of value: Double) -> Bool {
        guard let read = Decimal(text), let written = Decimal(JSONBytes.plain(value)) else { return false }
        return read.compare(written) == 0
    }

    static func float(_ item: firn_json_item) -> Float? {
        guard let value = double(item) else { return nil }
        let float = Float(value)
        // The number is exactly the float, or the shortest text of the float.
        return float.isFinite && (Double(float) == value || Double(float.description) == value) ? float : nil
    }

    static func decimal(_ item: firn_json_item) -> Decimal? {
        switch item.tag {
        case TapeTag.int: Decimal(item.integer)
        case TapeTag.double: Decimal("\(item.double)")
        case TapeTag.numberText: Decimal(item.string)
        default: nil
        }
    }

    static func date(_ item: firn_json_item) -> DateText.Reading? { item.tag == TapeTag.string ? DateText.parse(item.bytes) : nil }

    static func uuid(_ item: firn_json_item) -> Identifier? {
        guard item.tag == TapeTag.string else { return nil }
        return IdentifierText.parseUUID(item.bytes)?.value ?? (item.bytes.count == 36 ? Identifier(uuidText: item.string) : nil)
    }

    static func objectID(_ item: firn_json_item) -> Identifier? {
        guard item.tag == TapeTag.string, item.bytes.count == 24 else { return nil }
        return Identifier(objectIDText: item.string)
    }

    static func data(_ item: firn_json_item) -> [UInt8]? { item.tag == TapeTag.string ? Base64.bytes(item.bytes, .exact) : nil }

    /// Returns one value of a kind, to be compared with others of that kind.
    static func value(_ item: firn_json_item, _ kind: ScalarKind) -> Value? {
        switch kind {
        case .bool: item.tag == TapeTag.yes || item.tag == TapeTag.no ? .bool(item.tag == TapeTag.yes) : nil
        case .int: int(item).map { .int($0) }
        case .link: int(item).map { .link($0) }
        case .float: float(item).map { .float($0) }
        case .double: double(item).map { .double($0) }
        case .string: item.tag == TapeTag.string ? .string(item.string) : nil
        case .data: data(item).map { .data($0) }
        case .date: date(item).map { .date(Timestamp(seconds: $0.seconds, nanoseconds: Int32($0.nanoseconds))) }
        case .decimal: decimal(item).map { .decimal($0) }
        case .objectID: objectID(item).map { .objectID($0) }
        case .uuid: uuid(item).map { .uuid($0) }
        case .any, .embedded: nil
        }
    }
}
