import FirnCommandLine
import FirnDisk
import FirnThreads
import Synchronization

/// What a run reports next to its result: on standard error, or in a list if a caller of the library started the run.
final class RunNotices: Sendable {
    private struct Texts {
        var all: [String] = [], fallbacks: [String] = []
    }
    private let texts = Mutex(Texts())
    private let isList: Bool

    private static let program = RunNotices(isList: false)
    /// The lists of the runs that callers started, by thread.
    private static let lists = Mutex<[UInt: RunNotices]>([:])

    init(isList: Bool = true) { self.isList = isList }

    /// The notices of the run on this thread.
    static var current: RunNotices { lists.withLock { $0[CurrentThread.id] } ?? program }

    /// Runs `body`; what it reports on this thread goes to this list.
    func collect<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        RunNotices.lists.withLock { $0[CurrentThread.id] = self }
        defer { RunNotices.lists.withLock { $0[CurrentThread.id] = nil } }
        return try body()
    }

    /// Adds a text. Failures to print it are ignored, because there is no output left to report them.
    func add(_ text: String) {
        guard isList else {
            let stream = StreamOut.standardError()
            try? stream.write(text)
            try? stream.flush()
            return
        }
        var plain = text[...]
        if plain.hasPrefix("firn: ") { plain = plain.dropFirst("firn: ".count) }
        while plain.last == "\n" { plain = plain.dropLast() }
        let line = String(plain)
        if !line.isEmpty { texts.withLock { $0.all.append(line) } }
    }

    /// The texts of a list.
    var all: [String] { texts.withLock { $0.all } }

    /// The notices about files of which an older version is read.
    var fallbacks: [String] { texts.withLock { $0.fallbacks } }

    /// Adds a notice about a file of which an older version is read. Returns whether it is new.
    func add(fallback text: String) -> Bool {
        texts.withLock { texts in
            if texts.fallbacks.contains(text) { return false }
            texts.fallbacks.append(text)
            return true
        }
    }
}
