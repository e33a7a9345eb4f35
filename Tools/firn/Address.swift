import FirnBytes
import FirnDatabase
import FirnDisk
import FirnExchange

/// A parsed operand: a file, optionally with a type and a version: `FILE`, `FILE:Type`, `FILE@5`, `FILE@TAG`, `FILE@5:Type`.
struct Address {
    let path: String
    let type: String?
    /// The number or tag of a version.
    let version: String?

    /// If a file exists whose name is the whole operand, the operand is that file, without type and version.
    init(_ operand: String) {
        var path = operand, type: String?, version: String?
        if operand != "-", !Paths.exists(operand) {
            if let (front, back) = Address.split(path, at: UInt8(ascii: ":")), !back.isEmpty, !back.utf8.contains(UInt8(ascii: "/")) {
                (path, type) = (front, back)
            }
            if !Paths.exists(path), let (front, back) = Address.split(path, at: UInt8(ascii: "@")), Address.isVersion(back) {
                (path, version) = (front, back)
            }
            if !Paths.exists(path) { (path, type, version) = (operand, nil, nil) }
        }
        self.path = path
        self.type = type
        self.version = version
    }

    /// A file, or the name of several inputs.
    init(path: String) {
        self.path = path
        type = nil
        version = nil
    }

    private static func isVersion(_ word: String) -> Bool { UInt64(word) != nil || VersionTag.refusal(of: word) == nil }

    private static func split(_ text: String, at byte: UInt8) -> (String, String)? {
        guard let index = text.utf8.lastIndex(of: byte), index > text.startIndex else { return nil }
        return (String(text[..<index]), String(text[text.utf8.index(after: index)...]))
    }

    /// Returns the last component of the path without extensions: the default name of a type.
    static func stem(of path: String) -> String {
        guard path != "-" else { return "rows" }
        var name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path[...]
        if let compression = Compression(extensionOf: String(name)) { name = name.dropLast(compression.rawValue.count + 1) }
        if let dot = name.lastIndex(of: "."), dot > name.startIndex { name = name[..<dot] }
        return name.isEmpty ? "rows" : String(name)
    }
}
