import FirnBytes
import FirnDisk
import Synchronization

/// How far a conversion has come. Readers bump it from any thread; the tool looks now and then.
package final class Progress: Sendable {
    private let rowCount = Atomic<Int>(0)
    private let byteCount = Atomic<Int>(0)
    private let total = Atomic<Int>(-1)

    package init() {}

    package var rows: Int { rowCount.load(ordering: .relaxed) }
    /// Bytes of input used up, as stored.
    package var bytes: Int { byteCount.load(ordering: .relaxed) }
    /// Bytes of input in all, counting each reading of it; nil if not known.
    package var totalBytes: Int? {
        let value = total.load(ordering: .relaxed)
        return value < 0 ? nil : value
    }

    package func add(rows: Int) { rowCount.wrappingAdd(rows, ordering: .relaxed) }
    package func add(bytes: Int) { byteCount.wrappingAdd(bytes, ordering: .relaxed) }
    package func setTotal(bytes: Int) { total.store(bytes, ordering: .relaxed) }
}

/// Blocks worked on by several threads, results in the blocks' order (see `WorkQueue`): what readers of formats share.
package typealias BlockQueue<Job: Sendable, Output: Sendable> = WorkQueue<Job, Output, FirnError>

/// How many threads a reader starts unless told.
package var defaultThreads: Int { Machine.cores }

/// Seconds from an arbitrary start, for time limits and measurements.
package var clockSeconds: Double { Machine.seconds }
