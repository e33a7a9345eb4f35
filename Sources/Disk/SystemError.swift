import FirnBytes
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The text for a lock that the system refuses. For media without locks, an explanation is added.
let cannotLock = "cannot lock"

/// Returns the error of a system call as an error for users: the text of errno, and the path as the location.
package func systemError(_ code: Int32, _ doing: String, _ path: String) -> FirnError {
    var error = shownError(code, doing, path)
    error.systemCode = code
    return error
}

extension FirnError {
    /// Whether the system refused access to a file.
    package var isPermission: Bool { systemCode.map { [EACCES, EPERM, EROFS].contains($0) } ?? false }
}

private func shownError(_ code: Int32, _ doing: String, _ path: String) -> FirnError {
    let words = String(cString: strerror(code)), doing = Replacement.shown(doing)
    let location = FirnError.Location(file: Replacement.shown(path))
    switch code {
    case ENOENT: return FirnError(.notFound, "\(doing): \(words)", at: location)
    case EEXIST: return FirnError(.exists, "\(doing): \(words)", at: location)
    case ENOSPC, EDQUOT:
        return FirnError(
            .noSpace, "\(doing): \(words)", at: location, advice: "free some space and try again; committed versions are unchanged")
    case EFBIG:
        return FirnError(
            .noSpace, "\(doing): \(words)", at: location,
            advice: "raise the limit on the length of files (ulimit -f), or write to a medium that allows longer ones")
    case ENOLCK where doing == cannotLock, EOPNOTSUPP where doing == cannotLock, ENOSYS where doing == cannotLock:
        return FirnError(
            .inputOutput, "\(doing): \(words)", at: location,
            advice: "the medium has no locks: copy the file to a local disk, or open it for reading only")
    case EACCES, EPERM, EROFS: return FirnError(.inputOutput, "\(doing): \(words)", at: location, advice: "check its permissions")
    default: return FirnError(.inputOutput, "\(doing): \(words)", at: location)
    }
}

/// Repeats a call that a signal interrupted. Returns the result, or minus errno.
@inline(__always)
func retrying(_ call: () -> Int) -> Int {
    while true {
        let result = call()
        if result >= 0 { return result }
        let code = errno
        if code != EINTR { return -Int(code) }
    }
}
