import FirnBytes
@testable import FirnDisk
import FirnKit
import Foundation
import Testing
#if os(Linux)

    /// Files of processes that ended while they wrote, and what a program keeps that meets a limit.
    @Suite struct AbandonedFileTests {
        private let folder = TemporaryFolder()

        /// The stamp of a process that has ended.
        private static func gone() throws -> ProcessStamp {
            let process = Process()
            process.executableURL = URL(filePath: "/bin/true")
            try process.run()
            process.waitUntilExit()
            return ProcessStamp(system: ProcessStamp.own.system, process: process.processIdentifier, start: 1)
        }

        private func make(_ name: String) { _ = FileManager.default.createFile(atPath: folder.file(name), contents: Data([1])) }
        private func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder.file(name)) }

        @Test func `a process is gone only where this one can know it`() throws {
            let own = ProcessStamp.own, gone = try Self.gone()
            #expect(own.system != 0 && own.start != 0 && own.process == getpid())
            #expect(!own.isGone && gone.isGone)
            // The number is another process's by now.
            #expect(ProcessStamp(system: own.system, process: own.process, start: own.start + 1).isGone)
            // Of another machine, of another container, and where the system did not say.
            #expect(!ProcessStamp(system: own.system ^ 1, process: gone.process, start: 1).isGone)
            #expect(
                !ProcessStamp(system: 0, process: gone.process, start: 1).isGone
                    && !ProcessStamp(system: own.system, process: gone.process, start: 0).isGone)
            for stamp in [own, gone] { #expect(ProcessStamp("\(stamp)") == stamp) }
            for text in ["", "1-2-3", "0000000g-1-1", "00000001-0-1", "00000001--1", "00000001-1-", "+0000001-1-1", "00000001-01-1"] {
                #expect(ProcessStamp(text) == nil, "\(text)")
            }
        }

        @Test func `the next writer of a target removes the files of writers that have ended, and no others`() throws {
            let own = ProcessStamp.own, gone = try Self.gone(),
                other = ProcessStamp(system: own.system ^ 1, process: gone.process, start: 1)
            let left = [
                "a.firn.tmp-\(gone)-0123abcd", "a.firn.tmp-\(gone)-0123abcd.tmp-\(gone)-00000001", "a.firn.tmp-\(gone)-0123abcd.lossless",
            ]
            let kept = [
                "a.firn.tmp-\(own)-0123abcd", "a.firn.tmp-\(other)-0123abcd", "a.firn.tmp-1234abcd", "a.firn.tmp-\(gone)",
                "a.firn.tmp-\(gone)-0123abcdx", "a.firn.tmp-\(gone)-012",
                "b.firn.tmp-\(gone)-0123abcd", "a.firn.tmp", "a.firn2.tmp-\(gone)-0123abcd",
            ]
            for name in left + kept { make(name) }
            let replacement = try Replacement(of: folder.file("a.firn"), overwrite: false)
            for name in left { #expect(!has(name), "\(name)") }
            for name in kept { #expect(has(name), "\(name)") }
            try replacement.finish()
            #expect(try Paths.list(folder.path).count == kept.count + 1)
        }

        @Test func `a target with the longest name that a file system takes is written and cleaned`() throws {
            let long = String(repeating: "é", count: 125) + "abcd", gone = try Self.gone()
            make(AbandonedFiles.sibling(of: long, ".tmp-\(gone)-0123abcd"))
            #expect(try Paths.list(folder.path).count == 1)
            let outer = try Replacement(of: folder.file(long), overwrite: true)
            let inner = try Replacement(of: outer.temporaryPath, overwrite: true)
            try inner.file.write([7], at: 0)
            try inner.finish()
            try outer.finish()
            #expect(try Paths.list(folder.path) == [long] && File(path: folder.file(long), .read).readAll() == [7])
        }

        @Test func `errors name the target, not the file that is written next to it`() throws {
            let replacement = try Replacement(of: folder.file("a"), overwrite: true)
            #expect(Replacement.shown(replacement.temporaryPath) == folder.file("a"))
            #expect(Replacement.shown("cannot rename to \(replacement.temporaryPath): no") == "cannot rename to \(folder.file("a")): no")
            try Paths.remove(replacement.temporaryPath)
            let error = #expect(throws: FirnError.self) { try replacement.finish() }
            #expect(error?.place?.file == folder.file("a") && error?.message.contains(".tmp-") == false, "\(String(describing: error))")
        }

        @Test func `a limit on the length of files is an error, and the signal stays the program's`() throws {
            var before = rlimit(), action = sigaction()
            getrlimit(__rlimit_resource_t(1), &before)
            // Longer than what any other test writes.
            var limit = rlimit(rlim_cur: 1 << 40, rlim_max: before.rlim_max)
            try #require(setrlimit(__rlimit_resource_t(1), &limit) == 0)
            defer { setrlimit(__rlimit_resource_t(1), &before) }
            let file = try File(path: folder.file("a"), .createNew)
            var codes: [FirnError.Code] = []
            do throws(FirnError) { try file.write([1], at: 1 << 41) } catch { codes.append(error.code) }
            do throws(FirnError) { try file.truncate(to: 1 << 41) } catch { codes.append(error.code) }
            do throws(FirnError) { _ = try file.allocate(offset: 1 << 41, length: 4096) } catch { codes.append(error.code) }
            #expect(codes == [.noSpace, .noSpace, .noSpace])
            try file.write([1], at: 0)
            var pending = sigset_t()
            sigpending(&pending)
            sigaction(SIGXFSZ, nil, &action)
            #expect(sigismember(&pending, SIGXFSZ) == 0)
            #expect(unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_DFL, to: Int.self))
        }

        @Test(arguments: [([0o600], 0o600), ([0o640, 0o604], 0o600), ([0o640], 0o640), ([0o400], 0o600), ([0o777], 0o666), ([], 0o666)])
        func `an output allows no more than its sources do`(_ sources: [Int], _ wanted: Int) throws {
            var paths: [String] = []
            for (i, mode) in sources.enumerated() {
                make("in\(i)")
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.file("in\(i)"))
                paths.append(folder.file("in\(i)"))
            }
            let modes = SourceModes(paths)
            #expect(modes.mode == UInt32(wanted))
            let plain = try File(path: folder.file("plain"), .createNew)
            let replacement = try Replacement(of: folder.file("out"), overwrite: false, sources: modes)
            #expect(try replacement.file.status().st_mode & 0o777 == plain.status().st_mode & 0o777 & mode_t(wanted))
        }
    }
#endif
