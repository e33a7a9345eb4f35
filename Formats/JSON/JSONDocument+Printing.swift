import FirnBytes

extension JSONDocument {
    /// The text on one line, without spaces.
    package var compact: String {
        var out = ""
        write(to: &out, indent: nil)
        return out
    }

    /// The text indented by two spaces, without a newline at the end.
    package var pretty: String {
        var out = ""
        write(to: &out, indent: 0)
        return out
    }

    /// Writes the text after other text at a level of indentation; nil writes it compactly.
    func write(to out: inout JSONBytes, indent: Int?) {
        guard let indent else { return out.append(compact) }
        // Strings contain no raw newlines, so each newline begins a line of the layout.
        for (number, line) in pretty.split(separator: "\n").enumerated() {
            if number > 0 { out.breakLine(indent) }
            out.append(String(line))
        }
    }

    private func write(to out: inout String, indent: Int?) {
        switch self {
        case .null: out += "null"
        case .bool(let truth): out += truth ? "true" : "false"
        case .number(let text): out += text
        case .string(let text): out += JSONString.quoted(text, .short)
        case .array(let elements):
            out += "["
            JSONDocument.write(elements, to: &out, indent: indent) { out, element, level in element.write(to: &out, indent: level) }
            out += "]"
        case .object(let members):
            out += "{"
            JSONDocument.write(members, to: &out, indent: indent) { out, member, level in
                out += JSONString.quoted(member.0, .short) + (level == nil ? ":" : ": ")
                member.1.write(to: &out, indent: level)
            }
            out += "}"
        }
    }

    /// Writes the parts of an array or object, each on a line of its own if there is an indentation.
    private static func write<Part>(
        _ parts: [Part], to out: inout String, indent: Int?, _ write: (inout String, Part, _ level: Int?) -> Void
    ) {
        guard !parts.isEmpty else { return }
        let level = indent.map { $0 + 2 }
        for (number, part) in parts.enumerated() {
            if number > 0 { out += "," }
            if let level { out += "\n" + String(repeating: " ", count: level) }
            write(&out, part, level)
        }
        if let indent { out += "\n" + String(repeating: " ", count: indent) }
    }
}
