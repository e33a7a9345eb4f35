/// Reads little-endian scalars from untrusted bytes. Every read is checked; a failed check throws `Damage` with the offset.
/// The bytes must outlive the reader.
@usableFromInline
package struct ByteReader {
    @usableFromInline package let bytes: UnsafeRawBufferPointer
    @usableFromInline package var position: Int

    @inlinable
    package init(_ bytes: UnsafeRawBufferPointer, at position: Int = 0) {
        self.bytes = bytes
        self.position = min(max(position, 0), bytes.count)
    }

    @inlinable package var remaining: Int { bytes.count &- position }
    @inlinable package var isAtEnd: Bool { position == bytes.count }

    @inlinable
    package mutating func read<T: FixedWidthInteger>(_ type: T.Type = T.self) throws(Damage) -> T {
        let size = MemoryLayout<T>.size
        guard remaining >= size else { throw Damage("cut short", at: position) }
        let value = T(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: T.self))
        position &+= size
        return value
    }

    @inlinable
    package mutating func readDouble() throws(Damage) -> Double { Double(bitPattern: try read(UInt64.self)) }

    @inlinable
    package mutating func readHash() throws(Damage) -> Hash128 {
        let low = try read(UInt64.self)
        return Hash128(low: low, high: try read(UInt64.self))
    }

    @inlinable
    package mutating func readVarint() throws(Damage) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try read(UInt8.self)
            if shift == 63, byte > 1 { throw Damage("number too large", at: position) }
            value |= UInt64(byte & 0x7F) &<< shift
            if byte < 0x80 { return value }
            shift &+= 7
            if shift > 63 { throw Damage("number too large", at: position) }
        }
    }

    /// Reads a length or count. Throws `Damage` if it is more than `limit`; a negative limit allows none.
    @inlinable
    package mutating func readCount(limit: Int = Int.max >> 1) throws(Damage) -> Int {
        let start = position
        let value = try readVarint()
        guard limit >= 0, value <= UInt64(limit) else { throw Damage("count too large", at: start) }
        return Int(value)
    }

    @inlinable
    package mutating func readSignedVarint() throws(Damage) -> Int64 { unzigzag(try readVarint()) }

    @inlinable
    package mutating func read(count: Int) throws(Damage) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= remaining else { throw Damage("cut short", at: position) }
        let slice = UnsafeRawBufferPointer(rebasing: bytes[position..<(position &+ count)])
        position &+= count
        return slice
    }

    /// Reads a length as a varint, then that many bytes.
    package mutating func readLengthPrefixed() throws(Damage) -> UnsafeRawBufferPointer {
        try read(count: try readCount(limit: remaining))
    }

    /// Reads a length as a varint, then that many bytes of UTF-8. Throws `Damage` if they are not UTF-8.
    package mutating func readString() throws(Damage) -> String {
        let start = position
        let utf8 = try readLengthPrefixed()
        guard let text = String(validating: utf8, as: UTF8.self) else { throw Damage("text is not UTF-8", at: start) }
        return text
    }
}
