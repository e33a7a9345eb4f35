import FirnBytes

/// The parameters of the entropy-coded form of some integers, before it is written.
struct EntropyPlan {
    let transform: EntropyTransform
    let histogram: EntropyHistogram
    let model: EntropyModel
    let low: Int64, high: Int64
    let pageLog: Int

    init(_ values: UnsafeBufferPointer<Int64>, low: Int64, high: Int64, profile: Profile) {
        self.low = low
        self.high = high
        let span = UInt64(bitPattern: high &- low)
        transform = low < 0 && span >= 1 << 16 ? .zigzag : .offset(low)
        histogram = EntropyHistogram(values, transform: transform, largest: max(transform.forward(low), transform.forward(high)))
        model = EntropyModel(histogram, fewer: !profile.isSmall)
        pageLog = profile.isSmall ? 10 : 8
    }

    /// The approximate size of the stream in bytes.
    var size: Int {
        let pages = (histogram.total &+ 1 << pageLog &- 1) >> pageLog
        return model.bits >> 3 &+ 24 &+ pages &* 5
    }

    func encode(_ values: UnsafeBufferPointer<Int64>, zoned: Bool) -> [UInt8] {
        var out = ByteWriter(reserving: size &+ size >> 3)
        out.append(IntegersEncoding.entropy.rawValue)
        let zones = zoned ? narrowZones(values, low: low, high: high) : nil
        var flags: UInt8 = zones == nil ? 0 : 2
        if case .zigzag = transform { flags |= 1 }
        out.append(flags)
        out.append(UInt8(model.tableLog))
        out.append(UInt8(pageLog))
        out.appendSignedVarint(low)
        out.appendVarint(UInt64(bitPattern: high &- low))
        if let zones {
            out.append(lengthPrefixed: zones.withUnsafeBufferPointer { encodeIntegers($0, profile: .fast, depth: nestingLimit) })
        }
        out.append(lengthPrefixed: encodeBins(model.bins))
        var coder = EntropyCoder(model, pageLength: 1 << pageLog)
        var offsets: [Int] = []
        for first in stride(from: 0, to: values.count, by: 1 << pageLog) {
            offsets.append(coder.bytes.count)
            coder.encode(
                UnsafeBufferPointer(rebasing: values[first..<min(first &+ 1 << pageLog, values.count)]),
                transform: transform, histogram: histogram, model: model)
        }
        appendOffsets(offsets, total: coder.bytes.count, to: &out)
        out.append(contentsOf: coder.bytes)
        return out.bytes
    }

    /// Appends the offsets as differences from a straight line, bit-packed.
    private func appendOffsets(_ offsets: [Int], total: Int, to out: inout ByteWriter) {
        let slope = (total << 8) / offsets.count
        let rest = offsets.enumerated().map { $1 &- ($0 &* slope) >> 8 }
        let least = rest.min()!, width = bitWidth(UInt64(rest.max()! &- least))
        out.appendVarint(slope)
        out.appendSignedVarint(Int64(least))
        out.append(UInt8(width))
        var bits = BitWriter()
        for value in rest { bits.write(UInt64(value &- least), width: width) }
        bits.align()
        out.append(contentsOf: bits.bytes)
    }
}

/// Returns minimum and maximum of each vector, or nil if they are not much narrower than those of the stream.
func narrowZones(_ values: UnsafeBufferPointer<Int64>, low: Int64, high: Int64) -> [Int64]? {
    guard values.count > vectorLength else { return nil }
    var zones: [Int64] = [], spans = 0.0
    for first in stride(from: 0, to: values.count, by: vectorLength) {
        var least = values[first], most = least
        for i in first..<min(first &+ vectorLength, values.count) { (least, most) = (min(least, values[i]), max(most, values[i])) }
        zones.append(least)
        zones.append(most)
        spans += Double(most) - Double(least)
    }
    return spans < 0.7 * (Double(high) - Double(low)) * Double(zones.count / 2) ? zones : nil
}

/// Encodes pages with one table. Encodes the values from last to first, so that the reader decodes them from first to last.
struct EntropyCoder {
    var bytes: [UInt8] = []
    private let tableLog: Int
    private var nextState: [UInt16], starts: [Int32], deltas: [UInt32], lastSlot: [UInt16]
    private var states: [UInt16], widths: [UInt8], scratch: [UInt8]

    init(_ model: EntropyModel, pageLength: Int) {
        tableLog = model.tableLog
        let size = 1 << model.tableLog
        nextState = [UInt16](repeating: 0, count: size)
        starts = []
        deltas = []
        lastSlot = [UInt16](repeating: 0, count: model.bins.count)
        states = [UInt16](repeating: 0, count: pageLength)
        widths = [UInt8](repeating: 0, count: pageLength)
        scratch = [UInt8](repeating: 0, count: pageLength &* 10 &+ 32)
        var sum = 0, offsets: [Int] = []
        for bin in model.bins {
            offsets.append(sum)
            let f = bin.frequency, most = tableLog &- (bitWidth(UInt64(f)) &- 1)
            // A state X in [2^R, 2^(R+1)) emits the bits that bring it into [f, 2f): `most` bits, or one fewer if X < f·2^most.
            starts.append(Int32(sum &- f))
            deltas.append(UInt32(most) << 16 &- UInt32(truncatingIfNeeded: f << most))
            sum &+= f
        }
        for (k, symbol) in spreadSymbols(model.bins, tableLog: tableLog).enumerated() {
            nextState[offsets[Int(symbol)]] = UInt16(k)
            offsets[Int(symbol)] &+= 1
            lastSlot[Int(symbol)] = UInt16(k)
        }
    }

    mutating func encode(
        _ values: UnsafeBufferPointer<Int64>, transform: EntropyTransform, histogram: EntropyHistogram, model: EntropyModel
    ) {
        let direct = histogram.direct, size = 1 << tableLog, n = values.count
        var even = 0, odd = 0
        let used: Int = nextState.withUnsafeBufferPointer { nextState in
            starts.withUnsafeBufferPointer { starts in
                deltas.withUnsafeBufferPointer { deltas in
                    lastSlot.withUnsafeBufferPointer { lastSlot in
                        model.symbols.withUnsafeBufferPointer { symbols in
                            model.bins.withUnsafeBufferPointer { bins in
                                states.withUnsafeMutableBufferPointer { states in
                                    widths.withUnsafeMutableBufferPointer { widths in
                                        scratch.withUnsafeMutableBytes { scratch in
                                            var i = n &- 1
                                            while i >= 0 {
                                                let symbol = Int(
                                                    symbols[EntropyHistogram.leaf(transform.forward(values[i]), direct: direct)])
                                                if i >= n &- 2 {
                                                    // No value depends on this state, so the slot that needs the fewest bits is taken.
                                                    (even, odd) = (Int(lastSlot[symbol]) &+ size, even)
                                                    states[i] = 0
                                                    let f = bins[symbol].frequency
                                                    widths[i] = UInt8(tableLog &- (bitWidth(UInt64(2 &* f &- 1)) &- 1))
                                                } else {
                                                    let state = odd
                                                    let bits = (UInt32(truncatingIfNeeded: state) &+ deltas[symbol]) >> 16
                                                    states[i] = UInt16(truncatingIfNeeded: state & (1 &<< Int(bits) &- 1))
                                                    widths[i] = UInt8(truncatingIfNeeded: bits)
                                                    (even, odd) = (Int(nextState[Int(starts[symbol]) &+ state &>> Int(bits)]) &+ size, even)
                                                }
                                                i &-= 1
                                            }
                                            // `even` holds the state of value 0, `odd` that of value 1.
                                            var sink = BitSink(scratch.baseAddress!)
                                            sink.write(UInt64(even & (size &- 1)), width: tableLog)
                                            sink.write(UInt64(odd & (size &- 1)), width: tableLog)
                                            for i in 0..<n {
                                                let u = transform.forward(values[i]),
                                                    bin = bins[Int(symbols[EntropyHistogram.leaf(u, direct: direct)])]
                                                let extra = u &- bin.lower
                                                sink.write(wide: extra, width: bin.extra)
                                                sink.write(UInt64(states[i]), width: Int(widths[i]))
                                            }
                                            return sink.end(scratch.baseAddress!)
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        bytes.append(contentsOf: scratch[0..<used])
    }
}

/// Writes bits to memory that must have 8 spare bytes at its end.
private struct BitSink {
    private var target: UnsafeMutableRawPointer, pending: UInt64 = 0, used = 0
    init(_ target: UnsafeMutableRawPointer) { self.target = target }

    @inline(__always)
    mutating func write(_ value: UInt64, width: Int) {
        pending |= value &<< UInt64(truncatingIfNeeded: used)
        used &+= width
        target.storeBytes(of: pending.littleEndian, as: UInt64.self)
        target += used >> 3
        pending = pending &>> UInt64(truncatingIfNeeded: used & ~7)
        used &= 7
    }

    /// Writes a value of up to 64 bits.
    @inline(__always)
    mutating func write(wide value: UInt64, width: Int) {
        guard width > 32 else { return write(value, width: width) }
        write(value & 0xFFFF_FFFF, width: 32)
        write(value >> 32, width: width &- 32)
    }

    func end(_ start: UnsafeMutableRawPointer) -> Int { target - start &+ (used > 0 ? 1 : 0) }
}
