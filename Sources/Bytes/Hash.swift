import CXXHash

/// A 128-bit XXH3 hash. The file stores one for every extent.
@usableFromInline
package struct Hash128: Hashable, Sendable, CustomStringConvertible {
    @usableFromInline package var low: UInt64
    @usableFromInline package var high: UInt64

    @inlinable package init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// Hashes the bytes with XXH3-128, seed 0.
    package init(of bytes: UnsafeRawBufferPointer) {
        let hash = XXH3_128bits(bytes.baseAddress, bytes.count)
        low = hash.low64
        high = hash.high64
    }

    package init(of bytes: [UInt8]) {
        self = bytes.withUnsafeBytes { Hash128(of: $0) }
    }

    #if DEBUG || FIRN_FUZZ
        /// For attacks that forge valid hashes, in separate processes: every check of a hash succeeds.
        package nonisolated(unsafe) static var believesAnything = false
    #endif

    /// Whether this is the hash of the bytes.
    @inline(__always)
    package func vouches(for bytes: UnsafeRawBufferPointer) -> Bool {
        #if DEBUG || FIRN_FUZZ
            if Hash128.believesAnything { return true }
        #endif
        return Hash128(of: bytes) == self
    }

    @usableFromInline package var description: String {
        func hex(_ value: UInt64) -> String {
            let text = String(value, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        return hex(high) + hex(low)
    }
}

/// Returns the XXH3-64 hash of the bytes, for hash tables in memory.
@usableFromInline
package func hash64(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
    XXH3_64bits_withSeed(bytes.baseAddress, bytes.count, seed)
}

/// Returns the XXH3-128 hash of the bytes with a seed, as one number.
package func hash128(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt128 {
    let hash = XXH3_128bits_withSeed(bytes.baseAddress, bytes.count, seed)
    return UInt128(hash.high64) << 64 | UInt128(hash.low64)
}

/// Writes the `hash128` of each of `count` consecutive cells of `width` bytes to `out`: one call for a vector, because calls between
/// modules are not inlined.
package func hashCells(_ cells: UnsafeRawPointer, width: Int, count: Int, seed: UInt64, into out: UnsafeMutablePointer<UInt128>) {
    for i in 0..<count {
        let hash = XXH3_128bits_withSeed(cells + i &* width, width, seed)
        out[i] = UInt128(hash.high64) << 64 | UInt128(hash.low64)
    }
}

extension Text {
    /// Writes the `hash128` of each string to `out`.
    package func hashes(seed: UInt64, into out: UnsafeMutablePointer<UInt128>) {
        bytes.withUnsafeBytes { bytes in
            for i in 0..<count {
                let hash = XXH3_128bits_withSeed(bytes.baseAddress.map { $0 + offsets[i] }, length(i), seed)
                out[i] = UInt128(hash.high64) << 64 | UInt128(hash.low64)
            }
        }
    }
}

extension Hash128 {
    package init(_ number: UInt128) {
        low = UInt64(truncatingIfNeeded: number)
        high = UInt64(truncatingIfNeeded: number >> 64)
    }
}
