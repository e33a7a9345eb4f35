import FirnBytes

/// Texts that are coded bit by bit with the predictions of a `ByteModel`, by an arithmetic coder of 32 bits. Compresses better than zstd and
/// takes about half a microsecond for each byte, in both directions: for texts that are small or rarely read.
///
/// A stream is the shortest sequence of bytes for its text; the zero bytes that follow it are left out.
enum ModelledBytes {
    /// The largest text in bytes: what a reader decodes before it can return one value.
    static let maximumBytes = 1 << 20

    /// Encodes fields that end with `terminator`. Returns nil if the result has more than `limit` bytes.
    static func encode(_ source: [UInt8], terminator: UInt8, limit: Int) -> [UInt8]? {
        trap(unless: source.count <= maximumBytes, "a text that is modelled is at most 1 MiB long")
        var out: [UInt8] = []
        out.reserveCapacity(min(limit, source.count) &+ 8)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(source.count, 1)) { copy in
            var model = ByteModel(copy.baseAddress!, capacity: source.count, terminator: terminator)
            var interval = Interval(), sizes: [Int] = []
            for done in source.indices {
                var byte = Int(source[done])
                for _ in 0..<8 {
                    let bit = byte &>> 7 & 1
                    byte &<<= 1
                    interval.narrow(to: bit, split: interval.split(model.predict()))
                    model.update(bit)
                    while let byte = interval.takeByte() { out.append(byte) }
                }
                guard done & 1023 == 1023 else { continue }
                sizes.append(out.count)
                if isHopeless(sizes, of: source.count, limit: limit) { return nil }
            }
            interval.finish(&out)
            return out.count > limit ? nil : out
        }
    }

    /// Whether the result will have more than `limit` bytes. `sizes` are those of the result after each 1,024 bytes of the text. The model
    /// learns, so the rest of a text takes less than what was encoded last: the less, the more is left. The shares hold for nearly all
    /// columns of real tables (`docs/decisions/017-modelled-bytes.md`).
    private static func isHopeless(_ sizes: [Int], of count: Int, limit: Int) -> Bool {
        let done = sizes.count << 10, bytes = sizes[sizes.count &- 1]
        if bytes > limit { return true }
        guard sizes.count >= 3 else { return false }
        var share = done &* 2 >= count ? 93 : done &* 3 >= count ? 88 : done &* 6 >= count ? 75 : done &* 12 >= count ? 65 : 50
        // A model that has seen little still learns much.
        if sizes.count < 16 { share = min(share, 70) }
        let half = (sizes.count &+ 1) / 2, recent = (bytes &- sizes[half &- 1]) << 10 / (sizes.count &- half)
        let rest = min(recent &* share, (bytes << 20) / done &* 88) / 100
        return bytes &+ (rest &* (count &- done)) >> 20 > limit
    }

    /// Decodes `count` bytes into `room`.
    /// - Throws: `Damage` if the stream ends before the text.
    static func decode(_ source: UnsafeRawBufferPointer, count: Int, terminator: UInt8, into room: UnsafeMutablePointer<UInt8>)
        throws(Damage)
    {
        trap(unless: count <= maximumBytes, "a text that is modelled is at most 1 MiB long")
        var model = ByteModel(room, capacity: count, terminator: terminator), interval = Interval(), code: UInt32 = 0, at = 0
        for _ in 0..<4 {
            code = code << 8 | (at < source.count ? UInt32(source[at]) : 0)
            at &+= 1
        }
        for _ in 0..<(count &* 8) {
            let split = interval.split(model.predict()), bit = code <= split ? 1 : 0
            interval.narrow(to: bit, split: split)
            model.update(bit)
            while interval.takeByte() != nil {
                // Four bytes after the end are zeros that were left out. More of them were never written.
                guard at < source.count &+ 4 else { throw Damage("modelled text ends early") }
                code = code << 8 | (at < source.count ? UInt32(source[at]) : 0)
                at &+= 1
            }
        }
    }

    /// The part of all 32-bit numbers that stands for the bits so far.
    private struct Interval {
        private var low: UInt32 = 0, high: UInt32 = .max

        /// The last number that stands for a one, if ones have the probability `p`, in 1/65,536.
        @inline(__always)
        func split(_ p: UInt32) -> UInt32 { low &+ UInt32(truncatingIfNeeded: (UInt64(high &- low) &* UInt64(p)) &>> 16) }

        @inline(__always)
        mutating func narrow(to bit: Int, split: UInt32) {
            if bit == 1 { high = split } else { low = split &+ 1 }
        }

        /// Removes the first byte, if all numbers have the same one.
        @inline(__always)
        mutating func takeByte() -> UInt8? {
            guard (low ^ high) &>> 24 == 0 else { return nil }
            let byte = UInt8(truncatingIfNeeded: high >> 24)
            low <<= 8
            high = high << 8 | 255
            return byte
        }

        /// Appends the fewest bytes that, followed by zeros, are a number of the interval.
        func finish(_ out: inout [UInt8]) {
            for count in 0...4 {
                let unit: UInt64 = 1 << UInt64(32 - 8 * count), value = (UInt64(low) + unit - 1) / unit * unit
                guard value <= UInt64(high) else { continue }
                for k in 0..<count { out.append(UInt8(truncatingIfNeeded: value >> UInt64(24 - 8 * k))) }
                break
            }
            while out.last == 0 { out.removeLast() }
        }
    }
}
