import FirnBytes
import FirnCodecs
import FirnStore
import FirnTable
import Synchronization

/// The source that stored segments are read from: extents, and the blobs that several segments share. It pins no version, so a segment that
/// two versions share does not hold the older one.
final class SegmentSource: Sendable {
    let store: any ExtentSource & Sendable
    let counts: ReadCounts
    let memory: MemoryBudget
    private let shared: Mutex<[ExtentRef: SharedText]> = Mutex([:])

    init(_ store: any ExtentSource & Sendable, counts: ReadCounts) {
        self.store = store
        memory = store.memory
        self.counts = counts
    }

    /// Whether what is read from it can still be read after the transaction has ended.
    var isLasting: Bool { store is FileExtents }

    func sharedText(_ blob: SegmentHeader.Shared) throws(Damage) -> SharedText {
        if let shared = shared.withLock({ $0[blob.ref] }) { return shared }
        guard let kind = blob.kind else { throw Damage(unknown: "kind of shared blob \(blob.code & 15)") }
        let text = try SharedText(kind: kind, bytes: try store.read(blob.ref))
        return shared.withLock { shared in
            if let first = shared[blob.ref] { return first }
            // Open readers keep the blobs that they use.
            if memory.isHalfUsed { shared = [:] }
            shared[blob.ref] = text
            return text
        }
    }
}
