import FirnBytes
import FirnDisk

/// How long a transaction waits for who writes already.
package enum WriterPatience: Sendable {
    /// Not at all.
    case no
    case always
    /// So long at most.
    case seconds(Double)
    /// As long as the answer is yes, which is asked again and again, and when `Store.wakeWaiting` is called.
    case asLongAs(@Sendable () -> Bool)

    /// How often who will not wait for ever looks again, in seconds.
    static let pause = 0.002

    /// What `isOver` needs, as the waiting begins.
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

/// Who writes next. Those of one program stand in line as they came; who comes while nobody writes may begin before them, which spares a change of threads for each commit, until the first
/// in line has been passed often enough. Of several programs one stands next, which a lock beside the writer's says: a program that begins again and again lets it go before.
extension Store {
    /// How many transactions may begin before one that came earlier, within a program.
    static let mostPassing: UInt64 = 16

    /// Held by who is the next to write, until it writes.
    static let nextWriterLock = writerLock + 1

    /// Becomes the one of this program that writes; false if others do, or came before, for longer than is waited.
    func takeTurn(_ patience: WriterPatience, until end: Double) throws(FirnError) -> Bool {
        try lock.withLock { () throws(FirnError) in
            beginners += 1
            defer { beginners -= 1 }
            // A group that is full goes before.
            func isClosed() -> Bool { isWriting || (waiting > 0 && pending?.isFull(waiting: waiting) ?? false) }
            if isClosed() || line.first.map({ begun - $0.begun >= Store.mostPassing }) ?? false {
                if patience.isOver(end) { return false }
                let number = comers
                comers += 1
                line.append((number, begun))
                defer { line.removeAll { $0.number == number } }
                while isClosed() || line[0].number != number {
                    if patience.isOver(end) {
                        // Whoever stands behind it.
                        lock.wakeAll()
                        return false
                    }
                    if case .always = patience { lock.wait() } else { lock.wait(seconds: WriterPatience.pause) }
                }
            }
            guard !hasFailed else {
                lock.wakeAll()
                throw FirnError(.inputOutput, "an earlier write failed; what was committed is safe", at: .init(file: path), advice: "open the file again")
            }
            isWriting = true
            begun += 1
            return true
        }
    }

    /// Takes the writer's lock; false if another program has it, or is to have it next, for longer than is waited.
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

    /// Systems have no lock that is waited for so long and no longer.
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

    /// For those that wait as long as something is so, and it is no more.
    package func wakeWaiting() { lock.withLock { lock.wakeAll() } }
}
