import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnTable

/// `firn schema FILE --set-meta KEY=VALUE`
struct SetMetadata {
    let session: Session
    private var arguments: Arguments { session.arguments }

    /// What the metadata belongs to, by position.
    private enum Owner {
        case file
        case type(Int)
        case column(Int, Int)
    }

    func run() throws(FirnError) -> ExitCode {
        guard arguments.operands.count == 1 else {
            throw FirnError(.usage, "--set-meta changes one file, and \(arguments.operands.count) are named")
        }
        for flag in ["as", "type"] where arguments.has(flag) {
            throw FirnError(.usage, "--set-meta changes a file, and --\(flag) chooses what is printed", advice: "omit one of them")
        }
        let changes = try arguments.texts("set-meta").map { (text) throws(FirnError) in try change(text) }
        let operand = arguments.operands[0], keys = try KeyRing(arguments)
        let file = try OpenedFile(stored: operand, keys: keys, restores: true)
        if file.address.version != nil { throw FirnError(.usage, "an old version cannot be changed", at: .init(file: operand)) }
        let database = try keys.open(path: file.address.path, writable: true)
        let transaction = try database.begin(wait: .seconds(Session.turn), threads: try session.threads())
        defer { transaction.cancel() }
        // The write lock is held, so this is the schema of the newest version.
        let before = try database.snapshot().schema
        var schema = before
        let owner = try owner(in: schema, file)
        var missing: [String] = []
        for (key, value) in changes {
            if value == nil, !metadata(of: owner, in: schema).contains(where: { $0.key == key }) { missing.append(key) }
            switch owner {
            case .file: schema.setMetadata(key, value)
            case .type(let type): schema.types[type].setMetadata(key, value)
            case .column(let type, let column): schema.types[type].columns[column].setMetadata(key, value)
            }
        }
        for key in missing { session.remark("there is no metadata \"\(key)\"") }
        if schema != before {
            try transaction.setAttributes(like: schema)
            try transaction.commit()
        }
        if arguments.has("json") {
            var line = JSONLine()
            line.addHead()
            line.add("of", arguments.text("of"))
            line.add("metadata", metadata(of: owner, in: schema)) { entry, inner in
                inner.add("key", entry.key)
                inner.add("value", MetadataText.shown(entry.value))
            }
            try session.out.write(line.object + "\n")
        }
        return missing.isEmpty ? .done : .no
    }

    /// Splits `KEY=VALUE` at the first `=`. Without a value, the entry is removed.
    private func change(_ text: String) throws(FirnError) -> (key: String, value: [UInt8]?) {
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "=")), mark > text.utf8.startIndex else {
            throw FirnError(.usage, "--set-meta needs KEY=VALUE, not \"\(text)\"", advice: "KEY= without a value removes an entry")
        }
        let value = Array(text.utf8[text.utf8.index(after: mark)...])
        return (String(text[..<mark]), value.isEmpty ? nil : value)
    }

    private func metadata(of owner: Owner, in schema: Schema) -> [MetadataEntry] {
        switch owner {
        case .file: schema.metadata
        case .type(let type): schema.types[type].metadata
        case .column(let type, let column): schema.types[type].columns[column].metadata
        }
    }

    /// Returns what `--of` names: a type, or a column of one.
    private func owner(in schema: Schema, _ file: OpenedFile) throws(FirnError) -> Owner {
        guard let name = arguments.text("of") ?? file.address.type else { return .file }
        if let type = schema.types.firstIndex(where: { $0.name == name }) { return .type(type) }
        for (position, type) in schema.types.enumerated() where name.hasPrefix(type.name + ".") {
            if let column = type.index(of: String(name.dropFirst(type.name.count + 1))) { return .column(position, column) }
        }
        if let type = schema.types.filter({ name.hasPrefix($0.name + ".") }).max(by: { $0.name.count < $1.name.count }) {
            throw unknownColumn(String(name.dropFirst(type.name.count + 1)), of: type)
        }
        throw unknownType(String(name.prefix { $0 != "." }), in: schema, of: file.name)
    }
}
