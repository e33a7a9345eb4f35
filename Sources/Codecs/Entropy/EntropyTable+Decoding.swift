import FirnBytes

/// The position in a page that is being decoded: its bits, and the states of the next two values.
private struct EntropyLane {
    let source: UnsafeRawPointer
    var position: UInt64, word: UInt64 = 0
    var a: UInt64, b: UInt64

    @inline(__always)
    init(_ source: UnsafeRawPointer, tableLog: Int) {
        self.source = source
        let head = UInt64(littleEndian: source.loadUnaligned(as: UInt64.self)), log = UInt64(truncatingIfNeeded: tableLog),
            mask = lowMask(tableLog)
        (a, b) = (head & mask, head &>> log & mask)
        position = 2 &* log
    }

    /// Loads the next bits: at least 57.
    @inline(__always)
    mutating func load() {
        word =
            UInt64(littleEndian: source.loadUnaligned(fromByteOffset: Int(truncatingIfNeeded: position &>> 3), as: UInt64.self))
            &>> (position & 7)
    }
}

/// The arrays that decoding uses. Their memory belongs to the table.
private struct EntropyLookup {
    let slots: UnsafePointer<EntropySlot>, ranges: UnsafePointer<EntropyRange>
    let add: UInt64

    /// Decodes one value of a table whose slots hold numbers. Returns the state of the value after the next.
    @inline(__always)
    func direct(_ state: UInt64, _ lane: inout EntropyLane, into out: UnsafeMutablePointer<Int64>) -> UInt64 {
        let slot = slots[Int(truncatingIfNeeded: state)], bits = slot.bits
        out.pointee = Int64(bitPattern: add &+ UInt64(slot.symbol))
        let next = slot.base &+ lane.word & (1 &<< bits &- 1)
        lane.word = lane.word &>> bits
        lane.position &+= bits
        return next
    }

    /// Decodes one value whose symbol has at most 15 extra bits.
    @inline(__always)
    func ranged(_ state: UInt64, _ lane: inout EntropyLane, into out: UnsafeMutablePointer<Int64>) -> UInt64 {
        let slot = slots[Int(truncatingIfNeeded: state)], bits = slot.bits, extra = slot.extra
        let range = ranges + slot.symbol
        out.pointee = Int64(bitPattern: range.pointee.lower &+ lane.word & range.pointee.mask)
        let word = lane.word &>> extra
        lane.word = word &>> bits
        lane.position &+= bits &+ extra
        return slot.base &+ word & (1 &<< bits &- 1)
    }

    @inline(__always)
    func value(_ state: UInt64, _ lane: inout EntropyLane, _ isDirect: Bool, into out: UnsafeMutablePointer<Int64>) -> UInt64 {
        isDirect ? direct(state, &lane, into: out) : ranged(state, &lane, into: out)
    }

    /// Decodes `pairs` times two values with a single load.
    @inline(__always)
    func run(_ lane: inout EntropyLane, pairs: Int, _ isDirect: Bool, into out: UnsafeMutablePointer<Int64>) {
        lane.load()
        for pair in 0..<pairs {
            lane.a = value(lane.a, &lane, isDirect, into: out + 2 &* pair)
            lane.b = value(lane.b, &lane, isDirect, into: out + (2 &* pair &+ 1))
        }
    }

    /// The same for two pages, interleaved.
    @inline(__always)
    func run(
        _ x: inout EntropyLane, _ y: inout EntropyLane, pairs: Int, _ isDirect: Bool, into out: UnsafeMutablePointer<Int64>,
        _ other: UnsafeMutablePointer<Int64>
    ) {
        x.load()
        y.load()
        for pair in 0..<pairs {
            x.a = value(x.a, &x, isDirect, into: out + 2 &* pair)
            y.a = value(y.a, &y, isDirect, into: other + 2 &* pair)
            x.b = value(x.b, &x, isDirect, into: out + (2 &* pair &+ 1))
            y.b = value(y.b, &y, isDirect, into: other + (2 &* pair &+ 1))
        }
    }

    /// Decodes n values of each of two pages; n is a multiple of 8.
    @inline(__always)
    func run(
        _ x: inout EntropyLane, _ y: inout EntropyLane, count n: Int, pairs: Int, _ isDirect: Bool, into out: UnsafeMutablePointer<Int64>,
        _ other: UnsafeMutablePointer<Int64>
    ) {
        var i = 0
        while i < n {
            run(&x, &y, pairs: pairs, isDirect, into: out + i, other + i)
            i &+= 2 &* pairs
        }
    }
}

extension EntropyTable {
    private func withLookup(_ body: (EntropyLookup) -> Void) {
        slots.withUnsafeBufferPointer { slots in
            ranges.withUnsafeBufferPointer { ranges in body(EntropyLookup(slots: slots.baseAddress!, ranges: ranges.baseAddress!, add: add))
            }
        }
    }

    /// Decodes the first n values of a page. The caller guarantees that the maximum number of bytes that n values can take, and 16 more,
    /// are readable.
    func decode(_ source: UnsafeRawPointer, count n: Int, tableLog: Int, into out: UnsafeMutablePointer<Int64>) {
        var lane = EntropyLane(source, tableLog: tableLog)
        guard maximumExtra <= 15 else { return decodeWide(&lane, count: n, into: out) }
        withLookup { lookup in
            var i = 0
            while i &+ 2 <= n {
                if isDirect { lookup.run(&lane, pairs: 1, true, into: out + i) } else { lookup.run(&lane, pairs: 1, false, into: out + i) }
                i &+= 2
            }
            guard i < n else { return }
            lane.load()
            _ = lookup.value(lane.a, &lane, isDirect, into: out + i)
        }
    }

    /// Decodes n values (a multiple of 8) of each of two pages; the second page's values follow those of the first in `out`.
    func decode(_ source: UnsafeRawPointer, _ second: UnsafeRawPointer, count n: Int, tableLog: Int, into out: UnsafeMutablePointer<Int64>)
    {
        var x = EntropyLane(source, tableLog: tableLog), y = EntropyLane(second, tableLog: tableLog)
        let other = out + n
        withLookup { lookup in
            // As many values per load as its 57 bits are sufficient for.
            switch (isDirect, maximumBits) {
            case (true, ...7): lookup.run(&x, &y, count: n, pairs: 4, true, into: out, other)
            case (true, _): lookup.run(&x, &y, count: n, pairs: 2, true, into: out, other)
            case (false, ...14): lookup.run(&x, &y, count: n, pairs: 2, false, into: out, other)
            case (false, _): lookup.run(&x, &y, count: n, pairs: 1, false, into: out, other)
            }
        }
    }

    /// Decodes symbols with up to 63 extra bits; if a value can take more than 57 bits, its fields are loaded separately.
    private func decodeWide(_ lane: inout EntropyLane, count n: Int, into out: UnsafeMutablePointer<Int64>) {
        var lane = lane
        func read(_ width: UInt64) -> UInt64 {
            lane.load()
            lane.position &+= width
            return lane.word & (1 &<< width &- 1)
        }
        let once = maximumBits <= 57
        withLookup { lookup in
            extras.withUnsafeBufferPointer { extras in
                for i in 0..<n where once {
                    let slot = lookup.slots[Int(truncatingIfNeeded: lane.a)], range = lookup.ranges[slot.symbol],
                        extra = UInt64(extras[slot.symbol]), bits = slot.bits
                    lane.load()
                    out[i] = Int64(bitPattern: range.lower &+ lane.word & range.mask)
                    (lane.a, lane.b) = (lane.b, slot.base &+ (lane.word &>> extra) & (1 &<< bits &- 1))
                    lane.position &+= extra &+ bits
                }
                for i in 0..<n where !once {
                    let slot = lookup.slots[Int(truncatingIfNeeded: lane.a)], extra = UInt64(extras[slot.symbol])
                    let low = read(min(extra, 32)), high = read(max(extra, 32) &- 32)
                    out[i] = Int64(bitPattern: lookup.ranges[slot.symbol].lower &+ (high &<< 32 | low))
                    (lane.a, lane.b) = (lane.b, slot.base &+ read(slot.bits))
                }
            }
        }
    }
}
