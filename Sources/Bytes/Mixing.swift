// Hashes for hash tables in memory. They are never stored, and may change.

/// The hash of null.
@inlinable
package var nullHash: UInt64 { 0x6E75_6C6C_5EED_0001 }

/// Combines two numbers to a hash.
@inlinable @inline(__always)
package func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = (a ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: b ^ 0xD1B5_4A32_D192_ED03)
    return product.high ^ product.low
}

/// Hashes a number by value across numeric types. The value is rounded to a float first, so that the float 0.1 and the double 0.1 have the
/// same hash.
@inlinable @inline(__always)
package func numberHash(_ x: Double) -> UInt64 {
    let coarse = Float(x)
    return coarse.isNaN ? 0x4E61_4E : mix(UInt64((coarse == 0 ? 0 : coarse).bitPattern), 2)
}

/// Hashes a double by value: 0 and -0 have the same hash, and all NaNs have the same hash.
@inlinable @inline(__always)
package func realHash(_ x: Double) -> UInt64 { x.isNaN ? 0x4E61_4E : mix((x == 0 ? 0 : x).bitPattern, 2) }

/// Hashes bytes: up to 16 bytes with `mix`, more with XXH3.
@inlinable @inline(__always)
package func hashBytes(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    let count = bytes.count
    let length = UInt64(truncatingIfNeeded: count)
    if count > 16 { return hash64(bytes) }
    if count >= 8 {
        return mix(bytes.loadUnaligned(as: UInt64.self) &+ length, bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self))
    }
    if count >= 4 {
        let low = UInt64(bytes.loadUnaligned(as: UInt32.self)),
            high = UInt64(bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
        return mix(low | high << 32, length)
    }
    var word: UInt64 = 0
    for byte in bytes { word = word << 8 | UInt64(byte) }
    return mix(word, length)
}

/// Hashes a text. Seeds separate kinds of values that could have equal text.
package func hashText(_ text: String, seed: UInt64) -> UInt64 {
    var text = text
    return text.withUTF8 { mix(hashBytes(UnsafeRawBufferPointer($0)), seed) }
}
