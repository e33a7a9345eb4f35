import FirnBytes
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The owner, the group and the mode of a file.
package struct FilePermissions: Sendable {
    private let mode: mode_t
    private let owner: uid_t
    private let group: gid_t

    /// Reads the permissions of a regular file. Returns nil if there is none at the path.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        (mode, owner, group) = (status.st_mode & 0o777, status.st_uid, status.st_gid)
    }

    /// Whether the group or all users may read the file.
    package var othersCanRead: Bool { mode & 0o044 != 0 }

    /// Gives these permissions to a file that only its owner can open, as far as this process may. The file is never accessible to more
    /// users than the original: if the group cannot be set, the group gets no rights.
    func give(_ file: File) {
        var mode = mode
        var now = stat()
        if fstat(file.descriptor, &now) == 0, now.st_uid != owner || now.st_gid != group, fchown(file.descriptor, owner, group) != 0,
            now.st_gid != group, fchown(file.descriptor, uid_t.max, group) != 0
        {
            mode &= 0o707
        }
        _ = fchmod(file.descriptor, mode)
    }

    /// Like `give(_ file:)`, for a file that is identified by its path.
    package func give(path: String) throws(FirnError) { give(try File(path: path, .read)) }
}
