import FirnBytes
import FirnExchange
import FirnTable

/// The JSON around the rows in their document, which the `envelope` of a type stores as JSON text.
struct Envelope {
    enum Form: String {
        /// An array of objects.
        case rows
        /// An array of values (column `value`), or one value per line.
        case values
        /// An object whose members are the rows.
        case keyed
        /// One object.
        case one
        /// One value.
        case oneValue
        /// Values one after the other, in a text that is not NDJSON by its name.
        case sequence
    }

    /// A document whose rows are a part of it.
    struct Surroundings {
        /// The keys of the members that lead to the rows.
        var path: [String]
        /// The text of the document, with null in place of the rows, and the offset of this null.
        var text: [UInt8]
        var offset: Int

        /// Returns nil if there is no null at the offset.
        init?(path: [String], text: [UInt8], offset: Int) {
            guard offset >= 0, offset <= text.count - 4, text[offset..<(offset + 4)].elementsEqual("null".utf8) else { return nil }
            self.path = path
            self.text = text
            self.offset = offset
        }
    }

    var form: Form
    var isPretty = false
    /// Nil if the rows are the whole document.
    var surroundings: Surroundings?
    /// In a sequence: whether rows are values in the column `value`, and whether a record separator precedes each.
    var isBare = false
    var hasSeparators = false

    init(_ form: Form, isPretty: Bool = false) {
        self.form = form
        self.isPretty = isPretty
    }

    var text: String {
        var members: [(String, JSONDocument)] = [("json", .string(form.rawValue)), ("pretty", .bool(isPretty))]
        if form == .sequence { members += [("bare", .bool(isBare)), ("separators", .bool(hasSeparators))] }
        if let around = surroundings {
            members.append(("path", .array(around.path.map { .string($0) })))
            members.append(("at", .number(String(around.offset))))
            if around.text.count > Envelope.longText, let packed = PackedText.pack(around.text) {
                members.append(("packed", .string(packed)))
            } else {
                members.append(("text", .string(String(decoding: around.text, as: UTF8.self))))
            }
        }
        return JSONDocument.object(members).compact
    }

    /// Longer texts around the rows are stored compressed.
    private static let longText = 512

    /// Returns nil for text that is not a JSON envelope, for example one of another format.
    init?(_ text: String, _ budget: MemoryBudget = .unlimited) {
        guard let parsed = try? JSONDocument(text), let name = parsed["json"]?.text else { return nil }
        isPretty = parsed["pretty"]?.truth ?? false
        if name == "member" {
            // Files that were written before rows could be deeper in their document.
            guard let key = parsed["member"]?.text, let document = parsed["document"] else { return nil }
            form = .rows
            surroundings = Surroundings(member: key, of: document, isPretty: isPretty)
            if surroundings == nil { return nil }
            return
        }
        guard let form = Form(rawValue: name) else { return nil }
        self.form = form
        isBare = parsed["bare"]?.truth ?? false
        hasSeparators = parsed["separators"]?.truth ?? false
        guard let path = parsed["path"]?.elements else { return }
        guard let offset = parsed["at"]?.int.flatMap({ Int(exactly: $0) }),
            let text = parsed["packed"]?.text.flatMap({ PackedText.unpack($0, budget) }) ?? parsed["text"]?.text.map({ Array($0.utf8) }),
            let around = Surroundings(path: path.compactMap(\.text), text: text, offset: offset)
        else { return nil }
        surroundings = around
    }

    /// Whether rows are values in the column `value`.
    var isBareValue: Bool { form == .values || form == .oneValue || isBare }
    /// The number of levels around the rows.
    var depth: Int { surroundings?.path.count ?? 0 }
    /// Whether there is more around the rows than the brackets of objects.
    var hasOthers: Bool { surroundings.map { $0.text.count { $0 == UInt8(ascii: ":") } > $0.path.count } ?? false }
}

extension Envelope.Surroundings {
    /// Makes the text of an object whose member `key` is null. Returns nil if it has no such member.
    init?(member key: String, of document: JSONDocument, isPretty: Bool) {
        guard let members = document.members, members.contains(where: { $0.0 == key }) else { return nil }
        var out = JSONBytes(), offset = 0
        out.append("{")
        for (index, member) in members.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            if isPretty { out.breakLine(1) }
            out.append(quoted: member.0)
            out.append(isPretty ? ": " : ":")
            if member.0 == key {
                offset = out.count
                out.append("null")
            } else {
                member.1.write(to: &out, indent: isPretty ? 1 : nil)
            }
        }
        if isPretty { out.breakLine(0) }
        out.append("}")
        self.init(path: [key], text: Array(out.bytes), offset: offset)
    }

    var before: ArraySlice<UInt8> { text[..<offset] }
    var after: ArraySlice<UInt8> { text[(offset + 4)...] }
}

/// The document around the rows of a type that was read from JSON.
package enum JSONSurroundings {
    /// Returns the text of the document, with null in place of the rows; nil if the type has none.
    package static func document(of type: TypeSchema, _ budget: MemoryBudget) -> [UInt8]? {
        type.envelope.flatMap { Envelope($0, budget) }?.surroundings?.text
    }

    /// Whether the document contains more than the rows of a type and the brackets around them.
    package static func hasOthers(_ type: TypeSchema, _ budget: MemoryBudget) -> Bool {
        type.envelope.flatMap { Envelope($0, budget) }?.hasOthers ?? false
    }

    /// Returns the envelope of a type, with an array in place of one object or value. Other envelopes, also of other formats, are returned
    /// unchanged.
    package static func envelope(ofSeveral type: TypeSchema, _ budget: MemoryBudget) -> String? {
        guard let text = type.envelope, var envelope = Envelope(text, budget) else { return type.envelope }
        switch envelope.form {
        case .one: envelope.form = .rows
        case .oneValue: envelope.form = .values
        case .rows, .values, .keyed, .sequence: return text
        }
        return envelope.text
    }
}
