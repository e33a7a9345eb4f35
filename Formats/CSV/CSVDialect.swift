import FirnBytes

/// The notation of a CSV file: everything that is needed to write the same bytes again. Stored in the `envelope` of a type.
package struct CSVDialect: Hashable, Sendable {
    package enum Newline: String, Sendable { case lf, crlf, cr }

    package var delimiter = UInt8(ascii: ",")
    package var quote: UInt8? = UInt8(ascii: "\"")
    package var newline = Newline.lf
    package var endsWithNewline = true
    package var hasByteOrderMark = false
    package var encoding = CSVEncoding.utf8
    /// Whether the input was read losslessly, so that output has the same bytes in the same encoding. Otherwise output is UTF-8 by default.
    package var isExact = false
    package var hasHeader = true
    package var quotesHeader = false
    /// The text of a null cell.
    package var nullText = ""
    /// Texts of null cells that differ from `nullText`, by column position.
    package var ownNullTexts: [Int: String] = [:]
    /// The positions of columns whose cells are all quoted.
    package var quotedColumns: [Int] = []
    /// The names in the header that differ from the names of the columns, by column position.
    package var headerNames: [Int: String] = [:]

    package init() {}

    /// The byte at which records are separated.
    var newlineByte: UInt8 { newline == .cr ? 13 : 10 }

    /// The text for `envelope`: the line `csv`, then a line for each property that is not the default.
    package var envelope: String {
        var lines = ["csv"]
        if delimiter != UInt8(ascii: ",") { lines.append("delimiter \(delimiter)") }
        if quote != UInt8(ascii: "\"") { lines.append("quote \(quote.map(String.init) ?? "none")") }
        if newline != .lf { lines.append("newline \(newline.rawValue)") }
        if !endsWithNewline { lines.append("open-end") }
        if hasByteOrderMark { lines.append("byte-order-mark") }
        if encoding != .utf8 { lines.append("encoding \(encoding.rawValue)") }
        if isExact { lines.append("exact") }
        if !hasHeader { lines.append("no-header") }
        if quotesHeader { lines.append("quoted-header") }
        if !nullText.isEmpty { lines.append("null \(CSVDialect.escaped(nullText))") }
        for (position, text) in ownNullTexts.sorted(by: { $0.key < $1.key }) {
            lines.append("null-of \(position) \(CSVDialect.escaped(text))")
        }
        if !quotedColumns.isEmpty { lines.append("quoted " + quotedColumns.map(String.init).joined(separator: " ")) }
        for (position, name) in headerNames.sorted(by: { $0.key < $1.key }) { lines.append("name \(position) \(CSVDialect.escaped(name))") }
        return lines.joined(separator: "\n")
    }

    /// Parses the text of an envelope. Returns nil if it is not that of a CSV file. Unknown lines are ignored.
    package init?(envelope: String?) {
        guard let lines = envelope?.split(separator: "\n", omittingEmptySubsequences: false), lines.first == "csv" else { return nil }
        for line in lines.dropFirst() {
            let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let rest = words.count > 1 ? words[1] : ""
            switch words[0] {
            case "delimiter": delimiter = UInt8(rest) ?? delimiter
            case "quote": quote = UInt8(rest)
            case "newline": newline = Newline(rawValue: rest) ?? newline
            case "open-end": endsWithNewline = false
            case "byte-order-mark": hasByteOrderMark = true
            case "encoding": encoding = CSVEncoding(rawValue: rest) ?? encoding
            case "exact": isExact = true
            case "no-header": hasHeader = false
            case "quoted-header": quotesHeader = true
            case "null": nullText = CSVDialect.unescaped(rest)
            case "quoted": quotedColumns = rest.split(separator: " ").compactMap { Int($0) }
            case "null-of":
                let parts = rest.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2, let position = Int(parts[0]) { ownNullTexts[position] = CSVDialect.unescaped(String(parts[1])) }
            case "name":
                let parts = rest.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2, let position = Int(parts[0]) { headerNames[position] = CSVDialect.unescaped(String(parts[1])) }
            default: break
            }
        }
    }

    /// Returns the line of the header without its line end.
    func headerText(_ names: [String]) -> [UInt8] {
        let marks = CSVMarks(delimiter: delimiter, quote: quote ?? UInt8(ascii: "\""), newline: newlineByte)
        var text: [UInt8] = []
        for (i, name) in names.map({ Array($0.utf8) }).enumerated() {
            if i > 0 { text.append(delimiter) }
            // In a file of one column, an unquoted name could be mistaken for several names with another delimiter.
            let misleads = names.count == 1 && (name.isEmpty || name.contains { ";|\t,".utf8.contains($0) })
            let needed = name.withUnsafeBufferPointer { $0.count > 0 && needsQuotes($0.baseAddress!, $0.count, marks) }
            if quotesHeader || misleads || needed || name.starts(with: [0xEF, 0xBB, 0xBF]) {
                text.append(marks.quote)
                for byte in name {
                    text.append(byte)
                    if byte == marks.quote { text.append(byte) }
                }
                text.append(marks.quote)
            } else {
                text += name
            }
        }
        return text
    }

    private static func escaped(_ text: String) -> String {
        var out: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 10: out += Array("\\n".utf8)
            case UInt8(ascii: "\\"): out += Array("\\\\".utf8)
            default: out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    private static func unescaped(_ text: String) -> String {
        var out: [UInt8] = [], pending = false
        for byte in text.utf8 {
            if pending {
                out.append(byte == UInt8(ascii: "n") ? 10 : byte)
                pending = false
            } else if byte == UInt8(ascii: "\\") {
                pending = true
            } else {
                out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
