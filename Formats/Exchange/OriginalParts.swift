import FirnBytes
import FirnTable

/// The original texts within one value: those of the fields of an object, of the elements of a list, of the values of a map, at any depth.
///
/// Its text is JSON: an object with a member for each part that has original texts. The name of a member is that of the field, the position
/// of the element from 0, or the key; its value is the original token, or such an object. See docs/format/model.md.
package final class OriginalParts {
    /// The original text, in the form of `OriginalToken`; nil if there are only texts of parts.
    package let token: [UInt8]?
    private let members: [[UInt8]: OriginalParts]

    private init(token: [UInt8]?, members: [[UInt8]: OriginalParts] = [:]) {
        self.token = token
        self.members = members
    }

    /// Returns the original texts within a part; nil if it has none.
    package subscript(_ name: [UInt8]) -> OriginalParts? { members[name] }
    package subscript(_ name: String) -> OriginalParts? { members[Array(name.utf8)] }
    /// Returns the original texts within an element of a list.
    package subscript(element position: Int) -> OriginalParts? { members.isEmpty ? nil : self["\(position)"] }

    /// Returns the original text if it still reads as the value of a row of a column, which is the part.
    package func token(for column: Column, _ row: Int, _ notation: Notation) -> [UInt8]? {
        guard let token, !column.type.isCollection, OriginalParts.canHaveTexts(column.type.kind) else { return nil }
        let isCurrent = token.withBytes { token in
            let text = OriginalToken.string(token) ?? token
            guard column.type.kind == .any else { return OriginalText.isCurrent(text, column, row: row, notation: notation) }
            // Where inputs that are united disagree about a field, it is of type any.
            switch column.value(at: row) {
            case .null: return OriginalText.double(text) == nil
            case .int(let value): return OriginalText.int(text) == value
            case .double(let value): return OriginalText.double(text) == value
            case .decimal(let value): return OriginalText.decimal(text).map { $0.compare(value) == 0 } ?? false
            default: return false
            }
        }
        return isCurrent ? token : nil
    }

    /// Whether parts of this kind can have original texts.
    package static func canHaveTexts(_ kind: ScalarKind) -> Bool { [.int, .double, .float, .decimal, .any].contains(kind) }

    /// The text for the companion of a column whose values are this part; nil if the texts are not within it.
    package var text: [UInt8]? {
        guard token == nil, !members.isEmpty else { return nil }
        var writer = Writer()
        collect([], &writer)
        return writer.take()
    }

    /// Adds the texts to those of a value in which this part has a path.
    package func collect(_ path: [[UInt8]], _ writer: inout Writer) {
        if let token { return writer.add(path, token: token) }
        for (name, part) in members.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) { part.collect(path + [name], &writer) }
    }

    // MARK: Reading

    /// Values nest less deep.
    private static let maximumDepth = 64

    /// Reads the text of a companion; nil if it is not the text of parts.
    package convenience init?(_ text: [UInt8]) {
        guard text.first == UInt8(ascii: "{"), let document = ExactJSON.parts(text) else { return nil }
        guard let parts = OriginalParts.members(document, depth: 0) else { return nil }
        self.init(token: nil, members: parts)
    }

    private static func members(_ entries: [(key: String, part: ExactJSON.Part)], depth: Int) -> [[UInt8]: OriginalParts]? {
        guard depth < maximumDepth else { return nil }
        var out: [[UInt8]: OriginalParts] = [:]
        for (key, part) in entries {
            switch part {
            case .token(let token): out[Array(key.utf8)] = OriginalParts(token: token)
            case .members(let inner):
                guard let inner = members(inner, depth: depth + 1) else { return nil }
                out[Array(key.utf8)] = OriginalParts(token: nil, members: inner)
            }
        }
        return out
    }

    // MARK: Writing

    /// Collects the original texts of one value, in the order of its parts.
    package struct Writer {
        private var bytes: [UInt8] = []
        /// The path of the object that is open.
        private var open: [[UInt8]] = []

        package init() {}

        package var isEmpty: Bool { bytes.isEmpty }

        /// Adds the token of the part with this path, which has at least one name. Parts of one object follow each other.
        package mutating func add(_ path: [[UInt8]], token: [UInt8]) {
            let objects = path.dropLast()
            var common = 0
            while common < objects.count, common < open.count, objects[common] == open[common] { common += 1 }
            if bytes.isEmpty {
                bytes.append(UInt8(ascii: "{"))
            } else {
                bytes += Array(repeating: UInt8(ascii: "}"), count: open.count - common)
                bytes.append(UInt8(ascii: ","))
            }
            for name in objects[common...] {
                append(name)
                bytes.append(UInt8(ascii: "{"))
            }
            append(path[path.count - 1])
            OriginalToken.append(token, to: &bytes)
            open = Array(objects)
        }

        private mutating func append(_ name: [UInt8]) {
            JSONString.append(name, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
        }

        /// Returns the text, and begins that of another value.
        package mutating func take() -> [UInt8] {
            let text = bytes + Array(repeating: UInt8(ascii: "}"), count: open.count + 1)
            self = Writer()
            return text
        }
    }
}
