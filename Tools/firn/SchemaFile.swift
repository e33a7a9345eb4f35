import FirnBytes
import FirnCommandLine
import FirnExchange
import FirnModel

/// The file of `--schema`: types as `firn schema --json` prints them, checked before any input is read.
struct SchemaFile {
    /// A type as it is spelled in the file.
    struct Spelling {
        struct Column {
            var name: String
            var type: String
            var notation: String?
        }

        /// Nil: the file does not name it.
        var name: String?
        var isEmbedded: Bool
        var key: [String]
        var columns: [Column]
    }

    let path: String
    private let types: [TypeSchema]
    /// The only type of the file has no name of its own.
    private let isUnnamed: Bool

    init(path: String, _ spellings: [Spelling]) throws(FirnError) {
        self.path = path
        guard !spellings.isEmpty else { throw SchemaFile.refusal(path, "there is no type in it") }
        isUnnamed = spellings.count == 1 && spellings[0].name == nil
        guard isUnnamed || spellings.allSatisfy({ $0.name != nil }) else { throw SchemaFile.refusal(path, "of several types each has a name, as \"type\"") }
        var names: [String: Bool] = [:]
        for spelling in spellings {
            guard names.updateValue(spelling.isEmbedded, forKey: spelling.name ?? "") == nil else {
                throw SchemaFile.refusal(path, "two types are called \"\(spelling.name ?? "")\"")
            }
        }
        guard names.values.contains(false) else { throw SchemaFile.refusal(path, "every type in it is embedded, and so none is that of rows") }
        let known = names
        types = try spellings.map { (spelling) throws(FirnError) in try SchemaFile.type(spelling, known, path) }
    }

    static let advice = "'firn schema --json FILE' prints what is expected"

    static func refusal(_ path: String, _ what: String) -> FirnError { FirnError(.schema, what, at: .init(file: path), advice: advice) }

    /// `types`: the types there are, and whether each is embedded.
    private static func type(_ spelling: Spelling, _ types: [String: Bool], _ path: String) throws(FirnError) -> TypeSchema {
        var type = TypeSchema(spelling.name ?? "rows", columns: [], isEmbedded: spelling.isEmbedded)
        let embedded = types.filter(\.value).map(\.key)
        guard !type.isEmbedded || SchemaText.columnType(type.name, embedded: []) == nil else {
            throw refusal(path, "an embedded type is called \"\(type.name)\", which columns of values are of")
        }
        var names: Set<String> = [], columns: [ColumnSchema] = []
        for column in spelling.columns {
            let name = column.name
            guard names.insert(name).inserted else { throw refusal(path, "two columns of \"\(type.name)\" are called \"\(name)\"") }
            guard let columnType = SchemaText.columnType(column.type, embedded: embedded) else {
                throw refusal(path, "column \"\(name)\" has no type that is known here: \"\(column.type)\"")
            }
            if columnType.kind == .link, let target = columnType.target, types[target] != false {
                throw refusal(path, "column \"\(name)\" links to rows of \"\(target)\", " + (types[target] == nil ? "a type that is not there" : "which is embedded and has none"))
            }
            var notation = Notation.plain
            if let text = column.notation {
                guard let read = SchemaText.notation(text) else { throw refusal(path, "column \"\(name)\" has an unknown notation \"\(text)\"") }
                guard SchemaText.suits(read, columnType.kind) else { throw refusal(path, "column \"\(name)\" is \(columnType.name), and \"\(text)\" is no notation of that") }
                notation = read
            }
            columns.append(ColumnSchema(name, columnType, notation: notation))
        }
        type.columns = columns
        for name in spelling.key {
            guard let position = type.index(of: name) else { throw refusal(path, "the key of \"\(type.name)\" names a column \"\(name)\" that is not listed") }
            guard !type.key.contains(position) else { throw refusal(path, "the key of \"\(type.name)\" names \"\(name)\" twice") }
            let column = type.columns[position].type
            guard !column.isCollection, column.kind != .embedded else { throw refusal(path, "column \"\(name)\" is \(column.name), which is no key") }
            type.key.append(position)
        }
        guard type.key.isEmpty || !type.isEmbedded else { throw refusal(path, "the embedded type \"\(type.name)\" has a key, and only rows have one") }
        return type
    }

    /// What an input is read by. The type of its rows is the one that is `wanted`, if the file has it; the only one of rows; or the one called as the input
    /// is (`stem`). A type that is named in vain names the rows.
    func given(wanted: String?, stem: String) throws(FirnError) -> GivenSchema {
        let roots = types.filter { !$0.isEmbedded }
        if let wanted, types.contains(where: { $0.name == wanted && $0.isEmbedded }) {
            throw FirnError(.usage, "\"\(wanted)\" is an embedded type of \(path), and rows are of another", advice: "its types of rows are \(roots.map(\.name).joined(separator: ", "))")
        }
        if roots.count == 1 { return SchemaFile.renamed(types, roots[0].name, wanted ?? (isUnnamed ? stem : roots[0].name)) }
        guard let chosen = roots.first(where: { $0.name == wanted ?? stem }) else {
            if let wanted { throw unknownType(wanted, in: Schema(types), of: path) }
            throw FirnError(.usage, "it has several types: \(roots.map(\.name).joined(separator: ", "))", at: .init(file: path), advice: "choose one with --type")
        }
        return GivenSchema(Schema(types).reachable(from: chosen.name, throughLinks: true), rows: chosen.name)
    }

    private static func renamed(_ types: [TypeSchema], _ name: String, _ new: String) -> GivenSchema {
        GivenSchema(Schema(types).renaming(name, to: new), rows: new)
    }
}
