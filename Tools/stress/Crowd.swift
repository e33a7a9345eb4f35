import FirnBytes
import FirnDatabase
import FirnDisk
import FirnThreads
import Synchronization

/// Runs readers in threads of this process and in other processes, writers in turn, and optionally a thread that shrinks the file. Every
/// version that is read must be complete.
struct Crowd {
    let path: String
    let options: StressOptions

    func run() throws(FirnError) {
        let seed = UInt64(options["seed", Int(Machine.random >> 2)]), commits = options["count", 200], writers = options["writers", 2],
            path = path
        say("seed \(seed)")
        let database = try Bank.make(path, keep: options["keep", 2])
        var random = Dice(seed), children: [Child] = []
        for _ in 0..<options["readers", 2] {
            children.append(try Child(["read", path, "--seed", String(random.next() >> 2)] + options.shared))
        }
        var begun: [Child] = []
        for _ in 0..<writers {
            begun.append(
                try Child(
                    ["write", path, "--count", String(commits), "--keep", "2", "--seed", String(random.next() >> 2)] + options.shared))
        }
        let writing = begun
        let shrinks = options["shrink", 0] > 0, reads = Atomic<Int>(0), shrunk = Atomic<Int>(0), left = Atomic<Int>(0),
            failure = Mutex<FirnError?>(nil)
        // One thread waits for the writers. The others read, some through a shared database, some through their own.
        try parallel(count: 1 + options["threads", 3], threads: 1 + options["threads", 3]) { (index) throws(FirnError) in
            if index == 0 {
                for writer in writing where !writer.finish() {
                    failure.withLock { $0 = FirnError(.damaged, "a writer failed", at: .init(file: path)) }
                }
                left.store(1, ordering: .releasing)
                return
            }
            if shrinks, index == 1 {
                while left.load(ordering: .acquiring) == 0 {
                    _ = try Database.shrink(path: path, key: Bank.key)
                    shrunk.add(1, ordering: .relaxed)
                }
                return
            }
            let mine = index % 2 == 0 ? database : try Bank.open(path)
            var last: Int64 = 0
            while left.load(ordering: .acquiring) == 0 {
                let snapshot = try mine.snapshot(), sequence = try Bank.check(snapshot)
                guard sequence >= last else { throw FirnError(.damaged, "sequence \(sequence) after \(last)", at: .init(file: path)) }
                last = sequence
                reads.add(1, ordering: .relaxed)
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        let elsewhere = try finish(children)
        let sequence = try Bank.check(try database.snapshot())
        guard sequence == Int64(commits * writers) else {
            throw FirnError(.damaged, "\(commits * writers) commits, sequence \(sequence)", at: .init(file: path))
        }
        say("commits \(sequence)")
        say("reads \(reads.load(ordering: .relaxed))")
        say("elsewhere \(elsewhere)")
        if shrinks { say("shrunk \(shrunk.load(ordering: .relaxed))") }
    }

    /// Ends the readers in other processes. Returns the number of their reads.
    private func finish(_ children: [Child]) throws(FirnError) -> Int {
        var elsewhere = 0
        for child in children {
            child.listen()
            child.kill()
            elsewhere += child.lines.count
            if let line = child.lines.first(where: { !$0.hasPrefix("read ") }) {
                throw FirnError(.damaged, "a reader prints \"\(line)\"", at: .init(file: path))
            }
        }
        return elsewhere
    }
}
