import FirnBytes
@testable import FirnDisk
import FirnKit
import Foundation
import Testing
#if os(Linux)

    /// Files of processes that ended while they wrote, and settings of a program that reaches a limit.
    @Suite struct AbandonedFileTests {
        private let folder = TemporaryFolder()

        /// Returns the stamp of a process that has ended.
        private static func gone() throws -> ProcessStamp {
            let process = Process()
            process.executableURL = URL(filePath: "/bin/true")
            try process.run()
            process.wait()
            return ProcessStamp(system: ProcessStamp.own.system, process: process.processIdentifier, start: 1)
        }

        private func make(_ name: String) { _ = FileManager.default.createFile(atPath: folder.file(name), contents: Data([1])) }
        private func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder.file(name)) }

        @Test func `a process counts as ended only if this process can know it`() throws {
            let own = ProcessStamp.own, gone = try Self.gone()
            #expect(own.system != 0 && own.start != 0 && own.process == getpid())
            #expect(!own.isGone && gone.isGone)
            // The process id now belongs to another process.
            #expect(ProcessStamp(system: own.system, process: own.process, start: own.start + 1).isGone)
            // Stamps of another machine, of another container, and of a system that did not provide the values.
            #expect(!ProcessStamp(system: own.system ^ 1, process: gone.process, start: 1).isGone)
            #expect(
                !ProcessStamp(system: 0, process: gone.process, start: 1).isGone
                    && !ProcessStamp(system: own.system, process: gone.process, start: 0).isGone)
            for stamp in [own, gone] { #expect(ProcessStamp("\(stamp)") == stamp) }
            for text in ["", "1-2-3", "0000000g-1-1", "00000001-0-1", "00000001--1", "00000001-1-", "+0000001-1-1", "00000001-01-1"] {
                #expect(ProcessStamp(text) == nil, "\(text)")
            }
        }

        @Test func `the next writer in a folder removes the temporary files of writers that have ended, and no other files`() throws {
            let own = ProcessStamp.own, gone = try Self.gone(),
                other = ProcessStamp(system: own.system ^ 1, process: gone.process, start: 1)
            let left = [
                "a.firn.tmp-\(gone)-0123abcd", "a.firn.tmp-\(gone)-0123abcd.tmp-\(gone)-00000001", "a.firn.tmp-\(gone)-0123abcd.lossless",
                "b.firn.tmp-\(gone)-0123abcd", "a.firn2.tmp-\(gone)-0123abcd", "c.tmp-d.csv.tmp-\(gone)-0123abcd",
            ]
            let kept = [
                "a.firn.tmp-\(own)-0123abcd", "a.firn.tmp-\(other)-0123abcd", "a.firn.tmp-1234abcd", "a.firn.tmp-\(gone)",
                "a.firn.tmp-\(gone)-0123abcdx", "a.firn.tmp-\(gone)-012",
                "b.firn.tmp-\(own)-0123abcd", "b.firn.tmp-\(other)-0123abcd", "a.firn.tmp", ".tmp-\(gone)-0123abcd",
                "a.firn.tmp-\(gone)-0123abcd.bak", "b.firn-\(gone)-0123abcd", "firn-memory-\(gone)-x",
                "a.firn.tmp-\(gone)-0123abcd.tmp-\(own)-0123abcd",
            ]
            for name in left + kept { make(name) }
            let replacement = try Replacement(of: folder.file("a.firn"), overwrite: false)
            for name in left { #expect(!has(name), "\(name)") }
            for name in kept { #expect(has(name), "\(name)") }
            try replacement.finish()
            #expect(try Paths.list(folder.path).count == kept.count + 1)
        }

        @Test func `a target with the longest name of the file system is written, and its temporary files are removed`() throws {
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

        @Test func `errors name the target, not the temporary file`() throws {
            let replacement = try Replacement(of: folder.file("a"), overwrite: true)
            #expect(Replacement.shown(replacement.temporaryPath) == folder.file("a"))
            #expect(Replacement.shown("cannot rename to \(replacement.temporaryPath): no") == "cannot rename to \(folder.file("a")): no")
            try Paths.remove(replacement.temporaryPath)
            let error = #expect(throws: FirnError.self) { try replacement.finish() }
            #expect(error?.location?.file == folder.file("a") && error?.message.contains(".tmp-") == false, "\(String(describing: error))")
        }

        @Test func `exceeding the limit of file lengths is an error, and the handler of the signal stays unchanged`() throws {
            var before = rlimit(), action = sigaction()
            getrlimit(__rlimit_resource_t(1), &before)
            // Longer than any file of another test.
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
        func `an output has no permissions that one of its inputs lacks`(_ sources: [Int], _ wanted: Int) throws {
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
