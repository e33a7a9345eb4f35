import FirnBytes
import Dispatch
import FirnDatabase
import FirnTable
import Synchronization

/// The changes of an observed target, one at a time, for one task. Changes that happen before the task requests the next one are merged
/// into one change. The feed has a queue of its own and observes in a realm of that queue.
final class ChangeFeed<Element>: Sendable {
    private struct State {
        var isOver = false
        /// The task that waits for the next change.
        var waiting: CheckedContinuation<Carried<Element>?, Never>?
        var live: Carried<RealmCore>?
    }
    private let queue = DispatchQueue(label: "firn.changes")
    private let subscription = Subscription()
    private let state: Mutex<State> = Mutex(State())
    /// Starts the observation. It is moved to the queue by the first call of `next()`.
    private let departure: Mutex<Carried<(RealmExecutor) -> RealmCore?>?> = Mutex(nil)

    /// The feed ends when `element` returns nil.
    init<Target: Observed>(frozen target: Target, _ keyPaths: [String]?, _ element: @escaping (Target, Target.Difference?) -> Element?) {
        var departure = Departure(frozen: target, subscription, keyPaths) { [weak self] target, difference in
            if let element = element(target, difference) { self?.give(Carried(element)) } else { self?.end() }
        }
        departure.isReady = { [weak self] in self?.state.withLock { $0.waiting != nil } ?? false }
        let start = departure
        let handed = Carried<(RealmExecutor) -> RealmCore?> { start.arrive($0) }
        self.departure.withLock { $0 = handed }
    }

    deinit { _ = subscription.end() }

    /// Returns the next change; nil if there will be none or the task was cancelled. Traps if another task is waiting.
    func next() async -> Carried<Element>? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isOver { return true }
                    trap(unless: state.waiting == nil, "only one task can wait for the next change: make a sequence for each task")
                    state.waiting = continuation
                    return false
                }
                if isOver { continuation.resume(returning: nil) } else { queue.async { self.look() } }
            }
        } onCancel: {
            end()
        }
    }

    private func look() {
        if let departure = departure.withLock({ departure in
            defer { departure = nil }
            return departure
        }) {
            guard let live = departure.value(.on(queue)) else { return end() }
            let handed = Carried(live)
            state.withLock { if !$0.isOver { $0.live = handed } }
        } else if let live = state.withLock({ $0.live })?.value {
            _ = try? live.refresh()
        }
        if subscription.isOver { end() }
    }

    private func give(_ element: Carried<Element>) {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: element)
    }

    private func end() {
        let (waiting, live) = state.withLock { state in
            defer { state = State(isOver: true) }
            return (state.waiting, state.live)
        }
        _ = subscription.end()
        _ = live
        waiting?.resume(returning: nil)
    }
}
