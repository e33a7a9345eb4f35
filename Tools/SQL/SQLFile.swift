import FirnBytes
import FirnDisk
import FirnModel

/// A file whose types are tables of a connection. They are read at one version; where no version was named, statements that begin when
/// nobody reads go on to the newest.
package final class SQLFile {
    /// For messages.
    package let name: String
    private let database: Database?
    private var snapshot: DatabaseSnapshot?
    private let held: [any Table]
    private var cursors = 0
    /// Grows with every change of version.
    private(set) var generation = 0

    /// A `.firn` file, or (`FILE@5`, `FILE@TAG`) a version of it.
    package init(path operand: String) throws(FirnError) {
        var path = operand, version: String?
        if !Paths.exists(operand), let at = operand.utf8.lastIndex(of: UInt8(ascii: "@")), Paths.exists(String(operand[..<at])) {
            (path, version) = (String(operand[..<at]), String(operand[operand.utf8.index(after: at)...]))
        }
        name = path
        held = []
        let opened = try KeyRing(ambient: Machine.environment(KeyRing.variable)).open(path: path)
        let first = if let version { try opened.snapshot(at: version) } else { try opened.snapshot() }
        guard first.version > 0 else { throw FirnError(.damaged, "there is no complete version in it", at: .init(file: path)) }
        snapshot = first
        database = version == nil ? opened : nil
    }

    /// Tables that somebody opened, which stay as they are.
    package init(name: String, tables: [any Table]) {
        self.name = name
        held = tables
        database = nil
    }

    /// Types whose rows are listed by themselves.
    package var typeNames: [String] { snapshot.map { $0.schema.roots.map(\.name) } ?? held.map(\.type.name) }

    func table(_ typeName: String) -> (any Table)? { snapshot?.table(named: typeName) ?? held.first { $0.type.name == typeName } }

    /// A cursor begins to read.
    func begin() throws(FirnError) {
        if cursors == 0, let database {
            let newest = try database.snapshot()
            if newest.version != snapshot?.version {
                snapshot = newest
                generation += 1
            }
        }
        cursors += 1
    }

    func end() { cursors -= 1 }
}

/// What the tables and functions of a connection share.
package final class SQLContext {
    private struct Known {
        weak var file: SQLFile?
        let path: String
    }
    private var files: [Known] = []
    /// Tables for the module `firn_table`, by number.
    var given: [(file: SQLFile, typeName: String)] = []
    /// All tables that are open, to tell what they did.
    private(set) var tables: [SQLTable] = []
    let keepsTables: Bool
    let threads: Int
    /// The last error of a table: SQLite passes on its words only.
    var lastError: FirnError?

    init(threads: Int, keepsTables: Bool) {
        self.threads = threads
        self.keepsTables = keepsTables
    }

    /// One for all tables of a path, so that they are read at one version.
    func file(path: String) throws(FirnError) -> SQLFile {
        files.removeAll { $0.file == nil }
        if let known = files.first(where: { $0.path == path })?.file { return known }
        let file = try SQLFile(path: path)
        files.append(Known(file: file, path: path))
        return file
    }

    /// The indexes in memory of all tables, in the order they were made.
    private var indexes: [(table: ObjectIdentifier, key: [Int], bytes: Int, forget: () -> Void)] = []

    /// Notes an index, and releases older ones where all of them would take too much memory.
    func makeRoom(for bytes: Int, of table: SQLTable, _ key: [Int]) {
        var sum = indexes.reduce(bytes) { $0 + $1.bytes }
        while sum > EqualityIndex.mostBytes, !indexes.isEmpty {
            let oldest = indexes.removeFirst()
            oldest.forget()
            sum -= oldest.bytes
        }
        indexes.append((ObjectIdentifier(table), key, bytes, { [weak table] in table?.forgetIndex(key) }))
    }

    func forgetIndexes(of table: SQLTable) { indexes.removeAll { $0.table == ObjectIdentifier(table) } }

    /// Tables know their context: whoever ends it parts them.
    func forgetTables() { tables = [] }

    func open(_ file: SQLFile, _ typeName: String, as name: String) throws(FirnError) -> SQLTable {
        guard let table = file.table(typeName) else {
            throw FirnError(.usage, "there is no type \"\(typeName)\"", at: .init(file: file.name), advice: "its types are \(file.typeNames.joined(separator: ", "))")
        }
        let opened = SQLTable(table, file: file, name: name, context: self)
        if keepsTables { tables.append(opened) }
        return opened
    }
}
