import FirnBytes

/// The notation of a CSV file: everything that is needed to write the same bytes again. Stored in the `envelope` of a type.
package struct CSVDialect: Hashable, Sendable {
    package enum Newline: String, Sendable { case lf, crlf, cr }

    /// The first byte between cells.
    package var delimiter = UInt8(ascii: ",")
    /// The other bytes between cells, if there are several.
    package var delimiterRest: [UInt8] = []
    package var quote: UInt8? = UInt8(ascii: "\"")
    /// The byte before a quote within quotes; nil if quotes are doubled.
    package var escape: UInt8?
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
    /// The number of empty cells after the columns of each row.
    package var trailing = 0
    /// The number of cells in the header; nil: as many as in a row.
    package var headerCells: Int?
    /// Whether the header has no cell for the first column, if that has no name.
    package var namesRows = false
    /// What surrounds the rows.
    package var surroundings = CSVSurroundings()

    package init() {}

    /// The byte at which records are separated.
    var newlineByte: UInt8 { newline == .cr ? 13 : 10 }

    /// The text for `envelope`: the line `csv`, then a line for each property that is not the default.
    package var envelope: String {
        var lines = ["csv"]
        if delimiterBytes != [UInt8(ascii: ",")] { lines.append("delimiter " + delimiterBytes.map(String.init).joined(separator: " ")) }
        if quote != UInt8(ascii: "\"") { lines.append("quote \(quote.map(String.init) ?? "none")") }
        if let escape { lines.append("escape \(escape)") }
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
        if trailing > 0 { lines.append("trailing \(trailing)") }
        if let headerCells { lines.append("header-cells \(headerCells)") }
        if namesRows { lines.append("row-names") }
        return (lines + surroundings.lines).joined(separator: "\n")
    }

    var delimiterBytes: [UInt8] {
        get { [delimiter] + delimiterRest }
        set {
            delimiter = newValue.first ?? UInt8(ascii: ",")
            delimiterRest = Array(newValue.dropFirst())
        }
    }

    /// Parses the text of an envelope. Returns nil if it is not that of a CSV file. Unknown lines are ignored.
    package init?(envelope: String?) {
        guard let lines = envelope?.fields(at: 10), lines.first == "csv" else { return nil }
        for line in lines.dropFirst() {
            let words = line.fields(at: UInt8(ascii: " "), most: 2)
            let rest = words.count > 1 ? words[1] : ""
            switch words[0] {
            case "delimiter":
                let bytes = rest.split(separator: " ").compactMap { UInt8($0) }
                if !bytes.isEmpty { delimiterBytes = bytes }
            case "escape": escape = UInt8(rest)
            case "trailing": trailing = min(max(Int(rest) ?? 0, 0), 1 << 16)
            case "header-cells": headerCells = Int(rest).map { min(max($0, 0), 1 << 20) }
            case "row-names": namesRows = true
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
                guard let (position, text) = rest.halves(at: UInt8(ascii: " ")), let column = Int(position) else { continue }
                ownNullTexts[column] = CSVDialect.unescaped(text)
            case "name":
                guard let (position, name) = rest.halves(at: UInt8(ascii: " ")), let column = Int(position) else { continue }
                headerNames[column] = CSVDialect.unescaped(name)
            default: surroundings.take(words[0], rest)
            }
        }
    }

    /// Returns the line of the header without its line end.
    func headerText(_ names: [String]) -> [UInt8] {
        let quoteByte = quote ?? UInt8(ascii: "\"")
        let marks = CSVMarks(delimiter: delimiter, quote: quote ?? CSVMarks.noQuote, newline: newlineByte)
        var text: [UInt8] = []
        let names = namesRows && names.first?.isEmpty == true ? Array(names.dropFirst()) : names
        let kept = headerCells.map { count in names.dropFirst(count).allSatisfy(\.isEmpty) ? min(count, names.count) : names.count }
        for (i, name) in names.prefix(kept ?? names.count).map({ Array($0.utf8) }).enumerated() {
            if i > 0 { text += delimiterBytes }
            // In a file of one column, an unquoted name could be mistaken for several names with another delimiter.
            let misleads = names.count == 1 && (name.isEmpty || name.contains { ";|\t,".utf8.contains($0) }) && quote != nil
            let needed = name.withUnsafeBufferPointer { $0.count > 0 && needsQuotes($0.baseAddress!, $0.count, marks) }
            if quotesHeader || misleads || needed && containsDelimiter(name, marks) || name.starts(with: [0xEF, 0xBB, 0xBF]) {
                text.append(quoteByte)
                for byte in name {
                    if byte == quoteByte || byte == escape { text.append(escape ?? byte) }
                    text.append(byte)
                }
                text.append(quoteByte)
            } else {
                text += name
            }
        }
        let empty = headerCells.map { max($0 - names.count, 0) } ?? trailing
        for _ in 0..<empty { text += delimiterBytes }
        return text
    }

    /// Whether a text that contains a mark must be quoted: a delimiter of several bytes counts as a whole.
    private func containsDelimiter(_ text: [UInt8], _ marks: CSVMarks) -> Bool {
        delimiterRest.isEmpty || text.contains { $0 == marks.quote || $0 == 10 || $0 == 13 } || text.containsBytes(delimiterBytes)
    }

    static func escaped(_ text: String) -> String {
        var out: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 10: out += Array("\\n".utf8)
            case 13: out += Array("\\r".utf8)
            case UInt8(ascii: "\\"): out += Array("\\\\".utf8)
            default: out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    static func unescaped(_ text: String) -> String {
        var out: [UInt8] = [], pending = false
        for byte in text.utf8 {
            if pending {
                out.append(byte == UInt8(ascii: "n") ? 10 : byte == UInt8(ascii: "r") ? 13 : byte)
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
