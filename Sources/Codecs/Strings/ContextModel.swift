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

    let symbols: SymbolTable
    let tableLog: Int
    /// By number: where the table of the context after it begins in `slots`.
    let tables: [Int32]
    /// Where the table for what is escaped begins.
    let last: Int
    /// All tables, end to end.
    let slots: [EntropySlot]

    /// The memory that a model takes at most, by the size of its bytes.
    static func maximumBytes(_ bytes: [UInt8]) -> Int { min(256, bytes.count) << 14 + 64 << 10 }

    init(_ bytes: UnsafeRawBufferPointer) throws(Damage) {
        var reader = ByteReader(bytes)
        symbols = try SymbolTable(try reader.readLengthPrefixed())
        tableLog = Int(try reader.read(UInt8.self))
        let contexts = Int(try reader.read(UInt8.self)), numbers = symbols.count &+ 2, log = tableLog
        guard symbols.count <= Self.maximumSymbols, Self.logs.contains(log), contexts > 0 else {
            throw Damage("contexts of symbols out of range", at: reader.position)
        }
        let after = try reader.read(count: numbers)
        guard after.allSatisfy({ $0 < contexts }) else { throw Damage("a symbol has no context", at: reader.position) }
        tables = after.map { Int32($0) << Int32(log) }
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

    /// Decodes `count` strings to `out`, and appends where each of them ends, counted from `start`, to `ends`. Returns the number of bytes,
    /// or nil if the strings do not take exactly the bytes of `page` or take more than `limit` bytes. `out` must have 16 bytes more.
    func decode(
        _ page: UnsafeRawBufferPointer, count: Int, to out: UnsafeMutableRawPointer, limit: Int, start: Int, ends: inout [Int]
    ) -> Int? {
        guard let base = page.baseAddress else { return nil }
        let size = page.count, mask = lowMask(tableLog)
        var position = tableLog, at = 0, left = count, table = Int(tables[1])
        var state = Int(readBits(base, limit: size, position: 0, width: tableLog) & mask)
        let isWhole = slots.withUnsafeBufferPointer { slots in
            tables.withUnsafeBufferPointer { tables in
                symbols.lengths.withUnsafeBufferPointer { lengths in
                    symbols.slots.withUnsafeBufferPointer { texts in
                        while left > 0 {
                            // A number takes at most twelve bits, twelve more after an escape, and eight after two.
                            var word = readBits(base, limit: size, position: position, width: 32)
                            var number = ContextModel.step(slots[table &+ state], state: &state, word: &word, position: &position)
                            if number == 0 {
                                number = ContextModel.step(slots[last &+ state], state: &state, word: &word, position: &position)
                            }
                            table = Int(tables[number])
                            if number > 1 {
                                let length = Int(lengths[number &- 2])
                                guard at &+ length <= limit else { return false }
                                out.storeBytes(of: texts[number &- 2], toByteOffset: at, as: SIMD16<UInt8>.self)
                                at &+= length
                            } else if number == 1 {
                                ends.append(start &+ at)
                                left &-= 1
                            } else {
                                guard at < limit else { return false }
                                out.storeBytes(of: UInt8(truncatingIfNeeded: word), toByteOffset: at, as: UInt8.self)
                                position &+= 8
                                at &+= 1
                            }
                        }
                        return true
                    }
                }
            }
        }
        return isWhole && (position &+ 7) >> 3 == size ? at : nil
    }

    /// Reads one number: changes the state, and skips the bits that it took.
    @inline(__always)
    private static func step(_ slot: EntropySlot, state: inout Int, word: inout UInt64, position: inout Int) -> Int {
        let bits = slot.bits
        state = Int(truncatingIfNeeded: slot.base &+ word & (1 &<< bits &- 1))
        word = word &>> bits
        position &+= Int(truncatingIfNeeded: bits)
        return slot.symbol
    }
}
