import FirnBytes
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Operations on files by name.
package enum Paths {
    /// The kind of a file.
    package enum Kind: Sendable { case file, directory, other }

    /// Returns the kind of the file at `path`, after following links; nil if there is none.
    package static func kind(_ path: String) -> Kind? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .directory
        default: return .other
        }
    }

    /// Returns whether two paths name one file, through links too. If one does not exist, returns whether the paths are equal.
    package static func isSame(_ a: String, _ b: String) -> Bool {
        var one = stat(), other = stat()
        guard stat(a, &one) == 0, stat(b, &other) == 0 else { return a == b }
        return one.st_dev == other.st_dev && one.st_ino == other.st_ino
    }

    /// Returns whether the name is a symbolic link.
    package static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Returns the path after following symbolic links at its end, whether or not a file exists there. A cycle of links is returned
    /// unchanged.
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

    /// Returns the absolute path, with links as they are. It names the same file after the process changes its working directory.
    package static func absolute(_ path: String) -> String {
        var bytes = [CChar](repeating: 0, count: 4096)
        guard path.utf8.first != UInt8(ascii: "/"), getcwd(&bytes, bytes.count) != nil else { return path }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/" + path
    }

    /// Returns whether a file exists at `path`, after following links.
    package static func exists(_ path: String) -> Bool { kind(path) != nil }

    /// Removes a name.
    package static func remove(_ path: String) throws(FirnError) {
        try consult(.remove(path: path), at: path, "cannot remove")
        if unlink(path) != 0 { throw systemError(errno, "cannot remove", path) }
    }

    /// Removes a directory if it is empty. Errors are ignored.
    package static func removeEmptyDirectory(_ path: String) { _ = rmdir(path) }

    /// Creates a directory.
    package static func makeDirectory(_ path: String) throws(FirnError) {
        if mkdir(path, 0o777) != 0 { throw systemError(errno, "cannot create the directory", path) }
    }

    /// Creates a directory and its missing parents.
    package static func makeDirectories(_ path: String) throws(FirnError) {
        if path.isEmpty || exists(path) { return }
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) { try makeDirectories(String(path[..<slash])) }
        if !exists(path) { try makeDirectory(path) }
    }

    /// Returns the names in a directory, sorted by bytes, without "." and "..".
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

    /// Returns the length of a file in bytes.
    package static func size(_ path: String) throws(FirnError) -> UInt64 {
        var status = stat()
        if stat(path, &status) != 0 { throw systemError(errno, "cannot read the status", path) }
        return UInt64(status.st_size)
    }

    /// Returns the number of names (hard links) of a file.
    package static func names(_ path: String) throws(FirnError) -> Int {
        var status = stat()
        if stat(path, &status) != 0 { throw systemError(errno, "cannot read the status", path) }
        return Int(status.st_nlink)
    }

    /// Renames a file. An existing file at `to` is replaced atomically.
    package static func rename(_ from: String, to: String) throws(FirnError) {
        try consult(.rename(from: from, to: to), at: from, "cannot rename it to \"\(to)\"")
        if renameCall(from, to) != 0 { throw systemError(errno, "cannot rename it to \"\(to)\"", from) }
    }

    /// Creates a hard link. Returns false if the medium does not support hard links.
    /// - Throws: `.exists` if a file of that name exists.
    static func link(_ from: String, to: String) throws(FirnError) -> Bool {
        try consult(.link(from: from, to: to), at: from, "cannot give it the name \"\(to)\"")
        if linkCall(from, to) == 0 { return true }
        if errno == EEXIST { throw systemError(EEXIST, "cannot create the file", to) }
        return false
    }

    /// Passes a call to the script. Throws if the script refuses it. Returns true if the call counts as made.
    @discardableResult
    private static func consult(_ call: DiskCall, at path: String, _ doing: @autoclosure () -> String) throws(FirnError) -> Bool {
        guard let calls = ScriptedDisk.calls(at: path), let code = calls.before(call, of: 0) else { return false }
        if code == 0 { return true }
        throw systemError(code, doing(), path)
    }

    /// Returns the directory that contains the name.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes a rename, creation or removal in the directory durable. With `ifAllowed`, a directory that this process cannot open is
    /// skipped.
    package static func syncDirectory(of path: String, ifAllowed: Bool = false) throws(FirnError) {
        let name = directory(of: path)
        if try consult(.syncDirectory(path: name), at: path, "cannot sync") { return }
        let descriptor = open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if ifAllowed, errno == EACCES || errno == EPERM { return }
            throw systemError(errno, "cannot open", name)
        }
        defer { close(descriptor) }
        // Some media cannot sync a directory and report EINVAL; the result is then ignored.
        if fsync(descriptor) != 0, errno != EINVAL { throw systemError(errno, "cannot sync", name) }
    }
}

private func renameCall(_ from: String, _ to: String) -> Int32 { rename(from, to) }
private func linkCall(_ from: String, _ to: String) -> Int32 { link(from, to) }
