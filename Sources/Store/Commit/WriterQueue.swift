import FirnBytes
/// The threads of one process that write or wait to write. Guarded by the store's lock.
///
/// Threads wait in the order of their tickets. A thread may begin before them while no transaction runs, which saves a thread switch for
/// each commit, until the first one in the queue has been overtaken `maximumOvertaking` times.
struct WriterQueue {
    /// How many later transactions of a process may begin before a waiting one.
    static let maximumOvertaking: UInt64 = 16

    private struct Ticket {
        var number: UInt64
        /// The value of `begun` when the ticket was taken.
        var begun: UInt64
    }

    /// Whether a thread of this process is the writer.
    private(set) var isWriting = false
    /// The number of threads that are about to write.
    private(set) var starting = 0
    private var tickets: [Ticket] = []
    private var nextNumber: UInt64 = 0
    /// The number of transactions that began.
    private var begun: UInt64 = 0

    /// The number of threads with a ticket.
    var waitingCount: Int { tickets.count }

    /// Whether a thread must take a ticket although no transaction runs.
    var isOvertakenTooOften: Bool { tickets.first.map { begun - $0.begun >= WriterQueue.maximumOvertaking } ?? false }

    mutating func enter() { starting += 1 }
    mutating func leave() { starting -= 1 }

    mutating func takeTicket() -> UInt64 {
        defer { nextNumber += 1 }
        tickets.append(Ticket(number: nextNumber, begun: begun))
        return nextNumber
    }

    mutating func dropTicket(_ number: UInt64) { tickets.removeAll { $0.number == number } }

    func isFirst(_ number: UInt64) -> Bool { tickets[0].number == number }

    /// Makes a thread the writer. It counts as a transaction that overtakes the waiting ones, unless it only maintains the file.
    mutating func begin(isTransaction: Bool) {
        trap(unless: !isWriting, "one thread writes at a time")
        isWriting = true
        if isTransaction { begun += 1 }
    }

    mutating func end() { isWriting = false }
}
