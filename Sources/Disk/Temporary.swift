import FirnBytes
import Synchronization
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Paths to remove if the process is told to stop. The handler may only make async-signal-safe calls, so the registry is a
/// fixed array of C strings: a slot is a word, written whole. A path that is forgotten may be in the hands of a handler on another thread: memory is given back with the
/// next that takes the slot, at the earliest.
enum TemporaryPaths {
    private static let slots = 64
    nonisolated(unsafe) private static let table: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = {
        let table = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: slots)
        table.initialize(repeating: nil, count: slots)
        return table
    }()
    private struct Guarded {
        var isInstalled = false
        var forgotten = [UnsafeMutablePointer<CChar>?](repeating: nil, count: slots)
    }
    private static let lock = Mutex<Guarded>(Guarded())
    /// Set once, by programs that end with a code of their own.
    nonisolated(unsafe) private static let endsWithCode: UnsafeMutablePointer<Bool> = {
        let flag = UnsafeMutablePointer<Bool>.allocate(capacity: 1)
        flag.initialize(to: false)
        return flag
    }()
    /// Paths are those of the process that wrote them down.
    private static let forks = Forks.count

    /// Remembers `path`; returns its slot, nil when all are taken (the path then stays behind if the process is stopped).
    static func add(_ path: String) -> Int? {
        lock.withLock { guarded in
            let table = table
            guard let slot = (0..<slots).first(where: { table[$0] == nil }) else { return nil }
            free(guarded.forgotten[slot])
            guarded.forgotten[slot] = nil
            table[slot] = strdup(path)
            installHandlers(&guarded)
            return slot
        }
    }

    /// From here on a request to stop ends the process with code 130, temporary files removed.
    static func handleStops() {
        endsWithCode.pointee = true
        lock.withLock { installHandlers(&$0) }
        for code in [SIGPIPE, SIGQUIT, SIGXCPU] { install(code) }
        FileSizeLimit.ignoreSignal()
    }

    private static func installHandlers(_ guarded: inout Guarded) {
        guard !guarded.isInstalled else { return }
        guarded.isInstalled = true
        _ = (table, forks, endsWithCode, TerminalLine.isShown)
        for code in [SIGINT, SIGTERM, SIGHUP] { install(code) }
    }

    static func forget(_ slot: Int?) {
        guard let slot else { return }
        lock.withLock { guarded in
            guarded.forgotten[slot] = table[slot]
            table[slot] = nil
        }
    }

    /// Whoever asked for a signal to be ignored (nohup), or handles it, keeps that: a temporary file may stay behind then, if the process ends by it.
    static func install(_ code: Int32) {
        var before = sigaction()
        guard sigaction(code, nil, &before) == 0 else { return }
        #if canImport(Glibc)
        let handler = before.__sigaction_handler.sa_handler
        #else
        let handler = before.__sigaction_u.__sa_handler
        #endif
        guard unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_DFL, to: Int.self) else { return }
        _ = signal(code) { code in
            for slot in 0..<TemporaryPaths.slots where Forks.count == TemporaryPaths.forks {
                if let path = TemporaryPaths.table[slot] { unlink(path) }
            }
            TerminalLine.removeInHandler()
            if TemporaryPaths.endsWithCode.pointee, code == SIGINT || code == SIGTERM || code == SIGHUP { _exit(130) }
            // As if nobody had handled it.
            signal(code, SIG_DFL)
            raise(code)
        }
    }
}

/// What a command does when it is told to stop (SIGINT, SIGTERM, SIGHUP): the first `Replacement` sees to it; a command that reads for long before it
/// writes asks at its start.
package enum Interruption {
    /// From here on the process then ends with code 130 and leaves no temporary file. It leaves none either where the reader of what it prints has gone (SIGPIPE), where its
    /// time is up (SIGXCPU) and on SIGQUIT. Writing beyond the limit on the length of files (SIGXFSZ) is an error.
    package static func endWithCode() { TemporaryPaths.handleStops() }
}

/// Writes a file beside its target and puts it in place as the last step: the target is either the old file or the whole new
/// one, at any moment. Released without `finish`, it leaves the target untouched and removes what it wrote. A symbolic link stays
/// what it is: the file that it leads to is replaced.
package final class Replacement {
    package let target: String
    package let temporaryPath: String
    /// The file being written.
    package let file: File
    private let overwrite: Bool
    /// What users call files that are being written: they know the target, not the name beside it.
    private static let names: Mutex<[String: String]> = Mutex([:])
    /// The target with links followed.
    private let place: String
    private var slot: Int?
    private var done = false

    /// Throws `.exists` if the target is there and `overwrite` is false. A file that is replaced gives its mode to the new one; any other target is readable by those who may
    /// read all of `sources`.
    package init(of target: String, overwrite: Bool, sources: SourceModes = .none, calls: (any DiskCalls)? = nil) throws(FirnError) {
        try Replacement.check(target, overwrite: overwrite)
        let place = Paths.linkEnd(target)
        if Replacement.names.withLock({ $0[target] == nil }) { AbandonedFiles.remove(beside: place) }
        let temporaryPath = AbandonedFiles.newName(beside: place)
        let slot = TemporaryPaths.add(temporaryPath)
        // The target may itself be one that is being written.
        let shown = Replacement.names.withLock { names in
            let shown = names[target] ?? target
            names[temporaryPath] = shown
            return shown
        }
        do throws(FirnError) {
            // What replaces a file is for those whom that was for, from the first byte on.
            let known = overwrite ? FilePermissions(path: place) : nil
            file = try File(path: temporaryPath, .createNew, mode: known == nil ? sources.mode : 0o600, shownAs: shown, calls: calls)
            if let known { known.give(file) } else { sources.narrow(file) }
        } catch {
            TemporaryPaths.forget(slot)
            // The user knows the target, not the name beside it.
            var named = error.code == .notFound ? FirnError(.notFound, "there is no folder to write it in") : error
            named.place = .init(file: shown)
            _ = Replacement.names.withLock { $0.removeValue(forKey: temporaryPath) }
            throw named
        }
        self.target = target
        self.place = place
        self.temporaryPath = temporaryPath
        self.overwrite = overwrite
        self.slot = slot
    }

    /// What users know as the target, in a text that names a file being written.
    package static func shown(_ text: String) -> String {
        let known = names.withLock { $0[text] }
        return known ?? AbandonedFiles.withoutOwnEndings(text)
    }

    /// The rule for outputs: never over a file without leave, never over a directory.
    package static func check(_ target: String, overwrite: Bool) throws(FirnError) {
        switch Paths.kind(target) {
        case .directory?: throw FirnError(.exists, "it is a directory", at: .init(file: target))
        // A device or a pipe would be gone, and a file in its place.
        case .other?: throw FirnError(.exists, "it is no regular file, and cannot be replaced by one", at: .init(file: target))
        case .some where !overwrite:
            throw FirnError(.exists, "the file is there already", at: .init(file: target), advice: "say --force to replace it")
        default: break
        }
    }

    /// Syncs, renames over the target, syncs the directory.
    package func finish() throws(FirnError) {
        precondition(!done, "finish a replacement once")
        guard !file.isInherited else { throw file.inherited }
        try file.sync()
        if overwrite {
            try Paths.rename(temporaryPath, to: place)
        } else {
            // link refuses to replace, so a file that appeared meanwhile is safe; media without links fall back.
            if try Paths.link(temporaryPath, to: place) {
                // The file has its name: one that stays beside it is no failure.
                try? Paths.remove(temporaryPath)
            } else {
                try Paths.rename(temporaryPath, to: place)
            }
        }
        done = true
        TemporaryPaths.forget(slot)
        try Paths.syncDirectory(of: place)
    }

    /// Removes what was written.
    package func cancel() {
        guard !done, !file.isInherited else { return }
        done = true
        try? Paths.remove(temporaryPath)
        TemporaryPaths.forget(slot)
    }

    deinit {
        cancel()
        _ = Replacement.names.withLock { $0.removeValue(forKey: temporaryPath) }
    }
}

/// Writes `target` through a stream, whole or not at all.
package func replaceFile(_ target: String, overwrite: Bool, _ body: (StreamOut) throws(FirnError) -> Void) throws(FirnError) {
    let replacement = try Replacement(of: target, overwrite: overwrite)
    do throws(FirnError) {
        let stream = StreamOut(replacement.file)
        try body(stream)
        try stream.flush()
        try replacement.finish()
    } catch {
        replacement.cancel()
        throw error
    }
}

extension File {
    /// A file without a name, for spooling: gone when released. In `directory`, or $TMPDIR, or /tmp.
    package static func spool(directory: String? = nil) throws(FirnError) -> File {
        let place = directory ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array((place + "/firn-spool-XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw systemError(errno, "cannot make a temporary file", place) }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return File(adopting: descriptor, path: place + "/(temporary)", isWritable: true)
    }
}
