import CSimdJSON
import FirnBytes
import FirnExchange

/// Cuts an input into blocks of whole lines.
final class LineBlocks {
    private let source: TextSource
    private var input: Input { source.input }
    private let blockSize: Int
    private var carry: [UInt8] = []
    private var block = 0
    private var isAtEnd = false
    /// The number of bytes in the blocks so far.
    private var passed = 0

    init(_ source: TextSource, blockSize: Int) {
        self.source = source
        self.blockSize = max(blockSize, 1)
    }

    func rewind() throws(FirnError) {
        try source.rewind()
        carry = []
        block = 0
        passed = 0
        isAtEnd = false
    }

    /// Counts the lines in the blocks so far by reading them again, for an error that ends the reading.
    private func linesBefore() throws(FirnError) -> Int {
        try source.rewind()
        var left = passed, lines = 0
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { piece.deallocate() }
        while left > 0 {
            let got = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: piece[..<min(left, piece.count)]))
            if got == 0 { break }
            lines += piece[..<got].count { $0 == 10 }
            left -= got
        }
        return lines
    }

    func error(_ message: String, line: Int, column: Int) -> FirnError {
        let isMemory = message == JSONReader.beyondMemory
        // Of values that were put on lines of their own, the place in the input is found by reading it again.
        let (line, column) = source.cutsValues ? (try? source.location(value: line, column: column)) ?? (line, column) : (line, column)
        return FirnError(
            isMemory ? .outOfMemory : .rejected, source.shown(message), at: .init(file: input.name, line: line + 1, column: column + 1),
            advice: isMemory ? FirnError.memoryAdvice : JSONReader.advice)
    }

    /// Reads the next block into the parser's buffer and passes its size and number to `tell`. Returns false at the end.
    func fill(_ parser: JSONParser, _ tell: (Int, Int) -> Void) throws(FirnError) -> Bool {
        if isAtEnd, carry.isEmpty { return false }
        var capacity = max(blockSize, carry.count)
        var base = try parser.reserve(capacity)
        carry.withBytes { if let start = $0.baseAddress { base.copyMemory(from: start, byteCount: $0.count) } }
        var count = carry.count
        carry.removeAll(keepingCapacity: true)
        var nesting = Nesting(), looked = 0
        while true {
            if !isAtEnd {
                let got = try source.read(into: UnsafeMutableRawBufferPointer(start: base + count, count: capacity - count))
                if got < capacity - count { isAtEnd = true }
                count += got
            }
            if isAtEnd { break }
            if let cut = lastNewline(base, count) {
                carry.append(contentsOf: UnsafeRawBufferPointer(start: base + cut + 1, count: count - cut - 1))
                count = cut + 1
                break
            }
            // Deep nesting is found before memory for all of a long line is allocated.
            try checkNesting(base, looked..<count, &nesting)
            looked = count
            guard capacity < 1 << 32 else { throw FirnError(.unsupported, "a line is larger than 4 GB", at: .init(file: input.name)) }
            capacity *= 2  // one line fills the block
            base = try parser.reserve(capacity, keeping: count)
        }
        if block == 0 { count = dropMark(base, count) }
        if count == 0 { return false }
        tell(count, block)
        passed += count
        block += 1
        return true
    }

    private func checkNesting(_ base: UnsafeMutableRawPointer, _ range: Range<Int>, _ nesting: inout Nesting) throws(FirnError) {
        do throws(FirnError) {
            try nesting.check(
                base, from: range.lowerBound, to: range.upperBound, input, firstLine: { () throws(FirnError) in try linesBefore() })
        } catch {
            guard source.cutsValues, let at = error.location, let line = at.line, let column = at.column else { throw error }
            throw self.error(error.message, line: line - 1, column: column - 1)
        }
    }

    private func lastNewline(_ base: UnsafeMutableRawPointer, _ count: Int) -> Int? {
        let bytes = UnsafeRawBufferPointer(start: base, count: count)
        var at = count &- 1
        while at >= 0 {
            if bytes[at] == 10 { return at }
            at &-= 1
        }
        return nil
    }
}

/// Finds the depth of nesting of a text that is read in pieces.
struct Nesting {
    private var state = firn_json_nesting()

    /// Checks bytes `from ..< to` of the text at `base`, which begins in line `firstLine` (from 0).
    /// - Throws: `FirnError.rejected` if values nest too deep.
    mutating func check(_ base: UnsafeMutableRawPointer, from: Int, to: Int, _ input: Input, firstLine: () throws(FirnError) -> Int)
        throws(FirnError)
    {
        let text = base.assumingMemoryBound(to: UInt8.self)
        let found = firn_json_find_depth(&state, text + from, to - from)
        guard found != Int(bitPattern: UInt.max) else { return }
        let offset = from + found
        var line = 0, start = 0
        for at in 0..<offset where text[at] == 10 { (line, start) = (line + 1, at + 1) }
        let isMarked = line == 0 && to >= 3 && text[0] == 0xEF && text[1] == 0xBB && text[2] == 0xBF
        throw FirnError(
            .rejected, "values nest deeper than \(FIRN_JSON_MAX_DEPTH) levels",
            at: .init(file: input.name, line: try firstLine() + line + 1, column: offset - start + 1 - (isMarked ? 3 : 0)))
    }
}

/// Removes a UTF-8 byte order mark and returns the number of bytes left.
func dropMark(_ base: UnsafeMutableRawPointer, _ count: Int) -> Int {
    guard UnsafeRawBufferPointer(start: base, count: count).starts(with: [0xEF, 0xBB, 0xBF]) else { return count }
    base.copyMemory(from: base + 3, byteCount: count - 3)
    return count - 3
}
