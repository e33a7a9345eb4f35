import FirnBytes
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Whose a file is, and who may do what with it.
package struct FilePermissions: Sendable {
    private let mode: mode_t
    private let owner: uid_t
    private let group: gid_t

    /// Of a regular file; nil if there is none at the path.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        (mode, owner, group) = (status.st_mode & 0o777, status.st_uid, status.st_gid)
    }

    /// The group or all users may read it.
    package var othersCanRead: Bool { mode & 0o044 != 0 }

    /// Makes a file that only its owner can open one like it, as far as this process may. It is never open to more than the other was: a group that cannot be given has no rights.
    func give(_ file: File) {
        var mode = mode
        var now = stat()
        if fstat(file.descriptor, &now) == 0, now.st_uid != owner || now.st_gid != group, fchown(file.descriptor, owner, group) != 0,
           now.st_gid != group, fchown(file.descriptor, uid_t.max, group) != 0 { mode &= 0o707 }
        _ = fchmod(file.descriptor, mode)
    }

    /// The same for a file that is there by name.
    package func give(path: String) throws(FirnError) { give(try File(path: path, .read)) }
}
