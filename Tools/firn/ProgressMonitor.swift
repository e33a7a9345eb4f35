import FirnExchange
import Synchronization

/// Shows a caller of the library how far a run is, and cancels it. Usable from any thread.
package final class ProgressMonitor: Sendable {
    private struct Watched {
        var progress: Progress?
        var moreRows: @Sendable () -> Int = { 0 }
        var isCancelled = false
    }
    private let watched = Mutex(Watched())

    package init() {}

    /// The done part and the total, in bytes of the input if their number is known, else in rows; the total is -1 if it is not known.
    package var state: (done: Int, total: Int) {
        let (progress, moreRows) = watched.withLock { ($0.progress, $0.moreRows) }
        guard let progress else { return (moreRows(), -1) }
        if let total = progress.totalBytes, total > 0 { return (min(progress.bytes, total), total) }
        return (progress.rows + moreRows(), progress.totalRows ?? -1)
    }

    /// Makes the run end with an error, as soon as it can.
    package func cancel() {
        watched.withLock {
            $0.isCancelled = true
            $0.progress?.cancel()
        }
    }

    package var isCancelled: Bool { watched.withLock { $0.isCancelled } }

    func watch(_ progress: Progress, _ moreRows: @escaping @Sendable () -> Int) {
        watched.withLock {
            ($0.progress, $0.moreRows) = (progress, moreRows)
            if $0.isCancelled { progress.cancel() }
        }
    }
}
