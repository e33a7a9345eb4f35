// The history: which versions are kept in addition to the recent ones. Commit records refer to it. See docs/format/store.md, "History: an
// extent".
//
//   "HST1" · zero 4 · versions 8 · seconds 8 · count varint · for each tag: name · version varint · time 8 · end varint · catalogue 32

import FirnBytes

/// The rule for the versions that stay readable when later ones are committed. Tagged and pinned versions stay readable too.
package struct Retention: Hashable, Sendable {
    /// The number of newest versions that are kept, at least 2.
    package let versions: Int
    /// If set, versions that were the newest at some time within this number of seconds are kept too.
    package let seconds: Int?

    /// Creates a rule. Fewer than 2 versions count as 2; 0 or fewer seconds count as nil.
    package init(versions: Int, seconds: Int? = nil) {
        self.versions = max(versions, 2)
        self.seconds = seconds.flatMap { $0 > 0 ? $0 : nil }
    }

    /// The default: the 8 newest versions.
    package static let standard = Retention(versions: 8)
    /// Keeps all versions that are kept so far, and the new one.
    package static let everything = Retention(versions: .max)
}

/// A tag: a named version, which is kept until the tag is deleted.
package struct Tag: Hashable, Sendable {
    /// The name.
    package var name: String
    /// The version that the tag refers to.
    package var version: UInt64
    /// The wall time of the version's commit, in nanoseconds since 1970-01-01 UTC.
    package var time: Int64
    /// The catalogue of the version.
    package var catalogue: ExtentRef
    /// The `end` of the file in that version, in units.
    var end: UInt64

    static let maximumNameLength = 100

    /// Returns why `name` is not valid for a tag, or nil if it is valid. After an `@`, a name must differ from a version, a type and a
    /// path.
    package static func refusal(of name: String) -> String? {
        if name.isEmpty { return "a tag needs a name" }
        if name.utf8.count > maximumNameLength { return "a tag's name has at most \(maximumNameLength) bytes" }
        if name.utf8.first == UInt8(ascii: "-") { return "a tag's name cannot begin with \"-\"" }
        if name.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }) { return "a tag's name cannot be a number: numbers are versions" }
        for byte in name.utf8 where byte <= 0x20 || byte == 0x7F || "@:/\\,\"'".utf8.contains(byte) {
            return "a tag's name cannot contain spaces, control characters or any of @ : / \\ , \" '"
        }
        return nil
    }
}

struct KeptHistory: Equatable, Sendable {
    static let tag: UInt32 = 0x3154_5348
    /// Nil if the file has no rule of its own.
    var retention: Retention?
    /// Sorted by the bytes of their names.
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

    /// Reads a history extent. `version` is the one whose record refers to it.
    init(_ bytes: UnsafeRawBufferPointer, version: UInt64) throws(Damage) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt32.self) == KeptHistory.tag else { throw Damage("not a list of tags") }
        guard try reader.read(UInt32.self) == 0 else { throw Damage("a list of tags in an unknown format", at: 4) }
        let versions = try reader.read(UInt64.self), seconds = try reader.read(UInt64.self)
        guard versions != 1, versions > 0 || seconds == 0 else {
            throw Damage("the versions and seconds to keep contradict each other", at: 8)
        }
        if versions > 0 { retention = Retention(versions: Int(clamping: versions), seconds: seconds > 0 ? Int(clamping: seconds) : nil) }
        let count = try reader.readCount(limit: reader.remaining / 44)
        tags.reserveCapacity(count)
        for _ in 0..<count {
            let offset = reader.position
            let name = try reader.readString()
            let tag = Tag(
                name: name, version: try reader.readVarint(), time: try reader.read(), catalogue: .none, end: try reader.readVarint())
            let catalogue = try ExtentRef(from: &reader)
            guard Tag.refusal(of: name) == nil, tags.last.map({ $0.name.utf8.lexicographicallyPrecedes(name.utf8) }) ?? true else {
                throw Damage("a tag has an invalid name or is out of order", at: offset)
            }
            guard tag.version > 0, tag.version <= version, tag.end <= ExtentRef.maximumUnit, !catalogue.isNone,
                catalogue.birth <= tag.version,
                catalogue.units.upperBound <= tag.end
            else { throw Damage("fields of a tag contradict each other", at: offset) }
            tags.append(Tag(name: name, version: tag.version, time: tag.time, catalogue: catalogue, end: tag.end))
        }
        guard reader.isAtEnd else { throw Damage("bytes after the tags", at: reader.position) }
    }
}
