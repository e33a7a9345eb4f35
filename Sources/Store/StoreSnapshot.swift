import FirnBytes
import FirnDisk
import Synchronization

/// What can be asked for the bytes behind a reference: a snapshot, or a transaction that has written some of its own.
package protocol ExtentSource: AnyObject {
    /// The bytes, checked against the reference's hash on first touch; valid while the source lives.
    func read(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer
    /// What is charged with what extents decode to.
    var memory: MemoryBudget { get }
}

extension ExtentSource {
    package var memory: MemoryBudget { .process }
}

/// One version of the store, which stays as it is, whatever is committed meanwhile, until released.
package final class StoreSnapshot: ExtentSource, Sendable {
    package let version: UInt64
    /// What the layer above stored as its root; none in version 0.
    package let catalogue: ExtentRef
    /// Wall time of the commit, nanoseconds since 1970 UTC.
    package let time: Int64
    package let store: Store
    let root: Root
    /// What can be read through this version, without its pin.
    package let extents: FileExtents
    package var memory: MemoryBudget { store.memory }
    private let released = Atomic<Bool>(false)

    /// The store has pinned `root.version`; the snapshot gives the pin back.
    init(store: Store, root: Root, mapping: Mapping?, limit: UInt64) {
        self.store = store
        self.root = root
        version = root.version
        catalogue = root.catalogue
        time = root.time
        extents = FileExtents(store: store, mapping: mapping, limit: limit)
    }

    deinit { release() }

    /// Lets go of the version. What was read stays mapped while the snapshot lives, but may come to hold other bytes.
    package func release() {
        if !released.exchange(true, ordering: .acquiringAndReleasing) { store.unpin(version) }
    }

    package func read(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer { try extents.read(ref) }

    /// `Damage` if another program cut the file short while it was read; what was read since the last check may be zeros then.
    package func checkIntact() throws(Damage) { try extents.checkIntact() }

    /// As `read`, but always hashes.
    package func readVerifying(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer { try extents.readVerifying(ref) }
}
