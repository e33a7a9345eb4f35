import FirnBytes

/// Symbols, and for each context the frequencies of what follows it, as tANS tables of one size. Bytes of a file; `ContextPlan` is the
/// encoder's form.
///
///     size varint · symbol table · table log u8 (6 … 12) · contexts n u8 (1 …) · (symbols + 2) × context u8
///     · (n + 1) × (size varint · symbols of tANS)
///
/// tANS codes numbers: 0 the escape, 1 the end of a string, i + 2 symbol i. The context of a number is that of the number before it; at
/// the beginning of a page it is the context after 1. After the escape, the number follows in the last table, which belongs to no context.
/// After a second escape, a byte follows in eight bits; the next context is that after 0.
final class ContextModel: Sendable {
    static let maximumSymbols = 2046
    static let logs = 6...12

    let tableLog: Int
    /// What follows from a number.
    private struct Number {
        /// Empty for the escape and the end of a string.
        let text: SIMD16<UInt8>, length: Int
        /// Where the table of the context after it begins in `slots`.
        let table: Int
    }
    private let numbers: [Number]
    /// Where the table for what is escaped begins.
    private let last: Int
    /// All tables, end to end.
    private let slots: [EntropySlot]

    /// The memory that a model takes at most, by the size of its bytes.
    static func maximumBytes(_ bytes: [UInt8]) -> Int { min(256, bytes.count) << 14 + 64 << 10 }

    init(_ bytes: UnsafeRawBufferPointer) throws(Damage) {
        var reader = ByteReader(bytes)
        let symbols = try SymbolTable(try reader.readLengthPrefixed())
        tableLog = Int(try reader.read(UInt8.self))
        let contexts = Int(try reader.read(UInt8.self)), numbers = symbols.count &+ 2, log = tableLog
        guard symbols.count <= Self.maximumSymbols, Self.logs.contains(log), contexts > 0 else {
            throw Damage("contexts of symbols out of range", at: reader.position)
        }
        let after = Array(try reader.read(count: numbers))
        guard after.allSatisfy({ $0 < contexts }) else { throw Damage("a symbol has no context", at: reader.position) }
        self.numbers = (0..<numbers).map { number in
            let symbol = number - 2, table = Int(after[number]) << log
            guard symbol >= 0 else { return Number(text: .zero, length: 0, table: table) }
            return Number(text: symbols.slots[symbol], length: Int(symbols.lengths[symbol]), table: table)
        }
        last = contexts << log
        var slots: [EntropySlot] = []
        slots.reserveCapacity((min(contexts, reader.remaining) &+ 1) << log)
        for _ in 0...contexts {
            let table = try EntropyTable(try reader.readLengthPrefixed(), tableLog: log, add: 0)
            // Symbols ascend, so the last one is the largest.
            guard table.isDirect, let largest = table.ranges.last, largest.lower < UInt64(numbers) else {
                throw Damage("a context has an unknown symbol", at: reader.position)
            }
            slots.append(contentsOf: table.slots)
        }
        guard reader.isAtEnd else { throw Damage("contexts of symbols are followed by other bytes", at: reader.position) }
        self.slots = slots
    }

    /// Where a page is read and written.
    struct Page {
        fileprivate let stored: UnsafeRawBufferPointer
        /// Has room for 16 bytes after `limit`.
        fileprivate let out: UnsafeMutableRawBufferPointer
        /// Where the last string ends in `out`, and where it may end.
        fileprivate(set) var end: Int
        fileprivate let limit: Int
        /// Receives where each string ends.
        fileprivate let ends: UnsafeMutableBufferPointer<Int>
        /// The positions in `ends` of the strings, and of the next one.
        let rows: Range<Int>
        fileprivate var row: Int
        /// The number of bits that were read.
        fileprivate var position = 0
        /// The next slot: that of the state in the table of the context.
        fileprivate var slot = 0

        fileprivate var isRead: Bool { row == rows.upperBound }

        /// Whether the strings take exactly the bytes of the page.
        fileprivate var isWhole: Bool { (position &+ 7) >> 3 == stored.count }

        @inline(__always)
        fileprivate mutating func append(_ text: SIMD16<UInt8>, length: Int) -> Bool {
            guard end &+ length <= limit else { return false }
            out.storeBytes(of: text, toByteOffset: end, as: SIMD16<UInt8>.self)
            end &+= length
            return true
        }

        init(
            _ stored: BorrowedBytes, to out: UnsafeMutableRawBufferPointer, from start: Int, limit: Int,
            ends: UnsafeMutableBufferPointer<Int>, rows: Range<Int>
        ) {
            (self.stored, self.out, end, self.limit, self.ends) = (stored.buffer, out, start, start &+ limit, ends)
            (self.rows, row) = (rows, rows.lowerBound)
        }
    }

    /// Decodes a page, or two together: the processor decodes symbols of one while it waits for those of the other. Returns false if the
    /// strings of a page do not take exactly its bytes, or take more than its limit.
    func decode(_ page: inout Page, with other: inout Page?) -> Bool {
        slots.withUnsafeBufferPointer { slots in
            numbers.withUnsafeBufferPointer { numbers in
                let tables = Tables(slots: slots, numbers: numbers, last: last)
                guard start(&page) else { return false }
                if var second = other {
                    guard start(&second), tables.decode(&page, &second), tables.decode(&second) else { return false }
                    other = second
                }
                return tables.decode(&page)
            }
        }
    }

    /// Reads the first state of a page.
    private func start(_ page: inout Page) -> Bool {
        guard page.stored.count > 0 else { return false }
        let state = Int(readBits(page.stored.baseAddress!, limit: page.stored.count, position: 0, width: tableLog))
        page.slot = numbers[1].table &+ state
        page.position = tableLog
        return true
    }

    private struct Tables {
        let slots: UnsafeBufferPointer<EntropySlot>, numbers: UnsafeBufferPointer<Number>, last: Int

        func decode(_ page: inout Page) -> Bool {
            var a = page
            defer { page = a }
            while !a.isRead { guard step(&a) else { return false } }
            return a.isWhole
        }

        /// Decodes two pages until the first of them is read.
        func decode(_ first: inout Page, _ second: inout Page) -> Bool {
            var a = first, b = second
            defer { (first, second) = (a, b) }
            while !a.isRead && !b.isRead { guard step(&a), step(&b) else { return false } }
            return true
        }

        /// Reads one number of a page, and appends its text.
        @inline(__always)
        func step(_ page: inout Page) -> Bool {
            // A number takes at most twelve bits, twelve more after an escape, and eight after two.
            let word = readBits(page.stored.baseAddress!, limit: page.stored.count, position: page.position, width: 32)
            let slot = slots[page.slot], state = Int(truncatingIfNeeded: slot.base &+ word & (1 &<< slot.bits &- 1))
            page.position &+= Int(truncatingIfNeeded: slot.bits)
            guard slot.symbol != 0 else { return escape(&page, state, word &>> slot.bits) }
            return append(slot.symbol, state, &page)
        }

        @inline(__always)
        private func append(_ number: Int, _ state: Int, _ page: inout Page) -> Bool {
            page.slot = numbers[number].table &+ state
            guard page.append(numbers[number].text, length: numbers[number].length) else { return false }
            // Strings end often and irregularly, so no branch depends on it.
            page.ends[page.row] = page.end
            page.row &+= number == 1 ? 1 : 0
            return true
        }

        /// Reads what follows an escape: a number, or another escape and a byte.
        @inline(__always)
        private func escape(_ page: inout Page, _ state: Int, _ word: UInt64) -> Bool {
            let slot = slots[last &+ state], state = Int(truncatingIfNeeded: slot.base &+ word & (1 &<< slot.bits &- 1))
            page.position &+= Int(truncatingIfNeeded: slot.bits)
            guard slot.symbol == 0 else { return append(slot.symbol, state, &page) }
            page.slot = numbers[0].table &+ state
            page.position &+= 8
            return page.append(SIMD16(repeating: UInt8(truncatingIfNeeded: word &>> slot.bits)), length: 1)
        }
    }
}
