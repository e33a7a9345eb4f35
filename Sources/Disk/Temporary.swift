import FirnBytes
import Synchronization
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Paths to remove if a signal stops the process. The handler may make only async-signal-safe calls, so the registry is a fixed array of C
/// strings: a slot is one word, written atomically. A handler on another thread may still use a path that was removed from the registry, so
/// its memory is freed only when the slot is used again.
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
    /// What a signal that stops the program does.
    enum Stop: Int32 {
        /// What it does without a handler.
        case asWithoutHandler
        /// It ends the process with code 130.
        case withCode
        /// It waits for the end of a step that must not be reported as interrupted.
        case later
        /// The same, and there was one.
        case isWaiting
        /// The change is made: it ends the process with code 0.
        case withSuccess
    }
    nonisolated(unsafe) private static let stop: UnsafeMutablePointer<Stop> = {
        let stop = UnsafeMutablePointer<Stop>.allocate(capacity: 1)
        stop.initialize(to: .asWithoutHandler)
        return stop
    }()
    /// The paths belong to the process that registered them.
    private static let forks = Forks.count
    /// Whether the registry exists. A constant at first, so that a handler can read it before.
    nonisolated(unsafe) private static var exists = false

    /// Registers `path`. Returns its slot, or nil if all are in use (the file then remains if the process is stopped).
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

    /// From now on, SIGINT, SIGTERM and SIGHUP end the process with code 130, and temporary files are removed.
    static func handleStops() {
        stop.pointee = .withCode
        lock.withLock { installHandlers(&$0) }
        unblockStops()
        for code in [SIGPIPE, SIGQUIT, SIGXCPU] { install(code) }
        FileSizeLimit.ignoreSignal()
    }

    /// Unblocks the signals that stop a program. A program that is started by a thread that blocks signals inherits the mask, and could
    /// otherwise not be stopped.
    private static func unblockStops() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for code in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, code) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// Removes the temporary files of this process and the line on the terminal; called by signal handlers.
    static func removeInHandler() {
        guard exists else { return }
        for slot in 0..<slots where Forks.count == forks {
            if let path = table[slot] { unlink(path) }
        }
        TerminalLine.removeInHandler()
    }

    private static func installHandlers(_ guarded: inout Guarded) {
        guard !guarded.isInstalled else { return }
        guarded.isInstalled = true
        _ = (table, forks, stop, TerminalLine.isShown)
        exists = true
        for code in [SIGINT, SIGTERM, SIGHUP] { install(code) }
    }

    /// Runs a step whose success cannot be undone. A signal to stop waits for its end, and has no effect if it succeeds.
    static func withoutStops<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        guard stop.pointee == .withCode else { return try body() }
        stop.pointee = .later
        do throws(E) {
            let result = try body()
            stop.pointee = .withSuccess
            return result
        } catch {
            let isStopped = stop.pointee == .isWaiting
            stop.pointee = .withCode
            if isStopped {
                removeInHandler()
                _exit(130)
            }
            throw error
        }
    }

    static func forget(_ slot: Int?) {
        guard let slot else { return }
        lock.withLock { guarded in
            guarded.forgotten[slot] = table[slot]
            table[slot] = nil
        }
    }

    /// Installs the handler, unless the program ignores (nohup) or handles the signal: a temporary file can then remain if the signal ends
    /// the process.
    static func install(_ code: Int32) {
        var before = sigaction()
        guard sigaction(code, nil, &before) == 0 else { return }
        #if canImport(Glibc)
            let handler = before.__sigaction_handler.sa_handler
        #else
            let handler = before.__sigaction_u.__sa_handler
        #endif
        // SIG_DFL is null.
        guard handler == nil else { return }
        _ = signal(code) { code in
            let isStop = code == SIGINT || code == SIGTERM || code == SIGHUP
            if isStop, TemporaryPaths.stop.pointee == .later || TemporaryPaths.stop.pointee == .isWaiting {
                TemporaryPaths.stop.pointee = .isWaiting
                return
            }
            TemporaryPaths.removeInHandler()
            if isStop, TemporaryPaths.stop.pointee != .asWithoutHandler {
                _exit(TemporaryPaths.stop.pointee == .withSuccess ? 0 : 130)
            }
            // End as if there were no handler.
            signal(code, SIG_DFL)
            raise(code)
        }
    }
}

/// What a command does when SIGINT, SIGTERM or SIGHUP stops it. The first `Replacement` installs the handlers; a command that reads for a
/// long time before it writes calls `endWithCode` at its start.
package enum Interruption {
    /// From now on, these signals end the process with code 130 and leave no temporary file, also if the process inherited a mask that
    /// blocks them. Call it before other threads start. The same files are removed on SIGPIPE, SIGXCPU
    /// and SIGQUIT. Writing beyond the limit on the length of files (SIGXFSZ) is an error.
    package static func endWithCode() { TemporaryPaths.handleStops() }

    /// Runs the commit that is the last step of a command. The code 130 means that nothing was changed: signals during the commit wait for
    /// its end, and are ignored if it succeeds. Later ones end the process with code 0. In other programs, it only runs the step.
    package static func duringCommit<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R { try TemporaryPaths.withoutStops(body) }
}

/// Writes a file next to its target and renames it as the last step: at any moment the target is the old file or the complete new one. If
/// it is released without `finish`, the target is unchanged and the temporary file is removed. A symbolic link stays a link: the file that
/// it leads to is replaced.
package final class Replacement {
    /// The path that the caller gave.
    package let target: String
    /// The path of the temporary file.
    package let temporaryPath: String
    /// The temporary file, open for writing.
    package let file: File
    private let overwrite: Bool
    /// The path in errors for each temporary file: users know the target, not the temporary name.
    private static let names: Mutex<[String: String]> = Mutex([:])
    /// The target after following links.
    private let resolvedTarget: String
    private var slot: Int?
    private var done = false

    /// Creates the temporary file. If a file is replaced, the new one gets its permissions; a new target is readable only by users that may
    /// read all of
    /// `sources`.
    /// - Throws: `.exists` if the target exists and `overwrite` is false, or if it is not a regular file.
    package init(of target: String, overwrite: Bool, sources: SourceModes = .none, calls: (any DiskCalls)? = nil) throws(FirnError) {
        try Replacement.check(target, overwrite: overwrite)
        let resolvedTarget = Paths.linkEnd(target)
        if Replacement.names.withLock({ $0[target] == nil }) { AbandonedFiles.remove(beside: resolvedTarget) }
        let temporaryPath = AbandonedFiles.newName(beside: resolvedTarget)
        let slot = TemporaryPaths.add(temporaryPath)
        // The target may itself be a temporary file.
        let shown = Replacement.names.withLock { names in
            let shown = names[target] ?? target
            names[temporaryPath] = shown
            return shown
        }
        do throws(FirnError) {
            // A replacing file is accessible only to users of the old one, from its first byte on.
            let known = overwrite ? FilePermissions(path: resolvedTarget) : nil
            file = try File(path: temporaryPath, .createNew, mode: known == nil ? sources.mode : 0o600, shownAs: shown, calls: calls)
            if let known { known.give(file) } else { sources.narrow(file) }
        } catch {
            TemporaryPaths.forget(slot)
            // The error names the target, not the temporary file.
            var named = error.code == .notFound ? FirnError(.notFound, "cannot create the file: its folder does not exist") : error
            if error.isPermission, error.systemCode != EROFS {
                named = FirnError(.inputOutput, "cannot create the file: its folder is not writable", advice: "choose another folder")
                named.systemCode = error.systemCode
            }
            named.location = .init(file: shown)
            _ = Replacement.names.withLock { $0.removeValue(forKey: temporaryPath) }
            throw named
        }
        self.target = target
        self.resolvedTarget = resolvedTarget
        self.temporaryPath = temporaryPath
        self.overwrite = overwrite
        self.slot = slot
    }

    /// Returns the text with the names of temporary files replaced by those of their targets.
    package static func shown(_ text: String) -> String {
        let known = names.withLock { $0[text] }
        return known ?? AbandonedFiles.withoutOwnEndings(text)
    }

    /// Checks the rule for outputs: a file is replaced only with `overwrite`, a directory never.
    package static func check(_ target: String, overwrite: Bool) throws(FirnError) {
        switch Paths.kind(target) {
        case .directory?: throw FirnError(.exists, "cannot write the file: a directory has this name", at: .init(file: target))
        // A device or a pipe would be removed, with a file in its place.
        case .other?: throw FirnError(.exists, "it is not a regular file, and cannot be replaced by one", at: .init(file: target))
        case .some where !overwrite:
            throw FirnError(.exists, "the file already exists", at: .init(file: target), advice: "use --force to overwrite it")
        default: break
        }
    }

    /// Syncs the file, renames it to the target, and syncs the directory.
    package func finish() throws(FirnError) {
        trap(unless: !done, "finish a replacement once")
        guard !file.isInherited else { throw file.inherited }
        try file.sync()
        if overwrite {
            try Paths.rename(temporaryPath, to: resolvedTarget)
        } else {
            // A hard link never replaces a file that appeared meanwhile. Media without hard links rename instead.
            if try Paths.link(temporaryPath, to: resolvedTarget) {
                // The file has its name. If the temporary name cannot be removed, that is no failure.
                try? Paths.remove(temporaryPath)
            } else {
                try Paths.rename(temporaryPath, to: resolvedTarget)
            }
        }
        done = true
        TemporaryPaths.forget(slot)
        try Paths.syncDirectory(of: resolvedTarget)
    }

    /// Removes the temporary file.
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

/// Writes `target` through a stream, completely or not at all.
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
    /// Creates a temporary file without a name, which disappears on release, in `directory`, or $TMPDIR, or /tmp.
    package static func spool(directory: String? = nil) throws(FirnError) -> File {
        let folder = directory ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array((folder + "/firn-spool-XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw systemError(errno, "cannot create a temporary file", folder) }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return File(adopting: descriptor, path: folder + "/(temporary)", isWritable: true)
    }
}
