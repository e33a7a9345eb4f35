import FirnBytes
import FirnThreads
import Foundation
import Testing

@testable import FirnDisk
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

nonisolated(unsafe) private let foreign = UnsafeMutablePointer<Int>.allocate(capacity: 1)
nonisolated(unsafe) private let foreignPage = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: 1)

/// Files that are truncated while they are mapped. Each test runs in a separate process, because signal handlers belong to the whole
/// process.
@Suite struct MappingFaultTests {
    @Test func `an earlier signal handler is called for faults of other mappings only`() async {
        await #expect(processExitsWith: .success) {
            foreign.initialize(to: 0)
            var action = sigaction()
            #if canImport(Glibc)
                action.__sigaction_handler.sa_sigaction = { _, _, _ in
                    foreign.pointee += 1
                    _ = mmap(foreignPage.pointee, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
                }
                action.sa_flags = Int32(SA_SIGINFO)
            #else
                action.__sigaction_u.__sa_handler = { _ in
                    foreign.pointee += 1
                    _ = mmap(foreignPage.pointee, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
                }
            #endif
            sigaction(SIGBUS, &action, nil)
            let scratch = Scratch(), file = try File(path: scratch("a"), .createNew), other = try File(path: scratch("b"), .createNew)
            for each in [file, other] { try each.write([UInt8](repeating: 9, count: 40_000), at: 0) }
            let mapping = try Mapping(file)
            // A mapping that Firn did not make.
            foreignPage.initialize(to: mmap(nil, 40_000, PROT_READ, MAP_SHARED, other.descriptor, 0))
            let foreignBytes = foreignPage.pointee!.assumingMemoryBound(to: UInt8.self)
            precondition(mapping.bytes(at: 20_000, count: 1)[0] == 9 && foreignBytes[0] == 9 && !mapping.isBroken)
            try file.truncate(to: 100)
            try other.truncate(to: 0)
            precondition(
                mapping.bytes(at: 20_000, count: 1)[0] == 0 && mapping.isBroken && foreign.pointee == 0,
                "the fault in Firn's mapping was not handled, or was handed to the other handler")
            precondition(foreignBytes[0] == 0 && foreign.pointee == 1, "the fault in the other mapping was not handed to its handler")
            precondition(Mapping.faults.pointee == 1, "not exactly one fault was counted")
        }
    }

    @Test func `a fault outside of Firn's mappings ends the process if there is no other handler`() async {
        await #expect(processExitsWith: .signal(SIGBUS)) {
            signal(SIGBUS, SIG_DFL)
            let scratch = Scratch(), file = try File(path: scratch("a"), .createNew), other = try File(path: scratch("b"), .createNew)
            try other.write([UInt8](repeating: 9, count: 40_000), at: 0)
            let mapping = try Mapping(file), foreign = mmap(nil, 40_000, PROT_READ, MAP_SHARED, other.descriptor, 0)!
            try other.truncate(to: 0)
            print(foreign.assumingMemoryBound(to: UInt8.self)[0], mapping.reach)
        }
    }

    @Test func `threads that read truncated pages at the same time all continue`() async {
        await #expect(processExitsWith: .success) {
            let scratch = Scratch(), file = try File(path: scratch("a"), .createNew), pages = 512
            try file.write([UInt8](repeating: 1, count: pages * 4096), at: 0)
            let mapping = try Mapping(file)
            try file.truncate(to: 0)
            let sums = parallelMap(count: 8, threads: 8) { (_: Int) throws(Never) -> Int in
                (0..<pages).reduce(0) { $0 + Int(mapping.bytes(at: $1 * 4096 + 7, count: 1)[0]) }
            }
            precondition(sums.allSatisfy { $0 == 0 } && mapping.isBroken)
        }
    }

    /// If two faults were counted as one, a count could decrease after another thread has read it. This is rare and mostly found by the
    /// thread sanitizer.
    @Test func `faults of several threads are counted separately`() async {
        await #expect(processExitsWith: .success) {
            let scratch = Scratch(), file = try File(path: scratch("a"), .createNew), pages = 2048, threads = 8
            try file.write([UInt8](repeating: 1, count: pages * 4096), at: 0)
            let mapping = try Mapping(file)
            try file.truncate(to: 0)
            _ = parallelMap(count: threads, threads: threads) { (thread: Int) throws(Never) -> Int in
                stride(from: thread, to: pages, by: threads).reduce(0) { $0 + Int(mapping.bytes(at: $1 * 4096, count: 1)[0]) }
            }
            precondition(Mapping.faults.pointee == pages, "\(Mapping.faults.pointee) of \(pages)")
        }
    }

    @Test func `a mapping is not watched when all slots are taken, and a released slot is used again`() async {
        await #expect(processExitsWith: .success) {
            let scratch = Scratch(), file = try File(path: scratch("a"), .createNew)
            try file.write([1, 2, 3], at: 0)
            var mappings: [Mapping] = []
            while let mapping = Mapping.watched(file) { mappings.append(mapping) }
            precondition(mappings.count == MappingFaults.slots, "\(mappings.count) mappings")
            let unwatched = try Mapping(file)
            precondition(!unwatched.isWatched)
            mappings.removeLast()
            precondition(Mapping.watched(file) != nil)
        }
    }
}
