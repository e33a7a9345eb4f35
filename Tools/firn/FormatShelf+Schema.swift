import FirnBytes
import FirnCommandLine
import FirnExchange
import FirnJSON
import FirnTable

/// Schemas as JSON.
extension FormatShelf {
    /// Returns a type as a line of JSON, in the form of `firn schema --json` and `firn convert --schema`.
    /// `file`: the attributes of the file, for the first type.
    static func line(_ type: TypeSchema, file: Schema? = nil) -> String {
        var members: [(String, JSONDocument)] = [("v", .number("1")), ("type", .string(type.name))]
        if type.isEmbedded { members.append(("embedded", .bool(true))) }
        if type.isBare { members.append(("bare", .bool(true))) }
        if let file, !file.metadata.isEmpty { members.append(("fileMetadata", MetadataText.document(file.metadata))) }
        if !type.metadata.isEmpty { members.append(("metadata", MetadataText.document(type.metadata))) }
        members.append(("key", .array(type.key.map { .string(type.columns[$0].name) })))
        members.append(
            (
                "columns",
                .array(
                    type.visible.columns.map { column in
                        var members: [(String, JSONDocument)] = [("name", .string(column.name)), ("type", .string(column.type.name))]
                        if let notation = SchemaText.name(of: column.notation) { members.append(("notation", .string(notation))) }
                        if let logical = column.logical { members.append(("logical", .string("\(logical)"))) }
                        if !column.metadata.isEmpty { members.append(("metadata", MetadataText.document(column.metadata))) }
                        return .object(members)
                    })
            ))
        return JSONDocument.object(members).compact
    }

    /// Reads a file in the form of `firn schema --json`, with one or more types.
    static func schema(of path: String) throws(FirnError) -> SchemaFile {
        func refusal(_ what: String) -> FirnError { SchemaFile.refusal(path, what) }
        let bytes = try Input(path: path).readToEnd()
        let documents: [JSONDocument]
        do throws(FirnError) { documents = try JSONDocument.several(bytes: bytes, file: path) } catch {
            var advised = error
            advised.advice = advised.advice ?? SchemaFile.advice
            throw advised
        }
        var spellings: [SchemaFile.Spelling] = []
        for document in documents {
            if let version = document["v"], version.int != 1 { throw refusal("unknown version: \(version.compact)") }
            guard let columns = document["columns"]?.elements else { throw refusal("a type has no array \"columns\"") }
            var spelling = SchemaFile.Spelling(
                name: document["type"]?.text, isEmbedded: document["embedded"]?.truth ?? false, isBare: document["bare"]?.truth ?? false,
                key: [], columns: [])
            for column in columns {
                guard let name = column["name"]?.text else { throw refusal("a column has no \"name\"") }
                guard let type = column["type"]?.text else { throw refusal("column \"\(name)\" has no type") }
                if let notation = column["notation"], notation.text == nil {
                    throw refusal("the notation of column \"\(name)\" is not a text")
                }
                if let logical = column["logical"], logical.text == nil {
                    throw refusal("the logical type of column \"\(name)\" is not a text")
                }
                guard let metadata = MetadataText.entries(column["metadata"]) else {
                    throw refusal("the metadata of column \"\(name)\" is not an object of texts")
                }
                spelling.columns.append(
                    .init(
                        name: name, type: type, notation: column["notation"]?.text, logical: column["logical"]?.text, metadata: metadata))
            }
            guard let own = MetadataText.entries(document["metadata"]), let whole = MetadataText.entries(document["fileMetadata"]) else {
                throw refusal("\"metadata\" is not an object of texts")
            }
            (spelling.metadata, spelling.fileMetadata) = (own, whole)
            if let key = document["key"] {
                guard let names = key.elements?.map(\.text), !names.contains(nil) else { throw refusal("\"key\" is not an array of names") }
                spelling.key = names.compactMap(\.self)
            }
            spellings.append(spelling)
        }
        return try SchemaFile(path: path, spellings)
    }
}

/// Metadata of applications as JSON: texts, or objects with the member `base64` for values that are not UTF-8.
enum MetadataText {
    static func document(_ entries: [MetadataEntry]) -> JSONDocument { .object(entries.map { ($0.key, document($0.value)) }) }

    private static func document(_ value: [UInt8]) -> JSONDocument {
        if let text = String(validating: value, as: UTF8.self) { return .string(text) }
        var base64: [UInt8] = []
        Base64.append(value, to: &base64)
        return .object([("base64", .string(String(decoding: base64, as: UTF8.self)))])
    }

    /// Returns the entries of an object; nil if it has another form.
    static func entries(_ document: JSONDocument?) -> [MetadataEntry]? {
        guard let document else { return [] }
        guard let members = document.members else { return nil }
        var entries: [MetadataEntry] = []
        for (key, value) in members {
            if let text = value.text {
                entries.append(MetadataEntry(key, Array(text.utf8)))
            } else if let base64 = value["base64"]?.text, let bytes = Base64.bytes(Array(base64.utf8), .exact) {
                entries.append(MetadataEntry(key, bytes))
            } else {
                return nil
            }
        }
        return entries
    }

    /// Returns the value as it is shown: its text, cut if it is long, or the number of its bytes.
    static func shown(_ value: [UInt8]) -> String {
        guard let text = String(validating: value, as: UTF8.self) else { return Quantity.bytes(value.count) }
        return text.count > maximumShown ? text.prefix(maximumShown) + "…" : text
    }

    static func shown(_ entries: [MetadataEntry]) -> String {
        entries.map { "\($0.key)=\(shown($0.value))" }.joined(separator: ", ")
    }

    private static let maximumShown = 60
}
