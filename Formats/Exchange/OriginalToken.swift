import FirnBytes
import FirnTable

/// The form of original texts of JSON. Strings differ from numbers: a string is in quotes, without escapes; other texts are the JSON
/// tokens of numbers, `true` and `false`. See docs/format/model.md.
package enum OriginalToken {
    /// Marks a companion whose texts have this form. Permanent.
    package static let attribute = SchemaAttribute("original-text-form", [1])

    /// Whether a companion contains tokens.
    package static func isForm(of companion: ColumnSchema) -> Bool { companion.otherAttributes.contains(attribute) }

    private static let quote = UInt8(ascii: "\"")

    /// Returns the token of a string.
    package static func token(ofString text: UnsafeRawBufferPointer) -> [UInt8] { [quote] + text + [quote] }

    /// Returns the content of the token of a string; nil for other tokens.
    package static func string(_ token: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard token.count >= 2, token[0] == quote, token[token.count - 1] == quote else { return nil }
        return UnsafeRawBufferPointer(rebasing: token[1..<(token.count - 1)])
    }

    /// Whether a text is a number in JSON.
    package static func isNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        var at = text.first == UInt8(ascii: "-") ? 1 : 0
        func digits() -> Int {
            let start = at
            while at < text.count, text[at] &- 48 <= 9 { at += 1 }
            return at - start
        }
        let first = at, whole = digits()
        guard whole > 0, whole == 1 || text[first] != UInt8(ascii: "0") else { return false }
        if at < text.count, text[at] == UInt8(ascii: ".") {
            at += 1
            guard digits() > 0 else { return false }
        }
        if at < text.count, text[at] | 32 == UInt8(ascii: "e") {
            at += 1
            if at < text.count, text[at] == UInt8(ascii: "+") || text[at] == UInt8(ascii: "-") { at += 1 }
            guard digits() > 0 else { return false }
        }
        return at == text.count
    }

    /// Whether a text is `true` or `false`.
    package static func isBool(_ text: UnsafeRawBufferPointer) -> Bool {
        text.elementsEqual("true".utf8) || text.elementsEqual("false".utf8)
    }

    /// Appends a token as JSON: a string with its escapes.
    package static func append(_ token: [UInt8], to out: inout [UInt8]) {
        guard let string = token.withBytes({ string($0).map(Array.init) }) else { return out += token }
        JSONString.append(string, to: &out)
    }

    /// Returns the value of a token among values of any kind, where it is in place of `value`, its value in a column of numbers.
    package static func value(_ token: Value, instead value: Value) -> Value {
        guard case .string(let text) = token else { return value }
        let bytes = Array(text.utf8)
        if bytes.count >= 2, bytes.first == quote, bytes.last == quote {
            return .string(String(decoding: bytes[1..<(bytes.count - 1)], as: UTF8.self))
        }
        if text == "true" || text == "false" { return .bool(text == "true") }
        // A fraction with more digits than a double has.
        if case .double(let near) = value, bytes.count > 17, let exact = Decimal(text), let rounded = Decimal("\(near)"),
            exact.compare(rounded) != 0
        {
            return .decimal(exact)
        }
        return value
    }

    /// Returns a column of tokens as texts without the quotes of strings.
    package static func plain(_ column: Column) -> Column {
        var out = column, text = Text()
        for row in 0..<column.count { column.text.withBytes(row) { text.append(string($0) ?? $0) } }
        out.text = text
        return out
    }
}

/// Passes rows on to a writer of flat text: of original texts of JSON, strings are written without quotes.
package final class PlainTextsWriter: BatchWriter {
    private let writer: any BatchWriter
    /// By the name of the type: the positions of columns with tokens.
    private var tokens: [String: [Int]] = [:]

    package init(_ writer: any BatchWriter) { self.writer = writer }

    package func begin(_ schema: Schema) throws(FirnError) {
        var schema = schema
        for i in schema.types.indices where schema.types[i].hasCompanions {
            for position in schema.types[i].columns.indices where OriginalToken.isForm(of: schema.types[i].columns[position]) {
                tokens[schema.types[i].name, default: []].append(position)
                schema.types[i].columns[position].otherAttributes.removeAll { $0 == OriginalToken.attribute }
            }
        }
        try writer.begin(schema)
    }

    package func write(_ batch: Batch, type: String) throws(FirnError) {
        guard let positions = tokens[type] else { return try writer.write(batch, type: type) }
        var batch = batch
        for position in positions { batch.columns[position] = OriginalToken.plain(batch.columns[position]) }
        try writer.write(batch, type: type)
    }

    package func finish() throws(FirnError) { try writer.finish() }
    package var remarks: [String] { writer.remarks }
}
