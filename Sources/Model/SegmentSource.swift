import FirnBytes
import FirnCodecs
import FirnStore
import Synchronization

/// What stored segments read from: extents, and the blobs that several segments share. It pins no version, so that a segment which two versions
/// have in common does not hold the older one.
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

    /// Whether what is read here can be read when the transaction has ended.
    var isLasting: Bool { store is FileExtents }

    func sharedText(_ blob: SegmentHeader.Shared) throws(Damage) -> SharedText {
        if let shared = shared.withLock({ $0[blob.ref] }) { return shared }
        let text = try SharedText(kind: blob.kind, bytes: try store.read(blob.ref))
        return shared.withLock { shared in
            if let first = shared[blob.ref] { return first }
            // Readers that are open keep those they use.
            if memory.isHalfUsed { shared = [:] }
            shared[blob.ref] = text
            return text
        }
    }
}

/// How much a database has read so far: what tests hold against what a change may cost.
package final class ReadCounts: Sendable {
    private let records = Atomic<Int>(0), vectors = Atomic<Int>(0), segments = Atomic<Int>(0), vectorsOfObjects = Atomic<Int>(0), valuesOfObjects = Atomic<Int>(0)

    package init() {}

    /// Delta records decoded.
    package var deltaRecords: Int { records.load(ordering: .relaxed) }
    /// Vectors of one column decoded to be changed.
    package var changedVectors: Int { vectors.load(ordering: .relaxed) }
    /// Sealed segments whose headers were opened.
    package var openedSegments: Int { segments.load(ordering: .relaxed) }

    /// Vectors of one stored column decoded for the fields of embedded objects.
    package var objectVectors: Int { vectorsOfObjects.load(ordering: .relaxed) }
    /// Values read one by one for the fields of embedded objects.
    package var objectValues: Int { valuesOfObjects.load(ordering: .relaxed) }

    func addDeltaRecords(_ count: Int) { records.add(count, ordering: .relaxed) }
    func addChangedVector() { vectors.add(1, ordering: .relaxed) }
    func addObjectVector() { vectorsOfObjects.add(1, ordering: .relaxed) }
    func addObjectValue() { valuesOfObjects.add(1, ordering: .relaxed) }
    func addOpenedSegment() { segments.add(1, ordering: .relaxed) }
}
