import FirnBytes

/// Finds the beginning of page k without a search, at a cost of a few bits per page: the offset is the one that pages of equal size would
/// have, plus a bit-packed correction.
///
///     total varint · [base zigzag varint · width u8 · (pages - 1) × width bits]     the part in brackets only for more than one page
///
/// start(k) = k · total / pages + base + correction(k - 1), start(0) = 0, start(pages) = total.
struct PageOffsets {
    let pages: Int
    let total: Int
    private let base: Int
    private let width: Int
    private let packed: UnsafeRawBufferPointer

    static func append(_ sizes: [Int], to out: inout ByteWriter) {
        let total = sizes.reduce(0, +)
        out.appendVarint(total)
        guard sizes.count > 1 else { return }
        var corrections: [Int] = []
        var start = 0
        for k in 1..<sizes.count {
            start += sizes[k - 1]
            corrections.append(start - k * total / sizes.count)
        }
        let base = corrections.min()!, widest = corrections.max()! - base
        let width = Int.bitWidth - widest.leadingZeroBitCount
        trap(unless: width <= 48, "page offsets need at most 48 bits")
        out.appendSignedVarint(Int64(base))
        out.append(UInt8(width))
        var word: UInt64 = 0, held = 0
        for correction in corrections {
            word |= UInt64(correction - base) << UInt64(held)
            held += width
            while held >= 8 {
                out.append(UInt8(truncatingIfNeeded: word))
                word >>= 8
                held -= 8
            }
        }
        if held > 0 { out.append(UInt8(truncatingIfNeeded: word)) }
    }

    init(_ reader: inout ByteReader, pages: Int) throws(Damage) {
        self.pages = pages
        total = try reader.readCount(limit: reader.remaining)
        guard pages > 1 else {
            base = 0
            width = 0
            packed = UnsafeRawBufferPointer(start: nil, count: 0)
            return
        }
        base = Int(try reader.readSignedVarint())
        width = Int(try reader.read(UInt8.self))
        guard width <= 48, pages <= 1 << 40, base.magnitude <= 1 << 48 else {
            throw Damage("page offsets out of range", at: reader.position)
        }
        packed = try reader.read(count: ((pages &- 1) &* width &+ 7) >> 3)
        guard !(pages.multipliedReportingOverflow(by: total).overflow) else { throw Damage("page offsets out of range") }
    }

    /// Returns the range of page k within the payload.
    /// - Throws: `Damage` if the range is not within `0 ..< total`.
    func range(_ k: Int) throws(Damage) -> Range<Int> {
        let low = start(k), high = start(k &+ 1)
        guard low >= 0, low <= high, high <= total else { throw Damage("a page of text is outside the stored bytes") }
        return low..<high
    }

    private func start(_ k: Int) -> Int {
        if k == 0 { return 0 }
        if k == pages { return total }
        let bit = (k &- 1) &* width
        var word: UInt64 = 0
        let byte = bit >> 3
        if byte &+ 8 <= packed.count {
            word = packed.loadUnaligned(fromByteOffset: byte, as: UInt64.self)
        } else {
            for i in byte..<packed.count { word |= UInt64(packed[i]) << UInt64((i &- byte) &* 8) }
        }
        let correction = word >> UInt64(bit & 7) & ((1 << UInt64(width)) &- 1)
        return k &* total / pages &+ base &+ Int(correction)
    }
}
