import Dispatch
import Foundation
import Synchronization

/// Notifies a realm, on the realm's thread, queue or actor, that its file has a newer version. Any thread can ring; rings before the realm
/// has answered are merged into one.
final class Doorbell: @unchecked Sendable {
    private enum Scheduler {
        case main
        case loop(RunLoop)
        case queue(DispatchQueue)
        case actor(WeakActor)
    }
    private let scheduler: Scheduler
    private let isRinging = Atomic<Bool>(false)
    // Set before any other thread can see the doorbell, and read only on the realm's thread, queue or actor.
    weak var core: RealmCore?

    /// Returns nil for a frozen realm, which never changes.
    init?(_ executor: RealmExecutor) {
        switch executor {
        case .thread: scheduler = .loop(RunLoop.current)
        case .main: scheduler = .main
        case .queue(let queue): scheduler = .queue(queue)
        case .actor(let home): scheduler = .actor(home)
        case .none: return nil
        }
    }

    func ring() {
        guard !isRinging.exchange(true, ordering: .acquiringAndReleasing) else { return }
        switch scheduler {
        case .main: MainExecutor.async { self.answer(checked: true) }
        case .queue(let queue): queue.async { self.answer(checked: true) }
        case .actor(let home): if let actor = home.actor { Task { await Doorbell.answer(self, on: actor) } }
        case .loop(let loop):
            // A timer wakes a sleeping run loop; `perform` does not. A thread without a run loop never answers: its realm changes only in
            // refresh().
            loop.add(Timer(timeInterval: 0, repeats: false) { _ in self.answer(checked: false) }, forMode: .common)
        }
    }

    private static func answer(_ bell: Doorbell, on actor: isolated any Actor) { bell.answer(checked: true) }

    private func answer(checked: Bool) {
        isRinging.store(false, ordering: .sequentiallyConsistent)
        guard let core else { return }
        guard checked || core.executor.isCurrent else { return }
        core.answerDoorbell()
    }
}
