#if arch(x86_64)
    import CVectors

    /// Sixteen bytes that are compared together. The instructions are those that every x86-64 processor has; the vector comparisons of the
    /// standard library are many times slower.
    struct Bytes16 {
        private let lanes: __m128i

        @inline(__always) private init(_ lanes: __m128i) { self.lanes = lanes }
        @inline(__always) init(repeating byte: UInt8) { lanes = _mm_set1_epi8(Int8(bitPattern: byte)) }
        @inline(__always) init(_ memory: UnsafePointer<UInt8>) { lanes = UnsafeRawPointer(memory).loadUnaligned(as: __m128i.self) }

        /// Has 255 where the bytes are equal, otherwise 0.
        @inline(__always) func equal(_ other: Bytes16) -> Bytes16 { Bytes16(_mm_cmpeq_epi8(lanes, other.lanes)) }
        /// Has 255 where the byte is one of `first` … `first` + `count` − 1, otherwise 0.
        @inline(__always) func isAmong(_ first: UInt8, count: UInt8) -> Bytes16 {
            let distance = _mm_sub_epi8(lanes, _mm_set1_epi8(Int8(bitPattern: first)))
            return Bytes16(_mm_cmpeq_epi8(_mm_min_epu8(distance, _mm_set1_epi8(Int8(bitPattern: count &- 1))), distance))
        }
        @inline(__always) func or(_ other: Bytes16) -> Bytes16 { Bytes16(_mm_or_si128(lanes, other.lanes)) }
        /// The top bit of each byte; that of the first byte is the lowest.
        @inline(__always) var mask: UInt32 { UInt32(bitPattern: _mm_movemask_epi8(lanes)) }
    }
#else
    /// Sixteen bytes that are compared together, as two words, because the vector comparisons of the standard library are many times slower.
    struct Bytes16 {
        private let low: UInt64, high: UInt64

        @inline(__always) private init(_ low: UInt64, _ high: UInt64) { (self.low, self.high) = (low, high) }
        @inline(__always) init(repeating byte: UInt8) {
            let word = UInt64(byte) &* 0x0101_0101_0101_0101
            self.init(word, word)
        }
        @inline(__always) init(_ memory: UnsafePointer<UInt8>) {
            let raw = UnsafeRawPointer(memory)
            self.init(
                UInt64(littleEndian: raw.loadUnaligned(as: UInt64.self)), UInt64(littleEndian: (raw + 8).loadUnaligned(as: UInt64.self)))
        }

        /// Has the top bit of a byte set where the bytes are equal.
        @inline(__always) func equal(_ other: Bytes16) -> Bytes16 {
            /// Adding 0x7F to the low bits sets the top bit of all bytes but zero, without a carry.
            func zeros(_ x: UInt64) -> UInt64 {
                ~(((x & 0x7F7F_7F7F_7F7F_7F7F) &+ 0x7F7F_7F7F_7F7F_7F7F) | x | 0x7F7F_7F7F_7F7F_7F7F)
            }
            return Bytes16(zeros(low ^ other.low), zeros(high ^ other.high))
        }
        /// Has the top bit of a byte set where it is one of `first` … `first` + `count` − 1.
        @inline(__always) func isAmong(_ first: UInt8, count: UInt8) -> Bytes16 {
            func word(_ bytes: UInt64) -> UInt64 {
                var found: UInt64 = 0
                for at in stride(from: UInt64(0), to: 64, by: 8) where UInt8(truncatingIfNeeded: bytes &>> at) &- first < count {
                    found |= 0x80 &<< at
                }
                return found
            }
            return Bytes16(word(low), word(high))
        }
        @inline(__always) func or(_ other: Bytes16) -> Bytes16 { Bytes16(low | other.low, high | other.high) }
        /// The top bit of each byte; that of the first byte is the lowest.
        @inline(__always) var mask: UInt32 {
            // The product collects the top bits of eight bytes in its top byte.
            func gather(_ word: UInt64) -> UInt32 {
                UInt32(truncatingIfNeeded: (((word & 0x8080_8080_8080_8080) &>> 7) &* 0x0102_0408_1020_4080) &>> 56)
            }
            return gather(low) | gather(high) &<< 8
        }
    }
#endif
