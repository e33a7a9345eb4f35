#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Threads that run jobs while another thread prepares jobs and consumes results. `submit` adds a job; `next` returns the results in the
/// order of the jobs. One thread submits and consumes; it bounds memory by consuming while `pending` is above its limit:
///
///     while let job = prepare() {
///         while queue.pending >= 4 { consume(try queue.next()!) }
///         queue.submit(job)
///     }
///     while let result = try queue.next() { consume(result) }
package final class WorkQueue<Job: Sendable, Output: Sendable, Failure: Error> {
    private let state: State
    private let threads: [SystemThread]

    /// Starts at least one thread. On release, jobs that were begun are finished and the others are dropped.
    package init(threads count: Int = Processors.count, work: @escaping @Sendable (Job) throws(Failure) -> Output) {
        let state = State()
        self.state = state
        threads = (0..<max(count, 1)).map { _ in SystemThread { state.run(work) } }
        if !threads.contains(where: \.isRunning) { state.inline = work }
    }

    deinit {
        state.stop()
        for thread in threads { thread.join() }
    }

    /// The number of submitted jobs whose results were not consumed yet.
    package private(set) var pending = 0

    /// Adds a job.
    package func submit(_ job: Job) {
        pending += 1
        state.add(job)
    }

    /// Returns the result of the oldest job that was not consumed yet, after waiting for it if necessary; nil if there is none. The error
    /// of a failed job is thrown here, once, in its turn.
    package func next() throws(Failure) -> Output? {
        guard pending > 0 else { return nil }
        pending -= 1
        return try state.take().get()
    }

    /// The shared state, guarded by one lock. Jobs are large (a chunk, a segment), so the lock is rarely contended.
    private final class State: @unchecked Sendable {
        private var waiting: [(number: Int, job: Job)] = []
        private var results: [Int: Result<Output, Failure>] = [:]
        private var submitted = 0, taken = 0
        private var stopping = false
        var inline: ((Job) throws(Failure) -> Output)?
        private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let jobAdded = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        private let resultAdded = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

        init() {
            pthread_mutex_init(lock, nil)
            pthread_cond_init(jobAdded, nil)
            pthread_cond_init(resultAdded, nil)
        }

        deinit {
            pthread_mutex_destroy(lock)
            pthread_cond_destroy(jobAdded)
            pthread_cond_destroy(resultAdded)
            lock.deallocate()
            jobAdded.deallocate()
            resultAdded.deallocate()
        }

        func add(_ job: Job) {
            if let inline {  // no thread could be created: run the job here
                results[submitted] = attempt(inline, job)
                submitted += 1
                return
            }
            pthread_mutex_lock(lock)
            waiting.append((submitted, job))
            submitted += 1
            pthread_cond_signal(jobAdded)
            pthread_mutex_unlock(lock)
        }

        func take() -> Result<Output, Failure> {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            while true {
                if let result = results.removeValue(forKey: taken) {
                    taken += 1
                    return result
                }
                pthread_cond_wait(resultAdded, lock)
            }
        }

        func run(_ work: (Job) throws(Failure) -> Output) {
            pthread_mutex_lock(lock)
            while true {
                while waiting.isEmpty && !stopping { pthread_cond_wait(jobAdded, lock) }
                if stopping { break }
                let (number, job) = waiting.removeFirst()  // a handful at most: `pending` bounds it
                pthread_mutex_unlock(lock)
                let result = attempt(work, job)
                pthread_mutex_lock(lock)
                results[number] = result
                pthread_cond_signal(resultAdded)
            }
            pthread_mutex_unlock(lock)
        }

        func stop() {
            pthread_mutex_lock(lock)
            stopping = true
            pthread_cond_broadcast(jobAdded)
            pthread_mutex_unlock(lock)
        }

        private func attempt(_ work: (Job) throws(Failure) -> Output, _ job: Job) -> Result<Output, Failure> {
            do throws(Failure) { return .success(try work(job)) } catch { return .failure(error) }
        }
    }
}
