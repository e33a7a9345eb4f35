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

    /// Calls `body` with the numbers of some strings, with 1 at the end of each. `padded` are the bytes of `text` and 16 more.
    @inline(__always)
    func parse(_ text: Text, _ padded: [UInt8], rows: Range<Int>, _ body: (UInt16) -> Void) {
        numbers.withUnsafeBufferPointer { numbers in
            matcher.parse(text, padded, rows: rows) { code in
                let number = numbers[code]
                body(number == 0 ? Self.literal | UInt16(truncatingIfNeeded: code) : number)
            } end: {
                body(1)
            }
        }
    }

    /// Appends the same to `out`.
    func append(_ text: Text, _ padded: [UInt8], rows: Range<Int>, to out: inout [UInt16]) {
        parse(text, padded, rows: rows) { out.append($0) }
    }
}

/// Encodes segments as symbols in contexts. `ContextReader` describes the layout.
struct ContextEncoder {
    private let plan: ContextPlan
    private let parser: ContextParser
    /// How a number is coded in a context: where its states begin in `nextStates`, less its frequency; and what makes a state the number of
    /// bits that are written (see `EntropyCoder`).
    private struct Coding {
        var start: Int32 = 0, delta: UInt32 = 0
    }
    /// By context and number.
    private var codings: [Coding], nextStates: [UInt16]
    private let numberCount: Int
    /// A bit for each coding, which is set if the number is in the table of the context: all of them fit into the fastest cache.
    private var isCoded: [UInt64]

    private let pageBytes: Int

    /// A page has up to 1,024 values, of this many bytes on average: with `small`, the most of a vector; else fewer, because one value costs
    /// a page, and a vector of several pages is decoded faster.
    static func pageBytes(_ profile: Profile) -> Int { profile.isSmall ? 32 << 10 : 4 << 10 }

    init(_ plan: ContextPlan, parser: ContextParser, profile: Profile) {
        pageBytes = Self.pageBytes(profile)
        self.plan = plan
        self.parser = parser
        let numbers = plan.contexts.count, size = 1 << ContextPlan.tableLog
        numberCount = numbers
        codings = [Coding](repeating: Coding(), count: numbers * plan.tables.count)
        isCoded = [UInt64](repeating: 0, count: codings.count / 64 + 1)
        nextStates = [UInt16](repeating: 0, count: size * plan.tables.count)
        for (k, bins) in plan.tables.enumerated() {
            var sum = size * k, offsets: [Int] = []
            for bin in bins {
                offsets.append(sum)
                let f = bin.frequency, most = ContextPlan.tableLog &- (bitWidth(UInt64(f)) &- 1), at = k * numbers + Int(bin.lower)
                isCoded[at >> 6] |= 1 << UInt64(at & 63)
                codings[at] = Coding(start: Int32(sum &- f), delta: UInt32(most) << 16 &- UInt32(truncatingIfNeeded: f << most))
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
        var payload: [UInt8] = [], sizes: [Int] = [], largest = 0, work = Work()
        for first in stride(from: 0, to: text.count, by: 1 << log2) {
            let rows = first..<min(text.count, first + 1 << log2), before = payload.count
            largest = max(largest, text.offsets[rows.upperBound] - text.offsets[rows.lowerBound])
            guard largest <= PageEncoder.maximumPageBytes else { return nil }
            appendPage(text, padded, rows: rows, &work, to: &payload)
            sizes.append(payload.count - before)
        }
        var out = ByteWriter(reserving: payload.count + 64)
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
        out.append(contentsOf: payload)
        return out.bytes
    }

    /// Returns the bytes that some rows take, each range as a page.
    func size(_ text: Text, _ padded: [UInt8], rows: [Range<Int>]) -> Int {
        var payload: [UInt8] = [], work = Work()
        for range in rows { appendPage(text, padded, rows: range, &work, to: &payload) }
        return payload.count
    }

    static func pageLog2(_ text: Text, pageBytes: Int) -> Int {
        var log2 = 10
        while log2 > 0, text.bytes.count << log2 > pageBytes * max(text.count, 1) { log2 -= 1 }
        return log2
    }

    /// Memory that pages use one after the other.
    private struct Work {
        /// What is coded: table and number, each of 16 bits; or a byte as it is. Then the bits that are written for it, above four that count
        /// them.
        var steps: [UInt32] = []
        var bytes: [UInt8] = []
        static let byte: UInt32 = 1 << 31

        /// A step is at most three for each byte and two for each end of a string, and has at most 12 bits.
        mutating func reserve(steps count: Int) {
            guard count > steps.count else { return }
            steps = [UInt32](repeating: 0, count: count)
            bytes = [UInt8](repeating: 0, count: count * 3 / 2 + 16)
        }
    }

    private func appendPage(_ text: Text, _ padded: [UInt8], rows: Range<Int>, _ work: inout Work, to out: inout [UInt8]) {
        work.reserve(steps: 3 * (text.offsets[rows.upperBound] - text.offsets[rows.lowerBound] + rows.count))
        var written = 0
        work.steps.withUnsafeMutableBufferPointer { steps in
            let count = split(text, padded, rows: rows, to: steps), state = code(UnsafeMutableBufferPointer(rebasing: steps[..<count]))
            written = work.bytes.withUnsafeMutableBytes { Self.write(state: state, UnsafeBufferPointer(rebasing: steps[..<count]), to: $0) }
        }
        out.append(contentsOf: work.bytes[..<written])
    }

    /// Returns the number of steps that the strings take.
    private func split(_ text: Text, _ padded: [UInt8], rows: Range<Int>, to steps: UnsafeMutableBufferPointer<UInt32>) -> Int {
        let numberCount = numberCount, last = UInt32(plan.tables.count - 1)
        var at = 0
        plan.contexts.withUnsafeBufferPointer { contexts in
            isCoded.withUnsafeBufferPointer { isCoded in
                var context = UInt32(contexts[1])
                parser.parse(text, padded, rows: rows) { number in
                    let isByte = number >= ContextParser.literal, coded = isByte ? 0 : UInt32(number)
                    let place = Int(context) &* numberCount &+ Int(coded)
                    if coded == 0 || isCoded[place >> 6] &>> UInt64(truncatingIfNeeded: place) & 1 == 0 {
                        steps[at] = context << 16
                        steps[at &+ 1] = last << 16 | coded
                        at &+= 2
                        if isByte {
                            steps[at] = Work.byte | UInt32(number & 0xFF)
                            at &+= 1
                        }
                    } else {
                        steps[at] = context << 16 | coded
                        at &+= 1
                    }
                    context = UInt32(contexts[Int(coded)])
                }
            }
        }
        return at
    }

    /// Replaces each step by the bits that are written for it, from the last step to the first, so that a reader decodes from the first to
    /// the last. Returns the state that a reader begins with.
    private func code(_ steps: UnsafeMutableBufferPointer<UInt32>) -> Int {
        let numberCount = numberCount, size = 1 << ContextPlan.tableLog
        var state = size
        codings.withUnsafeBufferPointer { codings in
            nextStates.withUnsafeBufferPointer { nextStates in
                var at = steps.count
                while at > 0 {
                    at &-= 1
                    let step = steps[at]
                    if step >= Work.byte {
                        steps[at] = (step & 0xFF) << 4 | 8
                        continue
                    }
                    let coding = codings[Int(step >> 16) &* numberCount &+ Int(step & 0xFFFF)]
                    let bits = (UInt32(truncatingIfNeeded: state) &+ coding.delta) >> 16
                    steps[at] = (UInt32(truncatingIfNeeded: state) & (1 &<< bits &- 1)) << 4 | bits
                    state = Int(nextStates[Int(coding.start) &+ state &>> Int(bits)]) &+ size
                }
            }
        }
        return state &- size
    }

    /// Writes the state and the bits of all steps, and returns the number of bytes.
    private static func write(
        state: Int, _ steps: UnsafeBufferPointer<UInt32>, to out: UnsafeMutableRawBufferPointer
    ) -> Int {
        var pending = UInt64(state), used = ContextPlan.tableLog, at = 0
        for step in steps {
            pending |= UInt64(step >> 4) &<< UInt64(truncatingIfNeeded: used)
            used &+= Int(step & 15)
            if used >= 32 {
                out.storeBytes(of: UInt32(truncatingIfNeeded: pending).littleEndian, toByteOffset: at, as: UInt32.self)
                pending &>>= 32
                used &-= 32
                at &+= 4
            }
        }
        while used > 0 {
            out[at] = UInt8(truncatingIfNeeded: pending)
            pending &>>= 8
            used &-= 8
            at &+= 1
        }
        return at
    }
}
