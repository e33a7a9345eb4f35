import Dispatch
import FirnModel
import Synchronization

/// Changes of something, one at a time, for a task that asks for the next when it is done with the last: what happens meanwhile adds up to one change.
/// They are looked for on a queue of the feed's own, in a realm of that queue.
final class ChangeFeed<Element>: Sendable {
    private struct State {
        var isOver = false
        /// Whoever waits for the next change.
        var waiting: CheckedContinuation<Carried<Element>?, Never>?
        var live: Carried<RealmCore>?
    }
    private let queue = DispatchQueue(label: "firn.changes")
    private let subscription = Subscription()
    private let state: Mutex<State> = Mutex(State())
    /// Goes to the queue with the first question.
    private let departure: Mutex<Carried<(Confinement) -> RealmCore?>?> = Mutex(nil)

    init<Target: Observed>(frozen target: Target, _ keyPaths: [String]?, _ element: @escaping (Target, Target.Difference?) -> Element) {
        var departure = Departure(frozen: target, subscription, keyPaths) { [weak self] target, difference in self?.give(Carried(element(target, difference))) }
        departure.isReady = { [weak self] in self?.state.withLock { $0.waiting != nil } ?? false }
        let start = departure
        let handed = Carried<(Confinement) -> RealmCore?> { start.arrive($0) }
        self.departure.withLock { $0 = handed }
    }

    deinit { _ = subscription.end() }

    /// Nil: there will be none, or the task was cancelled.
    func next() async -> Carried<Element>? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isOver { return true }
                    precondition(state.waiting == nil, "one task at a time asks for the next change: make a sequence for each")
                    state.waiting = continuation
                    return false
                }
                if isOver { continuation.resume(returning: nil) } else { queue.async { self.look() } }
            }
        } onCancel: { end() }
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
