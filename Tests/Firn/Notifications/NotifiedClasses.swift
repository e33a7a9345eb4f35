import Firn
import FirnKit
import Foundation
import Testing

// Classes and a log that the tests of notifications share.

class Beagle: Object {
    @Persisted var name = ""
    @Persisted var age = 0
    @Persisted var toys: List<Toy>
    @Persisted var best: Beagle?
    @Persisted var friends: MutableSet<Beagle>
    @Persisted var numbers: MutableSet<Int>
    @Persisted var words: List<String>
    @Persisted var scores: Map<String, Int>
    @Persisted var byName: Map<String, Toy?>
    @Persisted var kennel: KennelPlace?
}

class Toy: Object {
    @Persisted var brand = ""
    @Persisted var price = 0
    @Persisted(originProperty: "toys") var owners: LinkingObjects<Beagle>
}

class KennelPlace: EmbeddedObject {
    @Persisted var street = ""
}

class Chain: Object {
    @Persisted var value = 0
    @Persisted var next: Chain?
}

/// Calls of an observer, as text.
final class Log: @unchecked Sendable {
    private let lock = NSLock()
    private var received: [String] = []

    func note(_ line: String) { lock.withLock { received.append(line) } }

    /// Returns the lines since the last call.
    func take() -> [String] {
        lock.withLock {
            defer { received = [] }
            return received
        }
    }

    var count: Int { lock.withLock { received.count } }

    /// Waits until there are so many lines. Returns false after ten seconds.
    func waits(for lines: Int) -> Bool {
        let end = Date(timeIntervalSinceNow: 10)
        while count < lines {
            if Date() > end { return false }
            usleep(1000)
        }
        return true
    }

    func note<C: RealmCollection>(_ change: RealmCollectionChange<C>) {
        switch change {
        case .initial(let all): note("initial \(all.count)")
        case .update(let all, let deletions, let insertions, let modifications):
            note("\(all.count): -\(deletions) +\(insertions) ~\(modifications)")
        case .error(let error): note("error \(error)")
        }
    }

    func note<M>(_ change: RealmMapChange<Map<String, M>>) {
        switch change {
        case .initial(let all): note("initial \(all.count)")
        case .update(let all, let deletions, let insertions, let modifications):
            note("\(all.count): -\(deletions) +\(insertions) ~\(modifications)")
        case .error(let error): note("error \(error)")
        }
    }

    func note<T>(_ change: ObjectChange<T>) {
        switch change {
        case .change(_, let properties):
            note(properties.map { "\($0.name): \($0.oldValue ?? "nil") -> \($0.newValue ?? "nil")" }.joined(separator: ", "))
        case .deleted: note("deleted")
        case .error(let error): note("error \(error)")
        }
    }
}

/// A temporary file for a realm.
final class TemporaryRealm {
    private let folder: TemporaryFolder
    var url: URL { URL(filePath: folder.file("a.firn")) }
    init() { folder = TemporaryFolder() }

    /// A file that another process finds by its name.
    init(_ name: String) { folder = TemporaryFolder(named: name) }
    static func url(_ name: String) -> URL { URL(filePath: TemporaryFolder.path(named: name) + "/a.firn") }
}

/// Returns the standard error of a process that was expected to end.
func said(_ result: ExitTest.Result?) -> String { String(decoding: result?.standardErrorContent ?? [], as: UTF8.self) }
