import FirnBytes
@testable import FirnDisk
import FirnKit
import Foundation
import Synchronization
import Testing

@Suite struct FileWatchTests {
    private final class Counter: Sendable {
        let count = Atomic<Int>(0)

        func waits(beyond former: Int) -> Bool {
            for _ in 0..<10_000 {
                if count.load(ordering: .relaxed) > former { return true }
                usleep(1000)
            }
            return false
        }
    }

    @Test func `writes to a file are reported until its watch is released`() throws {
        let folder = TemporaryFolder(onDisk: true), url = URL(filePath: folder.file("a"))
        try Data([1]).write(to: url)
        let counter = Counter(), file = try FileHandle(forWritingTo: url)
        var watch: FileWatch? = FileWatch(path: url.path) { _ = counter.count.add(1, ordering: .relaxed) }
        usleep(20_000)
        #expect(counter.count.load(ordering: .relaxed) == 0)
        for _ in 0..<3 {
            let former = counter.count.load(ordering: .relaxed)
            file.write(Data([1, 2, 3]))
            #expect(counter.waits(beyond: former))
            usleep(20_000)
        }
        _ = watch
        watch = nil
        let former = counter.count.load(ordering: .relaxed)
        file.write(Data([1, 2, 3]))
        usleep(50_000)
        #expect(counter.count.load(ordering: .relaxed) == former)
    }

    @Test func `a file that cannot be watched is polled`() {
        let counter = Counter()
        let watch = FileWatch(path: "/nowhere/at/all") { _ = counter.count.add(1, ordering: .relaxed) }
        #expect(counter.waits(beyond: 1))
        withExtendedLifetime(watch) {}
    }

    @Test func `released watches leave no files open`() {
        func open() -> Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0 }
        let folder = TemporaryFolder(onDisk: true), path = folder.path
        for _ in 0..<5 { _ = FileWatch(path: path) {} }
        usleep(50_000)
        let before = open()
        for _ in 0..<200 { _ = FileWatch(path: path) {} }
        for _ in 0..<1000 where open() > before + 60 { usleep(5000) }
        // Other tests open files at the same time.
        #expect(open() <= before + 60)
    }
}
