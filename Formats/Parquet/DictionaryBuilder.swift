import FirnBytes

/// Collects the distinct values of a chunk, in the order in which they first occur.
struct DictionaryBuilder {
    private(set) var values: LeafValues
    /// For each slot: a code and one, or 0 if it is free.
    private var slots: [UInt32]
    private var used = 0
    private let hasWords: Bool

    /// The limits of a dictionary: readers hold it in memory while they read a chunk.
    private static let maximumCount = 1 << 18, maximumBytes = 4 << 20

    init(_ physical: ParquetFormat.Physical, length: Int) {
        values = LeafValues(physical, length: length)
        slots = [UInt32](repeating: 0, count: 1 << 8)
        hasWords = values.width == 4 || values.width == 8
    }

    var count: Int { used }

    /// Returns the codes of values, after it has added those that are new. Returns nil if the dictionary would have more than `limit`
    /// values or too many bytes; it is then unchanged in its first values, and must not be used for these.
    mutating func codes(_ more: LeafValues, limit: Int = DictionaryBuilder.maximumCount) -> [UInt32]? {
        var codes = [UInt32](repeating: 0, count: more.count), at = 0
        let limit = min(limit, DictionaryBuilder.maximumCount)
        // The table grows between pieces, so that it always has free slots.
        while at < more.count {
            let piece = at..<min(at + 4096, more.count)
            while (used + piece.count) * 2 > slots.count { grow() }
            if hasWords { addWords(more, piece, &codes) } else { addBytes(more, piece, &codes) }
            if used > limit || values.byteCount > DictionaryBuilder.maximumBytes { return nil }
            at = piece.upperBound
        }
        return codes
    }

    /// Every bit of the hash depends on all bits of the word: doubles with few digits end with many zeros.
    @inline(__always)
    static func hash(_ word: UInt64) -> UInt64 { mix(word, 0) }

    private mutating func addWords(_ more: LeafValues, _ range: Range<Int>, _ codes: inout [UInt32]) {
        let width = values.width, mask = slots.count - 1
        var added: [UInt64] = []
        let first = used
        more.fixed.withUnsafeBytes { bytes in
            values.fixed.withUnsafeBytes { known in
                @inline(__always) func load(_ from: UnsafeRawBufferPointer, _ i: Int) -> UInt64 {
                    width == 4
                        ? UInt64(from.loadUnaligned(fromByteOffset: i &* 4, as: UInt32.self))
                        : from.loadUnaligned(fromByteOffset: i &* 8, as: UInt64.self)
                }
                codes.withUnsafeMutableBufferPointer { codes in
                    slots.withUnsafeMutableBufferPointer { slots in
                        for i in range {
                            let word = load(bytes, i)
                            var slot = Int(truncatingIfNeeded: DictionaryBuilder.hash(word)) & mask
                            while true {
                                let code = Int(slots[slot])
                                if code == 0 {
                                    added.append(word)
                                    slots[slot] = UInt32(truncatingIfNeeded: first &+ added.count)
                                    codes[i] = slots[slot] &- 1
                                    break
                                }
                                if (code <= first ? load(known, code &- 1) : added[code &- first &- 1]) == word {
                                    codes[i] = UInt32(truncatingIfNeeded: code &- 1)
                                    break
                                }
                                slot = (slot &+ 1) & mask
                            }
                        }
                    }
                }
            }
        }
        used += added.count
        values.fixed.reserveCapacity(values.fixed.count + added.count * width)
        for word in added {
            withUnsafeBytes(of: word.littleEndian) { values.fixed.append(contentsOf: $0.prefix(width)) }
        }
    }

    private mutating func addBytes(_ more: LeafValues, _ range: Range<Int>, _ codes: inout [UInt32]) {
        let width = values.width, mask = slots.count - 1
        let source = width > 0 ? more.fixed : more.text.bytes
        source.withUnsafeBytes { bytes in
            var previous = UnsafeRawBufferPointer(start: nil, count: 0), previousCode: UInt32?
            for i in range {
                let own = width > 0 ? i * width..<(i + 1) * width : more.text.range(i)
                let value = UnsafeRawBufferPointer(rebasing: bytes[own])
                if let previousCode, isSame(value, previous) {
                    codes[i] = previousCode
                    continue
                }
                var slot = Int(truncatingIfNeeded: hashBytes(value)) & mask
                while true {
                    let code = slots[slot]
                    if code == 0 {
                        if width > 0 { values.fixed.append(contentsOf: value) } else { values.text.append(value) }
                        used += 1
                        slots[slot] = UInt32(truncatingIfNeeded: used)
                        codes[i] = slots[slot] - 1
                        break
                    }
                    if isEqual(Int(code) - 1, value) {
                        codes[i] = code - 1
                        break
                    }
                    slot = (slot + 1) & mask
                }
                (previous, previousCode) = (value, codes[i])
            }
        }
    }

    private func isEqual(_ code: Int, _ value: UnsafeRawBufferPointer) -> Bool {
        let width = values.width
        if width > 0 {
            return values.fixed.withUnsafeBytes { isSame(value, UnsafeRawBufferPointer(rebasing: $0[code * width..<(code + 1) * width])) }
        }
        return values.text.withBytes(code) { isSame($0, value) }
    }

    private mutating func grow() {
        slots = [UInt32](repeating: 0, count: slots.count * 4)
        let mask = slots.count - 1, width = values.width
        for code in 0..<used {
            let hash: UInt64
            if hasWords {
                var word: UInt64 = 0
                for i in 0..<width { word |= UInt64(values.fixed[code * width + i]) << UInt64(8 * i) }
                hash = DictionaryBuilder.hash(word)
            } else if width > 0 {
                hash = values.fixed.withUnsafeBytes { hashBytes(UnsafeRawBufferPointer(rebasing: $0[code * width..<(code + 1) * width])) }
            } else {
                hash = values.text.withBytes(code) { hashBytes($0) }
            }
            var slot = Int(truncatingIfNeeded: hash) & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = UInt32(code + 1)
        }
    }

    /// Returns the body of a page of codes.
    static func page(_ codes: ArraySlice<UInt32>, of count: Int) -> [UInt8] {
        // pyarrow writes a bit for the code of the only value too.
        let width = max(1, BitPacking.width(UInt64(max(count, 1) - 1)))
        var runs = RunEncoder(width: width)
        codes.withUnsafeBufferPointer { runs.append($0) }
        return [UInt8(width)] + runs.bytes
    }
}

/// Whether two byte strings are equal. They are compared eight bytes at a time.
@inline(__always)
func isSame(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    guard a.count == b.count else { return false }
    guard let x = a.baseAddress, let y = b.baseAddress else { return true }
    var at = 0
    while at &+ 8 <= a.count {
        if x.loadUnaligned(fromByteOffset: at, as: UInt64.self) != y.loadUnaligned(fromByteOffset: at, as: UInt64.self) { return false }
        at &+= 8
    }
    while at < a.count {
        if x.load(fromByteOffset: at, as: UInt8.self) != y.load(fromByteOffset: at, as: UInt8.self) { return false }
        at &+= 1
    }
    return true
}
