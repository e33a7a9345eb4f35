// What the file says about versions that stay beyond the recent ones: an extent that commit records refer to. See docs/format/store.md, "History: an extent".
//
//   "HST1" · zero 4 · versions 8 · seconds 8 · count varint · for each tag: name · version varint · time 8 · end varint · catalogue 32

import FirnBytes

/// Which versions stay readable when later ones are committed. Versions that are tagged, or that somebody reads, stay besides.
package struct Retention: Hashable, Sendable {
    /// So many of the newest; two at least.
    package let versions: Int
    /// And those that were the newest at some time within the last so many seconds.
    package let seconds: Int?

    package init(versions: Int, seconds: Int? = nil) {
        self.versions = max(versions, 2)
        self.seconds = seconds.flatMap { $0 > 0 ? $0 : nil }
    }

    package static let standard = Retention(versions: 8)
    /// What is kept so far, and the new version.
    package static let everything = Retention(versions: .max)
}

/// A version with a name: it stays until the name is taken away.
package struct Tag: Hashable, Sendable {
    package var name: String
    package var version: UInt64
    /// Wall time of the version's commit, nanoseconds since 1970 UTC.
    package var time: Int64
    package var catalogue: ExtentRef
    /// The file's end in that version, in units.
    var end: UInt64

    static let longestName = 100

    /// What is wrong with a name; nil if it may be a tag's. A name must be told from a version, a type and a path where it stands behind an `@`.
    package static func refusal(of name: String) -> String? {
        if name.isEmpty { return "a tag needs a name" }
        if name.utf8.count > longestName { return "a tag's name has at most \(longestName) bytes" }
        if name.utf8.first == UInt8(ascii: "-") { return "a tag's name does not begin with -" }
        if name.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }) { return "a number is a version, not a tag's name" }
        for byte in name.utf8 where byte <= 0x20 || byte == 0x7F || "@:/\\,\"'".utf8.contains(byte) {
            return "a tag's name has no spaces, control characters and none of @ : / \\ , \" '"
        }
        return nil
    }
}

struct KeptHistory: Equatable, Sendable {
    static let tag: UInt32 = 0x3154_5348
    /// Nil: the file does not say.
    var retention: Retention?
    /// Ascending by the bytes of their names.
    var tags: [Tag] = []

    var isEmpty: Bool { retention == nil && tags.isEmpty }

    mutating func set(_ tag: Tag) {
        tags.removeAll { $0.name == tag.name }
        tags.append(tag)
        tags.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter(reserving: 32 + tags.count * 80)
        writer.append(KeptHistory.tag)
        writer.append(UInt32(0))
        writer.append(UInt64(retention?.versions ?? 0))
        writer.append(UInt64(retention?.seconds ?? 0))
        writer.appendVarint(tags.count)
        for tag in tags {
            writer.append(lengthPrefixed: Array(tag.name.utf8))
            writer.appendVarint(tag.version)
            writer.append(tag.time)
            writer.appendVarint(tag.end)
            tag.catalogue.encode(to: &writer)
        }
        return writer.bytes
    }

    init() {}

    /// `version`: the one whose record refers to it.
    init(_ bytes: UnsafeRawBufferPointer, version: UInt64) throws(Damage) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt32.self) == KeptHistory.tag else { throw Damage("not a list of tags") }
        guard try reader.read(UInt32.self) == 0 else { throw Damage("a list of tags of an unknown form", at: 4) }
        let versions = try reader.read(UInt64.self), seconds = try reader.read(UInt64.self)
        guard versions != 1, versions > 0 || seconds == 0 else { throw Damage("the number of versions to keep contradicts itself", at: 8) }
        if versions > 0 { retention = Retention(versions: Int(clamping: versions), seconds: seconds > 0 ? Int(clamping: seconds) : nil) }
        let count = try reader.readCount(limit: reader.remaining / 44)
        tags.reserveCapacity(count)
        for _ in 0..<count {
            let place = reader.position
            let name = try reader.readString()
            let tag = Tag(name: name, version: try reader.readVarint(), time: try reader.read(), catalogue: .none, end: try reader.readVarint())
            let catalogue = try ExtentRef(from: &reader)
            guard Tag.refusal(of: name) == nil, tags.last.map({ $0.name.utf8.lexicographicallyPrecedes(name.utf8) }) ?? true else {
                throw Damage("a tag's name is not one, or out of order", at: place)
            }
            guard tag.version > 0, tag.version <= version, tag.end <= ExtentRef.maximumUnit, !catalogue.isNone, catalogue.birth <= tag.version,
                  catalogue.units.upperBound <= tag.end else { throw Damage("a tag contradicts itself", at: place) }
            tags.append(Tag(name: name, version: tag.version, time: tag.time, catalogue: catalogue, end: tag.end))
        }
        guard reader.isAtEnd else { throw Damage("bytes after the tags", at: reader.position) }
    }
}
