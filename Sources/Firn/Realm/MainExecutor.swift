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

    /// True on the main thread, and in jobs of the main queue and the main actor, also while such a job waits in `sync` of another queue.
    static var isCurrent: Bool {
        let thread = thread
        if thread != 0, thread == currentThread() { return true }
        // The question for the main thread is asked as long as its number is not known: it costs many times as much.
        if thread == 0, Thread.isMainThread {
            known.store(currentThread(), ordering: .relaxed)
            return true
        }
        return DispatchQueue.getSpecific(key: key) ?? QueueOwner.holdsMainQueue
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

/// Finds out which thread runs the jobs of the main queue.
///
/// `sync` of another queue runs its block on the calling thread, and hides the queue-specific values of the caller's queue. libdispatch's own
/// `dispatchPrecondition` still finds the caller's queue, by the number of the thread that is in the lock of a serial queue. Only this
/// word answers without ending the program. Where the word is, is found in a queue of this process; if it is not found, blocks in `sync`
/// within jobs of the main queue count as another thread's, unless they run on the main thread.
private enum QueueOwner {
    #if canImport(Darwin)
        static var holdsMainQueue: Bool { false }
    #else
        /// True if this thread runs a job of the main queue.
        static var holdsMainQueue: Bool { owner(word) == UInt32(bitPattern: threadNumber()) }

        /// The address of the main queue's lock; 0 if it is not known.
        private static let word: UInt = {
            let probe = DispatchQueue(label: "firn.probe"), thread = UInt32(bitPattern: threadNumber()), start = address(probe)
            let words = stride(from: start, to: start + 96, by: 8)
            let locked = probe.sync { words.filter { owner($0) == thread } }
            guard locked.count == 1, owner(locked[0]) != thread else { return 0 }
            return address(.main) + locked[0] - start
        }()

        /// The address of libdispatch's queue, which is the only field of Swift's.
        private static func address(_ queue: DispatchQueue) -> UInt {
            Unmanaged.passUnretained(queue).toOpaque().load(fromByteOffset: 16, as: UInt.self)
        }

        /// The number of a thread is the low 30 bits of the lock.
        private static func owner(_ word: UInt) -> UInt32 {
            (UnsafeRawPointer(bitPattern: word)?.load(as: UInt32.self) ?? 0) & 0x3FFF_FFFF
        }
    #endif
}

#if !canImport(Darwin)
    @_silgen_name("gettid")
    private func threadNumber() -> Int32
#endif
