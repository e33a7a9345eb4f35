import FirnBytes
import FirnDisk
import Synchronization

/// A source of extents: a snapshot, or a transaction that has also written some itself.
package protocol ExtentSource: AnyObject {
    /// Returns the bytes of an extent. Their hash is checked on the first read. They are valid while the source lives.
    func read(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer
    /// The budget that decoded contents of extents are charged to.
    var memory: MemoryBudget { get }
    /// Whether the file has feature bits of encodings that this program does not know. Then an unknown id is no damage.
    var hasUnknownEncodings: Bool { get }
}

extension ExtentSource {
    package var memory: MemoryBudget { .process }
    package var hasUnknownEncodings: Bool { false }
}

/// One version of the store. It does not change, whatever is committed meanwhile, and stays readable until `release`.
package final class StoreSnapshot: ExtentSource, Sendable {
    /// The number of the version.
    package let version: UInt64
    /// The reference that the layer above committed as its catalogue; `.none` in version 0.
    package let catalogue: ExtentRef
    /// The wall time of the commit, in nanoseconds since 1970-01-01 UTC.
    package let time: Int64
    /// The store that the version belongs to.
    package let store: Store
    let root: Root
    /// The extents that are readable through this version, without its pin.
    package let extents: FileExtents
    package var memory: MemoryBudget { store.memory }
    package var hasUnknownEncodings: Bool { root.unknownEncodings != 0 }
    private let released = Atomic<Bool>(false)

    /// The store has pinned `root.version`; `release` removes the pin.
    init(store: Store, root: Root, mapping: Mapping?, limit: UInt64) {
        self.store = store
        self.root = root
        version = root.version
        catalogue = root.catalogue
        time = root.time
        extents = FileExtents(store: store, mapping: mapping, limit: limit, hasUnknownEncodings: root.unknownEncodings != 0)
    }

    deinit { release() }

    /// Releases the version. Bytes that were read stay mapped while the snapshot lives, but other data may be written there.
    package func release() {
        if !released.exchange(true, ordering: .acquiringAndReleasing) { store.unpin(version) }
    }

    package func read(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer { try extents.read(ref) }

    /// Throws `Damage` if another program truncated the file while it was mapped; bytes read since the last check may be zeros then.
    package func checkIntact() throws(Damage) { try extents.checkIntact() }

    /// Reads like `read`, but always checks the bytes that are in the file now.
    package func readVerifying(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer { try extents.readVerifying(ref) }
}
