/// A small JSON document as a tree: settings, schemas, the JSON around the rows of a document. Members keep their order, numbers their
/// text. json-c parses it; bulk data is read by `JSONReader`.
///
/// Parsing is strict: RFC 8259, UTF-8, at most 512 levels. json-c alone is more lenient and would change some texts silently. Here
/// - integers beyond 64 bits and `-0` are kept, although json-c has no integer for them;
/// - U+0000 in a key (json-c would cut the key), half a surrogate pair and a byte order mark are rejected with their line and column;
/// - two members of one name in an object (json-c would drop the first) are rejected without line and column, which json-c does not report.
package indirect enum JSONDocument: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number as its text, so that no digit is lost.
    case number(String)
    case string(String)
    case array([JSONDocument])
    case object([(String, JSONDocument)])

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

    /// The member with the key; nil if there is none or if this is not an object.
    package subscript(_ key: String) -> JSONDocument? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.0 == key }?.1
    }

    package var text: String? { if case .string(let text) = self { text } else { nil } }
    package var int: Int64? { if case .number(let text) = self { Int64(text) } else { nil } }
    package var truth: Bool? { if case .bool(let truth) = self { truth } else { nil } }
    package var elements: [JSONDocument]? { if case .array(let elements) = self { elements } else { nil } }
    package var members: [(String, JSONDocument)]? { if case .object(let members) = self { members } else { nil } }
}
