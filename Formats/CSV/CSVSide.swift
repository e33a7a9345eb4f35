import FirnBytes
import FirnExchange

/// One of two texts whose records are compared: the part that is in memory, and the records that the other text does not have.
final class CSVSide {
    /// Records as a text that ends with a newline.
    struct Records {
        var bytes: [UInt8] = []
        /// Whether the last record of the text is one of these, as far as it was compared.
        var hasLast = false
    }

    /// The starts of the next records, and the end of the last one.
    struct Ahead {
        var starts: [Int] = []
        var count: Int { starts.count - 1 }
        func start(of record: Int) -> Int { starts[record] }
        subscript(record: Int) -> Range<Int> { starts[record]..<starts[record + 1] }
    }

    private let text: CSVText
    private let marks: CSVMarks
    private let block: CSVBlock
    /// The start of the next record in the memory.
    private(set) var at = 0
    /// Whether the text has been read to its end.
    private(set) var isAtEnd = false
    private(set) var others = Records()

    /// The number of bytes that are read at a time, and the minimum that is in memory before its end.
    private static let step = 1 << 20
    static let least = 1 << 18
    /// The end of a record is searched for among so many bytes first.
    private static let shortRecord = 128

    init(_ text: CSVText, _ marks: CSVMarks) throws(FirnError) {
        self.text = text
        self.marks = marks
        block = try CSVBlock(capacity: CSVSide.step + CSVSide.least, text.input)
    }

    var memory: UnsafePointer<UInt8> { UnsafePointer(block.memory) }
    var start: UnsafePointer<UInt8> { UnsafePointer(block.memory + at) }
    var end: Int { block.count }
    var left: Int { block.count - at }

    /// Reads until at least `count` bytes are left in memory, or the text ends. A text without a newline at its end gets one.
    func fill(atLeast count: Int) throws(FirnError) {
        guard left < count, !isAtEnd else { return }
        block.memory.update(from: block.memory + at, count: left)
        block.count = left
        at = 0
        if count + CSVSide.step > block.capacity {
            try block.grow(to: count + CSVSide.step, text.input) { .init(file: text.input.name) }
        }
        // The last byte of the memory is for the newline.
        let room = block.capacity - block.count - 1
        let got = try text.read(into: UnsafeMutableRawBufferPointer(start: block.memory + block.count, count: room))
        block.count += got
        isAtEnd = got < room
        if isAtEnd, block.count > 0, block.memory[block.count - 1] != marks.newline {
            block.memory[block.count] = marks.newline
            block.count += 1
        }
        block.seal()
    }

    /// Whether the first `count` bytes are those of another text, and end a record.
    func begins(with count: Int, as other: CSVSide) -> Bool {
        left >= count && other.left >= count && CSVSide.commonPrefix(start, other.start, count) == count
            && (count == 0 || start[count - 1] == marks.newline)
    }

    /// Passes over the header, and puts it before the records that are set aside.
    func keepHeader(_ count: Int) {
        guard left >= count else { return }
        keep(to: at + count)
    }

    /// Returns the length of the records that end within the next `count` bytes.
    func recordsEnd(within count: Int) -> Int {
        var finder = CSVRecordFinder(marks)
        finder.advance(start, to: count, limit: .max, isLast: false)
        return finder.boundary
    }

    /// Returns the end of the record at a position; nil if it is not in memory.
    func knownRecordEnd(from position: Int) -> Int? {
        var finder = CSVRecordFinder(marks), seen = CSVSide.shortRecord
        let from = memory + position, most = end - position
        while true {
            finder.advance(from, to: min(seen, most), limit: 1, isLast: seen >= most && isAtEnd)
            if finder.records > 0 { return position + finder.boundary }
            if seen >= most { return nil }
            seen *= 8
        }
    }

    /// Returns the end of the record at the start; reads more of the text if necessary. Returns nil if the record is longer than `limit` or is
    /// not closed, and the start at the end of the text.
    func recordEnd(from position: Int, limit: Int) throws(FirnError) -> Int? {
        trap(unless: position == at, "find the end of the next record")
        while true {
            if left == 0, isAtEnd { return at }
            if let end = knownRecordEnd(from: at) { return end }
            guard !isAtEnd, left < limit else { return nil }
            try fill(atLeast: 2 * left + CSVSide.least)
        }
    }

    /// Returns the next records that are in memory, at most `most`.
    func records(_ most: Int) -> Ahead {
        var ahead = Ahead(starts: [at])
        while ahead.count < most, ahead.starts[ahead.count] < end, let next = knownRecordEnd(from: ahead.starts[ahead.count]) {
            ahead.starts.append(next)
        }
        return ahead
    }

    /// Passes over `length` bytes of records that the other text has as well.
    func pass(_ length: Int) {
        others.hasLast = false
        at += length
    }

    /// Sets `count` records aside, which end at a position.
    func setAside(_ count: Int, to position: Int) {
        if count > 0 { others.hasLast = true }
        keep(to: position)
    }

    private func keep(to position: Int) {
        others.bytes.append(contentsOf: UnsafeBufferPointer(start: start, count: position - at))
        at = position
    }

    /// Whether a record is equal to one of another text.
    func isEqual(_ record: Range<Int>, _ other: CSVSide, _ its: Range<Int>) -> Bool {
        record.count == its.count
            && CSVSide.commonPrefix(memory + record.lowerBound, other.memory + its.lowerBound, record.count) == record.count
    }

    func hash(_ record: Range<Int>) -> UInt64 { hashBytes(UnsafeRawBufferPointer(start: memory + record.lowerBound, count: record.count)) }

    /// Returns the number of equal bytes at the start of two texts, at most `count`.
    static func commonPrefix(_ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ count: Int) -> Int {
        let left = UnsafeRawPointer(a), right = UnsafeRawPointer(b)
        var at = 0
        while at &+ 32 <= count {
            let x = left.loadUnaligned(fromByteOffset: at, as: SIMD4<UInt64>.self)
            let y = right.loadUnaligned(fromByteOffset: at, as: SIMD4<UInt64>.self)
            let other = x ^ y
            if (other[0] | other[1]) | (other[2] | other[3]) != 0 { break }
            at &+= 32
        }
        while at < count, a[at] == b[at] { at &+= 1 }
        return at
    }
}
