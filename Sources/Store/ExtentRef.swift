import FirnBytes

/// A reference to an extent: its offset, its length, the version that wrote it, and the hash of its bytes. 32 bytes in the file: offset in
/// units of 64 (6), length (5), birth (5), XXH3-128 (16).
@usableFromInline
package struct ExtentRef: Hashable, Sendable {
    /// The offset in the file in bytes, a multiple of 64.
    @usableFromInline package var offset: UInt64
    /// The length in bytes.
    @usableFromInline package var length: UInt64
    /// The version whose commit wrote the extent.
    @usableFromInline package var birth: UInt64
    /// The XXH3-128 of the stored bytes; in encrypted files, the authentication tag.
    @usableFromInline package var hash: Hash128

    @inlinable
    package init(offset: UInt64, length: UInt64, birth: UInt64, hash: Hash128) {
        self.offset = offset
        self.length = length
        self.birth = birth
        self.hash = hash
    }

    /// The reference to no extent.
    package static let none = ExtentRef(offset: 0, length: 0, birth: 0, hash: Hash128(low: 0, high: 0))
    /// Whether this is `none`.
    @inlinable package var isNone: Bool { offset == 0 }

    /// The length of an encoded reference in bytes.
    @inlinable package static var width: Int { 32 }
    static let maximumLength: UInt64 = (1 << 40) - 1
    static let maximumVersion: UInt64 = (1 << 40) - 1
    static let maximumUnit: UInt64 = (1 << 48) - 1

    /// The units that the extent owns.
    var units: Range<UInt64> { offset / 64..<offset / 64 + ExtentRef.units(of: length) }
    static func units(of length: UInt64) -> UInt64 { max(1, (length + 63) / 64) }

    /// Appends the 32 bytes of the reference.
    package func encode(to writer: inout ByteWriter) {
        let unit = offset / 64
        // 6 bytes of unit, 5 of length, 5 of birth, 16 of hash, appended together because a commit writes a dozen of references.
        let words = (
            (unit | length << 48).littleEndian, ((length >> 16 & 0xFF_FFFF) | birth << 24).littleEndian, hash.low.littleEndian,
            hash.high.littleEndian
        )
        withUnsafeBytes(of: words) { writer.append(contentsOf: $0) }
    }

    /// Reads a reference. Apart from references into the root slot, any 32 bytes are accepted; what they refer to is checked when it is
    /// read.
    package init(from reader: inout ByteReader) throws(Damage) {
        let first = try reader.read(UInt64.self), second = try reader.read(UInt64.self)
        offset = (first & 0xFFFF_FFFF_FFFF) &* 64
        length = first >> 48 | (second & 0xFF_FFFF) << 16
        birth = second >> 24
        hash = try reader.readHash()
        if offset == 0, self != .none { throw Damage("a reference into the root", at: reader.position &- 32) }
    }
}
