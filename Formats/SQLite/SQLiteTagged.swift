import FirnBytes
import FirnExchange
import FirnTable

/// Values of `any` columns that SQLite does not have, as JSON objects with one member, whose name is the kind: `{"$bool":true}`, `{"$list":[1,"a"]}`.
/// A text that begins with `{"$` is written in the same way. Permanent (`docs/guide/sqlite.md`).
enum SQLiteTagged {
    private static let mark = Array("{\"$".utf8)

    /// Returns the text of a value; nil if SQLite stores it as it is.
    static func text(of value: Value) -> String? {
        switch value {
        case .null, .int, .data: return nil
        case .double(let x): if !x.isNaN { return nil }
        case .string(let text): if !text.utf8.starts(with: mark) { return nil }
        default: break
        }
        var out: [UInt8] = []
        append(value, isWhole: true, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// Within collections, texts, bools and numbers that JSON has are written without their kind.
    static func append(_ value: Value, isWhole: Bool, to out: inout [UInt8]) {
        func tagged(_ kind: String, _ body: (inout [UInt8]) -> Void) {
            out += Array("{\"$\(kind)\":".utf8)
            body(&out)
            out.append(UInt8(ascii: "}"))
        }
        func quoted(_ text: String) -> (inout [UInt8]) -> Void { { JSONString.append(Array(text.utf8), to: &$0) } }
        func list(_ values: [Value], _ out: inout [UInt8]) {
            out.append(UInt8(ascii: "["))
            for (i, value) in values.enumerated() {
                if i > 0 { out.append(UInt8(ascii: ",")) }
                append(value, isWhole: false, to: &out)
            }
            out.append(UInt8(ascii: "]"))
        }
        switch value {
        case .null: out += Array("null".utf8)
        case .bool(let x): if isWhole { tagged("bool") { $0 += Array("\(x)".utf8) } } else { out += Array("\(x)".utf8) }
        case .int(let x): out += Array("\(x)".utf8)
        case .double(let x): if x.isFinite { out += Array("\(x)".utf8) } else { tagged("double", quoted("\(x)")) }
        case .string(let x): if isWhole { tagged("string", quoted(x)) } else { quoted(x)(&out) }
        case .float(let x): tagged("float", quoted("\(x)"))
        case .data(let x):
            var base64: [UInt8] = []
            Base64.append(x, to: &base64)
            tagged("data", quoted(String(decoding: base64, as: UTF8.self)))
        case .date, .decimal, .objectID, .uuid: tagged(value.kindName, quoted(canonicalText(value)))
        case .link(let x): tagged("link") { $0 += Array("\(x)".utf8) }
        case .list(let values): tagged("list") { list(values, &$0) }
        case .set(let values): tagged("set") { list(values, &$0) }
        case .map(let entries), .object(let entries):
            tagged("map") { out in
                out.append(UInt8(ascii: "{"))
                for (i, entry) in entries.enumerated() {
                    if i > 0 { out.append(UInt8(ascii: ",")) }
                    quoted(entry.key)(&out)
                    out.append(UInt8(ascii: ":"))
                    append(entry.value, isWhole: false, to: &out)
                }
                out.append(UInt8(ascii: "}"))
            }
        }
    }

    /// Appends a value as JSON, in which only values of type `any` have their kind.
    static func append(_ value: Value, of type: ColumnType, in schema: Schema, to out: inout [UInt8]) {
        func list<Element>(_ values: [Element], _ open: Character, _ close: Character, _ body: (Element, inout [UInt8]) -> Void) {
            out += Array("\(open)".utf8)
            for (i, value) in values.enumerated() {
                if i > 0 { out.append(UInt8(ascii: ",")) }
                body(value, &out)
            }
            out += Array("\(close)".utf8)
        }
        func member(_ key: String, _ value: Value, _ type: ColumnType, _ out: inout [UInt8]) {
            JSONString.append(Array(key.utf8), to: &out)
            out.append(UInt8(ascii: ":"))
            append(value, of: type, in: schema, to: &out)
        }
        switch value {
        case .null: out += Array("null".utf8)
        case .list(let values) where type.isCollection, .set(let values) where type.isCollection:
            list(values, "[", "]") { append($0, of: type.element, in: schema, to: &$1) }
        case .map(let entries) where type.isCollection: list(entries, "{", "}") { member($0.key, $0.value, type.element, &$1) }
        case .object(let entries) where type.kind == .embedded:
            guard let target = type.target.flatMap({ schema[$0] }) else { return append(.null, of: type, in: schema, to: &out) }
            let fields = zip(target.columns, entries).filter { target.isBare || !$0.1.value.isNull }
            if target.isBare, let only = fields.first { return append(only.1.value, of: only.0.type, in: schema, to: &out) }
            list(fields, "{", "}") { member($0.0.name, $0.1.value, $0.0.type, &$1) }
        default:
            if type.kind == .any { append(value, isWhole: false, to: &out) } else { JSONText.append(value, to: &out) }
        }
    }

    /// Returns the value of a text; nil if it begins as one of these texts and is none.
    static func value(of text: String) -> Value? {
        guard text.utf8.starts(with: mark) else { return .string(text) }
        return SQLiteJSON(Array(text.utf8)).flatMap { value($0, depth: 0) }
    }

    static func value(_ json: SQLiteJSON, depth: Int) -> Value? {
        guard depth < Value.maximumDepth else { return nil }
        switch json {
        case .null: return .null
        case .bool(let x): return .bool(x)
        case .number(let text): return Int64(text).map { .int($0) } ?? Double(text).map { .double($0) }
        case .string(let text): return .string(text)
        case .array: return nil
        case .object(let members):
            guard members.count == 1, members[0].key.hasPrefix("$") else { return nil }
            return tagged(String(members[0].key.dropFirst()), members[0].value, depth)
        }
    }

    private static func tagged(_ kind: String, _ json: SQLiteJSON, _ depth: Int) -> Value? {
        func all(_ elements: [SQLiteJSON]) -> [Value]? {
            let values = elements.compactMap { value($0, depth: depth + 1) }
            return values.count == elements.count ? values : nil
        }
        switch (kind, json) {
        case ("bool", .bool(let x)): return .bool(x)
        case ("double", .string(let text)): return Double(text).map { .double($0) }
        case ("string", .string(let text)): return .string(text)
        case ("float", .string(let text)): return Float(text).map { .float($0) }
        case ("link", .number(let text)): return Int64(text).map { .link($0) }
        case ("list", .array(let elements)): return all(elements).map { .list($0) }
        case ("set", .array(let elements)): return all(elements).map { .set(Value.distinctSorted($0)) }
        case ("map", .object(let members)):
            let entries = members.compactMap { member in value(member.value, depth: depth + 1).map { Value.Entry(member.key, $0) } }
            return entries.count == members.count ? .map(entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) : nil
        case (_, .string(let text)):
            guard let scalar = ScalarKind(name: kind), [.data, .date, .decimal, .objectID, .uuid].contains(scalar) else { return nil }
            if scalar == .decimal { return Decimal(text).map { .decimal($0) } }
            return SQLiteJSON.string(text).value(of: ColumnType(scalar), in: Schema())
        default: return nil
        }
    }
}

extension Value {
    fileprivate var kindName: String {
        switch self {
        case .date: ScalarKind.date.name
        case .decimal: ScalarKind.decimal.name
        case .objectID: ScalarKind.objectID.name
        default: ScalarKind.uuid.name
        }
    }
}
