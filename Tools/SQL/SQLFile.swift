import FirnBytes
import FirnDatabase
import FirnDisk
import FirnTable
import Synchronization

/// A file whose types are tables of a connection. All of them are read at one version. If no version was named, the file moves to the
/// newest version when a statement begins and no cursor is open.
package final class SQLFile {
    /// The name of the file in messages.
    package let name: String
    private let database: Database?
    private var snapshot: DatabaseSnapshot?
    private let held: [any Table]
    private var cursors = 0
    /// A counter that increases with every change of version.
    private(set) var generation = 0

    /// Opens a `.firn` file, or a version of it (`FILE@5`, `FILE@TAG`).
    package init(path operand: String) throws(FirnError) {
        var path = operand, version: String?
        if !Paths.exists(operand), let at = operand.utf8.lastIndex(of: UInt8(ascii: "@")), Paths.exists(String(operand[..<at])) {
            (path, version) = (String(operand[..<at]), String(operand[operand.utf8.index(after: at)...]))
        }
        name = path
        held = []
        let opened = try KeyRing(ambient: Machine.environment(KeyRing.variable)).open(path: path)
        let first = if let version { try opened.snapshot(at: version) } else { try opened.snapshot() }
        guard first.version > 0 else { throw FirnError(.damaged, "the file has no complete version", at: .init(file: path)) }
        snapshot = first
        database = version == nil ? opened : nil
    }

    /// A file whose tables are already open and do not change.
    package init(name: String, tables: [any Table]) {
        self.name = name
        held = tables
        database = nil
    }

    /// The names of the types that have tables.
    package var typeNames: [String] { snapshot.map { $0.schema.roots.map(\.name) } ?? held.map(\.type.name) }

    func table(_ typeName: String) -> (any Table)? { snapshot?.table(named: typeName) ?? held.first { $0.type.name == typeName } }

    /// Registers a cursor. If it is the only one, moves to the newest version, unless a version was named.
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

/// A grouping that its statement owns.
struct WeakGrouping {
    weak var grouping: SQLGrouping?
    init(_ grouping: SQLGrouping) { self.grouping = grouping }
}

/// The state that the tables and functions of a connection share.
package final class SQLContext {
    private struct Known {
        weak var file: SQLFile?
        let path: String
    }
    private var files: [Known] = []
    /// The tables for the module `firn_table`, by number.
    var given: [(file: SQLFile, typeName: String)] = []
    /// All open tables, for reports of their work.
    private(set) var tables: [SQLTable] = []
    /// The groupings of prepared statements, by number.
    var groupings: [Int: WeakGrouping] = [:]
    private var lastGrouping = 0
    /// The values that a statement of the connection reads in place of groups.
    var columnValues: ColumnValues?
    /// The regular expressions of statements.
    let patterns = SQLPatterns()
    /// Whether another thread has interrupted the statement that runs.
    let isInterrupted = Atomic(false)
    /// The time at which statements must end.
    var deadline: ContinuousClock.Instant?
    var isLate: Bool { deadline.map { $0 < .now } ?? false }
    let keepsTables: Bool
    let threads: Int
    /// The last error of a table. SQLite passes on only its message.
    var lastError: FirnError?

    init(threads: Int, keepsTables: Bool) {
        self.threads = threads
        self.keepsTables = keepsTables
    }

    /// Returns the file for a path. All tables of a path share one, so that they are read at one version.
    func file(path: String) throws(FirnError) -> SQLFile {
        files.removeAll { $0.file == nil }
        if let known = files.first(where: { $0.path == path })?.file { return known }
        let file = try SQLFile(path: path)
        files.append(Known(file: file, path: path))
        return file
    }

    /// The indexes in memory of all tables, oldest first.
    private var indexes: [(table: ObjectIdentifier, key: [Int], bytes: Int, forget: () -> Void)] = []

    /// Registers an index, and releases the oldest ones if all of them would use too much memory.
    func makeRoom(for bytes: Int, of table: SQLTable, _ key: [Int]) {
        var sum = indexes.reduce(bytes) { $0 + $1.bytes }
        while sum > EqualityIndex.maximumBytes, !indexes.isEmpty {
            let oldest = indexes.removeFirst()
            oldest.forget()
            sum -= oldest.bytes
        }
        indexes.append((ObjectIdentifier(table), key, bytes, { [weak table] in table?.forgetIndex(key) }))
    }

    func forgetIndexes(of table: SQLTable) { indexes.removeAll { $0.table == ObjectIdentifier(table) } }

    /// Throws if the statement that runs has been interrupted, or exceeds the time limit.
    func checkStopped() throws(FirnError) {
        if isInterrupted.load(ordering: .relaxed) || isLate { throw FirnError(.interrupted, "the statement was interrupted") }
    }

    /// A number for a grouping.
    var nextGrouping: Int {
        lastGrouping += 1
        return lastGrouping
    }

    /// Releases the tables. They refer to their context, so the cycle must be broken when the connection closes.
    func forgetTables() { tables = [] }

    func open(_ file: SQLFile, _ typeName: String, as name: String) throws(FirnError) -> SQLTable {
        guard let table = file.table(typeName) else {
            throw FirnError(
                .usage, "there is no type \"\(typeName)\"", at: .init(file: file.name),
                advice: "its types are \(file.typeNames.joined(separator: ", "))")
        }
        let opened = SQLTable(table, file: file, name: name, context: self)
        if keepsTables { tables.append(opened) }
        return opened
    }
}
