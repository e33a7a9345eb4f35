import FirnBytes
import Synchronization

/// Reads strings that are stored as 12-bit codes into a symbol table.
///
///     0x63 · flags u8 (2 table inline, 4 table shared) · index u8 if shared, size varint + `TrainedText` if inline
///     · size varint + lengths stream (codes of each string) · codes, two in three bytes (low bits first)
final class SymbolReader: Sendable {
    private let source: SharedText
    private let lengths: LengthsReader
    private let codes: BorrowedBytes
    private let memory: MemoryScope
    /// The opened source, after its first use.
    private let known = Mutex<TrainedText?>(nil)

    /// `reader` is positioned after the id of the encoding.
    init(_ reader: inout ByteReader, count: Int, shared: [SharedText], memory: MemoryScope) throws(Damage) {
        self.memory = memory
        switch try reader.read(UInt8.self) {
        case 2: source = try SharedText(kind: .trained, bytes: try reader.readLengthPrefixed())
        case 4:
            let index = Int(try reader.read(UInt8.self))
            guard index < shared.count else { throw Damage("text refers to a shared blob that does not exist", at: reader.position) }
            source = shared[index]
        default: throw Damage("unknown flags of symbol-table text", at: reader.position)
        }
        lengths = try LengthsReader(try reader.readLengthPrefixed(), count: count)
        codes = BorrowedBytes(try reader.read(count: reader.remaining))
        guard lengths.total >= 0, lengths.total <= codes.buffer.count, (lengths.total &* 3 &+ 1) >> 1 == codes.buffer.count else {
            throw Damage("the size of symbol-table text does not match its lengths")
        }
    }

    /// The features that the nested stream needs.
    var features: EncodingFeatures { lengths.features }

    var lengthsName: String { lengths.encodingName }

    private func trained() throws(Damage) -> TrainedText {
        if let known = known.withLock({ $0 }) { return known }
        let found = try source.trained(memory)
        known.withLock { $0 = found }
        return found
    }

    private func symbols() throws(Damage) -> SymbolTable {
        guard case .symbols(let symbols) = try trained().form else { throw Damage("symbol-table text refers to a zstd dictionary") }
        return symbols
    }

    /// Implements `TextReader.search`.
    func search(_ pattern: TextPattern, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> Bool {
        let automaton = pattern.automaton(try trained(), try symbols()), n = min(1024, lengths.count &- vector << 10)
        let starts = UnsafeMutablePointer<Int>.allocate(capacity: 1025)
        defer { starts.deallocate() }
        try lengths.decode(vector: vector, into: starts)
        guard let base = codes.buffer.baseAddress, starts[0] < starts[n] else {
            // Only empty strings.
            Bitwise.each(n, into: out) { _ in automaton.accepting == 0 }
            return true
        }
        var isBroken = false
        let isDecided = automaton.search(base, starts, n, isAtStart: pattern.isAtStart, into: out, isBroken: &isBroken)
        if isBroken { throw Damage("a code is not in the symbol table") }
        return isDecided
    }

    /// Returns code i; `i` must be below the total of the lengths.
    @inline(__always)
    private static func code(_ codes: UnsafeRawBufferPointer, _ i: Int) -> Int {
        let at = (i &* 3) >> 1
        return i & 1 == 0 ? Int(codes[at]) | Int(codes[at &+ 1] & 15) << 8 : Int(codes[at] >> 4) | Int(codes[at &+ 1]) << 4
    }

    /// Writes the bytes of the codes in `range` to `out`, which must have 16 bytes for each code and 16 more. Returns the end of the bytes,
    /// or nil if a code is not in the table.
    @inline(__always)
    private static func unpack(
        _ codes: UnsafeRawBufferPointer, _ range: Range<Int>, _ slots: UnsafeBufferPointer<SIMD16<UInt8>>,
        _ sizes: UnsafeBufferPointer<UInt8>, _ out: UnsafeMutableRawPointer, at start: Int
    ) -> Int? {
        var at = start
        for i in range {
            let code = code(codes, i)
            guard code < sizes.count else { return nil }
            out.storeBytes(of: slots[code], toByteOffset: at, as: SIMD16<UInt8>.self)
            at &+= Int(sizes[code])
        }
        return at
    }

    func decode(vector: Int, into text: inout Text) throws(Damage) {
        let symbols = try symbols()
        let n = min(1024, lengths.count &- vector << 10)
        let starts = UnsafeMutablePointer<Int>.allocate(capacity: 1025)
        defer { starts.deallocate() }
        try lengths.decode(vector: vector, into: starts)
        guard starts[0] >= 0, starts[n] <= lengths.total, starts[0] <= starts[n] else { throw Damage("a string lies outside the stream") }
        for i in 0..<n where starts[i] > starts[i &+ 1] { throw Damage("a string lies outside the stream") }
        let room = (starts[n] &- starts[0]) &* 16 &+ 16
        try text.reserve(room, memory)
        if text.bytes.count < room { text.bytes.append(contentsOf: repeatElement(0, count: room &- text.bytes.count)) }
        text.offsets.removeAll(keepingCapacity: true)
        text.offsets.reserveCapacity(n + 1)
        text.offsets.append(0)
        var end: Int? = 0
        symbols.slots.withUnsafeBufferPointer { slots in
            symbols.lengths.withUnsafeBufferPointer { sizes in
                text.bytes.withUnsafeMutableBytes { out in
                    for i in 0..<n {
                        end = Self.unpack(codes.buffer, starts[i]..<starts[i &+ 1], slots, sizes, out.baseAddress!, at: end!)
                        guard let end else { return }
                        text.offsets.append(end)
                    }
                }
            }
        }
        guard let end else {
            text.removeAll()
            throw Damage("a code is not in the symbol table")
        }
        text.bytes.removeLast(text.bytes.count &- end)
    }

    func withValue<R>(at row: Int, _ body: (UnsafeRawBufferPointer) -> R) throws(Damage) -> R {
        let symbols = try symbols()
        let range = try lengths.range(at: row)
        guard range.lowerBound >= 0, range.upperBound <= lengths.total else { throw Damage("a string lies outside the stream") }
        // On the stack if it is short, as it nearly always is.
        let result = withUnsafeTemporaryAllocation(byteCount: range.count &* 16 &+ 16, alignment: 16) { room -> R? in
            let end = symbols.slots.withUnsafeBufferPointer { slots in
                symbols.lengths.withUnsafeBufferPointer { sizes in Self.unpack(codes.buffer, range, slots, sizes, room.baseAddress!, at: 0)
                }
            }
            return end.map { body(UnsafeRawBufferPointer(start: room.baseAddress, count: $0)) }
        }
        guard let result else { throw Damage("a code is not in the symbol table") }
        return result
    }
}
