import FirnBytes
import CJSON

extension JSONDocument {
    /// The text on one line, without spaces. Only for documents that are printable: see `isPrintable`.
    package var compact: String { printed(JSON_C_TO_STRING_PLAIN) }

    /// The text indented by two spaces, without a newline at the end. Only for documents that are printable: see `isPrintable`.
    package var pretty: String { printed(JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED) }

    /// Writes the text after other text at a level of indentation; nil writes it compactly.
    func write(to out: inout JSONBytes, indent: Int?) {
        guard let indent else { return out.append(compact) }
        // Strings contain no raw newlines, so each newline begins a line of the layout.
        for (number, line) in pretty.split(separator: "\n").enumerated() {
            if number > 0 { out.breakLine(indent) }
            out.append(String(line))
        }
    }

    private func printed(_ flags: Int32) -> String {
        trap(unless: isPrintable, "documents with U+0000 in a key or with repeated keys cannot be printed: check isPrintable first")
        // json-c represents null as a null pointer.
        guard let tree = makeTree() else { return "null" }
        defer { json_object_put(tree) }
        var length = 0
        guard let text = json_object_to_json_string_length(tree, flags | JSON_C_TO_STRING_NOSLASHESCAPE, &length) else {
            trap("no memory")
        }
        return String(decoding: UnsafeRawBufferPointer(start: text, count: length), as: UTF8.self)
    }

    /// Makes a tree of json-c that the caller owns; nil is null.
    private func makeTree() -> OpaquePointer? {
        switch self {
        case .null: return nil
        case .bool(let truth): return json_object_new_boolean(truth ? 1 : 0)
        // A double with its own text is printed as that text, so no number is rounded or clamped.
        case .number(let text): return json_object_new_double_s(Double(text) ?? 0, text)
        case .string(let text):
            var text = text
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    json_object_new_string_len($0.baseAddress ?? UnsafePointer(bitPattern: 1)!, Int32($0.count))
                }
            }
        case .array(let elements):
            let array = json_object_new_array_ext(Int32(clamping: elements.count))
            for element in elements { json_object_array_add(array, element.makeTree()) }
            return array
        case .object(let members):
            let object = json_object_new_object()
            for (key, value) in members { json_object_object_add_ex(object, key, value.makeTree(), UInt32(JSON_C_OBJECT_ADD_KEY_IS_NEW)) }
            return object
        }
    }
}
