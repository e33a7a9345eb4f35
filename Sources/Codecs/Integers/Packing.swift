import FirnBytes

// A packed body of n values, each below 2^width:
//
//   n = 1024, width ≤ 32   u32 word k of lane l at 4·(32k + l);  value i: lane i mod 32, row i / 32, bits row·width … of its lane
//   n = 1024, width > 32   u64 word k of lane l at 8·(16k + l);  value i: lane i mod 16, row i / 16
//   n < 1024               value i at bits i·width … of one little-endian bit string
//
// All lanes of a row have the same shift, so the inner loops vectorise even though the width is known only at run time.

/// Returns the size of a packed body in bytes.
@inline(__always)
func packedSize(count: Int, width: Int) -> Int {
    count == vectorLength ? 128 &* width : (count &* width &+ 7) >> 3
}

/// Returns the number of bits that a value needs, 0 for 0.
@inline(__always)
func bitWidth(_ value: UInt64) -> Int { 64 &- value.leadingZeroBitCount }

@inline(__always)
func lowMask(_ width: Int) -> UInt64 { width >= 64 ? .max : (1 &<< UInt64(truncatingIfNeeded: width)) &- 1 }

/// Reads `width` (0…64) bits at bit `position`; bits past `limit` bytes read as zero.
@inline(__always)
func readBits(_ base: UnsafeRawPointer, limit: Int, position: Int, width: Int) -> UInt64 {
    let byte = position >> 3, shift = UInt64(truncatingIfNeeded: position & 7)
    if byte &+ 16 <= limit {
        var word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: byte, as: UInt64.self)) >> shift
        if Int(shift) &+ width > 64 {
            word |= UInt64(base.load(fromByteOffset: byte &+ 8, as: UInt8.self)) &<< (64 &- shift)
        }
        return word & lowMask(width)
    }
    return readBitsNearEnd(base, limit: limit, position: position, width: width)
}

@inline(never)
func readBitsNearEnd(_ base: UnsafeRawPointer, limit: Int, position: Int, width: Int) -> UInt64 {
    let byte = position >> 3, shift = UInt64(truncatingIfNeeded: position & 7)
    var low: UInt64 = 0, high: UInt64 = 0
    for i in 0..<8 where byte &+ i < limit { low |= UInt64(base.load(fromByteOffset: byte &+ i, as: UInt8.self)) &<< UInt64(8 &* i) }
    if byte &+ 8 < limit { high = UInt64(base.load(fromByteOffset: byte &+ 8, as: UInt8.self)) }
    var word = low >> shift
    if shift > 0 { word |= high &<< (64 &- shift) }
    return word & lowMask(width)
}

/// Appends bits to bytes, lowest bit first.
struct BitWriter {
    var bytes: [UInt8] = []
    private var pending: UInt64 = 0
    private var used = 0

    @inline(__always)
    mutating func write(_ value: UInt64, width: Int) {
        if width > 32 {
            write32(value & 0xFFFF_FFFF, width: 32)
            write32(value >> 32, width: width &- 32)
        } else {
            write32(value, width: width)
        }
    }

    @inline(__always)
    private mutating func write32(_ value: UInt64, width: Int) {
        pending |= value &<< UInt64(truncatingIfNeeded: used)
        used &+= width
        while used >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            used &-= 8
        }
    }

    /// Pads with zero bits to a full byte.
    mutating func align() {
        if used > 0 { bytes.append(UInt8(truncatingIfNeeded: pending)) }
        pending = 0
        used = 0
    }
}

/// Packs `count` ≤ 1,024 values minus `base` (each below 2^width after `mask`) and appends them to `out`.
func pack(_ values: UnsafePointer<Int64>, count: Int, base: Int64, width: Int, to out: inout [UInt8]) {
    if width == 0 { return }
    let reference = UInt64(bitPattern: base), mask = lowMask(width)
    if count < vectorLength {
        var bits = BitWriter()
        bits.bytes.reserveCapacity(packedSize(count: count, width: width))
        for i in 0..<count { bits.write((UInt64(bitPattern: values[i]) &- reference) & mask, width: width) }
        bits.align()
        out.append(contentsOf: bits.bytes)
        return
    }
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 16 &* width) { words in
        words.initialize(repeating: 0)
        if width <= 32 {
            words.withMemoryRebound(to: UInt32.self) {
                packNarrow(values, base: reference, width: width, mask: UInt32(truncatingIfNeeded: mask), to: $0.baseAddress!)
            }
        } else {
            packWide(values, base: reference, width: width, mask: mask, to: words.baseAddress!)
        }
        out.append(contentsOf: UnsafeRawBufferPointer(words))
    }
}

private func packNarrow(_ values: UnsafePointer<Int64>, base: UInt64, width: Int, mask: UInt32, to words: UnsafeMutablePointer<UInt32>) {
    for row in 0..<32 {
        let start = row &* width, shift = UInt32(truncatingIfNeeded: start & 31)
        let source = values + row &* 32, target = words + (start >> 5) &* 32
        for lane in 0..<32 {
            target[lane] |= (UInt32(truncatingIfNeeded: UInt64(bitPattern: source[lane]) &- base) & mask) &<< shift
        }
        if Int(shift) &+ width > 32 {
            let rest = 32 &- shift
            for lane in 0..<32 {
                target[lane &+ 32] = (UInt32(truncatingIfNeeded: UInt64(bitPattern: source[lane]) &- base) & mask) >> rest
            }
        }
    }
}

private func packWide(_ values: UnsafePointer<Int64>, base: UInt64, width: Int, mask: UInt64, to words: UnsafeMutablePointer<UInt64>) {
    for row in 0..<64 {
        let start = row &* width, shift = UInt64(truncatingIfNeeded: start & 63)
        let source = values + row &* 16, target = words + (start >> 6) &* 16
        for lane in 0..<16 { target[lane] |= ((UInt64(bitPattern: source[lane]) &- base) & mask) &<< shift }
        if Int(shift) &+ width > 64 {
            let rest = 64 &- shift
            for lane in 0..<16 { target[lane &+ 16] = ((UInt64(bitPattern: source[lane]) &- base) & mask) >> rest }
        }
    }
}

/// Unpacks a body of `count` values and adds `base`. The caller has checked that `packedSize` bytes are in the body; `limit` bytes are
/// readable.
func unpack(_ body: UnsafeRawPointer, limit: Int, count: Int, base: Int64, width: Int, to out: UnsafeMutablePointer<Int64>) {
    if width == 0 {
        out.update(repeating: base, count: count)
    } else if count < vectorLength {
        for i in 0..<count { out[i] = base &+ Int64(bitPattern: readBits(body, limit: limit, position: i &* width, width: width)) }
    } else if width <= 32 {
        for row in 0..<32 { unpackRow(body, row: row, base: base, width: width, to: out + row &* 32) }
    } else {
        unpackWide(body, base: base, width: width, to: out)
    }
}

/// Unpacks one row of 32 values of a full body of at most 32 bits a value.
@inline(__always)
func unpackRow(_ body: UnsafeRawPointer, row: Int, base: Int64, width: Int, to out: UnsafeMutablePointer<Int64>) {
    let start = row &* width, shift = UInt32(truncatingIfNeeded: start & 31)
    let mask = UInt32(truncatingIfNeeded: lowMask(width)), reference = UInt64(bitPattern: base)
    let source = body + (start >> 5) &* 128
    if Int(shift) &+ width <= 32 {
        for lane in 0..<32 {
            let word = source.loadUnaligned(fromByteOffset: lane &* 4, as: UInt32.self)
            out[lane] = Int64(bitPattern: UInt64((word &>> shift) & mask) &+ reference)
        }
    } else {
        let rest = 32 &- shift
        for lane in 0..<32 {
            let low = source.loadUnaligned(fromByteOffset: lane &* 4, as: UInt32.self)
            let high = source.loadUnaligned(fromByteOffset: lane &* 4 &+ 128, as: UInt32.self)
            out[lane] = Int64(bitPattern: UInt64(((low &>> shift) | (high &<< rest)) & mask) &+ reference)
        }
    }
}

private func unpackWide(_ body: UnsafeRawPointer, base: Int64, width: Int, to out: UnsafeMutablePointer<Int64>) {
    let mask = lowMask(width), reference = UInt64(bitPattern: base)
    for row in 0..<64 {
        let start = row &* width, shift = UInt64(truncatingIfNeeded: start & 63)
        let source = body + (start >> 6) &* 128, target = out + row &* 16
        if Int(shift) &+ width <= 64 {
            for lane in 0..<16 {
                target[lane] = Int64(
                    bitPattern: ((source.loadUnaligned(fromByteOffset: lane &* 8, as: UInt64.self) &>> shift) & mask) &+ reference)
            }
        } else {
            let rest = 64 &- shift
            for lane in 0..<16 {
                let low = source.loadUnaligned(fromByteOffset: lane &* 8, as: UInt64.self)
                let high = source.loadUnaligned(fromByteOffset: lane &* 8 &+ 128, as: UInt64.self)
                target[lane] = Int64(bitPattern: (((low &>> shift) | (high &<< rest)) & mask) &+ reference)
            }
        }
    }
}

/// Unpacks one value of a packed body.
@inline(__always)
func unpackOne(_ body: UnsafeRawPointer, limit: Int, count: Int, index: Int, base: Int64, width: Int) -> Int64 {
    if width == 0 { return base }
    if count < vectorLength { return base &+ Int64(bitPattern: readBits(body, limit: limit, position: index &* width, width: width)) }
    if width <= 32 {
        let start = (index >> 5) &* width, shift = UInt64(truncatingIfNeeded: start & 31)
        let at = (start >> 5) &* 128 &+ (index & 31) &* 4
        var word = UInt64(body.loadUnaligned(fromByteOffset: at, as: UInt32.self))
        if Int(shift) &+ width > 32 { word |= UInt64(body.loadUnaligned(fromByteOffset: at &+ 128, as: UInt32.self)) &<< 32 }
        return base &+ Int64(bitPattern: (word &>> shift) & lowMask(width))
    }
    let start = (index >> 4) &* width, shift = UInt64(truncatingIfNeeded: start & 63)
    let at = (start >> 6) &* 128 &+ (index & 15) &* 8
    var word = body.loadUnaligned(fromByteOffset: at, as: UInt64.self) &>> shift
    if Int(shift) &+ width > 64 { word |= body.loadUnaligned(fromByteOffset: at &+ 128, as: UInt64.self) &<< (64 &- shift) }
    return base &+ Int64(bitPattern: word & lowMask(width))
}
