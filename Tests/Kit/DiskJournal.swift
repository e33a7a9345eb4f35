import FirnDisk
import Foundation

/// Records every call that changes files or names in a folder, makes the nth call fail on request, and rebuilds the possible states of the
/// disk after a crash.
package final class DiskJournal: DiskCalls, @unchecked Sendable {
    /// A change. Files have numbers that do not change when they are renamed.
    package enum Event: Equatable, Sendable {
        case create(file: Int, path: String)
        case write(file: Int, offset: UInt64, bytes: [UInt8])
        case truncate(file: Int, length: UInt64)
        case extend(file: Int, length: UInt64)
        case sync(file: Int)
        case link(from: String, to: String)
        case rename(from: String, to: String)
        case remove(path: String)
        case syncDirectory
    }

    /// The calls that fail. Calls are counted if their name is `only`, or if `only` is nil and they are not reads, status queries, memory
    /// for reads, or locks. The call after `after` counted ones fails, and all later ones if `forEver` is true.
    package struct Refusal: Sendable {
        package var after: Int
        package var only: String?
        package var forEver: Bool
        package var code: Int32
        package init(after: Int, only: String? = nil, forEver: Bool = false, code: Int32 = 5) {
            (self.after, self.only, self.forEver, self.code) = (after, only, forEver, code)
        }
    }

    private let lock = NSLock()
    private var recorded: [Event] = []
    private var files: [UInt64: Int] = [:]
    private var names: [String: Int] = [:]
    private var contents: [Int: [UInt8]] = [:]
    private var fileCount = 0
    private var refusal: Refusal?
    private var refused: [String] = []
    private var seen: [String: Int] = [:]
    private let skipsSyncs: Bool
    /// The duration of a sync in microseconds, during which other writers wait in the queue.
    package var syncPause: UInt32 {
        get { lock.withLock { pause } }
        set { lock.withLock { pause = newValue } }
    }
    private var pause: UInt32 = 0

    /// `skipsSyncs`: syncs are recorded but not made, because tests do not stop the machine.
    package init(_ refusal: Refusal? = nil, skipsSyncs: Bool = true) {
        self.refusal = refusal
        self.skipsSyncs = skipsSyncs
    }

    /// Begins the journal of a folder with its existing files.
    package convenience init(of folder: TemporaryFolder, _ refusal: Refusal? = nil, skipsSyncs: Bool = true) {
        self.init(refusal, skipsSyncs: skipsSyncs)
        for name in (try? Paths.list(folder.path)) ?? [] {
            fileCount += 1
            names[folder.file(name)] = fileCount
            contents[fileCount] = (try? File(path: folder.file(name), .read).readAll()) ?? []
        }
        first = DiskState(contents: contents, names: names)
        ScriptedDisk.begin(in: folder.path, self)
    }

    /// The state at the beginning.
    package private(set) var first = DiskState()
    package var events: [Event] { lock.withLock { recorded } }
    package var count: Int { lock.withLock { recorded.count } }
    /// The names of the calls that failed.
    package var refusals: [String] { lock.withLock { refused } }
    /// The number of calls by name.
    package var calls: [String: Int] { lock.withLock { seen } }

    package func clear() { lock.withLock { (recorded, seen) = ([], [:]) } }
    package func refuse(_ refusal: Refusal?) { lock.withLock { self.refusal = refusal } }

    package func before(_ call: DiskCall, of number: UInt64) -> Int32? {
        if case .sync = call, syncPause > 0 { usleep(syncPause) }
        return lock.withLock {
            if let code = refuses(call) { return code }
            seen[call.name, default: 0] += 1
            record(call, number)
            switch call {
            case .sync, .syncDirectory: return skipsSyncs ? 0 : nil
            default: return nil
            }
        }
    }

    private func refuses(_ call: DiskCall) -> Int32? {
        guard let rule = refusal else { return nil }
        if let only = rule.only {
            if only != call.name { return nil }
        } else {
            switch call {
            case .read, .lock, .status, .memory: return nil
            // Removals can fail too. Errors in removing temporary files are not reported.
            default: break
            }
        }
        if rule.after > 0 {
            refusal!.after -= 1
            return nil
        }
        if !rule.forEver { refusal = nil }
        refused.append(call.name)
        return rule.code
    }

    private func record(_ call: DiskCall, _ number: UInt64) {
        let file = files[number] ?? 0
        switch call {
        case .open(let path, let creates, let empties):
            if let known = names[path] {
                files[number] = known
                if empties { recorded.append(.truncate(file: known, length: 0)) }
            } else if creates {
                fileCount += 1
                files[number] = fileCount
                names[path] = fileCount
                recorded.append(.create(file: fileCount, path: path))
            }
        case .write(let offset, let bytes): recorded.append(.write(file: file, offset: offset, bytes: Array(bytes)))
        case .sync: recorded.append(.sync(file: file))
        case .truncate(let length): recorded.append(.truncate(file: file, length: length))
        case .allocate(let offset, let length): recorded.append(.extend(file: file, length: offset + length))
        case .link(let from, let to):
            guard names[to] == nil else { return }
            names[to] = names[from]
            recorded.append(.link(from: from, to: to))
        case .rename(let from, let to):
            names[to] = names.removeValue(forKey: from)
            recorded.append(.rename(from: from, to: to))
        case .remove(let path):
            names[path] = nil
            recorded.append(.remove(path: path))
        case .syncDirectory: recorded.append(.syncDirectory)
        case .read, .status, .map, .memory, .lock: break
        }
    }
}

/// The content of a disk: bytes by file number, and file numbers by path.
package struct DiskState: Sendable {
    package var contents: [Int: [UInt8]] = [:]
    package var names: [String: Int] = [:]

    package init() {}
    package init(contents: [Int: [UInt8]], names: [String: Int]) { (self.contents, self.names) = (contents, names) }

    package mutating func apply(_ event: DiskJournal.Event) {
        switch event {
        case .create(let file, let path):
            if contents[file] == nil { contents[file] = [] }
            names[path] = file
        case .write(let file, let offset, let bytes):
            let end = Int(offset) + bytes.count
            extend(file, to: end)
            contents[file]!.replaceSubrange(Int(offset)..<end, with: bytes)
        case .truncate(let file, let length):
            let had = contents[file, default: []].count
            if had > Int(length) { contents[file]!.removeLast(had - Int(length)) } else { extend(file, to: Int(length)) }
        case .extend(let file, let length): extend(file, to: Int(length))
        case .link(let from, let to): names[to] = names[from]
        case .rename(let from, let to): names[to] = names.removeValue(forKey: from)
        case .remove(let path): names[path] = nil
        case .sync, .syncDirectory: break
        }
    }

    private mutating func extend(_ file: Int, to length: Int) {
        let had = contents[file, default: []].count
        if had < length { contents[file, default: []].append(contentsOf: repeatElement(0, count: length - had)) }
    }

    /// Returns the files of a folder by file name.
    package func files() -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for (path, file) in names { files[String(path[path.index(after: path.lastIndex(of: "/")!)...])] = contents[file] ?? [] }
        return files
    }
}

extension DiskJournal.Event {
    /// The file whose bytes change. Nil for changes of names and for syncs.
    package var file: Int? {
        switch self {
        case .write(let file, _, _), .truncate(let file, _), .extend(let file, _): file
        default: nil
        }
    }

    package var isOfNames: Bool {
        switch self {
        case .create, .link, .rename, .remove: true
        default: false
        }
    }
}
