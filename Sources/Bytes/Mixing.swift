// Hashes for tables in memory: fast, of no use to a file, and free to change.

/// The hash of an absent value.
@inlinable
package var nullHash: UInt64 { 0x6E75_6C6C_5EED_0001 }

@inlinable @inline(__always)
package func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = (a ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: b ^ 0xD1B5_4A32_D192_ED03)
    return product.high ^ product.low
}

/// By value across number kinds. All are taken as floats, so that the float 0.1 and the double 0.1 have one hash.
@inlinable @inline(__always)
package func numberHash(_ x: Double) -> UInt64 {
    let coarse = Float(x)
    return coarse.isNaN ? 0x4E61_4E : mix(UInt64((coarse == 0 ? 0 : coarse).bitPattern), 2)
}

@inlinable @inline(__always)
package func realHash(_ x: Double) -> UInt64 { x.isNaN ? 0x4E61_4E : mix((x == 0 ? 0 : x).bitPattern, 2) }

@inlinable @inline(__always)
package func hashBytes(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    let count = bytes.count
    let length = UInt64(truncatingIfNeeded: count)
    if count > 16 { return hash64(bytes) }
    if count >= 8 {
        return mix(bytes.loadUnaligned(as: UInt64.self) &+ length, bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self))
    }
    if count >= 4 {
        let low = UInt64(bytes.loadUnaligned(as: UInt32.self)), high = UInt64(bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
        return mix(low | high << 32, length)
    }
    var word: UInt64 = 0
    for byte in bytes { word = word << 8 | UInt64(byte) }
    return mix(word, length)
}

/// Of a text by itself; the seed keeps kinds apart.
package func hashText(_ text: String, seed: UInt64) -> UInt64 {
    var text = text
    return text.withUTF8 { mix(hashBytes(UnsafeRawBufferPointer($0)), seed) }
}
