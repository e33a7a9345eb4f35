import FirnBytes
import FirnDatabase
import FirnDisk
import FirnTable
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Runs writers and readers in processes that are killed at random moments. After each kill, the remaining writer must continue. When all
/// processes are dead, the next writer must begin immediately, no acknowledged commit may be missing, and no version may be pinned.
struct KillLoop {
    let path: String
    let options: StressOptions
    private(set) var kills = 0, acknowledged = 0, reads = 0, unacknowledged = 0

    init(_ path: String, _ options: StressOptions) {
        self.path = path
        self.options = options
    }

    mutating func run() throws(FirnError) {
        let seed = UInt64(options["seed", Int(Machine.random >> 2)])
        var random = Dice(seed), round = 0, sequence: Int64 = 0
        say("seed \(seed)")
        _ = try Bank.make(path, keep: 2)
        while kills < options["kills", 20] {
            round += 1
            do throws(FirnError) { sequence = try play(&random, from: sequence, checksAll: round % 25 == 1) } catch {
                throw FirnError(error.code, "round \(round), seed \(seed): \(error.message)", at: error.location)
            }
        }
        let faults = try Bank.open(path).verifyStructure()
        let rows = try Bank.open(path).snapshot().verify(full: true)
        guard faults.isEmpty, rows.isEmpty else { throw fault("verify --full finds \(faults.map(\.what) + rows.map(\.description))") }
        say("kills \(kills)")
        say("commits \(acknowledged)")
        say("unacknowledged \(unacknowledged)")
        say("reads \(reads)")
    }

    private func fault(_ what: String) -> FirnError { FirnError(.damaged, what, at: .init(file: path)) }

    private mutating func play(_ random: inout Dice, from before: Int64, checksAll: Bool) throws(FirnError) -> Int64 {
        let shared = options.shared
        func words(_ what: String) -> [String] { [what, path, "--seed", String(random.next() >> 2)] + shared }
        var writers: [Child] = [], readers: [Child] = []
        for _ in 0..<(1 + random.below(2)) { writers.append(try Child(words("write"))) }
        for _ in 0..<random.below(3) { readers.append(try Child(words("read"))) }
        guard writers[0].hears(1 + random.below(8)) else { throw fault("a writer does not commit") }
        usleep(UInt32(random.below(2500)))
        if !readers.isEmpty, random.below(2) == 0 {
            let reader = readers.removeFirst()
            reader.kill()
            try settle(reader)
        }
        let first = writers.removeFirst()
        first.kill()
        kills += 1
        var last = max(before, first.last("committed"))
        acknowledged += first.lines.count
        // The write lock is released with its holder, so the other writer must continue.
        if let other = writers.first {
            other.listen()
            guard other.hears(other.lines.count + 1) else { throw fault("after a kill the next writer does not commit") }
            usleep(UInt32(random.below(1500)))
            other.kill()
            kills += 1
            last = max(last, other.last("committed"))
            acknowledged += other.lines.count
        }
        for reader in readers {
            reader.kill()
            try settle(reader)
        }

        let database = try Bank.open(path, writable: true, keep: 2)
        if let cause = database.fallback?.what, !cause.contains("hash"), !cause.contains("root") {
            throw fault("the newest version cannot be read: \(cause)")
        }
        // No process is left: the write lock must be free immediately, and no version may be pinned.
        let transaction = try database.begin(wait: .no)
        transaction.cancel()
        let pins = try database.pinnedVersions()
        guard pins.isEmpty else { throw fault("versions \(pins) are pinned without a process") }
        let snapshot = try database.snapshot(), now = try Bank.check(snapshot)
        guard now >= last else { throw fault("sequence \(last) was acknowledged, and the file has \(now)") }
        unacknowledged += Int(now - last)
        if checksAll {
            let faults = try database.verifyStructure(), rows = snapshot.verify(full: true)
            guard faults.isEmpty, rows.isEmpty else { throw fault("verify finds \(faults.map(\.what) + rows.map(\.description))") }
        }
        return now
    }

    private mutating func settle(_ reader: Child) throws(FirnError) {
        kills += 1
        reads += reader.lines.count
        if let line = reader.lines.first(where: { !$0.hasPrefix("read ") }) { throw fault("a reader prints \"\(line)\"") }
    }
}
