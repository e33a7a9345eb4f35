import FirnBytes
import FirnCodecs
import FirnStore
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
        let text = try SharedText(kind: blob.kind, bytes: try store.read(blob.ref))
        return shared.withLock { shared in
            if let first = shared[blob.ref] { return first }
            // Open readers keep the blobs that they use.
            if memory.isHalfUsed { shared = [:] }
            shared[blob.ref] = text
            return text
        }
    }
}

/// Counters of what a database has read so far. Tests check with them what a change may cost.
package final class ReadCounts: Sendable {
    private let records = Atomic<Int>(0), vectors = Atomic<Int>(0), segments = Atomic<Int>(0), vectorsOfObjects = Atomic<Int>(0),
        valuesOfObjects = Atomic<Int>(0)

    package init() {}

    /// The number of decoded delta records.
    package var deltaRecords: Int { records.load(ordering: .relaxed) }
    /// The number of vectors that were decoded to be changed, each of one column.
    package var changedVectors: Int { vectors.load(ordering: .relaxed) }
    /// The number of sealed segments whose headers were opened.
    package var openedSegments: Int { segments.load(ordering: .relaxed) }

    /// The number of vectors of stored columns that were decoded for fields of embedded objects.
    package var objectVectors: Int { vectorsOfObjects.load(ordering: .relaxed) }
    /// The number of values that were read one by one for fields of embedded objects.
    package var objectValues: Int { valuesOfObjects.load(ordering: .relaxed) }

    func addDeltaRecords(_ count: Int) { records.add(count, ordering: .relaxed) }
    func addChangedVector() { vectors.add(1, ordering: .relaxed) }
    func addObjectVector() { vectorsOfObjects.add(1, ordering: .relaxed) }
    func addObjectValue() { valuesOfObjects.add(1, ordering: .relaxed) }
    func addOpenedSegment() { segments.add(1, ordering: .relaxed) }
}
