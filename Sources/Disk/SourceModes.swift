#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The permissions of the files that an output is made from: the output has only those that all of them have. Its owner may always read and
/// write it.
package struct SourceModes: Sendable {
    private var sources: [(mode: mode_t, group: gid_t)] = []

    /// For an output that is made from no file: only the process's umask applies.
    package static let none = SourceModes([])

    /// For an output that only its owner may read.
    package static let ownerOnly: SourceModes = {
        var modes = SourceModes.none
        modes.sources = [(0o600, getegid())]
        return modes
    }()

    /// Reads the permissions of the paths that are regular files; `-` is standard input.
    package init(_ paths: [String]) {
        for path in paths {
            var status = stat()
            guard (path == "-" ? fstat(0, &status) : stat(path, &status)) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            sources.append((status.st_mode & 0o777, status.st_gid))
        }
    }

    /// The mode to create an output with.
    package var mode: UInt32 { UInt32(mode(for: getegid())) }

    /// Returns the mode for an output with this group. If a source has another group, members of this group count as other users of the
    /// source.
    private func mode(for group: gid_t) -> mode_t {
        var mode: mode_t = 0o666
        for source in sources {
            let others = source.mode & 0o006, members = source.mode >> 3 & 0o006
            mode &= 0o600 | (source.group == group ? members : members & others) << 3 | others
        }
        return mode
    }

    /// Restricts the mode of a new file whose folder has given it another group than that of the process.
    func narrow(_ file: File) {
        var status = stat()
        guard !sources.isEmpty, fstat(file.descriptor, &status) == 0, status.st_gid != getegid() else { return }
        _ = fchmod(file.descriptor, status.st_mode & mode(for: status.st_gid))
    }
}
