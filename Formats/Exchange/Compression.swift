/// A format of compressed bytes.
package enum Compression: String, Sendable, CaseIterable {
    case none, gzip = "gz", zstd = "zst", xz, bzip2 = "bz2"

    /// The compression that a file name's extension, or the end of a format such as `csv.gz`, stands for; nil if it stands for none.
    package init?(extensionOf name: String) {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex,
            let found = Compression(rawValue: name[name.utf8.index(after: dot)...].lowercased()), found != .none
        else { return nil }
        self = found
    }

    /// Returns a file name without the extension of a compressed file.
    package static func strip(_ name: String) -> String {
        guard let compression = Compression(extensionOf: name) else { return name }
        return String(name.dropLast(compression.rawValue.count + 1))
    }

    /// Returns the compression of a content by its first bytes, of which 10 are enough.
    static func of(_ first: some Collection<UInt8>) -> Compression {
        if first.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) { return .zstd }
        if first.starts(with: [0x1F, 0x8B]) { return .gzip }
        if first.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]) { return .xz }
        // The level is a digit, and a block or the end of the stream follows.
        if first.starts(with: "BZh".utf8), let level = first.dropFirst(3).first, (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(level) {
            let rest = first.dropFirst(4)
            if rest.starts(with: [0x31, 0x41, 0x59, 0x26, 0x53, 0x59]) || rest.starts(with: [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]) {
                return .bzip2
            }
        }
        return .none
    }

    /// Returns the compression of a file by its first 10 bytes, and by its name if they are too few or do not decide.
    static func of(_ first: some Collection<UInt8>, named name: String) -> Compression {
        let found = of(first)
        guard found == .none, let named = Compression(extensionOf: name), !first.isEmpty else { return found }
        let isCut = named.magic.starts(with: first)
        // A damaged or cut file: a text of this name could begin with the same letters, but hardly with a digit after them.
        let isBzip2 =
            named == .bzip2 && first.starts(with: "BZh".utf8)
            && first.dropFirst(3).first.map { (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) } ?? true
        return isCut || isBzip2 ? named : .none
    }

    /// The first bytes of every file, except levels.
    private var magic: [UInt8] {
        switch self {
        case .none: []
        case .gzip: [0x1F, 0x8B]
        case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
        case .xz: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]
        case .bzip2: [0x42, 0x5A, 0x68]
        }
    }

    /// The name in messages.
    package var name: String {
        switch self {
        case .none: "none"
        case .gzip: "gzip"
        case .zstd: "Zstandard"
        case .xz: "xz"
        case .bzip2: "bzip2"
        }
    }

    /// How much time to spend.
    package enum Effort: Sendable { case fast, standard, small }
}
