import FirnBytes
import FirnDisk
import FirnThreads
import Synchronization

/// The progress of a conversion. Readers update it from any thread; the command polls it. A caller of the C library can cancel the
/// conversion: `check` throws then.
package final class Progress: Sendable {
    private let rowCount = Atomic<Int>(0)
    private let byteCount = Atomic<Int>(0)
    private let total = Atomic<Int>(-1)
    private let isFixed = Atomic<Bool>(false)
    private let rowTotal = Atomic<Int>(-1)
    private let cancelled = Atomic<Bool>(false)

    package init() {}

    package var rows: Int { rowCount.load(ordering: .relaxed) }
    /// The number of input bytes that are consumed, as stored.
    package var bytes: Int { byteCount.load(ordering: .relaxed) }
    /// The number of input bytes in total, with each reading of them; nil if it is not known.
    package var totalBytes: Int? {
        let value = total.load(ordering: .relaxed)
        return value < 0 ? nil : value
    }

    /// The number of rows in total; nil if it is not known.
    package var totalRows: Int? {
        let value = rowTotal.load(ordering: .relaxed)
        return value < 0 ? nil : value
    }
    package func setTotal(rows: Int) { rowTotal.store(rows, ordering: .relaxed) }

    package func cancel() { cancelled.store(true, ordering: .relaxed) }
    package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
    /// - Throws: `FirnError.Code.interrupted` after `cancel`.
    package func check() throws(FirnError) {
        if isCancelled { throw FirnError(.interrupted, "the operation was cancelled") }
    }

    package func add(rows: Int) { rowCount.wrappingAdd(rows, ordering: .relaxed) }
    package func add(bytes: Int) { byteCount.wrappingAdd(bytes, ordering: .relaxed) }
    /// Sets the total of one input; ignored after `fixTotal`.
    package func setTotal(bytes: Int) { if !isFixed.load(ordering: .relaxed) { total.store(bytes, ordering: .relaxed) } }
    /// Sets the total of several inputs; nil if it is not known.
    package func fixTotal(bytes: Int?) {
        isFixed.store(true, ordering: .relaxed)
        total.store(bytes ?? -1, ordering: .relaxed)
    }
}

/// Lets several threads work on blocks, and returns the results in the order of the blocks (see `WorkQueue`). Readers of formats share it.
package typealias BlockQueue<Job: Sendable, Output: Sendable> = WorkQueue<Job, Output, FirnError>

/// The number of threads that a reader starts by default.
package var defaultThreads: Int { Processors.count }

/// Seconds since an arbitrary start, for time limits and measurements.
package var clockSeconds: Double { Machine.seconds }
