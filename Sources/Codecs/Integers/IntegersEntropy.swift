import FirnBytes
import Synchronization

// entropy   id 8 · flags (u8; bit 0: numbers are zigzags, otherwise differences from low; bit 1: zones) · R (u8, 6…13) · P (u8, 8…10)
//           · low (zigzag varint) · span (varint, high − low)
//           · zones if bit 1: length (varint), integer stream: minimum and maximum of each vector in turn
//           · symbols: length (varint), see EntropyTable
//           · slope (varint) · least (zigzag varint) · width (u8, 0…48) · page offsets: one bit string,
//             page p begins at (p·slope) / 256 (rounded down) + least + field p, counted from the first page
//           · pages of 2^P values: states of the values 0 and 1 (R bits each), then for each value in turn its extra bits
//             and the bits of its state's successor (the state of the value after the next)
// The coding is tANS (Duda, arXiv 1311.2540): the slot of a state gives the symbol, its extra bits, and the number of bits of the next
// state.

final class IntegersEntropy: IntegersBody, @unchecked Sendable {
    private let zigzagged: Bool, tableLog: Int, pageLog: Int, low: Int64, high: Int64, zones: IntegersBody?
    private let symbols: UnsafeRawBufferPointer, slope: Int, least: Int, width: Int
    private let offsets: UnsafeRawBufferPointer, pages: UnsafeRawBufferPointer
    /// A mutex and not an atomic reference, whose `load` is a generic call of 700 instructions.
    private let table = Mutex<EntropyTable?>(nil)

    init(_ reader: inout ByteReader, count: Int, depth: Int) throws(Damage) {
        let flags: UInt8 = try reader.read()
        tableLog = Int(try reader.read(UInt8.self))
        pageLog = Int(try reader.read(UInt8.self))
        guard flags < 4, tableLog >= 6, tableLog <= 13, pageLog >= 8, pageLog <= 10 else {
            throw Damage("entropy-coded integers have an invalid header")
        }
        zigzagged = flags & 1 == 1
        low = try reader.readSignedVarint()
        high = low &+ Int64(bitPattern: try reader.readVarint())
        zones =
            flags & 2 == 0
            ? nil
            : try openIntegers(try reader.readLengthPrefixed(), count: (count &+ vectorLength &- 1) / vectorLength &* 2, depth: depth &+ 1)
        symbols = try reader.readLengthPrefixed()
        let pageCount = (count &+ 1 << pageLog &- 1) >> pageLog
        slope = try reader.readCount(limit: 1 << 24)
        let least = try reader.readSignedVarint()
        guard abs(Int(clamping: least) / 2) < 1 << 48 else { throw Damage("page offsets out of range") }
        self.least = Int(least)
        width = Int(try reader.read(UInt8.self))
        guard width <= 48 else { throw Damage("page offsets out of range") }
        offsets = try reader.read(count: (pageCount &* width &+ 7) >> 3)
        pages = reader.readRest()
        super.init(count: count)
    }

    override var features: EncodingFeatures { zones?.features ?? [] }
    override var name: String { "tANS" }
    override var bounds: (Int64, Int64)? { low <= high ? (low, high) : nil }

    override func bounds(ofVector vector: Int) -> (Int64, Int64)? {
        if let zones, let least = try? zones.value(at: vector &* 2), let most = try? zones.value(at: vector &* 2 &+ 1), least <= most {
            return (least, most)
        }
        return bounds
    }

    private func decodingTable() throws(Damage) -> EntropyTable {
        if let known = table.withLock({ $0 }) { return known }
        let made = try EntropyTable(symbols, tableLog: tableLog, add: zigzagged ? 0 : UInt64(bitPattern: low))
        table.withLock { $0 = made }
        return made
    }

    override func value(at index: Int) throws(Damage) -> Int64 {
        let page = index >> pageLog, inside = index & (1 << pageLog &- 1)
        let table = try decodingTable()
        return try withScratch(of: Int64.self, count: 1024) { (scratch) throws(Damage) in
            try decodePage(page, count: inside &+ 1, table, into: scratch)
            return scratch[inside]
        }
    }

    override func decode(from start: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage) {
        let table = try decodingTable(), end = start &+ n
        var at = start
        while at < end {
            let page = at >> pageLog, first = page << pageLog, stop = min(end, first &+ 1 << pageLog), target = out + (at &- start)
            if at == first {
                let pages = (end &- at) >> pageLog
                if pages > 1, try decodePages(page, pages, table, into: target) {
                    at &+= pages << pageLog
                    continue
                }
                try decodePage(page, count: stop &- first, table, into: target)
            } else {
                try withScratch(of: Int64.self, count: vectorLength) { (scratch) throws(Damage) in
                    try decodePage(page, count: stop &- first, table, into: scratch)
                    target.update(from: scratch + (at &- first), count: stop &- at)
                }
            }
            at = stop
        }
    }

    /// Returns where a page begins within the bytes of the pages.
    private func offset(_ page: Int) throws(Damage) -> Int {
        let field =
            width == 0
            ? 0 : Int(truncatingIfNeeded: readBits(offsets.baseAddress!, limit: offsets.count, position: page &* width, width: width))
        let (rise, overflow) = page.multipliedReportingOverflow(by: slope)
        let offset = rise >> 8 &+ least &+ field
        guard !overflow, offset >= 0, offset <= pages.count else { throw Damage("page outside the stream") }
        return offset
    }

    /// Returns more than the maximum number of bytes that n values can take in a page, including those loaded together with the last value.
    private func maximumBytes(_ n: Int, _ table: EntropyTable) -> Int { (2 &* tableLog &+ n &* table.maximumBits) >> 3 &+ 24 }

    /// Decodes several whole pages, two at a time, so that the processor works on one while it waits for the other. Returns false and
    /// writes nothing if a page is too near the end of the stream.
    private func decodePages(_ first: Int, _ count: Int, _ table: EntropyTable, into out: UnsafeMutablePointer<Int64>) throws(Damage)
        -> Bool
    {
        guard table.maximumExtra <= 15, let start = pages.baseAddress else { return false }
        let n = 1 << pageLog, last = pages.count &- maximumBytes(n, table)
        // Encoders write ascending offsets; those of untrusted files are checked one by one.
        for page in first..<(first &+ count) where try offset(page) > last { return false }
        var at = 0
        while at &+ 1 < count {
            let x = start + (try offset(first &+ at)), y = start + (try offset(first &+ at &+ 1))
            table.decode(x, y, count: n, tableLog: tableLog, into: out + at << pageLog)
            at &+= 2
        }
        if at < count { table.decode(start + (try offset(first &+ at)), count: n, tableLog: tableLog, into: out + at << pageLog) }
        if zigzagged { for i in 0..<(count << pageLog) { out[i] = unzigzag(UInt64(bitPattern: out[i])) } }
        return true
    }

    /// Decodes the first `n` values of a page. Reads stay within bounds whatever the bits are: a page is read in place only if the maximum
    /// number of bits that n values can take is within the stream, otherwise from a copy that is followed by zeros.
    private func decodePage(_ page: Int, count n: Int, _ table: EntropyTable, into out: UnsafeMutablePointer<Int64>) throws(Damage) {
        let offset = try offset(page), most = maximumBytes(n, table)
        if offset &+ most <= pages.count {
            table.decode(pages.baseAddress! + offset, count: n, tableLog: tableLog, into: out)
        } else {
            withUnsafeTemporaryAllocation(byteCount: most, alignment: 8) { copy in
                let rest = min(most, pages.count &- offset)
                if rest > 0 { copy.baseAddress!.copyMemory(from: pages.baseAddress! + offset, byteCount: rest) }
                (copy.baseAddress! + rest).initializeMemory(as: UInt8.self, repeating: 0, count: most &- rest)
                table.decode(copy.baseAddress!, count: n, tableLog: tableLog, into: out)
            }
        }
        if zigzagged { for i in 0..<n { out[i] = unzigzag(UInt64(bitPattern: out[i])) } }
    }
}
