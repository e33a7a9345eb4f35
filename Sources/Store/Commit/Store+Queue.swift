import FirnBytes
import FirnDisk

/// How long a transaction waits for the write lock.
package enum WriterPatience: Sendable {
    /// Does not wait.
    case no
    /// Waits until it gets the lock.
    case always
    /// Waits at most this many seconds.
    case seconds(Double)
    /// Waits as long as the closure returns true. It is called repeatedly, and after `Store.wakeWaiting`.
    case asLongAs(@Sendable () -> Bool)

    /// The seconds between two attempts of a waiter with a limit.
    static let pause = 0.002

    /// The time that `isOver` compares with, determined when the waiting begins.
    var end: Double { if case .seconds(let most) = self { Machine.seconds + most } else { 0 } }

    func isOver(_ end: Double) -> Bool {
        switch self {
        case .no: true
        case .always: false
        case .seconds: Machine.seconds >= end
        case .asLongAs(let isWanted): !isWanted()
        }
    }
}

/// The order of writers: of the threads of this process (`WriterQueue`), and of several processes. Of these one is next, which holds a
/// second lock: a process that begins again and again cannot overtake it.
extension Store {
    /// The lock of the process that is the next to write, held until it writes.
    static let nextWriterLock = writerLock + 1

    /// Makes the calling thread the writer of this process. Returns false if other threads write, or are first, for longer than `patience`
    /// allows.
    func takeTurn(_ patience: WriterPatience, until end: Double) throws(FirnError) -> Bool {
        try lock.withLock { () throws(FirnError) in
            queue.enter()
            defer { queue.leave() }
            // A full group is published first.
            func isClosed() -> Bool { queue.isWriting || (group.waiting > 0 && group.isFull) }
            if isClosed() || queue.isOvertakenTooOften {
                if patience.isOver(end) { return false }
                let ticket = queue.takeTicket()
                defer { queue.dropTicket(ticket) }
                while isClosed() || !queue.isFirst(ticket) {
                    if patience.isOver(end) {
                        // The next thread in the queue may be first now.
                        lock.wakeAll()
                        return false
                    }
                    if case .always = patience { lock.wait() } else { lock.wait(seconds: WriterPatience.pause) }
                }
            }
            guard !hasFailed else {
                lock.wakeAll()
                throw FirnError(
                    .inputOutput,
                    "no more commits are possible, because an earlier write or sync failed: durable commits are intact, others are lost",
                    at: .init(file: path),
                    advice: "open the file again")
            }
            queue.begin(isTransaction: true)
            return true
        }
    }

    /// Takes the write lock. Returns false if another process holds it, or is the next to hold it, for longer than `patience` allows.
    func takeWriterLock(_ patience: WriterPatience, until end: Double) throws(FirnError) -> Bool {
        if try file.lock(.exclusive, at: Store.writerLock, count: 2) {
            file.unlock(at: Store.nextWriterLock)
            return true
        }
        if patience.isOver(end) { return false }
        guard case .always = patience else { return try askForWriterLock(patience, until: end) }
        _ = try file.lock(.exclusive, at: Store.nextWriterLock, wait: true)
        defer { file.unlock(at: Store.nextWriterLock) }
        return try file.lock(.exclusive, at: Store.writerLock, wait: true)
    }

    /// Polls the lock, because systems have no call that waits for a lock with a time limit.
    private func askForWriterLock(_ patience: WriterPatience, until end: Double) throws(FirnError) -> Bool {
        var isNext = false
        defer { if isNext { file.unlock(at: Store.nextWriterLock) } }
        repeat {
            if !isNext { isNext = try file.lock(.exclusive, at: Store.nextWriterLock) }
            if isNext, try file.lock(.exclusive, at: Store.writerLock) { return true }
            Machine.sleep(seconds: WriterPatience.pause)
        } while !patience.isOver(end)
        return false
    }

    /// Wakes the waiting threads whose `.asLongAs` condition has changed.
    package func wakeWaiting() { lock.withLock { lock.wakeAll() } }
}
