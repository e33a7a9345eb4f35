import CSimdJSON
import FirnBytes
import FirnExchange
import FirnModel

/// One document, parsed whole; its rows are siblings in the tape.
final class JSONWhole: JSONRows {
    let rowType: TypeSchema
    let embedded: [TypeSchema]
    private(set) var remarks: [String]
    let losses: [String]
    let rowCount: Int

    private let parser = JSONParser()
    private let tape: Tape
    private let rows: RowBuilder
    private let keyColumn: String?
    private var item: Int
    private var left: Int
    private let input: Input
    private let progress: Progress?

    init(_ input: Input, _ options: JSONOptions, _ progress: Progress?) throws(FirnError) {
        self.input = input
        self.progress = progress
        if input.compression == .none, let size = input.totalBytes { progress?.setTotal(bytes: Int(clamping: size)) }
        let (count, isPretty) = try JSONWhole.load(input, parser)
        tape = parser.parseDocument(count)
        if let fault = tape.fault {
            let place = parser.place(fault.offset)
            throw FirnError(.rejected, count == 0 ? "the input is empty" : fault.message, at: .init(file: input.name, line: place.line + 1, column: place.column + 1),
                            advice: fault.message.hasPrefix("something follows") ? "if each line is a value by itself, read it as ndjson" : nil)
        }
        var envelope = JSONWhole.envelope(tape, isPretty)
        let (first, total) = JSONWhole.rows(tape, envelope)
        (item, left, rowCount) = (first, total, total)

        let tree = ShapeTree(parser, options)
        var end = first
        for _ in 0..<total { end += tape.items[end].step }
        tree.observe(tape, first..<end, block: 0)
        if let fault = tree.fault {
            let place = parser.place(ofText: tape.items[fault])
            throw FirnError(.rejected, JSONReader.unfitNumber, at: .init(file: input.name, line: place.line + 1, column: place.column + 1))
        }
        var plan = RowPlan(tree.root, options: options) { [parser] in Array(parser.key($0)) }
        if plan.isBare {
            if envelope.form == .rows { envelope.form = .values }
            if envelope.form == .one { envelope.form = .oneValue }
        }
        var fields = plan.fields
        if envelope.form == .keyed {
            var name = "key", copy = 2
            while fields.contains(where: { $0.column == name }) {
                name = "key_\(copy)"
                copy += 1
            }
            keyColumn = name
            fields.insert(.init(name: Array(name.utf8), column: name, plan: Plan(ColumnType(.string)), isOptional: false, writesNull: false), at: 0)
        } else {
            keyColumn = nil
        }
        rows = RowBuilder(parser, fields: plan.fields, isBare: plan.isBare)
        plan.fields = fields
        rowType = plan.type(options.typeName, envelope: envelope.text)
        embedded = plan.embedded
        remarks = plan.remarks
        losses = plan.losses
        progress?.add(bytes: count)
    }

    /// The whole input into the parser's buffer. Tells its size and whether it is indented.
    private static func load(_ input: Input, _ parser: JSONParser) throws(FirnError) -> (count: Int, isPretty: Bool) {
        var capacity = max(1 << 16, input.compression == .none ? Int(clamping: input.totalBytes ?? 0) + 1 : 0)
        var count = 0
        while true {
            let base = try parser.reserve(capacity, keeping: count)
            let got = try input.read(into: UnsafeMutableRawBufferPointer(start: base + count, count: capacity - count))
            count += got
            if count < capacity {
                count = try dropMark(base, count, input.name)
                let start = UnsafeRawBufferPointer(start: base, count: min(count, 64)).drop { $0 <= 32 }
                return (count, isIndented(start.dropFirst()))
            }
            if count >= 1 << 32 { throw FirnError(.unsupported, "documents larger than 4 GB are not read", at: .init(file: input.name), advice: "write it as NDJSON, one object a line") }
            capacity *= 2
        }
    }

    /// Whether what follows the first bracket is a new line and an indent.
    private static func isIndented(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        let line = text.drop { $0 == 13 }
        guard line.first == 10, let next = line.dropFirst().first else { return false }
        return next == UInt8(ascii: " ") || next == UInt8(ascii: "\t")
    }

    private static func envelope(_ tape: Tape, _ isPretty: Bool) -> Envelope {
        let items = tape.items, root = items[0]
        if root.tag == Tag.array { return Envelope(.rows, isPretty: isPretty) }
        guard root.tag == Tag.object else { return Envelope(.oneValue, isPretty: isPretty) }
        var seen: Set<UInt32> = [], item = 1, tables: [Int] = [], objects = 0
        for _ in 0..<root.size {
            if !seen.insert(items[item].key).inserted { return Envelope(.one, isPretty: isPretty) }
            if items[item].tag == Tag.object { objects += 1 }
            if isTable(items, item) { tables.append(item) }
            item += items[item].step
        }
        if tables.count == 1 {
            var envelope = Envelope(.member, isPretty: isPretty)
            envelope.member = tape.parser.keyText(items[tables[0]].key)
            var members: [(String, JSONDocument)] = []
            item = 1
            for _ in 0..<root.size {
                members.append((tape.parser.keyText(items[item].key), item == tables[0] ? .null : JSONDocument(tape, item)))
                item += items[item].step
            }
            envelope.document = .object(members)
            // What json-c could not read back stays whole: the document is one row.
            return envelope.document!.isPrintable ? envelope : Envelope(.one, isPretty: isPretty)
        }
        return Envelope(objects > 0 && objects == root.size ? .keyed : .one, isPretty: isPretty)
    }

    /// Whether an item is an array of objects, not empty.
    private static func isTable(_ items: UnsafePointer<firn_json_item>, _ index: Int) -> Bool {
        guard items[index].tag == Tag.array, items[index].size > 0 else { return false }
        var item = index + 1
        for _ in 0..<items[index].size {
            guard items[item].tag == Tag.object else { return false }
            item += items[item].step
        }
        return true
    }

    /// The first row's item and how many rows there are.
    private static func rows(_ tape: Tape, _ envelope: Envelope) -> (first: Int, count: Int) {
        let items = tape.items
        switch envelope.form {
        case .rows, .values, .keyed: return (1, Int(items[0].size))
        case .one, .oneValue: return (0, 1)
        case .member:
            var item = 1
            while !isTable(items, item) { item += items[item].step }
            return (item + 1, Int(items[item].size))
        }
    }

    func next() throws(FirnError) -> Batch? {
        guard left > 0 else { return nil }
        let count = min(left, JSONReader.batchSize)
        var keys = Text()
        for _ in 0..<count {
            if keyColumn != nil { keys.append(parser.key(tape.items[item].key)) }
            rows.append(tape.items, item)
            if let fault = rows.fault {
                guard fault == .tooDeep else { throw FirnError(.rejected, JSONReader.changed, at: .init(file: input.name)) }
                let place = tape.deepPlace
                throw FirnError(.rejected, JSONReader.tooDeep, at: .init(file: input.name, line: place.line + 1, column: place.column + 1))
            }
            item += tape.items[item].step
        }
        left -= count
        var batch = rows.take()
        if keyColumn != nil {
            var column = Column(ColumnType(.string))
            column.text = keys
            column.count = count
            batch.columns.insert(column, at: 0)
        }
        progress?.add(rows: count)
        return batch
    }
}
