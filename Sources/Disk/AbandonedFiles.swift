import FirnBytes
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Temporary files of replacements. They are next to their targets as `TARGET.tmp-STAMP-RANDOM`, with the stamp of the process that writes
/// them. The next process that writes a file in the same folder removes those whose process has ended without removing them. Other files are
/// never removed: the stamp contains a mark of the running system, so no other program makes such names.
package enum AbandonedFiles {
    private static let mark = ".tmp-"
    private static let randomDigits = 8
    /// The ending of the copy that `firn convert --lossless` makes next to a temporary file.
    package static let copyEnding = ".lossless"
    /// The maximum length of a file name in bytes.
    private static let maximumNameLength = 255

    /// Returns the path of a new temporary file. A long name of the target is truncated for it.
    static func newName(beside path: String) -> String {
        let random = String(UInt32(truncatingIfNeeded: Machine.random), radix: 16)
        return sibling(of: path, mark + "\(ProcessStamp.own)-" + String(repeating: "0", count: randomDigits - random.count) + random)
    }

    /// Returns the path with the ending, its last component truncated to a length that file systems accept.
    package static func sibling(of path: String, _ ending: String) -> String {
        let (folder, name) = split(path)
        return folder + start(of: name, before: ending) + ending
    }

    /// Removes the temporary files in the folder of `path`, of any target, whose processes have ended. Files that cannot be removed stay;
    /// nothing depends on their removal.
    package static func remove(beside path: String) { remove(in: split(path).folder, containing: mark, owner) }

    /// What the names of the files of this process have in common. They are not looked at: a process that writes thousands of files in one
    /// folder looks for abandoned ones before each of them.
    private static func ownPart(after start: String) -> String { start + "\(ProcessStamp.own)-" }

    private static let memoryStart = "firn-memory-"

    /// Returns the beginning of the name of the file of a realm in memory. `mark` distinguishes the files of this process.
    package static func memoryName(_ mark: String) -> String { memoryStart + "\(ProcessStamp.own)-\(mark)" }

    /// Removes the files of realms in memory whose processes have ended without removing them.
    package static func removeMemory(in folder: String) {
        remove(in: folder + "/", containing: memoryStart) { name in
            guard name.hasPrefix(memoryStart) else { return nil }
            let parts = name.dropFirst(memoryStart.count).split(separator: "-", maxSplits: 3, omittingEmptySubsequences: false)
            return parts.count == 4 ? ProcessStamp(parts[0..<3].joined(separator: "-")) : nil
        }
    }

    private static func remove(in folder: String, containing part: String, _ owner: (String) -> ProcessStamp?) {
        guard let directory = opendir(folder.isEmpty ? "." : folder) else { return }
        defer { closedir(directory) }
        var found: [String] = []
        let own = ownPart(after: part)
        while let entry = readdir(directory) {
            // Most names do not match, so they are compared before they are copied.
            let isNear = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    strstr($0, part) != nil && strstr($0, own) == nil ? String(cString: $0) : nil
                }
            }
            if let isNear { found.append(isNear) }
        }
        for other in found where owner(other)?.isGone ?? false {
            let path = folder + other
            var status = stat()
            if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG { try? Paths.remove(path) }
        }
    }

    /// Returns the stamp in the name of a temporary file, or nil if it is another file.
    static func owner(of other: String) -> ProcessStamp? {
        var from = other[...]
        // A name may contain the mark itself.
        while let at = range(of: mark, in: from) {
            let rest = other[at.upperBound...]
            from = rest
            let parts = rest.split(separator: "-", maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count == 4, let stamp = ProcessStamp(parts[0..<3].joined(separator: "-")), parts[3].utf8.count >= randomDigits,
                parts[3].utf8.prefix(randomDigits).allSatisfy({ isHexDigit($0) })
            else { continue }
            // The rest is empty, or the ending of a file that was made next to the temporary one.
            let further = parts[3].dropFirst(randomDigits)
            if at.lowerBound > other.startIndex, further.isEmpty || further == copyEnding || further.hasPrefix(mark) { return stamp }
        }
        return nil
    }

    /// Returns the text without the endings of temporary files of this process.
    static func withoutOwnEndings(_ text: String) -> String {
        let own = ownPart(after: mark)
        var rest = text[...], out = ""
        while let found = range(of: own, in: rest) {
            out += rest[..<found.lowerBound]
            rest = rest[found.upperBound...]
            rest = rest.dropFirst(rest.utf8.prefix(randomDigits).prefix { isHexDigit($0) }.count)
        }
        return out + rest
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte || 0x61...0x66 ~= byte }

    private static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", path) }
        let name = path.utf8.index(after: slash)
        return (String(path[..<name]), String(path[name...]))
    }

    /// Returns as much of a name as fits before the ending, in whole UTF-8 characters.
    private static func start(of name: String, before ending: String) -> String {
        guard name.utf8.count + ending.utf8.count > maximumNameLength else { return name }
        var bytes = name.utf8.prefix(maximumNameLength - ending.utf8.count)
        while !bytes.isEmpty, String(bytes) == nil { bytes = bytes.dropLast() }
        return String(bytes) ?? ""
    }

    private static func range(of word: String, in text: Substring) -> Range<Substring.Index>? {
        let bytes = Array(word.utf8)
        var at = text.startIndex
        while let next = text.utf8[at...].firstIndex(of: bytes[0]) {
            if text.utf8[next...].starts(with: bytes) { return next..<text.utf8.index(next, offsetBy: bytes.count) }
            at = text.utf8.index(after: next)
        }
        return nil
    }
}
