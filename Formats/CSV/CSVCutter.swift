import FirnBytes
import FirnExchange

/// A part of the text that ends at the end of a record. Only one thread at a time may use it.
final class CSVBlock: @unchecked Sendable {
    private(set) var memory: UnsafeMutablePointer<UInt8>
    private(set) var capacity: Int
    private var charge: MemoryCharge?
    var count = 0
    /// The offset of the first byte within the whole text.
    var offset: UInt64 = 0

    /// The maximum size: `CSVIndex` stores offsets in 31 bits.
    static let maximumBytes = 1 << 30

    /// - Throws: `FirnError.outOfMemory` beyond the memory limit of the input.
    convenience init(capacity: Int, _ input: Input) throws(FirnError) {
        let charge = MemoryCharge(input.budget)
        guard charge.take(capacity) else {
            throw FirnError.beyondMemory(
                "a row or block of \(MemoryBudget.words(capacity))", capacity, input.budget, at: .init(file: input.name))
        }
        self.init(capacity: capacity, charge)
    }

    /// Makes memory for a copy of a block; only the original is charged.
    convenience init(copyOf count: Int) { self.init(capacity: count, nil) }

    private init(capacity: Int, _ charge: MemoryCharge?) {
        self.charge = charge
        self.capacity = capacity
        memory = .allocate(capacity: capacity + scanSlack)
        memory.initialize(repeating: 0, count: scanSlack)
    }

    deinit { memory.deallocate() }

    /// Enlarges the memory. `location` returns the location of the row that needs it, for the error.
    func grow(to capacity: Int, _ input: Input, at location: () throws(FirnError) -> FirnError.Location) throws(FirnError) {
        guard capacity > self.capacity else { return }
        // Both are in memory while the text is copied.
        let grown = charge.map { _ in MemoryCharge(input.budget) }
        if let grown, !grown.take(capacity) {
            throw FirnError.beyondMemory(
                "a row of more than \(MemoryBudget.words(count))", capacity, input.budget, at: try location())
        }
        defer { charge = grown }
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity + scanSlack)
        larger.update(from: memory, count: count)
        memory.deallocate()
        memory = larger
        self.capacity = capacity
    }

    /// Writes zeros after the text, so that a scan beyond its end always reads the same bytes.
    func seal() { (memory + count).update(repeating: 0, count: scanSlack) }
}

/// Cuts a text into blocks at the ends of records.
final class CSVCutter {
    let text: any CSVSource
    private let marks: CSVMarks
    private let name: String
    private var rest: [UInt8] = []
    var offset: UInt64 = 0
    private var ended = false
    private var typicalRecord = 0
    private static let leastStep = 1 << 16

    init(_ text: any CSVSource, _ marks: CSVMarks) {
        self.text = text
        self.marks = marks
        name = text.input.name
    }

    /// Returns the next block: the records that end within about `size` bytes, but at most `limit` of them. If `limit` is given, `size` is
    /// the step of reading, and the block ends after exactly `limit` records, at `most` bytes, or at the end of the text. Returns nil at
    /// the end.
    func next(size: Int, limit: Int = .max, most: Int = .max) throws(FirnError) -> CSVBlock? {
        var size = size, expected = size
        if limit != .max {
            // A sixteenth more, because records that are a little longer would need memory for a copy. What is read beyond the last record is
            // copied to the next block, so the steps are short.
            let records = typicalRecord &* limit &* 17 / 16
            if records > 0 { size = min(size, max(CSVCutter.leastStep, records / 8)) }
            expected = min(most, max(size, records &+ size))
        }
        let block = try CSVBlock(capacity: max(expected, rest.count + size), text.input)
        block.offset = offset
        rest.withUnsafeBufferPointer { if $0.count > 0 { block.memory.update(from: $0.baseAddress!, count: $0.count) } }
        block.count = rest.count
        rest.removeAll(keepingCapacity: true)
        var finder = CSVRecordFinder(marks)
        finder.advance(block.memory, to: block.count, limit: limit, isLast: ended)
        while !ended, finder.records < limit {
            if limit == .max ? finder.records > 0 && block.count >= size : finder.records > 0 && block.count >= most { break }
            if block.count + size > block.capacity {
                try block.grow(to: max(block.count + size, block.count * 3 / 2), text.input) { () throws(FirnError) in try locate(offset) }
            }
            if block.count > CSVBlock.maximumBytes {
                throw FirnError(
                    .rejected, "a row is larger than 1 GiB", at: try locate(offset), advice: "check for a quote that is not closed there")
            }
            let got = try text.read(into: UnsafeMutableRawBufferPointer(start: block.memory + block.count, count: size))
            block.count += got
            if got < size { ended = true }
            block.seal()
            finder.advance(block.memory, to: block.count, limit: limit, isLast: ended)
        }
        if block.count == 0 { return nil }
        // The end of the text ends the last record.
        let cut = ended && finder.records < limit ? block.count : finder.boundary
        if cut < block.count {
            rest = Array(UnsafeBufferPointer(start: block.memory + cut, count: block.count - cut))
            block.count = cut
        }
        block.seal()
        if finder.records > 0 { typicalRecord = cut / finder.records + 1 }
        offset += UInt64(cut)
        return block
    }

    /// Returns the line and column (in characters, from 1) of an offset in the text. It reads the text again from its start, so nothing can
    /// be cut afterwards.
    func locate(_ position: UInt64) throws(FirnError) -> FirnError.Location { try text.locate(position, newline: marks.newline) }
}

extension CSVText {
    func locate(_ position: UInt64, newline: UInt8) throws(FirnError) -> FirnError.Location {
        do throws(FirnError) { try rewind() } catch { return FirnError.Location(file: input.name, byte: position) }
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { piece.deallocate() }
        var left = position, line = 1, column = 1
        while left > 0 {
            let got = try read(into: UnsafeMutableRawBufferPointer(rebasing: piece[..<min(piece.count, Int(clamping: left))]))
            if got == 0 { break }
            for i in 0..<got {
                if piece[i] == newline { (line, column) = (line &+ 1, 1) } else if piece[i] & 0xC0 != 0x80 { column &+= 1 }
            }
            left -= UInt64(got)
        }
        return FirnError.Location(file: input.name, line: line, column: column)
    }
}
