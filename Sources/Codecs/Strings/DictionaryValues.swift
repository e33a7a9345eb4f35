import FirnBytes

/// The sorted, distinct values of a dictionary.
///
///     form u8 (0 plain, 1 front-coded) · count varint · total bytes varint · [shared lengths block] · lengths block · bytes block
///
/// Lengths are varints. Front-coded: value i is the first `shared[i]` bytes of value i - 1, then its own `lengths[i]` bytes.
/// A block is a `PageBlock`. The reader decompresses all values when it opens the dictionary.
enum DictionaryValues {
    /// The maximum bytes that the encoder puts into one dictionary. Readers accept up to four times as much.
    static let maximumBytes = 64 << 20

    static func encode(count: Int, level: Int, value: (Int) -> UnsafeRawBufferPointer) -> [UInt8] {
        var plain = ByteWriter(), plainLengths = ByteWriter()
        var shared = ByteWriter(), suffixes = ByteWriter(), suffixLengths = ByteWriter()
        for i in 0..<count {
            let bytes = value(i)
            plain.append(contentsOf: bytes)
            plainLengths.appendVarint(bytes.count)
            let common = i == 0 ? 0 : commonPrefix(value(i - 1), bytes)
            shared.appendVarint(common)
            suffixLengths.appendVarint(bytes.count - common)
            suffixes.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[common...]))
        }
        func assemble(form: UInt8, _ blocks: [[UInt8]], level: Int) -> [UInt8] {
            var out = ByteWriter()
            out.append(form)
            out.appendVarint(count)
            out.appendVarint(plain.count)
            for block in blocks { PageBlock.append(block, level: level, to: &out) }
            return out.bytes
        }
        // The fastest level is enough to find out which form is smaller.
        let one = assemble(form: 0, [plainLengths.bytes, plain.bytes], level: 1)
        let two = assemble(form: 1, [shared.bytes, suffixLengths.bytes, suffixes.bytes], level: 1)
        return two.count < one.count
            ? assemble(form: 1, [shared.bytes, suffixLengths.bytes, suffixes.bytes], level: level)
            : assemble(form: 0, [plainLengths.bytes, plain.bytes], level: level)
    }

    static func commonPrefix(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        let n = min(a.count, b.count)
        var i = 0
        while i < n, a[i] == b[i] { i &+= 1 }
        return i
    }

    /// Decodes a values blob. Charges `memory` with each part before it is decompressed, and with the values as long as they exist.
    static func decode(_ blob: UnsafeRawBufferPointer, _ memory: MemoryScope = .unlimited) throws(Damage) -> Text {
        let charge = try memory.holding(0)
        var reader = ByteReader(blob)
        let form = try reader.read(UInt8.self)
        guard form <= 1 else { throw Damage("unknown dictionary form") }
        let count = try reader.readCount(limit: maximumBytes * 4)
        let total = try reader.readCount(limit: maximumBytes * 4)
        let shared = form == 1 ? try PageBlock.read(&reader, charge, memory) : []
        let lengths = try PageBlock.read(&reader, charge, memory)
        let bytes = try PageBlock.read(&reader, charge, memory)
        guard reader.isAtEnd else { throw Damage("dictionary is followed by other bytes", at: reader.position) }
        guard count <= lengths.count, form == 0 || count <= shared.count else { throw Damage("dictionary has too few lengths") }
        try charge.add((count + 1) * 8, for: memory.name)
        let offsets = try offsets(count: count, lengths: lengths, shared: shared)
        guard offsets[count] == total else { throw Damage("dictionary lengths do not add up") }
        if form == 0 {
            guard bytes.count == total else { throw Damage("dictionary size does not match its lengths") }
            return try values(offsets, bytes, charge, memory)
        }
        // The values, and the lengths of their prefixes while they are assembled.
        try charge.add(total + count * 8, for: memory.name)
        return try values(offsets, try unfold(offsets: offsets, shared: shared, suffixes: bytes), charge, memory)
    }

    private static func values(_ offsets: [Int], _ bytes: [UInt8], _ charge: MemoryCharge, _ memory: MemoryScope) throws(Damage) -> Text {
        try charge.set(offsets.count * 8 + bytes.count, for: memory.name)
        var text = Text(offsets: offsets, bytes: bytes)
        text.charge = charge
        return text
    }

    private static func varints(_ bytes: [UInt8], count: Int, _ body: (Int, Int) -> Void) throws(Damage) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(Damage) in
            var reader = ByteReader(UnsafeRawBufferPointer(buffer))
            for i in 0..<count { body(i, try reader.readCount(limit: maximumBytes * 4)) }
            guard reader.isAtEnd else { throw Damage("dictionary lengths are followed by other bytes") }
        }
    }

    private static func offsets(count: Int, lengths: [UInt8], shared: [UInt8]) throws(Damage) -> [Int] {
        var offsets = [Int](repeating: 0, count: count + 1)
        try varints(lengths, count: count) { offsets[$0 &+ 1] = $1 }
        if !shared.isEmpty { try varints(shared, count: count) { offsets[$0 &+ 1] &+= $1 } }
        // At most 2^28 values of at most 2^29 bytes: no overflow.
        for i in 0..<count { offsets[i &+ 1] &+= offsets[i] }
        return offsets
    }

    private static func unfold(offsets: [Int], shared: [UInt8], suffixes: [UInt8]) throws(Damage) -> [UInt8] {
        let count = offsets.count - 1
        var commons = [Int](repeating: 0, count: count)
        try varints(shared, count: count) { commons[$0] = $1 }
        var failure: Damage?
        let out = [UInt8](unsafeUninitializedCapacity: offsets[count]) { room, filled in
            filled = 0
            var taken = 0
            for i in 0..<count {
                let start = offsets[i], own = offsets[i &+ 1] &- start &- commons[i]
                let before = i == 0 ? 0 : start &- offsets[i &- 1]
                guard commons[i] <= before, taken &+ own <= suffixes.count else {
                    failure = Damage("dictionary value \(i) refers to bytes outside the dictionary")
                    return
                }
                for k in 0..<commons[i] { room[start &+ k] = room[start &- before &+ k] }
                for k in 0..<own { room[start &+ commons[i] &+ k] = suffixes[taken &+ k] }
                taken &+= own
            }
            filled = offsets[count]
            if taken != suffixes.count { failure = Damage("dictionary has unused bytes") }
        }
        if let failure { throw failure }
        return out
    }
}
