import Dispatch
import Foundation
import Synchronization

/// The main executor, which realms of the main thread, the main queue and the main actor belong to.
///
/// While the main thread runs a run loop, it runs the jobs of the main queue and the main actor. Otherwise (in `dispatchMain()`, which an
/// asynchronous `main` ends in) other threads run them, one job at a time.
enum MainExecutor {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()
    private static let known = Atomic<UInt>(0)

    /// The number of the main thread; 0 until it is known. No other thread of the process can ever have it.
    static var thread: UInt { known.load(ordering: .relaxed) }

    /// True on the main thread, and in jobs of the main queue and the main actor.
    static var isCurrent: Bool {
        let thread = thread
        if thread != 0, thread == currentThread() { return true }
        // The question for the main thread is asked as long as its number is not known: it costs many times as much.
        if thread == 0, Thread.isMainThread {
            known.store(currentThread(), ordering: .relaxed)
            return true
        }
        return DispatchQueue.getSpecific(key: key) ?? false
    }

    /// Returns whether this is the main queue. On Linux, each call of `DispatchQueue.main` returns another object for it.
    static func isMainQueue(_ queue: DispatchQueue) -> Bool { queue.getSpecific(key: key) ?? false }

    // MARK: Jobs

    private static let jobs: Mutex<[Carried<() -> Void>]> = Mutex([])

    /// Runs `body` on the main executor: as a job of the main queue, or earlier if a job of the main queue runs the main thread's run loop.
    /// The main queue waits until that job ends, and the run loop does not.
    static func async(_ body: @escaping () -> Void) {
        let job = Carried(body)
        jobs.withLock { $0.append(job) }
        DispatchQueue.main.async { runNext() }
        alarm.ring()
    }

    private static func runNext() { jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }?.value() }

    /// Runs the jobs that are waiting. Each of those that they add rings again.
    private static func runWaiting() { for _ in 0..<jobs.withLock({ $0.count }) { runNext() } }

    /// A timer of the main thread's run loop, which is fired by setting its date. There is one for the whole process, because it stays in
    /// the run loop, and the main thread may never run that.
    private final class Alarm: @unchecked Sendable {
        // Core Foundation locks timers, so any thread may set the date.
        private let timer = Timer(fire: .distantFuture, interval: 1e9, repeats: true) { _ in MainExecutor.runWaiting() }

        init() { RunLoop.main.add(timer, forMode: .common) }

        func ring() { timer.fireDate = Date() }
    }
    private static let alarm = Alarm()
}
