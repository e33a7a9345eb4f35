/// Appends little-endian scalars to an array of bytes.
@usableFromInline
package struct ByteWriter: Sendable {
    @usableFromInline package var bytes: [UInt8]

    @inlinable package init(reserving capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    @inlinable package var count: Int { bytes.count }

    @inlinable package mutating func append(_ value: UInt8) { bytes.append(value) }

    /// Appends the integer in little-endian order.
    @inlinable
    package mutating func append<T: FixedWidthInteger>(_ value: T) {
        var little = value.littleEndian
        withUnsafeBytes(of: &little) { bytes.append(contentsOf: $0) }
    }

    @inlinable package mutating func append(_ value: Double) { append(value.bitPattern) }

    @inlinable package mutating func append(_ hash: Hash128) {
        append(hash.low)
        append(hash.high)
    }

    @inlinable package mutating func append(contentsOf more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }
    @inlinable package mutating func append(contentsOf more: [UInt8]) { bytes.append(contentsOf: more) }

    /// Appends a LEB128 varint: seven bits in each byte, the low bits first.
    @inlinable
    package mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    @inlinable package mutating func appendVarint(_ value: Int) {
        trap(unless: value >= 0, "a length or count is never negative")
        appendVarint(UInt64(bitPattern: Int64(value)))
    }

    /// Appends a zigzag varint: the value is zigzag-encoded, then written as LEB128.
    @inlinable
    package mutating func appendSignedVarint(_ value: Int64) { appendVarint(zigzag(value)) }

    /// Appends the length as a varint, then the text in UTF-8.
    package mutating func append(string: String) {
        var copy = string
        copy.withUTF8 {
            appendVarint($0.count)
            bytes.append(contentsOf: $0)
        }
    }

    /// Appends the length as a varint, then the bytes.
    package mutating func append(lengthPrefixed more: [UInt8]) {
        appendVarint(more.count)
        bytes.append(contentsOf: more)
    }

    /// Appends zero bytes up to the next multiple of `alignment`.
    package mutating func pad(to alignment: Int) {
        while bytes.count % alignment != 0 { bytes.append(0) }
    }
}

@inlinable package func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: (value &<< 1) ^ (value &>> 63)) }
@inlinable package func unzigzag(_ value: UInt64) -> Int64 { Int64(bitPattern: value >> 1) ^ (0 &- Int64(bitPattern: value & 1)) }
