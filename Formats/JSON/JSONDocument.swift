import CSimdJSON
import FirnBytes

/// A small JSON document as a tree: settings, schemas, envelopes. Members keep their order. For bulk data there is `JSONReader`.
package indirect enum JSONDocument: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number as its text, so that none loses a digit.
    case number(String)
    case string(String)
    case array([JSONDocument])
    case object([(String, JSONDocument)])

    /// Parses a document, strictly. Throws `.rejected` with the line and byte of the fault. (Through simdjson like everything here:
    /// json-c would clamp integers beyond 64 bits and cut keys at a NUL.)
    package init(_ text: String, file: String = "JSON") throws(FirnError) { try self.init(bytes: Array(text.utf8), file: file) }

    package init(bytes: [UInt8], file: String = "JSON") throws(FirnError) {
        let parser = JSONParser()
        let base = try parser.reserve(max(bytes.count, 1))
        bytes.withUnsafeBytes { if let start = $0.baseAddress { base.copyMemory(from: start, byteCount: $0.count) } }
        let tape = parser.parseDocument(try dropMark(base, bytes.count, file))
        if let fault = tape.fault {
            let place = parser.place(fault.offset)
            throw FirnError(.rejected, fault.message, at: .init(file: file, line: place.line + 1, column: place.column + 1))
        }
        self.init(tape, 0)
    }

    /// A value of a tape.
    init(_ tape: Tape, _ index: Int) {
        let item = tape.items[index]
        switch item.tag {
        case Tag.no: self = .bool(false)
        case Tag.yes: self = .bool(true)
        case Tag.int: self = .number(String(item.integer))
        case Tag.double: self = .number(JSONText.plain(item.double))
        case Tag.numberText: self = .number(item.string)
        case Tag.string: self = .string(item.string)
        case Tag.array, Tag.object:
            var members: [(String, JSONDocument)] = [], at = index + 1
            for _ in 0..<item.size {
                members.append((item.tag == Tag.object ? tape.parser.keyText(tape.items[at].key) : "", JSONDocument(tape, at)))
                at += tape.items[at].step
            }
            self = item.tag == Tag.object ? .object(members) : .array(members.map(\.1))
        default: self = .null
        }
    }

    package static func == (a: JSONDocument, b: JSONDocument) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let x), .bool(let y)): x == y
        case (.number(let x), .number(let y)), (.string(let x), .string(let y)): x == y
        case (.array(let x), .array(let y)): x == y
        case (.object(let x), .object(let y)): x.count == y.count && zip(x, y).allSatisfy { $0.0 == $1.0 && $0.1 == $1.1 }
        default: false
        }
    }

    /// The member with the key; nil if there is none, or this is no object.
    package subscript(_ key: String) -> JSONDocument? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.0 == key }?.1
    }

    package var text: String? { if case .string(let text) = self { text } else { nil } }
    package var int: Int64? { if case .number(let text) = self { Int64(text) } else { nil } }
    package var truth: Bool? { if case .bool(let truth) = self { truth } else { nil } }
    package var elements: [JSONDocument]? { if case .array(let elements) = self { elements } else { nil } }
    package var members: [(String, JSONDocument)]? { if case .object(let members) = self { members } else { nil } }

    /// On one line, without spaces.
    package var compact: String {
        var out = JSONBytes()
        write(to: &out, indent: nil)
        return out.string
    }

    /// Indented by two spaces; no newline at the end.
    package var pretty: String {
        var out = JSONBytes()
        write(to: &out, indent: 0)
        return out.string
    }

    func write(to out: inout JSONBytes, indent: Int?) {
        switch self {
        case .null: out.append("null")
        case .bool(let truth): out.append(truth ? "true" : "false")
        case .number(let text): out.append(text)
        case .string(let text): out.append(quoted: text)
        case .array(let elements):
            if elements.isEmpty { return out.append("[]") }
            out.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                if let indent { out.breakLine(indent + 1) }
                element.write(to: &out, indent: indent.map { $0 + 1 })
            }
            if let indent { out.breakLine(indent) }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            if members.isEmpty { return out.append("{}") }
            out.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                if let indent { out.breakLine(indent + 1) }
                out.append(quoted: member.0)
                out.append(UInt8(ascii: ":"))
                if indent != nil { out.append(UInt8(ascii: " ")) }
                member.1.write(to: &out, indent: indent.map { $0 + 1 })
            }
            if let indent { out.breakLine(indent) }
            out.append(UInt8(ascii: "}"))
        }
    }
}
