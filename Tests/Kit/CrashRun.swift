import FirnBytes
import FirnDatabase
import FirnDisk
import FirnTable
import FirnThreads
import Foundation

extension DatabaseSnapshot {
    /// Returns a hash of the complete content of a version. It is comparable only within this process.
    package func contentDigest() throws(Damage) -> Int {
        var hasher = Hasher()
        for table in tables {
            hasher.combine(table.type.name)
            hasher.combine(table.type.columns.map(\.name))
            for position in 0..<table.segmentCount {
                let segment = try table.segment(position)
                var columns = table.type.columns.map { Column($0, in: table.schema) }
                for vector in 0..<segment.vectorCount {
                    for i in columns.indices { try segment.column(i).read(vector: vector, into: &columns[i]) }
                    let first = segment.rows(ofVector: vector).lowerBound
                    for row in segment.rows(ofVector: vector) where segment.live?[row] ?? true {
                        hasher.combine(try segment.rowID(at: row))
                        for column in columns { hasher.combine(column.value(at: row - first)) }
                    }
                }
            }
        }
        return hasher.finalize()
    }
}

extension Database {
    /// Returns a hash of the newest version and of all other durable state: each kept version, the tags with their versions, and the
    /// retention.
    package func historyDigest() throws -> Int {
        var hasher = Hasher()
        hasher.combine(try snapshot().contentDigest())
        for info in try versions() {
            hasher.combine(info.version)
            if info.version > 0 { hasher.combine(try snapshot(version: info.version).contentDigest()) }
        }
        for tag in try tags() {
            hasher.combine(tag.name)
            hasher.combine(tag.version)
            hasher.combine(try snapshot(tag: tag.name).contentDigest())
        }
        hasher.combine(try retention())
        return hasher.finalize()
    }
}

/// A recorded sequence of commits, and the crashes that can interrupt it.
package final class CrashRun {
    /// The number of disk images that were tried, and of further tests on some of them.
    package struct Counts: Sendable, CustomStringConvertible {
        package var calls = 0, commits = 0, states = 0, fallbacks = 0, continued = 0, doubles = 0, refusals = 0
        package var description: String {
            "\(commits) commits in \(calls) calls: \(states) states (\(fallbacks) of them with the previous root), \(continued) continued, \(doubles) of second crashes, \(refusals) with refused calls"
        }
        package static func += (a: inout Counts, b: Counts) {
            a.calls += b.calls
            a.commits += b.commits
            a.states += b.states
            a.fallbacks += b.fallbacks
            a.continued += b.continued
            a.doubles += b.doubles
            a.refusals += b.refusals
        }
    }

    /// `FIRN_CRASH=n` tries n times as many images.
    package static let scale = max(1, ProcessInfo.processInfo.environment["FIRN_CRASH"].flatMap { Int($0) } ?? 1)

    package let name: String
    package let path: String
    package let journal: DiskJournal
    package let key: EncryptionKey?
    /// Whether versions, tags and retention are checked too, with `historyDigest`.
    private let watchesHistory: Bool
    /// One of this number of images is tried, chosen at random. For sequences that are repeated with another kind of file.
    private let oneOf: Int
    package private(set) var counts = Counts()
    package private(set) var failures: [String] = []
    private let folder = TemporaryFolder(), images = TemporaryFolder(), later = TemporaryFolder()
    private let fileName: String
    /// The durable content after a number of calls. Nil if there may be no file.
    private var acknowledged: [(calls: Int, digest: Int?)] = [(0, nil)]

    package init(_ name: String, file: String = "a.firn", key: EncryptionKey? = nil, history: Bool = false, oneOf: Int = 1) {
        self.name = name
        self.key = key
        watchesHistory = history
        self.oneOf = max(1, oneOf * (Tier.isLong ? 1 : 4) / CrashRun.scale)
        fileName = file
        path = folder.file(file)
        journal = DiskJournal(of: folder)
    }

    deinit { ScriptedDisk.end(in: folder.path) }

    /// Records that all commits until now are durable.
    package func acknowledge(_ database: Database) throws {
        acknowledged.append((journal.count, try digest(database)))
        counts.commits += 1
    }

    private func digest(_ database: Database) throws -> Int {
        try watchesHistory ? database.historyDigest() : database.snapshot().contentDigest()
    }

    private func open(_ folder: TemporaryFolder, writable: Bool = true) throws -> Database {
        try Database.open(path: folder.file(fileName), writable: writable, key: key)
    }

    /// Returns the defects of the newest version and of tagged versions.
    private func defects(_ database: Database) throws -> [String] {
        var found = try database.snapshot().verify(full: true).map(\.description)
        if watchesHistory {
            for tag in try database.tags() { found += try database.snapshot(tag: tag.name).verify(full: true).map { "\(tag.name): \($0)" } }
        }
        return found
    }

    private func fail(_ what: String) { if failures.count < 20 { failures.append("\(name): \(what)") } }

    private func write(_ files: [String: [UInt8]], in folder: TemporaryFolder) throws {
        for old in try Paths.list(folder.path) where files[old] == nil { try Paths.remove(folder.file(old)) }
        // The files are created again, so that mapped ones do not change.
        for (name, bytes) in files {
            if Paths.exists(folder.file(name)) { try Paths.remove(folder.file(name)) }
            try File(path: folder.file(name), .createNew).write(bytes, at: 0)
        }
    }

    /// Tries every crash. `next` makes a commit that changes the content.
    package func visit(seed: UInt64 = 1, next: (Database) throws -> Void) throws {
        var images = CrashImages(seed: seed, samples: 1 + CrashRun.scale), turn = 0, chosen = Random(seed: seed)
        let events = journal.events, first = journal.first
        counts.calls += events.count
        images.visit(events, from: first, stops: 0...events.count) { stop, what, files in
            guard chosen.next() % UInt64(oneOf) == 0 else { return }
            turn += 1
            let least = acknowledged.lastIndex { $0.calls <= stop }!
            let allowed = acknowledged[least...].prefix(2).map(\.digest), context = "after \(stop) of \(events.count) calls, \(what)"
            do { try check(files, allowed, context, turn, next) } catch { fail("\(context): \(error)") }
        }
    }

    private func check(_ files: [String: [UInt8]], _ allowed: [Int?], _ context: String, _ turn: Int, _ next: (Database) throws -> Void)
        throws
    {
        counts.states += 1
        try self.write(files, in: images)
        guard files[fileName] != nil else {
            if !allowed.contains(nil) { fail("\(context): the file is missing") }
            return
        }
        let before: Int
        do {
            let database = try open(images), version = try database.snapshot().version
            before = try digest(database)
            // Before the first commit is acknowledged, the file may exist without a commit.
            if !allowed.contains(before), !(allowed.contains(nil) && version == 0) {
                fail("\(context): unexpected content, version \(version)")
            }
            if let defect = try defects(database).first { fail("\(context): \(defect)") }
            let structure = try database.verifyStructure()
            if database.fallback != nil { counts.fallbacks += 1 }
            if structure.count > (database.fallback == nil ? 0 : 1) { fail("\(context): \(structure)") }
        }
        if turn % max(1, 40 / CrashRun.scale) == 1 { try crashAgain(files, before, context, turn, next) }
        if turn % max(1, 12 / CrashRun.scale) == 2 { try refuse(files, before, context, turn, next) }
        if turn % max(1, 6 / CrashRun.scale) == 3 {
            counts.continued += 1
            try self.write(files, in: images)
            try next(try open(images))
            let database = try open(images, writable: false)
            if try digest(database) == before { fail("\(context): the next commit changed nothing") }
            let defects = try defects(database) + database.verifyStructure().map(\.description)
            if !defects.isEmpty { fail("\(context): after the next commit: \(defects)") }
        }
    }

    /// A second crash, while the file left by the first one is opened and written.
    private func crashAgain(_ files: [String: [UInt8]], _ before: Int, _ context: String, _ turn: Int, _ next: (Database) throws -> Void)
        throws
    {
        try self.write(files, in: images)
        let journal = DiskJournal(of: images)
        defer { ScriptedDisk.end(in: images.path) }
        try next(try open(images))
        let after = try digest(try open(images, writable: false))
        var crashes = CrashImages(seed: UInt64(turn), samples: 1)
        let events = journal.events
        try crashes.visit(events, from: journal.first, stops: 0...events.count) { stop, what, files in
            counts.doubles += 1
            let here = "\(context); then after \(stop) of \(events.count) calls, \(what)"
            try self.write(files, in: later)
            do {
                let database = try open(later), digest = try digest(database)
                if digest != after, digest != before || stop == events.count { fail("\(here): unexpected content") }
                if let defect = try defects(database).first { fail("\(here): \(defect)") }
            } catch { fail("\(here): \(error)") }
        }
    }

    /// A full or failing disk, when the file left by a crash is written.
    private func refuse(_ files: [String: [UInt8]], _ before: Int, _ context: String, _ turn: Int, _ next: (Database) throws -> Void) throws
    {
        counts.refusals += 1
        try self.write(files, in: images)
        let nth = turn / 12 % 9,
            journal = DiskJournal(of: images, .init(after: nth, forEver: turn % 24 < 12, code: turn % 36 < 18 ? 28 : 5))
        defer { ScriptedDisk.end(in: images.path) }
        var failed = false
        do { try next(try open(images)) } catch { failed = true }
        let refused = journal.refusals
        journal.refuse(nil)
        let database = try open(images), digest = try digest(database)
        if let defect = try defects(database).first { fail("\(context), \(refused) refused: \(defect)") }
        if failed, digest != before, refused.first != "sync" { fail("\(context), \(refused) refused: unexpected content") }
        if !failed, digest == before { fail("\(context), \(refused) refused: the commit is lost") }
    }
}

/// Runs a body on several threads, passing the number of the thread. Throws the first error after all have ended.
package func parallelEach(threads: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let failures = FailureBox(), group = DispatchGroup()
    for number in 0..<threads {
        group.enter()
        Thread {
            do { try body(number) } catch { failures.add(error) }
            group.leave()
        }.start()
    }
    group.wait()
    if let first = failures.first { throw first }
}

private final class FailureBox: @unchecked Sendable {
    private let lock = NSLock()
    private var errors: [any Error] = []
    func add(_ error: any Error) { lock.withLock { errors.append(error) } }
    var first: (any Error)? { lock.withLock { errors.first } }
}
