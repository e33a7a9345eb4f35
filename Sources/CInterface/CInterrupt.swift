import CFirn
import FirnBytes
import FirnThreads
import Synchronization

/// Asks the program, on the thread that waits for the library, whether it should stop waiting. Only the thread that set the check calls it:
/// another one could wait for a lock that the first one holds.
enum CInterrupt {
    private struct Check: @unchecked Sendable {
        let thread: UInt
        let isInterrupted: @convention(c) () -> Int32
    }
    private static let current = Mutex<Check?>(nil)

    /// The seconds between two checks of a thread that waits.
    static let interval = 0.05

    static func set(_ check: (@convention(c) () -> Int32)?) {
        let check = check.map { Check(thread: CurrentThread.id, isInterrupted: $0) }
        current.withLock { $0 = check }
    }

    /// - Throws: `.interrupted` if the program wants to stop.
    static func check() throws(FirnError) {
        guard let check = current.withLock({ $0 }), check.thread == CurrentThread.id, check.isInterrupted() != 0 else { return }
        throw FirnError(.interrupted, "interrupted")
    }
}

/// `firn_set_interrupt` of `firn.h`.
@_cdecl("firn_set_interrupt")
public func firnSetInterrupt(_ check: (@convention(c) () -> Int32)?) { CInterrupt.set(check) }

/// A progress function of a caller.
struct CProgress {
    let function: firn_progress?
    let context: UnsafeMutableRawPointer?

    init(_ function: firn_progress?, _ context: UnsafeMutableRawPointer?) {
        self.function = function
        self.context = context
    }

    /// - Throws: `.interrupted` if the caller cancels.
    func report(_ done: Int, _ total: Int) throws(FirnError) {
        guard let function, function(context, Int64(done), Int64(total)) != 0 else { return }
        throw FirnError(.interrupted, "the operation was cancelled")
    }

    /// Runs `body` on a thread of its own, and reports `state` before and until it ends. If the caller cancels, calls `cancel` and waits for the end.
    func during<R: Sendable>(
        _ state: () -> (done: Int, total: Int), cancel: () -> Void, _ body: @escaping @Sendable () throws(FirnError) -> R
    ) throws(FirnError) -> R {
        let begin = state(), outcome = Outcome<R>()
        try report(begin.done, begin.total)
        try CInterrupt.check()
        let thread = SystemThread { outcome.put { () throws(FirnError) in try body() } }
        guard thread.isRunning else { throw FirnError(.outOfMemory, "the system cannot start a thread") }
        var failure: FirnError?
        while true {
            if let result = outcome.wait(seconds: CInterrupt.interval) {
                thread.join()
                if case .failure(let error) = result, error.code == .interrupted, let failure { throw failure }
                // The interrupt came too late for this call, not for the program.
                if failure != nil { CInterrupt.repeatKeyboardInterrupt(dropsOthers: true) }
                return try result.get()
            }
            guard failure == nil else { continue }
            do throws(FirnError) {
                let now = state()
                try report(now.done, now.total)
                try CInterrupt.check()
            } catch {
                failure = error
                cancel()
            }
        }
    }
}

/// What a thread leaves for another one.
private final class Outcome<R: Sendable>: @unchecked Sendable {
    private let lock = Lock()
    private var result: Result<R, FirnError>?

    func put(_ body: () throws(FirnError) -> R) {
        let made: Result<R, FirnError>
        do throws(FirnError) { made = .success(try body()) } catch { made = .failure(error) }
        lock.withLock {
            result = made
            lock.wakeAll()
        }
    }

    /// Returns the result, or nil if there is none after this time.
    func wait(seconds: Double) -> Result<R, FirnError>? {
        lock.withLock {
            if result == nil { lock.wait(seconds: seconds) }
            return result
        }
    }
}
