import FirnCommandLine

/// Text in Markdown as GitHub renders it. A cell is one line, and no character of it is markup. GitHub still makes links of addresses and
/// names in it, such as `https://…` and `@name`.
enum MarkdownText {
    /// Returns a text that is rendered as it is.
    static func escaped(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        var before: Unicode.Scalar?
        let scalars = Array(DisplayWidth.visible(lines(text), keepingLines: true).unicodeScalars)
        for (i, scalar) in scalars.enumerated() {
            switch scalar {
            case "\n": out.append(contentsOf: "<br>".unicodeScalars)
            case "&": out.append(contentsOf: "&amp;".unicodeScalars)
            case "<": out.append(contentsOf: "&lt;".unicodeScalars)
            case ">": out.append(contentsOf: "&gt;".unicodeScalars)
            case "_" where isLetter(before) && isLetter(i + 1 < scalars.count ? scalars[i + 1] : nil): out.append(scalar)
            case "\\", "`", "*", "_", "~", "[", "]", "|", "$":
                out.append("\\")
                out.append(scalar)
            default: out.append(scalar)
            }
            before = scalar
        }
        return String(out)
    }

    /// Returns a row of a table, with cells that are Markdown.
    static func row(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |\n" }

    /// Returns the line below the headings of a table.
    static func rule(isNumber: [Bool]) -> String { "|" + isNumber.map { $0 ? " ---: |" : " --- |" }.joined() + "\n" }

    /// Returns the text with line feeds at the ends of its lines.
    private static func lines(_ text: String) -> String {
        var out = String.UnicodeScalarView(), isReturn = false
        for scalar in text.unicodeScalars {
            if scalar == "\r" { out.append("\n") } else if scalar != "\n" || !isReturn { out.append(scalar) }
            isReturn = scalar == "\r"
        }
        return String(out)
    }

    private static func isLetter(_ scalar: Unicode.Scalar?) -> Bool { scalar.map { $0.properties.isAlphabetic || $0.isDigit } ?? false }
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
}
