import FirnBytes
import FirnExchange

/// Cuts an input into blocks of whole lines.
final class LineBlocks {
    private let input: Input
    private let blockSize: Int
    private var carry: [UInt8] = []
    private var block = 0
    private var isAtEnd = false

    init(_ input: Input, blockSize: Int) {
        self.input = input
        self.blockSize = max(blockSize, 1)
    }

    func rewind() throws(FirnError) {
        try input.rewind()
        carry = []
        block = 0
        isAtEnd = false
    }

    func error(_ message: String, line: Int, column: Int) -> FirnError {
        FirnError(.rejected, message, at: .init(file: input.name, line: line + 1, column: column + 1), advice: JSONReader.advice)
    }

    /// Puts the next block into the parser's buffer and tells its size and number; false at the end.
    func fill(_ parser: JSONParser, _ tell: (Int, Int) -> Void) throws(FirnError) -> Bool {
        if isAtEnd, carry.isEmpty { return false }
        var capacity = max(blockSize, carry.count)
        var base = try parser.reserve(capacity)
        carry.withUnsafeBytes { if let start = $0.baseAddress { base.copyMemory(from: start, byteCount: $0.count) } }
        var count = carry.count
        carry.removeAll(keepingCapacity: true)
        while true {
            if !isAtEnd {
                let got = try input.read(into: UnsafeMutableRawBufferPointer(start: base + count, count: capacity - count))
                if got < capacity - count { isAtEnd = true }
                count += got
            }
            if isAtEnd { break }
            if let cut = lastNewline(base, count) {
                carry.append(contentsOf: UnsafeRawBufferPointer(start: base + cut + 1, count: count - cut - 1))
                count = cut + 1
                break
            }
            guard capacity < 1 << 32 else { throw FirnError(.unsupported, "a line is larger than 4 GB", at: .init(file: input.name)) }
            capacity *= 2   // one line fills the block
            base = try parser.reserve(capacity, keeping: count)
        }
        if block == 0 { count = try dropMark(base, count, input.name) }
        if count == 0 { return false }
        tell(count, block)
        block += 1
        return true
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

/// Drops a byte order mark before UTF-8; returns the bytes left. Throws if the mark tells UTF-16.
func dropMark(_ base: UnsafeMutableRawPointer, _ count: Int, _ name: String) throws(FirnError) -> Int {
    let bytes = UnsafeMutableRawBufferPointer(start: base, count: count)
    if count >= 2, (bytes[0] == 0xFF && bytes[1] == 0xFE) || (bytes[0] == 0xFE && bytes[1] == 0xFF) {
        throw FirnError(.rejected, "the text is UTF-16, and JSON is UTF-8", at: .init(file: name, line: 1, column: 1), advice: "convert it first: iconv -f UTF-16 -t UTF-8")
    }
    guard count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF else { return count }
    base.copyMemory(from: base + 3, byteCount: count - 3)
    return count - 3
}
