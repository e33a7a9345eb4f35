import FirnBytes

/// Symbols and contexts as an encoder has them. `ContextModel` describes their meaning.
struct ContextPlan {
    static let tableLog = 12
    /// The symbols that are stored, in the order of their numbers.
    let symbols: SymbolTable
    /// By number: the context of what follows.
    let contexts: [UInt8]
    /// The symbols of tANS: numbers with their frequencies. The last table is for what is escaped.
    let tables: [[EntropyBin]]

    func encoded() -> [UInt8] {
        var out = ByteWriter()
        out.append(lengthPrefixed: symbols.encoded())
        out.append(UInt8(Self.tableLog))
        out.append(UInt8(tables.count - 1))
        out.append(contentsOf: contexts)
        for table in tables { out.append(lengthPrefixed: encodeBins(table)) }
        return out.bytes
    }
}

/// Splits strings into the symbols of a plan.
struct ContextParser {
    private let matcher: SymbolMatcher
    /// The number of each code of the matcher's table; 0 for a byte that is stored as it is.
    private let numbers: [UInt16]
    /// Added to a byte that is stored as it is.
    static let literal: UInt16 = 1 << 15

    init(_ table: SymbolTable, numbers: [UInt16]) {
        matcher = SymbolMatcher(table)
        self.numbers = numbers
    }

    /// Appends the numbers of some strings, with 1 at the end of each. `padded` are the bytes of `text` and 16 more.
    func append(_ text: Text, _ padded: [UInt8], rows: Range<Int>, to out: inout [UInt16]) {
        matcher.parse(text, padded, rows: rows) { code in
            let number = numbers[code]
            out.append(number == 0 ? Self.literal | UInt16(truncatingIfNeeded: code) : number)
        } end: {
            out.append(1)
        }
    }
}

/// Encodes segments as symbols in contexts. `ContextReader` describes the layout.
struct ContextEncoder {
    private let plan: ContextPlan
    private let parser: ContextParser
    /// By context and number: where its states begin in `nextStates`, less its frequency; and what makes a state the number of bits that are
    /// written (see `EntropyCoder`). A number that is not in the table has no delta.
    private var starts: [Int32], deltas: [UInt32], nextStates: [UInt16]

    private let pageBytes: Int

    /// A page has up to 1,024 values, of this many bytes on average: with `small`, the most of a vector; else fewer, because one value costs
    /// a page, and a vector of several pages is decoded faster.
    static func pageBytes(_ profile: Profile) -> Int { profile.isSmall ? 32 << 10 : 4 << 10 }

    init(_ plan: ContextPlan, parser: ContextParser, profile: Profile) {
        pageBytes = Self.pageBytes(profile)
        self.plan = plan
        self.parser = parser
        let numbers = plan.contexts.count, size = 1 << ContextPlan.tableLog
        starts = [Int32](repeating: 0, count: numbers * plan.tables.count)
        deltas = [UInt32](repeating: 0, count: numbers * plan.tables.count)
        nextStates = [UInt16](repeating: 0, count: size * plan.tables.count)
        for (k, bins) in plan.tables.enumerated() {
            var sum = size * k, offsets: [Int] = []
            for bin in bins {
                offsets.append(sum)
                let f = bin.frequency, most = ContextPlan.tableLog &- (bitWidth(UInt64(f)) &- 1), at = k * numbers + Int(bin.lower)
                starts[at] = Int32(sum &- f)
                deltas[at] = UInt32(most) << 16 &- UInt32(truncatingIfNeeded: f << most)
                sum += f
            }
            for (slot, symbol) in spreadSymbols(bins, tableLog: ContextPlan.tableLog).enumerated() {
                nextStates[offsets[Int(symbol)]] = UInt16(slot)
                offsets[Int(symbol)] += 1
            }
        }
    }

    /// Returns nil if a page is too large.
    func encode(_ text: Text, training: PageEncoder.Training) -> [UInt8]? {
        let log2 = Self.pageLog2(text, pageBytes: pageBytes), padded = text.bytes + [UInt8](repeating: 0, count: 16)
        var payload = BitWriter(), sizes: [Int] = [], largest = 0, work = Work()
        for first in stride(from: 0, to: text.count, by: 1 << log2) {
            let rows = first..<min(text.count, first + 1 << log2), before = payload.bytes.count
            largest = max(largest, text.offsets[rows.upperBound] - text.offsets[rows.lowerBound])
            guard largest <= PageEncoder.maximumPageBytes else { return nil }
            appendPage(text, padded, rows: rows, &work, to: &payload)
            sizes.append(payload.bytes.count - before)
        }
        var out = ByteWriter(reserving: payload.bytes.count + 64)
        out.append(TextEncoding.contexts.rawValue)
        switch training {
        case .none: trap("symbols in contexts need their contexts")
        case .inline(let blob):
            out.append(UInt8(2))
            out.append(lengthPrefixed: blob)
        case .shared(let index):
            out.append(UInt8(4))
            out.append(UInt8(index))
        }
        out.append(UInt8(log2))
        out.appendVarint(largest)
        PageOffsets.append(sizes, to: &out)
        out.append(contentsOf: payload.bytes)
        return out.bytes
    }

    /// Returns the bytes that some rows take, each range as a page.
    func size(_ text: Text, _ padded: [UInt8], rows: [Range<Int>]) -> Int {
        var payload = BitWriter(), work = Work()
        for range in rows { appendPage(text, padded, rows: range, &work, to: &payload) }
        return payload.bytes.count
    }

    static func pageLog2(_ text: Text, pageBytes: Int) -> Int {
        var log2 = 10
        while log2 > 0, text.bytes.count << log2 > pageBytes * max(text.count, 1) { log2 -= 1 }
        return log2
    }

    /// Memory that pages use one after the other.
    private struct Work {
        var numbers: [UInt16] = []
        /// What is coded: table and number, each of 16 bits; or a byte as it is.
        var steps: [UInt32] = []
        var written: [UInt32] = []
        static let byte: UInt32 = 1 << 31
    }

    private func appendPage(_ text: Text, _ padded: [UInt8], rows: Range<Int>, _ work: inout Work, to out: inout BitWriter) {
        work.numbers.removeAll(keepingCapacity: true)
        work.steps.removeAll(keepingCapacity: true)
        work.written.removeAll(keepingCapacity: true)
        parser.append(text, padded, rows: rows, to: &work.numbers)
        let count = plan.contexts.count, last = plan.tables.count - 1
        var context = Int(plan.contexts[1])
        for number in work.numbers {
            let isByte = number >= ContextParser.literal, coded = isByte ? 0 : Int(number)
            if coded == 0 || deltas[context * count + coded] == 0 {
                work.steps.append(UInt32(context << 16))
                work.steps.append(UInt32(last << 16 | coded))
                if isByte { work.steps.append(Work.byte | UInt32(number & 0xFF)) }
            } else {
                work.steps.append(UInt32(context << 16 | coded))
            }
            context = Int(plan.contexts[coded])
        }
        // From the last step to the first, so that a reader decodes from the first to the last.
        let size = 1 << ContextPlan.tableLog
        var state = size
        for step in work.steps.reversed() {
            if step >= Work.byte {
                work.written.append((step & 0xFF) << 4 | 8)
                continue
            }
            let at = Int(step >> 16) * count + Int(step & 0xFFFF), bits = Int((UInt32(truncatingIfNeeded: state) &+ deltas[at]) >> 16)
            work.written.append(UInt32(truncatingIfNeeded: state & (1 << bits - 1)) << 4 | UInt32(bits))
            state = Int(nextStates[Int(starts[at]) &+ state >> bits]) &+ size
        }
        out.write(UInt64(state &- size), width: ContextPlan.tableLog)
        for word in work.written.reversed() { out.write(UInt64(word >> 4), width: Int(word & 15)) }
        out.align()
    }
}
