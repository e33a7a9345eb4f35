import FirnBytes
import FirnExchange
import FirnModel

/// One parser with what it fills. Several are in use at a time, each by one thread.
private final class Lane: @unchecked Sendable {
    let parser = JSONParser()
    var tree: ShapeTree?
    var rows: RowBuilder?
    /// Bytes of text in the parser's buffer, and the block's number.
    var count = 0
    var block = 0
}

/// What became of one block.
private struct BlockResult: @unchecked Sendable {
    var lane: Lane
    var rows = 0
    var lines = 0
    var batch: Batch?
    var fault: (message: String, line: Int, column: Int)?
}

/// NDJSON: blocks of whole lines, parsed by several threads.
final class JSONLines: JSONRows {
    let rowType: TypeSchema
    let embedded: [TypeSchema]
    let remarks: [String]
    let losses: [String]
    private(set) var rowCount = 0

    private let blocks: LineBlocks
    private var idle: [Lane] = []
    private let queue: BlockQueue<LaneJob, BlockResult>
    private var linesBefore = 0
    private let progress: Progress?

    fileprivate struct LaneJob: Sendable { var lane: Lane }

    init(_ input: Input, _ options: JSONOptions, _ progress: Progress?) throws(FirnError) {
        self.progress = progress
        blocks = LineBlocks(input, blockSize: options.blockSize)
        if input.compression == .none, let size = input.totalBytes { progress?.setTotal(bytes: 2 * Int(clamping: size)) }
        var lanes = (0..<(options.threads + 2)).map { _ in Lane() }
        for lane in lanes { lane.tree = ShapeTree(lane.parser, options) }
        rowCount = try JSONLines.observe(blocks, lanes, options.threads, progress)

        // One tree of all the lanes', with key numbers of its own.
        let keys = KeyNumbers()
        let root = ShapeTree(lanes[0].parser, options)
        for lane in lanes {
            ShapeTree.merge(lane.tree!.root, into: root.root) { keys.number(of: lane.parser.key($0)) }
            lane.tree = nil
        }
        let plan = RowPlan(root.root, options: options) { keys.keys[Int($0)] }
        rowType = plan.type(options.typeName, envelope: plan.isBare ? Envelope(.values).text : nil)
        embedded = plan.embedded
        remarks = plan.remarks
        losses = plan.losses

        for lane in lanes { lane.rows = RowBuilder(lane.parser, fields: plan.fields, isBare: plan.isBare) }
        idle = lanes
        lanes = []
        queue = BlockQueue(threads: options.threads) { (job: LaneJob) throws(FirnError) in JSONLines.build(job.lane) }
        try blocks.rewind()
    }

    /// The first reading: fills the lanes' trees; returns the number of rows.
    private static func observe(_ blocks: LineBlocks, _ lanes: [Lane], _ threads: Int, _ progress: Progress?) throws(FirnError) -> Int {
        let queue = BlockQueue<LaneJob, BlockResult>(threads: threads) { (job: LaneJob) throws(FirnError) in
            let lane = job.lane
            let tape = lane.parser.parseLines(lane.count)
            var result = BlockResult(lane: lane, rows: tape.rowCount, lines: tape.lineCount)
            if let fault = tape.fault {
                let place = lane.parser.place(fault.offset)
                result.fault = (fault.message, place.line, place.column)
                return result
            }
            let tree = lane.tree!
            tree.observe(tape, 0..<tape.itemCount, block: lane.block)
            if let item = tree.fault {
                let place = lane.parser.place(ofText: tape.items[item])
                result.fault = (JSONReader.unfitNumber, place.line, place.column)
            }
            return result
        }
        var idle = lanes, rows = 0, lines = 0, isAtEnd = false
        while true {
            while !isAtEnd, let lane = idle.popLast() {
                if try blocks.fill(lane.parser, { lane.count = $0; lane.block = $1 }) { queue.submit(.init(lane: lane)) } else {
                    isAtEnd = true
                    idle.append(lane)
                }
            }
            guard let result = try queue.next() else { return rows }
            if let fault = result.fault { throw blocks.error(fault.message, line: lines + fault.line, column: fault.column) }
            rows += result.rows
            lines += result.lines
            progress?.add(bytes: result.lane.count)
            idle.append(result.lane)
        }
    }

    private static func build(_ lane: Lane) -> BlockResult {
        let rows = lane.rows!
        if lane.parser.keyCount > 1 << 18 {   // keys that are data: do not gather them for ever
            lane.parser.forgetKeys()
            rows.forgetKeys()
        }
        let tape = lane.parser.parseLines(lane.count)
        var result = BlockResult(lane: lane, rows: tape.rowCount, lines: tape.lineCount)
        if tape.fault != nil {
            result.fault = (JSONReader.changed, 0, 0)
            return result
        }
        var item = 0, row = 0
        while item < tape.itemCount {
            rows.append(tape.items, item)
            if let fault = rows.fault {
                let place = fault == .tooDeep ? tape.deepPlace : (line: lane.parser.line(ofRow: row), column: 0)
                result.fault = (fault == .tooDeep ? JSONReader.tooDeep : JSONReader.changed, place.line, place.column)
                return result
            }
            item += tape.items[item].step
            row += 1
        }
        result.batch = rows.take()
        return result
    }

    func next() throws(FirnError) -> Batch? {
        while let lane = idle.popLast() {
            if try blocks.fill(lane.parser, { lane.count = $0; lane.block = $1 }) { queue.submit(.init(lane: lane)) } else {
                idle.append(lane)
                break
            }
        }
        guard let result = try queue.next() else { return nil }
        if let fault = result.fault { throw blocks.error(fault.message, line: linesBefore + fault.line, column: fault.column) }
        linesBefore += result.lines
        progress?.add(rows: result.rows)
        progress?.add(bytes: result.lane.count)
        idle.append(result.lane)
        return result.batch
    }
}

extension JSONReader {
    static let unfitNumber = "a number with more than 34 digits, or too large or small for a decimal128"
    static let changed = "the input changed while it was read"
    static let tooDeep = "a value of no single type nests deeper than \(Value.deepest - 1) levels"
}

/// Key numbers shared by several parsers.
final class KeyNumbers {
    private(set) var keys: [[UInt8]] = []
    private var numbers: [[UInt8]: UInt32] = [:]

    func number(of key: UnsafeRawBufferPointer) -> UInt32 {
        let bytes = Array(key)
        if let number = numbers[bytes] { return number }
        let number = UInt32(keys.count)
        keys.append(bytes)
        numbers[bytes] = number
        return number
    }
}

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
        FirnError(.rejected, message, at: .init(file: input.name, line: line + 1, column: column + 1))
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
