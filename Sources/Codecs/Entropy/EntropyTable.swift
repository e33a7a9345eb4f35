import FirnBytes

// symbols   count (varint, 1…2,048) · one bit string of, for each symbol by ascending lower bound:
//           level: 1 if equal to the previous one (the first: 0), else 0 and 6 bits · gap: γ(g + 1) · frequency: γ(f)
//           A symbol represents index·2^level … (index + 1)·2^level − 1, index = ⌈end of the previous symbol / 2^level⌉ + g.
//           γ(x): bitWidth(x) − 1 zeros, a one, the low bitWidth(x) − 1 bits of x. The frequencies sum to 2^R.

func encodeBins(_ bins: [EntropyBin]) -> [UInt8] {
    var out = ByteWriter()
    out.appendVarint(bins.count)
    var bits = BitWriter(), level = 0, end: UInt64 = 0
    func writeGamma(_ value: UInt64) {
        let low = bitWidth(value) &- 1
        bits.write(0, width: low)
        bits.write(1, width: 1)
        bits.write(value & lowMask(low), width: low)
    }
    for bin in bins {
        bits.write(bin.extra == level ? 1 : 0, width: 1)
        if bin.extra != level { bits.write(UInt64(bin.extra), width: 6) }
        level = bin.extra
        writeGamma(bin.lower >> UInt64(level) &- ceiling(end, level) &+ 1)
        writeGamma(UInt64(bin.frequency))
        end = bin.lower &+ 1 << UInt64(level)
    }
    bits.align()
    out.append(contentsOf: bits.bytes)
    return out.bytes
}

/// Returns ⌈value / 2^level⌉.
@inline(__always)
private func ceiling(_ value: UInt64, _ level: Int) -> UInt64 {
    value >> UInt64(level) &+ (value & lowMask(level) == 0 ? 0 : 1)
}

/// Reads consecutive fields of a bit string; bits past the end are zeros.
private struct BitCursor {
    let bytes: UnsafeRawBufferPointer
    var position = 0

    mutating func read(_ width: Int) -> UInt64 {
        guard let base = bytes.baseAddress, width > 0 else { return 0 }
        defer { position &+= width }
        return readBits(base, limit: bytes.count, position: position, width: width)
    }

    mutating func readGamma() throws(Damage) -> UInt64 {
        guard let base = bytes.baseAddress, position < bytes.count &* 8 else { throw Damage("symbols cut short") }
        // One load gets the zeros, the one and the low bits if they are at most 64 bits; frequencies and gaps nearly always are.
        let ahead = readBits(base, limit: bytes.count, position: position, width: 64), low = ahead.trailingZeroBitCount
        guard low < 64 else { throw Damage("symbols out of range") }
        position &+= low &+ 1
        if low < 32 {
            position &+= low
            return 1 &<< UInt64(low) | (ahead >> UInt64(low &+ 1)) & lowMask(low)
        }
        return 1 &<< UInt64(low) | read(low)
    }
}

/// One slot of the decoding table in 32 bits: base (13) · bits (4) · extra (4) · symbol (11). The next state is base + the next `bits`
/// bits, which follow the symbol's extra bits. Extra bits above 15 do not fit here and are stored with the symbol only.
struct EntropySlot {
    let packed: UInt32

    init(base: Int, bits: Int, extra: Int, symbol: Int) {
        packed = UInt32(truncatingIfNeeded: base | bits &<< 13 | min(extra, 15) &<< 17 | symbol &<< 21)
    }

    @inline(__always)
    init(_ base: Int, _ bits: Int, _ shared: UInt32) { packed = UInt32(truncatingIfNeeded: base | bits &<< 13) | shared }

    @inline(__always) var base: UInt64 { UInt64(packed & 0x1FFF) }
    @inline(__always) var bits: UInt64 { UInt64(packed &>> 13 & 15) }
    @inline(__always) var extra: UInt64 { UInt64(packed &>> 17 & 15) }
    @inline(__always) var symbol: Int { Int(packed &>> 21) }
}

/// The numbers of a symbol: from `lower` to `lower` + `mask`.
struct EntropyRange {
    let lower: UInt64, mask: UInt64
}

/// A decoding table. Every slot leads to a valid slot, whatever bits are read.
final class EntropyTable: Sendable {
    let slots: [EntropySlot], ranges: [EntropyRange], extras: [UInt8], maximumExtra: Int
    /// The maximum number of bits of one value.
    let maximumBits: Int
    /// Whether every symbol is a single number. Slots then hold that number instead of a symbol index; `add` must still be added.
    let isDirect: Bool
    let add: UInt64

    /// `add` is added to every number.
    init(_ bytes: UnsafeRawBufferPointer, tableLog: Int, add: UInt64) throws(Damage) {
        var reader = ByteReader(bytes)
        let count = try reader.readCount(limit: EntropyModel.maximumBins)
        var cursor = BitCursor(bytes: reader.readRest())
        var bins: [EntropyBin] = [], level = 0, end: UInt64 = 0, sum = 0, most = 0
        bins.reserveCapacity(count)
        for i in 0..<count {
            if cursor.read(1) == 0 { level = Int(cursor.read(6)) }
            let gap = try cursor.readGamma() &- 1, frequency = try cursor.readGamma()
            let (index, overflow) = ceiling(end, level).addingReportingOverflow(gap)
            // A symbol may end at 2^64 (end 0) only if it is the last.
            guard !overflow, index <= UInt64.max >> UInt64(level), frequency <= 1 << 13, i == 0 || end != 0 else {
                throw Damage("symbols out of range")
            }
            bins.append(EntropyBin(lower: index << UInt64(level), extra: level, frequency: Int(frequency)))
            end = (index &+ 1) &<< UInt64(level)
            sum &+= Int(frequency)
            most = max(most, level)
        }
        guard count > 0, sum == 1 << tableLog else { throw Damage("frequencies of symbols do not add up") }
        let direct = most == 0 && bins[count &- 1].lower < UInt64(EntropyModel.maximumBins)
        isDirect = direct
        self.add = add
        ranges = bins.map { EntropyRange(lower: $0.lower &+ add, mask: lowMask($0.extra)) }
        extras = bins.map { UInt8($0.extra) }
        maximumExtra = most
        // The less frequent a symbol, the more bits its next state takes.
        maximumBits = bins.reduce(0) { max($0, $1.extra &+ tableLog &- (bitWidth(UInt64($1.frequency)) &- 1)) }
        slots = Self.makeSlots(bins, tableLog: tableLog, direct: direct)
    }

    private static func makeSlots(_ bins: [EntropyBin], tableLog: Int, direct: Bool) -> [EntropySlot] {
        let size = 1 << tableLog
        var next = bins.map { UInt32($0.frequency) }
        let order = spreadSymbols(bins, tableLog: tableLog)
        // The part that all slots of a symbol share.
        let shared = bins.enumerated().map { EntropySlot(base: 0, bits: 0, extra: $1.extra, symbol: direct ? Int($1.lower) : $0).packed }
        return [EntropySlot](unsafeUninitializedCapacity: size) { slots, filled in
            next.withUnsafeMutableBufferPointer { next in
                order.withUnsafeBufferPointer { order in
                    shared.withUnsafeBufferPointer { shared in
                        let target = slots.baseAddress!, next = next.baseAddress!, order = order.baseAddress!, shared = shared.baseAddress!
                        for k in 0..<size {
                            let symbol = Int(order[k]), x = next[symbol]
                            next[symbol] = x &+ 1
                            let bits = tableLog &- (31 &- x.leadingZeroBitCount)
                            (target + k).initialize(to: EntropySlot(Int(x) &<< bits &- size, bits, shared[symbol]))
                        }
                    }
                }
            }
            filled = size
        }
    }
}

/// Returns the symbol of each slot: the symbols in order occupy slots, each 5/8 of the table + 3 after the previous one.
func spreadSymbols(_ bins: [EntropyBin], tableLog: Int) -> [UInt16] {
    let size = 1 << tableLog, step = size >> 1 &+ size >> 3 &+ 3
    return [UInt16](unsafeUninitializedCapacity: size) { order, filled in
        let target = order.baseAddress!
        var at = 0, symbol: UInt16 = 0
        for bin in bins {
            for _ in 0..<bin.frequency {
                target[at] = symbol
                at = (at &+ step) & (size &- 1)
            }
            symbol &+= 1
        }
        filled = size
    }
}
