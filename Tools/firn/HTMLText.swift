import FirnCommandLine

/// Text in HTML, and the frame of a page that needs no other file: its style is within it, and there are no scripts.
enum HTMLText {
    /// Returns a text that is shown as it is, in elements and in attributes in double quotes.
    static func escaped(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in DisplayWidth.visible(text, keepingLines: true).unicodeScalars {
            switch scalar {
            case "&": out.append(contentsOf: "&amp;".unicodeScalars)
            case "<": out.append(contentsOf: "&lt;".unicodeScalars)
            case ">": out.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": out.append(contentsOf: "&quot;".unicodeScalars)
            default: out.append(scalar)
            }
        }
        return String(out)
    }

    /// The beginning of a page. The title is plain text.
    static func head(title: String) -> String {
        """
        <!DOCTYPE html>
        <html>
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(escaped(title))</title>
        <style>
        \(style)
        </style>
        </head>
        <body>

        """
    }

    /// The end of a page.
    static let foot = "</body>\n</html>\n"

    /// Light and dark colours; additions, removals and changes also have a mark in the first column.
    private static let style = """
        :root { color-scheme: light dark; --added: #dafbe1; --removed: #ffebe9; --changed: #fff8c5; --line: #8885; }
        @media (prefers-color-scheme: dark) { :root { --added: #12361f; --removed: #4a1a1d; --changed: #3b3212; } }
        body { font: 14px/1.45 system-ui, sans-serif; margin: 2em; }
        table { border-collapse: collapse; margin: 1em 0; }
        th, td { border: 1px solid var(--line); padding: .2em .6em; text-align: left; vertical-align: top; white-space: pre-wrap; }
        th { position: sticky; top: 0; background: Canvas; }
        .number { text-align: right; font-variant-numeric: tabular-nums; }
        .added > *, ins { background: var(--added); }
        .removed > *, del { background: var(--removed); }
        td.changed { background: var(--changed); }
        ins { text-decoration: none; }
        .null { opacity: .6; font-style: italic; }
        """

    /// Returns a cell of a table, whose content is HTML.
    static func cell(_ content: String, _ names: [String] = [], isHeading: Bool = false) -> String {
        let tag = isHeading ? "th" : "td"
        return names.isEmpty ? "<\(tag)>\(content)</\(tag)>" : "<\(tag) class=\"\(names.joined(separator: " "))\">\(content)</\(tag)>"
    }
}
