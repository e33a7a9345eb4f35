import FirnBytes
import FirnDatabase
import FirnDisk
import FirnExchange

/// A parsed operand: a file, optionally with a type and a version: `FILE`, `FILE:Type`, `FILE@5`, `FILE@TAG`, `FILE@2026-11-29T12:00`,
/// `FILE@5:Type`.
struct Address {
    let path: String
    let type: String?
    /// The number, tag or time of a version.
    let version: String?

    /// If a file exists whose name is the whole operand, the operand is that file, without type and version. A type follows the last colon
    /// before which there is a file, so the name of a type can contain colons.
    init(_ operand: String) {
        if operand != "-", !Paths.exists(operand), let timed = Address.timed(operand) {
            (path, version, type) = timed
            return
        }
        let found = operand == "-" || Paths.exists(operand) ? nil : Address.typed(operand)
        let file = found?.file ?? Address.file(operand) ?? (operand, nil)
        (path, version) = file
        type = found?.type
    }

    /// Splits an operand into a file that exists, a time with colons, and a type if there is one; nil if it has no such time.
    private static func timed(_ operand: String) -> (path: String, version: String?, type: String?)? {
        guard let at = operand.utf8.lastIndex(of: UInt8(ascii: "@")), at > operand.startIndex else { return nil }
        let front = String(operand[..<at]), back = operand[operand.utf8.index(after: at)...]
        guard back.utf8.contains(UInt8(ascii: ":")), Paths.exists(front) else { return nil }
        if CommitTime(String(back)) != nil { return (front, String(back), nil) }
        // The type follows a colon after the time, which has one or more colons itself.
        for colon in back.utf8.indices.reversed() where back.utf8[colon] == UInt8(ascii: ":") {
            let word = String(back[..<colon]), type = String(back[back.utf8.index(after: colon)...])
            if word.utf8.contains(UInt8(ascii: ":")), CommitTime(word) != nil, !type.isEmpty { return (front, word, type) }
        }
        return nil
    }

    /// Splits an operand into a file that exists and a type; nil if it has no type.
    private static func typed(_ operand: String) -> (file: (path: String, version: String?), type: String)? {
        var end = operand.utf8.endIndex
        while let colon = operand.utf8[..<end].lastIndex(of: UInt8(ascii: ":")), colon > operand.startIndex {
            let front = String(operand[..<colon]), back = String(operand[operand.utf8.index(after: colon)...])
            end = colon
            guard !back.isEmpty, let file = Address.file(front) else { continue }
            // With a slash it is rather the name of a file in a folder that does not exist.
            if !back.utf8.contains(UInt8(ascii: "/")) || Paths.kind(file.path) == .file { return (file, back) }
        }
        return nil
    }

    /// Returns the file of an operand without a type, and its version. Nil if there is no such file.
    private static func file(_ operand: String) -> (path: String, version: String?)? {
        if Paths.exists(operand) { return (operand, nil) }
        guard let at = operand.utf8.lastIndex(of: UInt8(ascii: "@")), at > operand.startIndex else { return nil }
        let front = String(operand[..<at]), back = String(operand[operand.utf8.index(after: at)...])
        return isVersion(back) && Paths.exists(front) ? (front, back) : nil
    }

    /// A file, or the name of several inputs.
    init(path: String) {
        self.path = path
        type = nil
        version = nil
    }

    private static func isVersion(_ word: String) -> Bool { UInt64(word) != nil || VersionTag.refusal(of: word) == nil }

    /// Returns the last component of the path without extensions: the default name of a type.
    static func stem(of path: String) -> String {
        guard path != "-" else { return "rows" }
        var name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path[...]
        if let compression = Compression(extensionOf: String(name)) { name = name.dropLast(compression.rawValue.count + 1) }
        if let dot = name.lastIndex(of: "."), dot > name.startIndex { name = name[..<dot] }
        return name.isEmpty ? "rows" : String(name)
    }
}
