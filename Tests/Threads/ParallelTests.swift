import FirnBytes
import FirnThreads
import Testing

@testable import FirnDisk

@Suite struct ParallelTests {
    @Test func `each index is processed once, with the results in order`() throws {
        for threads in 1...4 {
            #expect(parallelMap(count: 1000, threads: threads) { $0 * $0 } == (0..<1000).map { $0 * $0 })
        }
        #expect(parallelMap(count: 0) { $0 }.isEmpty)
    }

    @Test func `the error of the lowest index is thrown`() {
        for threads in 1...4 {
            do {
                try parallel(count: 500, threads: threads) { (index) throws(Damage) in
                    if index >= 100 { throw Damage("no", at: index) }
                }
                Issue.record("no error was thrown")
            } catch {
                #expect(error.offset == 100)
            }
        }
    }

    @Test func `a work queue returns results and errors in the order of its jobs`() throws {
        let queue = WorkQueue<Int, Int, Damage>(threads: 3) { (job) throws(Damage) in
            if job == 77 { throw Damage("job", at: job) }
            var sum = job
            for i in 0..<(job % 7 * 1000) { sum ^= i; sum ^= i }
            return sum
        }
        var seen: [Int] = [], failed: [UInt64] = []
        func take() { do throws(Damage) { seen.append(try queue.next()!) } catch { failed.append(error.offset) } }
        for job in 0..<200 {
            while queue.pending >= 8 { take() }
            queue.submit(job)
        }
        while queue.pending > 0 { take() }
        #expect(try queue.next() == nil)
        #expect(failed == [77] && seen == (0..<200).filter { $0 != 77 })
        queue.submit(1)  // The job is dropped or finished when the queue is released, without a hang.
    }
}
