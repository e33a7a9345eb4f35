import FirnBytes
import FirnExchange
import FirnTable

/// A parser with the trees and rows that it fills. Several lanes are used at a time, each by one thread.
private final class Lane: @unchecked Sendable {
    let parser: JSONParser
    var tree: ShapeTree?
    /// If rows can be rejected: the shapes of rows that are not objects, in case no row is an object.
    var bareTree: ShapeTree?
    /// Nil if all rows are accepted.
    var screen: RowScreen?
    var rows: RowBuilder?
    /// The number of bytes of text in the parser's buffer, and the number of the block.
    var count = 0
    var block = 0

    init(_ input: Input) { parser = JSONParser(input) }
}

/// The result of one block.
private struct BlockResult: @unchecked Sendable {
    var lane: Lane
    var rows = 0
    var lines = 0
    /// The only batch; nil if the lane has several, which are then taken one by one.
    var batch: Batch?
    /// Rejected lines, in order.
    var refused: [RefusedLine] = []
    var fault: (message: String, line: Int, column: Int)?
}

/// NDJSON: blocks of whole lines, parsed by several threads.
final class JSONLines: JSONRows {
    let rowType: TypeSchema
    let embedded: [TypeSchema]
    let remarks: [String]
    let guesses: [String]
    let losses: [String]
    let rowCount: Int

    private let blocks: LineBlocks
    private var idle: [Lane] = []
    private let queue: BlockQueue<LaneJob, BlockResult>
    private var linesBefore = 0
    /// The lane whose rows are being returned, batch by batch.
    private var unloading: Lane?
    private let rejects: Rejects?
    private let progress: Progress?

    fileprivate struct LaneJob: Sendable { var lane: Lane }

    /// `found`: what the content shows about its layout; nil if it was not examined.
    init(_ input: Input, _ options: JSONOptions, _ given: GivenRows?, _ progress: Progress?, found: LayoutFinder.Finding? = nil)
        throws(FirnError)
    {
        if options.rows != nil {
            throw FirnError(
                .usage, "--rows names rows in one document, and the input contains several values", at: .init(file: input.name),
                advice: "omit it: each value is a row")
        }
        self.progress = progress
        rejects = options.rejects
        blocks = LineBlocks(TextSource(input, cutsValues: options.layout == .values), blockSize: options.blockSize)
        if input.compression == .none, let size = input.totalBytes { progress?.setTotal(bytes: 2 * Int(clamping: size)) }
        let isBare = options.column == nil ? try JSONLines.isBare(input, given) : true
        var lanes = (0..<(options.threads + 2)).map { _ in Lane(input) }
        for lane in lanes {
            lane.tree = ShapeTree(lane.parser, options, input.budget)
            lane.screen = RowScreen.needed(lane.parser, given, isBare: isBare, options)
            if lane.screen != nil, given == nil { lane.bareTree = ShapeTree(lane.parser, options, input.budget) }
        }
        let firstLines = try JSONLines.observe(blocks, lanes, options.threads, progress)

        // Merges the trees of all lanes into one, which has key numbers of its own.
        let keys = KeyNumbers()
        let root = ShapeTree(lanes[0].parser, options, input.budget)
        var total = 0
        func merge(_ tree: ShapeTree?, _ lane: Lane) {
            guard let tree else { return }
            ShapeTree.merge(tree.root, into: root.root) { keys.number(of: lane.parser.key($0)) }
            total += tree.rowCount
        }
        for lane in lanes { merge(lane.tree, lane) }
        // If there are objects, other values are not rows; without objects they are.
        let takesObjectsOnly = total > 0 && options.column == nil
        for lane in lanes {
            if let screen = lane.screen, given == nil { screen.takesObjectsOnly = takesObjectsOnly }
            if !takesObjectsOnly { merge(lane.bareTree, lane) }
            (lane.tree, lane.bareTree) = (nil, nil)
        }
        rowCount = total
        let plan = try RowPlan(
            root.root, options: options, given: given.map { ($0, isBare) }, line: { firstLines[$0.position.block] + $0.position.at + 1 },
            keys: { keys.keys[Int($0)] })
        rowType = plan.type(options, envelope: JSONLines.envelope(found, isBare: plan.isBare)?.text)
        embedded = plan.embedded
        guesses = plan.omissions
        remarks = plan.remarks + RowScreen.respellings(lanes.compactMap(\.screen))
        losses = plan.losses

        for lane in lanes {
            lane.rows = try RowBuilder(lane.parser, fields: plan.fields, isBare: plan.isBare, options, input)
            lane.screen?.fit?.rowLimit = Int64(rowCount)
            if lane.screen?.isDone ?? false { lane.screen = nil }
        }
        idle = lanes
        lanes = []
        queue = BlockQueue(threads: options.threads) { (job: LaneJob) throws(FirnError) in try JSONLines.build(job.lane) }
        try blocks.rewind()
    }

    private static func envelope(_ found: LayoutFinder.Finding?, isBare: Bool) -> Envelope? {
        guard let found, found.isSequence else { return isBare ? Envelope(.values) : nil }
        var envelope = Envelope(.sequence, isPretty: found.isPretty)
        envelope.isBare = isBare
        envelope.hasSeparators = found.hasSeparators
        return envelope
    }

    /// Whether the lines contain values other than objects, if the given type allows both: the first line decides.
    private static func isBare(_ input: Input, _ given: GivenRows?) throws(FirnError) -> Bool {
        guard let given, given.mayBeBare else { return false }
        let start = try input.peek(4096), text = start.starts(with: [0xEF, 0xBB, 0xBF]) ? start[3...] : start[...]
        return text.first { $0 > 32 }.map { $0 != UInt8(ascii: "{") } ?? false
    }

    /// The first reading: fills the trees of the lanes. Returns the number of lines before each block.
    private static func observe(_ blocks: LineBlocks, _ lanes: [Lane], _ threads: Int, _ progress: Progress?) throws(FirnError) -> [Int] {
        let queue = BlockQueue<LaneJob, BlockResult>(threads: threads) { (job: LaneJob) throws(FirnError) in observe(job.lane) }
        var idle = lanes, lines = 0, firstLines: [Int] = [], isAtEnd = false
        while true {
            while !isAtEnd, let lane = idle.popLast() {
                if try blocks.fill(
                    lane.parser,
                    {
                        lane.count = $0; lane.block = $1
                    })
                {
                    queue.submit(.init(lane: lane))
                } else {
                    isAtEnd = true
                    idle.append(lane)
                }
            }
            guard let result = try queue.next() else { return firstLines }
            firstLines.append(lines)
            if let fault = result.fault { throw blocks.error(fault.message, line: lines + fault.line, column: fault.column) }
            lines += result.lines
            progress?.add(bytes: result.lane.count)
            idle.append(result.lane)
        }
    }

    private static func observe(_ lane: Lane) -> BlockResult {
        let tape = lane.parser.parseLines(lane.count, setsAside: lane.screen?.setsAside ?? false)
        var result = BlockResult(lane: lane, lines: tape.lineCount)
        if let fault = tape.fault {
            let location = lane.parser.location(fault.offset)
            result.fault = (fault.message, location.line, location.column)
            return result
        }
        let tree = lane.tree!
        guard let screen = lane.screen else {
            tree.observe(tape, 0..<tape.itemCount, block: lane.block)
            if let fault = tree.fault {
                let location = fault.location(tape, row: { lane.parser.line(ofRow: tree.faultRow ?? 0) })
                result.fault = (fault.message, location.line, location.column)
            }
            return result
        }
        var item = 0, row = 0
        while item < tape.itemCount {
            let end = item + tape.items[item].step
            if let misfit = screen.misfit(tape, item) {
                if !screen.setsAside {
                    let line = refusal(misfit, lane.parser, row: row, item: item)
                    result.fault = (line.message, line.line, line.column)
                    return result
                }
            } else {
                let into = tape.items[item].tag == TapeTag.object ? tree : lane.bareTree ?? tree
                into.observe(tape, item..<end, block: lane.block, row: row)
                if let fault = into.fault {
                    let location = fault.location(tape, row: { lane.parser.line(ofRow: row) })
                    result.fault = (fault.message, location.line, location.column)
                    return result
                }
            }
            item = end
            row += 1
        }
        return result
    }

    /// Returns a rejected row of the lines that were parsed last.
    private static func refusal(_ misfit: Fit.Misfit, _ parser: JSONParser, row: Int, item: Int) -> RefusedLine {
        let text = parser.text(ofRow: row)
        var cursor = TextCursor(text, first: item)
        return RefusedLine(line: parser.line(ofRow: row), column: cursor.find(misfit.item), message: misfit.message, text: Array(text))
    }

    private static func build(_ lane: Lane) throws(FirnError) -> BlockResult {
        let rows = lane.rows!
        if lane.parser.keyCount > 1 << 18 {  // if keys are data, do not collect them without limit
            lane.parser.forgetKeys()
            rows.forgetKeys()
            lane.screen?.fit?.forgetKeys()
        }
        let screen = lane.screen, setsAside = screen?.setsAside ?? false
        let tape = lane.parser.parseLines(lane.count, setsAside: setsAside)
        var result = BlockResult(lane: lane, rows: tape.rowCount, lines: tape.lineCount)
        if setsAside { result.refused = lane.parser.refusedLines }
        if tape.fault != nil {
            result.fault = (tape.fault!.message == JSONReader.beyondMemory ? JSONReader.beyondMemory : JSONReader.changed, 0, 0)
            return result
        }
        var item = 0, row = 0
        while item < tape.itemCount {
            if let screen, let misfit = screen.misfit(tape, item) {
                let line = refusal(misfit, lane.parser, row: row, item: item)
                guard setsAside else {
                    result.fault = (line.message, line.line, line.column)
                    return result
                }
                result.refused.append(line)
                result.rows -= 1
                item += tape.items[item].step
                row += 1
                continue
            }
            rows.append(tape.items, item)
            if let fault = rows.fault {
                let location = fault == .tooDeep ? tape.deepLocation : (line: lane.parser.line(ofRow: row), column: 0)
                result.fault = (fault == .tooDeep ? JSONReader.tooDeep : JSONReader.changed, location.line, location.column)
                return result
            }
            item += tape.items[item].step
            row += 1
        }
        if rows.batchCount == 1 {
            result.batch = try rows.take()
            _ = try rows.take()
        }
        result.refused.sort { $0.line < $1.line }
        return result
    }

    func next() throws(FirnError) -> Batch? {
        while true {
            if let lane = unloading {
                if let batch = try lane.rows!.take() { return batch }
                unloading = nil
                idle.append(lane)
            }
            guard let result = try nextBlock() else { return nil }
            if let batch = result.batch {
                idle.append(result.lane)
                return batch
            }
            unloading = result.lane
        }
    }

    private func nextBlock() throws(FirnError) -> BlockResult? {
        while let lane = idle.popLast() {
            if try blocks.fill(
                lane.parser,
                {
                    lane.count = $0; lane.block = $1
                })
            {
                queue.submit(.init(lane: lane))
            } else {
                idle.append(lane)
                break
            }
        }
        guard let result = try queue.next() else { return nil }
        if let fault = result.fault { throw blocks.error(fault.message, line: linesBefore + fault.line, column: fault.column) }
        for line in result.refused {
            try rejects?.add(line.text + [10], because: blocks.error(line.message, line: linesBefore + line.line, column: line.column))
        }
        linesBefore += result.lines
        progress?.add(rows: result.rows)
        progress?.add(bytes: result.lane.count)
        return result
    }
}

extension JSONReader {
    static let advice = "correct the row, or set bad rows aside with --rejects FILE"
    static let unfitNumber = "a number with more than 34 digits, or too large or small for a decimal128"
    static let beyondMemory = "the values here need more memory than the limit allows"
    /// The beginnings of the messages for a document that other values follow.
    static let follows = ["something follows", "expected the end"]
    static let changed = "the input changed while it was read"
    static let tooDeep = "a value of type any nests deeper than \(Value.maximumDepth - 1) levels"
}

/// Key numbers that several parsers share.
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
