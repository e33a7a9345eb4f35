import FirnBytes
import FirnDatabase
import FirnTable
import Synchronization

/// Errors of reads and writes: a property cannot throw, so the realm notes them.
extension RealmCore {
    /// Runs `body`. If it throws, records the damage, after which all writes are refused, and returns `missing`.
    func reading<R>(_ missing: @autoclosure () -> R, _ body: () throws(Damage) -> R) -> R {
        do { return try body() } catch {
            note(error)
            return missing()
        }
    }

    /// Notes an error of setting a property. Traps if the program has caused it.
    func noteWriteError(_ error: FirnError) {
        if error.code == .schema || error.code == .usage { trap(error.message) }
        note(error)
    }

    /// As `reading`, for other errors too.
    func failing<R>(_ missing: @autoclosure () -> R, _ body: () throws(FirnError) -> R) -> R {
        do { return try body() } catch {
            note(error)
            return missing()
        }
    }

    func note(_ damage: Damage) { note(FirnError(damage, in: file.path)) }

    func note(_ error: FirnError) {
        let isFirst = noted.withLock { noted in
            guard noted == nil else { return false }
            noted = error
            return true
        }
        if isFirst { Logger.note(.error, "\(file.path): \(error)") }
    }
}
