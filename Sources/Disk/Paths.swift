import FirnBytes
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Files by name.
package enum Paths {
    package enum Kind: Sendable { case file, directory, other }

    /// What is at `path` (links followed), nil if nothing.
    package static func kind(_ path: String) -> Kind? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .directory
        default: return .other
        }
    }

    /// Whether two paths name one file, through links too; of files that are not there yet, whether the paths are equal.
    package static func isSame(_ a: String, _ b: String) -> Bool {
        var one = stat(), other = stat()
        guard stat(a, &one) == 0, stat(b, &other) == 0 else { return a == b }
        return one.st_dev == other.st_dev && one.st_ino == other.st_ino
    }

    /// What a path names once symbolic links at its end are followed, whether or not something is there yet. A circle of links is left as it is.
    package static func linkEnd(_ path: String) -> String {
        var at = path
        var bytes = [CChar](repeating: 0, count: 4096)
        for _ in 0..<40 {
            let count = readlink(at, &bytes, bytes.count)
            guard count > 0, count < bytes.count else { return at }
            let next = String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            at = next.utf8.first == UInt8(ascii: "/") ? next : directory(of: at) + "/" + next
        }
        return path
    }

    /// The path from the root, links as they are: what it names stays the same when the process goes elsewhere.
    package static func absolute(_ path: String) -> String {
        var bytes = [CChar](repeating: 0, count: 4096)
        guard path.utf8.first != UInt8(ascii: "/"), getcwd(&bytes, bytes.count) != nil else { return path }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/" + path
    }

    package static func exists(_ path: String) -> Bool { kind(path) != nil }

    package static func remove(_ path: String) throws(FirnError) {
        try consult(.remove(path: path), at: path, "cannot remove")
        if unlink(path) != 0 { throw systemError(errno, "cannot remove", path) }
    }

    package static func makeDirectory(_ path: String) throws(FirnError) {
        if mkdir(path, 0o777) != 0 { throw systemError(errno, "cannot make the directory", path) }
    }

    /// The same with those above it that are missing.
    package static func makeDirectories(_ path: String) throws(FirnError) {
        if path.isEmpty || exists(path) { return }
        if let slash = path.lastIndex(of: "/") { try makeDirectories(String(path[..<slash])) }
        if !exists(path) { try makeDirectory(path) }
    }

    /// Names in a directory, sorted by bytes, without "." and "..".
    package static func list(_ path: String) throws(FirnError) -> [String] {
        guard let directory = opendir(path) else { throw systemError(errno, "cannot list", path) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    }

    package static func size(_ path: String) throws(FirnError) -> UInt64 {
        var status = stat()
        if stat(path, &status) != 0 { throw systemError(errno, "cannot look at", path) }
        return UInt64(status.st_size)
    }

    /// How many names (hard links) a file has.
    package static func names(_ path: String) throws(FirnError) -> Int {
        var status = stat()
        if stat(path, &status) != 0 { throw systemError(errno, "cannot look at", path) }
        return Int(status.st_nlink)
    }

    package static func rename(_ from: String, to: String) throws(FirnError) {
        try consult(.rename(from: from, to: to), at: from, "cannot rename to \(to)")
        if renameCall(from, to) != 0 { throw systemError(errno, "cannot rename to \(to)", from) }
    }

    /// Gives a file a second name; `.exists` if there is something of that name. False where the medium has no second names.
    static func link(_ from: String, to: String) throws(FirnError) -> Bool {
        try consult(.link(from: from, to: to), at: from, "cannot give it the name \(to)")
        if linkCall(from, to) == 0 { return true }
        if errno == EEXIST { throw systemError(EEXIST, "the file is there already", to) }
        return false
    }

    /// Lets a script see a call; an error if it refuses. True if the call counts as made.
    @discardableResult
    private static func consult(_ call: DiskCall, at path: String, _ doing: @autoclosure () -> String) throws(FirnError) -> Bool {
        guard let calls = ScriptedDisk.calls(at: path), let code = calls.before(call, of: 0) else { return false }
        if code == 0 { return true }
        throw systemError(code, doing(), path)
    }

    /// The directory a path names something in.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes a rename, creation or removal in the directory durable. `ifAllowed`: a directory that cannot be opened by this process is left alone.
    package static func syncDirectory(of path: String, ifAllowed: Bool = false) throws(FirnError) {
        let name = directory(of: path)
        if try consult(.syncDirectory(path: name), at: path, "cannot sync") { return }
        let descriptor = open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if ifAllowed, errno == EACCES || errno == EPERM { return }
            throw systemError(errno, "cannot open", name)
        }
        defer { close(descriptor) }
        // Some media cannot sync a directory and say EINVAL: nothing more can be done there.
        if fsync(descriptor) != 0, errno != EINVAL { throw systemError(errno, "cannot sync", name) }
    }
}

private func renameCall(_ from: String, _ to: String) -> Int32 { rename(from, to) }
private func linkCall(_ from: String, _ to: String) -> Int32 { link(from, to) }
