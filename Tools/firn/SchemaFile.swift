import FirnBytes
import FirnCommandLine
import FirnExchange
import FirnTable

/// The file of `--schema`: types in the form that `firn schema --json` prints, checked before any input is read.
struct SchemaFile {
    /// A type as the file describes it.
    struct Spelling {
        struct Column {
            var name: String
            var type: String
            var notation: String?
            /// The logical type as a text.
            var logical: String?
            var metadata: [MetadataEntry] = []
        }

        /// Nil if the file has no name for it.
        var name: String?
        var isEmbedded: Bool
        /// Whether JSON has the value of the only column in place of the object.
        var isBare: Bool
        var key: [String]
        var columns: [Column]
        var metadata: [MetadataEntry] = []
        /// The metadata of the whole file.
        var fileMetadata: [MetadataEntry] = []
    }

    let path: String
    private let types: [TypeSchema]
    /// Whether the file has only one type, without a name.
    private let isUnnamed: Bool
    private let metadata: [MetadataEntry]

    init(path: String, _ spellings: [Spelling]) throws(FirnError) {
        self.path = path
        guard !spellings.isEmpty else { throw SchemaFile.refusal(path, "the file has no type") }
        metadata = spellings.first { !$0.fileMetadata.isEmpty }?.fileMetadata ?? []
        isUnnamed = spellings.count == 1 && spellings[0].name == nil
        guard isUnnamed || spellings.allSatisfy({ $0.name != nil }) else {
            throw SchemaFile.refusal(path, "the file has several types, and one of them has no name (\"type\")")
        }
        var names: [String: Bool] = [:]
        for spelling in spellings {
            guard names.updateValue(spelling.isEmbedded, forKey: spelling.name ?? "") == nil else {
                throw SchemaFile.refusal(path, "two types have the name \"\(spelling.name ?? "")\"")
            }
        }
        guard names.values.contains(false) else {
            throw SchemaFile.refusal(path, "all types are embedded, so there is no type for the rows")
        }
        let known = names
        types = try spellings.map { (spelling) throws(FirnError) in try SchemaFile.type(spelling, known, path) }
    }

    static let advice = "'firn schema --json FILE' prints the expected form"

    static func refusal(_ path: String, _ what: String) -> FirnError { FirnError(.schema, what, at: .init(file: path), advice: advice) }

    /// Builds a type. `types`: all types of the file, and whether each is embedded.
    private static func type(_ spelling: Spelling, _ types: [String: Bool], _ path: String) throws(FirnError) -> TypeSchema {
        var type = TypeSchema(spelling.name ?? "rows", columns: [], isEmbedded: spelling.isEmbedded)
        let embedded = types.filter(\.value).map(\.key)
        guard !type.isEmbedded || SchemaText.columnType(type.name, embedded: []) == nil else {
            throw refusal(path, "an embedded type has the name \"\(type.name)\", which is a built-in type")
        }
        var names: Set<String> = [], columns: [ColumnSchema] = []
        for column in spelling.columns {
            let name = column.name
            guard names.insert(name).inserted else { throw refusal(path, "two columns of \"\(type.name)\" have the name \"\(name)\"") }
            guard let columnType = SchemaText.columnType(column.type, embedded: embedded) else {
                throw refusal(path, "column \"\(name)\" has an unknown type: \"\(column.type)\"")
            }
            if columnType.kind == .link, let target = columnType.target, types[target] != false {
                throw refusal(
                    path,
                    "column \"\(name)\" links to rows of \"\(target)\", "
                        + (types[target] == nil ? "a type that does not exist" : "which is embedded and has no rows"))
            }
            var notation = Notation.plain
            if let text = column.notation {
                guard let read = SchemaText.notation(text) else {
                    throw refusal(path, "column \"\(name)\" has an unknown notation \"\(text)\"")
                }
                guard SchemaText.suits(read, columnType.kind) else {
                    throw refusal(path, "column \"\(name)\" is \(columnType.name), which has no notation \"\(text)\"")
                }
                notation = read
            }
            var made = ColumnSchema(name, columnType, notation: notation)
            if let text = column.logical { made.logical = try logical(text, columnType, of: name, path) }
            if !column.metadata.isEmpty { made.metadata = column.metadata }
            columns.append(made)
        }
        if !spelling.metadata.isEmpty { type.metadata = spelling.metadata }
        type.columns = columns
        if spelling.isBare {
            type.envelope = TypeSchema.bareEnvelope
            guard type.isBare else {
                throw refusal(path, "the type \"\(type.name)\" is bare, but is not an embedded type with one list, set or map")
            }
        }
        for name in spelling.key {
            guard let position = type.index(of: name) else {
                throw refusal(path, "the key of \"\(type.name)\" names a column \"\(name)\" that is not listed")
            }
            guard !type.key.contains(position) else { throw refusal(path, "the key of \"\(type.name)\" names \"\(name)\" twice") }
            let column = type.columns[position].type
            guard !column.isCollection, column.kind != .embedded else {
                throw refusal(path, "column \"\(name)\" is \(column.name), which cannot be a key")
            }
            type.key.append(position)
        }
        guard type.key.isEmpty || !type.isEmbedded else {
            throw refusal(path, "the embedded type \"\(type.name)\" has a key, and embedded types have none")
        }
        return type
    }

    private static func logical(_ text: String, _ type: ColumnType, of name: String, _ path: String) throws(FirnError) -> LogicalType {
        guard let logical = LogicalType(text: text) else {
            throw refusal(path, "column \"\(name)\" has an unknown logical type: \"\(text)\"")
        }
        guard logical.fits(type) else {
            throw refusal(path, "column \"\(name)\" is \(type.name), which cannot have the logical type \"\(text)\"")
        }
        return logical
    }

    /// Returns the schema to read an input with. The type of its rows is the one named `wanted`, the only one for rows, or the one with the
    /// name of the input (`stem`). If the only type for rows has another name than `wanted`, it is renamed.
    func given(wanted: String?, stem: String) throws(FirnError) -> GivenSchema {
        let roots = types.filter { !$0.isEmbedded }
        if let wanted, types.contains(where: { $0.name == wanted && $0.isEmbedded }) {
            throw FirnError(
                .usage, "\"\(wanted)\" is an embedded type of \"\(path)\", and rows cannot have an embedded type",
                advice: "its types of rows are \(roots.map(\.name).listed())")
        }
        if roots.count == 1 {
            let name = wanted ?? (isUnnamed ? stem : roots[0].name)
            return GivenSchema(schema.renaming(roots[0].name, to: name), rows: name)
        }
        guard let chosen = roots.first(where: { $0.name == wanted ?? stem }) else {
            if let wanted { throw unknownType(wanted, in: Schema(types), of: path) }
            throw FirnError(
                .usage, "the file has several types: \(roots.map(\.name).listed())", at: .init(file: path),
                advice: "choose one with --type")
        }
        return GivenSchema(schema.reachable(from: chosen.name, throughLinks: true), rows: chosen.name)
    }

    /// Whether the file has several types of rows, of which one must be chosen.
    var hasSeveral: Bool { types.count { !$0.isEmbedded } > 1 }

    /// Whether a type of rows has this name.
    func has(_ name: String) -> Bool { types.contains { $0.name == name && !$0.isEmbedded } }

    private var schema: Schema {
        var schema = Schema(types)
        if !metadata.isEmpty { schema.metadata = metadata }
        return schema
    }
}
