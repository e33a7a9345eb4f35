/// Identifies an asynchronous write of a realm.
public typealias AsyncTransactionId = UInt32

/// The asynchronous writes of a realm.
struct AsyncWrites {
    /// The waits for the write lock that have not ended.
    var lockRequests: [LockRequest] = []
    /// The blocks that wait for their transaction, in the order in which they will be called.
    private(set) var waiting: [AsyncWrite] = []
    /// The number of commits whose completion was not reported yet.
    var unreported = 0
    private var nextID: AsyncTransactionId = 1

    /// True while a block waits or a completion was not reported yet.
    var isPerforming: Bool { !waiting.isEmpty || unreported > 0 }

    /// Returns an id that no other asynchronous write of the realm has.
    mutating func newID() -> AsyncTransactionId {
        defer { nextID &+= 1 }
        return nextID
    }

    mutating func add(_ write: AsyncWrite) { waiting.append(write) }

    /// Removes a block that was not called yet. Returns false if there is none with this id.
    mutating func remove(_ id: AsyncTransactionId) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Takes the block that is called next; nil if none waits.
    mutating func takeNext() -> AsyncWrite? { waiting.isEmpty ? nil : waiting.removeFirst() }

    /// Takes all blocks that wait.
    mutating func takeAll() -> [AsyncWrite] {
        defer { waiting = [] }
        return waiting
    }
}

/// A block that is waiting for its transaction.
struct AsyncWrite {
    var id: AsyncTransactionId
    var block: () -> Void
    /// Called instead of `block`, on the realm's executor, if no transaction could begin; nil if the caller gave no closure.
    var failed: ((Realm.Error) -> Void)?
}
