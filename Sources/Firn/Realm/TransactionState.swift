import FirnDatabase

/// The state of a realm's transaction.
enum TransactionState {
    case none
    /// A transaction is under way and can be written to. With a group, it contains the parts that were committed to the group.
    case open(OpenTransaction, CommitGroup?)
    /// A block of a group was committed, and the next one has not begun. Its changes can be read, and nothing can be written.
    case betweenParts(OpenTransaction, CommitGroup)
    /// The changes are being made durable on another thread. Code that uses the realm waits until that is complete.
    case committing(PendingCommit)

    /// The transaction, whether or not it can be written to now; nil if there is none.
    var current: OpenTransaction? {
        switch self {
        case .none: nil
        case .open(let open, _), .betweenParts(let open, _): open
        case .committing(let pending): pending.open
        }
    }

    /// True if there is no transaction.
    var isNone: Bool { if case .none = self { true } else { false } }

    /// True if the transaction can be written to and committed.
    var isOpen: Bool { if case .open = self { true } else { false } }

    /// True between two blocks of a group.
    var isBetweenParts: Bool { if case .betweenParts = self { true } else { false } }

    /// The commit that is being made durable on another thread.
    var pending: PendingCommit? { if case .committing(let pending) = self { pending } else { nil } }
}

/// A transaction that a realm has entered, from its beginning to the end of its commit.
///
/// While the transaction can end on one thread only, and not after that, the file records this thread, so that the thread does not wait for
/// its own transaction.
final class OpenTransaction {
    let transaction: DatabaseTransaction
    /// The version that the transaction began from.
    let versionBefore: UInt64
    /// `ChangeStamp.changes` at the beginning.
    let changesBefore: UInt64
    /// How many of the changes since then have only added types.
    var addedTypes: UInt64 = 0
    /// The observers that are not notified of the transaction.
    var silenced: [Subscription] = []
    private let file: RealmFile
    /// The thread that the file records; 0 if it records none for this transaction.
    private(set) var writer: UInt = 0

    init(_ transaction: DatabaseTransaction, _ file: RealmFile, versionBefore: UInt64, changesBefore: UInt64) {
        self.transaction = transaction
        self.file = file
        self.versionBefore = versionBefore
        self.changesBefore = changesBefore
    }

    /// Records that only this thread can end the transaction.
    func endsHere() {
        writer = currentThread()
        file.noteWriter(writer)
    }

    /// Records that any thread can end the transaction, or that it has ended.
    func endsAnywhere() {
        guard writer != 0 else { return }
        file.forgetWriter(writer)
        writer = 0
    }
}
