import Dispatch
import Foundation
import Synchronization

/// Tells a realm, at the place it belongs to, that its file has a newer version. Rung from anywhere; rings that come before the realm answered are one.
final class Doorbell: @unchecked Sendable {
    private enum Place {
        case main
        case loop(RunLoop)
        case queue(DispatchQueue)
        case actor(ActorPlace)
    }
    private let place: Place
    private let isRinging = Atomic<Bool>(false)
    // Set before anybody else knows the bell, and looked at where the realm belongs only.
    weak var core: RealmCore?

    /// Nil: a frozen realm, which has no news.
    init?(_ confinement: Confinement) {
        switch confinement {
        case .thread: place = Thread.isMainThread ? .main : .loop(RunLoop.current)
        case .queue(let queue): place = .queue(queue)
        case .actor(let home): place = .actor(home)
        case .none: return nil
        }
    }

    func ring() {
        guard !isRinging.exchange(true, ordering: .acquiringAndReleasing) else { return }
        switch place {
        case .main: DispatchQueue.main.async { self.answer(checked: false) }
        case .queue(let queue): queue.async { self.answer(checked: true) }
        case .actor(let home): if let actor = home.actor { Task { await Doorbell.answer(self, on: actor) } }
        case .loop(let loop):
            // A timer wakes a loop that sleeps; `perform` does not. A thread that runs no loop never answers: its realm looks in refresh().
            loop.add(Timer(timeInterval: 0, repeats: false) { _ in self.answer(checked: false) }, forMode: .common)
        }
    }

    private static func answer(_ bell: Doorbell, on actor: isolated any Actor) { bell.answer(checked: true) }

    private func answer(checked: Bool) {
        isRinging.store(false, ordering: .sequentiallyConsistent)
        guard let core else { return }
        // The main queue may be served by another thread than the one that the realm was opened on (dispatchMain).
        guard checked || core.confinement.isHere else { return }
        core.answerDoorbell()
    }
}
