import FirnBytes
import FirnDisk

/// The files next to a database that SQLite takes for a part of it, whatever database has the name: the write-ahead log with its shared
/// memory, and the journal for rolling back. SQLite would apply the log or the journal of an older database to a new one.
enum SQLiteSidecars {
    /// Throws `.exists` if a database at the path would not be the one that is written, because of a log or a journal next to it, or if a
    /// process has an older one open. A journal that SQLite ignores, and an empty log, are permitted.
    static func check(_ target: String) throws(FirnError) {
        // SQLite follows links too.
        let path = Paths.linkEnd(target), isReplaced = Paths.exists(path)
        func refusal(_ ending: String, _ what: String) -> FirnError {
            FirnError(
                .exists,
                isReplaced
                    ? "cannot replace the database: \"\(target)\(ending)\" next to it \(what)"
                    : "cannot write the database: \"\(target)\(ending)\", which an older database left, \(what)",
                at: .init(file: target),
                advice: isReplaced
                    ? "close the programs that use the database and open it once with sqlite3, or delete it and \"\(target)\(ending)\""
                    : "delete \"\(target)\(ending)\", or choose another name")
        }
        if try hasChanges(path + "-wal") { throw refusal("-wal", "has changes that SQLite would apply to the new database") }
        if try isHot(path + "-journal") {
            throw refusal("-journal", "has an unfinished transaction that SQLite would roll back in the new database")
        }
        if Paths.exists(path + "-shm") { throw refusal("-shm", "shows that a process has the database open, or was killed") }
    }

    /// Whether a log is not empty.
    private static func hasChanges(_ path: String) throws(FirnError) -> Bool {
        guard let kind = Paths.kind(path) else { return false }
        if kind != .file { return true }
        return try Paths.size(path) > 0
    }

    /// Whether SQLite would roll a journal back. It ignores journals that are empty or begin with zero (`journal_mode` TRUNCATE and PERSIST).
    private static func isHot(_ path: String) throws(FirnError) -> Bool {
        switch Paths.kind(path) {
        case nil: return false
        case .file?:
            let first = try File(path: path, .read).read(count: 1, at: 0)
            return first.first ?? 0 != 0
        default: return true
        }
    }
}
