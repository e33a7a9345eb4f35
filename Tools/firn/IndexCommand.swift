import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange
import FirnTable

/// `firn index FILE [TYPE.COLUMN...]`
struct IndexCommand {
    let session: Session
    private var arguments: Arguments { session.arguments }
    private var kind: IndexKind { arguments.has("full-text") ? .words : .values }

    func run() throws(FirnError) -> ExitCode {
        let wanted = Array(arguments.operands.dropFirst()), isDrop = arguments.has("drop")
        guard !wanted.isEmpty else {
            if isDrop || arguments.has("full-text") {
                throw FirnError(.usage, "no columns are named", advice: "add them as TYPE.COLUMN; 'firn index FILE' lists the indexes")
            }
            return try list()
        }
        if arguments.has("list") { throw FirnError(.usage, "--list takes no columns", advice: "omit it to create indexes of them") }
        let keys = try KeyRing(arguments), file = try OpenedFile(stored: arguments.operands[0], keys: keys, restores: true)
        if file.address.version != nil {
            throw FirnError(.usage, "an old version cannot be changed", at: .init(file: arguments.operands[0]))
        }
        let columns = try wanted.map { (text) throws(FirnError) in try column(text, file) }
        let database = try keys.open(path: file.address.path, writable: true), transaction = try begin(database, file)
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }
        var missing: [String] = [], isChanged = false
        for (type, column) in columns {
            if isDrop {
                let isDropped = try transaction.dropIndex(type, column, kind)
                if isDropped { isChanged = true } else { missing.append("\(type).\(column)") }
            } else if try transaction.addIndex(type, column, kind, progress: { progress.add(rows: $0) }) {
                isChanged = true
            }
        }
        if isChanged {
            _ = try Interruption.duringCommit { () throws(FirnError) in try transaction.commit() }
        } else {
            transaction.cancel()
        }
        display.end()
        for name in missing { session.remark("\(name) has no index of \(kind.name)") }
        if isDrop, arguments.has("json") {
            for (type, column) in columns {
                var line = JSONLine()
                line.addHead()
                line.add("type", type)
                line.add("column", column)
                line.add("kind", kind.name)
                line.add("dropped", !missing.contains("\(type).\(column)"))
                try session.out.write(line.object + "\n")
            }
        }
        if !isDrop, !session.isQuiet || arguments.has("json") {
            let made = try database.snapshot().indexes.filter { index in
                index.kind == kind && columns.contains { $0.type == index.type && $0.column == index.column }
            }
            try print(made)
        }
        return missing.isEmpty ? .done : .no
    }

    /// Begins a transaction. If another program holds the write lock, prints a remark and waits.
    private func begin(_ database: Database, _ file: OpenedFile) throws(FirnError) -> DatabaseTransaction {
        let threads = try session.threads()
        do throws(FirnError) { return try database.begin(wait: .no, threads: threads) } catch {
            guard error.code == .locked else { throw error }
            session.remark("another program is writing \(file.name): waiting for it to finish")
            return try database.begin(threads: threads)
        }
    }

    /// Returns the type and column that `Type.column` or `column` names.
    private func column(_ text: String, _ file: OpenedFile) throws(FirnError) -> (type: String, column: String) {
        let schema = file.schema
        for type in schema.types where text.hasPrefix(type.name + ".") && type.index(of: String(text.dropFirst(type.name.count + 1))) != nil
        {
            return (type.name, String(text.dropFirst(type.name.count + 1)))
        }
        if let given = try file.chosenType(arguments.text("type")) ?? (schema.roots.count == 1 ? schema.roots[0].name : nil),
            let type = schema[given]
        {
            if type.index(of: text) != nil { return (given, text) }
            let name = text.hasPrefix(given + ".") ? String(text.dropFirst(given.count + 1)) : text
            throw unknownColumn(name, of: type, in: file.name)
        }
        guard let (name, column) = text.halves(at: UInt8(ascii: ".")) else {
            throw FirnError(
                .usage, "\"\(text)\" names no type, and the file has several", at: .init(file: file.name), advice: "write TYPE.\(text)")
        }
        guard let type = schema[name] else { throw unknownType(name, in: schema, of: file.name) }
        throw unknownColumn(column, of: type, in: file.name)
    }

    private func list() throws(FirnError) -> ExitCode {
        let file = try OpenedFile(stored: arguments.operands[0], keys: try KeyRing(arguments))
        guard case .stored(_, let snapshot) = file.content else { trap("OpenedFile(stored:) opens stored files") }
        let chosen = try file.chosenType(arguments.text("type"))
        if let chosen, file.schema[chosen] == nil { throw unknownType(chosen, in: file.schema, of: file.name) }
        let indexes = snapshot.indexes.filter { index in chosen == nil || chosen == index.type }
        try print(indexes)
        if indexes.isEmpty, !arguments.has("json") { session.remark("no indexes") }
        return .done
    }

    private func print(_ indexes: [IndexSummary]) throws(FirnError) {
        if arguments.has("json") {
            for index in indexes {
                var line = JSONLine()
                line.addHead()
                line.add("type", index.type)
                line.add("column", index.column)
                line.add("kind", index.kind.name)
                line.add("forKey", index.isForKey)
                line.add("entries", index.entries)
                line.add("runs", index.runs)
                line.add("bytes", index.bytes)
                try session.out.write(line.object + "\n")
            }
            return
        }
        guard !indexes.isEmpty else { return }
        var table = TextTable([
            .init("index"), .init("of"), .init("entries", isNumber: true), .init("runs", isNumber: true), .init("bytes", isNumber: true),
            .init(""),
        ])
        for index in indexes {
            table.append([
                "\(index.type).\(index.column)", index.kind.name, Quantity.count(index.entries), Quantity.count(index.runs),
                Quantity.bytes(index.bytes),
                index.isForKey ? "made for the key" : "",
            ])
        }
        for line in table.lines(style: session.outStyle) { try session.out.write(line) }
    }
}
