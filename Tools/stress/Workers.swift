import FirnBytes
import FirnDatabase
import FirnDisk
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The tasks of single processes, which run until they are stopped or killed.
enum Workers {
    /// Commits repeatedly, and prints `committed N` after each commit is durable.
    static func write(_ path: String, _ options: StressOptions) throws(FirnError) {
        var random = Dice(UInt64(options["seed", 1]))
        let database = try Bank.open(path, writable: true, keep: options["keep", 8])
        var left = options["count", .max], kept: [DatabaseSnapshot] = []
        while left > 0 {
            let transaction = try database.begin()
            if random.below(20) == 0 {
                _ = try Bank.move(transaction, &random)
                transaction.cancel()
                continue
            }
            let sequence = try Bank.move(transaction, &random)
            _ = try transaction.commit()
            say("committed \(sequence)")
            // The writer also pins versions, and is killed with these pins.
            if random.below(8) == 0 { kept.append(try database.snapshot()) }
            if kept.count > 3 { kept.removeFirst() }
            left -= 1
        }
    }

    /// Checks the newest version repeatedly, and prints `read N`. Sequence numbers must not decrease.
    static func read(_ path: String, _ options: StressOptions) throws(FirnError) {
        var random = Dice(UInt64(options["seed", 1]))
        var database = try Bank.open(path), last: Int64 = 0, left = options["count", .max]
        while left > 0 {
            if random.below(16) == 0 { database = try Bank.open(path) }
            let snapshot = try database.snapshot()
            let sequence = try Bank.check(snapshot)
            guard sequence >= last else { throw FirnError(.damaged, "sequence \(sequence) after \(last)", at: .init(file: path)) }
            last = sequence
            // Checks the same version again while others commit: nothing of it may be overwritten.
            if random.below(4) == 0 {
                usleep(UInt32(random.below(3000)))
                guard try Bank.check(snapshot) == sequence, snapshot.verify(full: false).isEmpty else {
                    throw FirnError(.damaged, "a pinned version has changed", at: .init(file: path))
                }
            }
            say("read \(sequence)")
            left -= 1
        }
    }

    /// Pins a version and prints `pinned N`. After a byte on standard input, checks that the version has not changed, and prints
    /// `intact N`.
    static func pin(_ path: String, _ options: StressOptions) throws(FirnError) {
        let snapshot = try Bank.open(path).snapshot(), sequence = try Bank.check(snapshot)
        say("pinned \(snapshot.version)")
        var byte: UInt8 = 0
        _ = Swift.withUnsafeMutableBytes(of: &byte) { readByte($0.baseAddress!) }
        let again = try Bank.open(path).snapshot(version: options["anew", 0] > 0 ? snapshot.version : nil)
        guard try Bank.check(snapshot) == sequence, try Bank.check(again) >= sequence, snapshot.verify(full: true).isEmpty else {
            throw FirnError(.damaged, "a pinned version has changed", at: .init(file: path))
        }
        say("intact \(sequence)")
    }

    private static func readByte(_ into: UnsafeMutableRawPointer) -> Int {
        #if canImport(Glibc)
            Glibc.read(0, into, 1)
        #else
            Darwin.read(0, into, 1)
        #endif
    }

    /// Commits to data of constant size while versions are pinned and released, and prints the length that the file reached.
    static func soak(_ path: String, _ options: StressOptions) throws(FirnError) {
        var random = Dice(UInt64(options["seed", 1])), held: [DatabaseSnapshot] = []
        let count = options["count", 2000], database = try Bank.make(path, keep: options["keep", 2])
        var settled: UInt64 = 0, largest: UInt64 = 0
        for step in 0..<count {
            let transaction = try database.begin()
            _ = try Bank.move(transaction, &random)
            _ = try transaction.commit()
            if options["pins", 0] > 0 {
                if random.below(10) == 0 { held.append(try database.snapshot()) }
                if held.count > options["pins", 0] { held.remove(at: random.below(held.count)) }
            }
            if options["shrink", 0] > 0, step % options["shrink", 0] == options["shrink", 0] - 1 {
                let sequence = try Bank.check(try database.snapshot())
                _ = try Database.shrink(path: path, key: Bank.key)
                guard try Bank.check(try database.snapshot()) == sequence else {
                    throw FirnError(.damaged, "shrinking changed the data", at: .init(file: path))
                }
                for snapshot in held { _ = try Bank.check(snapshot) }
            }
            let size = try Paths.size(path)
            if step == count / 4 { settled = largest }
            largest = max(largest, size)
        }
        for snapshot in held { _ = try Bank.check(snapshot) }
        held = []
        if options["shrink", 0] > 0 { say("shrunk \(try Database.shrink(path: path, key: Bank.key).bytesAfter)") }
        let faults = try database.verifyStructure()
        guard faults.isEmpty else { throw FirnError(.damaged, "\(faults[0].what)", at: .init(file: path)) }
        _ = try Bank.check(try database.snapshot())
        say("soaked \(count)")
        say("settled \(settled)")
        say("largest \(largest)")
    }
}
