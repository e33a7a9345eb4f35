import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnTable

/// `firn schema FILE --set-meta KEY=VALUE`
struct SetMetadata {
    let session: Session
    private var arguments: Arguments { session.arguments }

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
        let owner = try MetadataOwner(arguments.text("of") ?? file.address.type, in: schema, of: file.name)
        var missing: [String] = []
        for (key, value) in changes {
            if value == nil, !owner.metadata(in: schema).contains(where: { $0.key == key }) { missing.append(key) }
            owner.set(key, value, in: &schema)
        }
        for key in missing { session.remark("there is no metadata \"\(key)\"") }
        if schema != before {
            try transaction.setAttributes(like: schema)
            _ = try Interruption.duringCommit { () throws(FirnError) in try transaction.commit() }
        }
        if arguments.has("json") {
            var line = JSONLine()
            line.addHead()
            line.add("of", arguments.text("of"))
            line.add("metadata", owner.metadata(in: schema)) { entry, inner in
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
}
