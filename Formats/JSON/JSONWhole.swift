import CSimdJSON
import FirnBytes
import FirnExchange
import FirnTable

/// One document, parsed whole; its rows are siblings in the tape.
final class JSONWhole: JSONRows {
    let rowType: TypeSchema
    let embedded: [TypeSchema]
    private(set) var remarks: [String]
    let guesses: [String]
    let losses: [String]
    let rowCount: Int

    private let parser: JSONParser
    private let tape: Tape
    /// Nil after the last row.
    private var rows: RowBuilder?
    private let keyColumn: String?
    private var item: Int
    private var left: Int
    /// Nil if all remaining rows are accepted.
    private let screen: RowScreen?
    private let rejects: Rejects?
    private var cursor: TextCursor
    private let input: Input
    private let progress: Progress?

    init(_ input: Input, _ options: JSONOptions, _ wanted: GivenRows?, _ progress: Progress?) throws(FirnError) {
        self.input = input
        self.progress = progress
        parser = JSONParser(input)
        rejects = options.rejects
        if input.compression == .none, let size = input.totalBytes { progress?.setTotal(bytes: Int(clamping: size)) }
        let source = TextSource(input), (count, isPretty) = try JSONWhole.load(source, parser)
        tape = try JSONWhole.parsed(parser, count, source)
        cursor = TextCursor(parser.text(count))
        var finder = RowsFinder(tape)
        let location = try JSONWhole.location(&finder, tape, of: wanted, at: options.rows, input)
        var envelope = Envelope(location.form, isPretty: isPretty)
        envelope.surroundings = JSONWhole.surroundings(location, tape, cursor, isPretty: isPretty)
        let (first, total) = finder.rows(location)
        (item, left) = (first, total)
        var given = wanted, givenKey: String?
        if envelope.form == .keyed, let name = wanted?.keyColumn, !JSONWhole.hasMember(tape, first, total, name) {
            given = wanted?.withoutFirstColumn()
            givenKey = name
        }
        let isBare = given?.mayBeBare == true && !JSONWhole.isAllObjects(tape, first, total)
        let screen = RowScreen.needed(parser, given, isBare: isBare, options)

        let tree = ShapeTree(parser, options, input.budget)
        tree.convertsEarly = given == nil
        try JSONWhole.observe(tape, first, total, tree, screen, hasGiven: given != nil, cursor, input, options)
        rowCount = tree.rowCount
        let start = cursor
        var plan = try RowPlan(
            tree.root, options: options, given: given.map { ($0, isBare) },
            line: {
                var cursor = start
                return cursor.location(cursor.find($0.position.at)).line + 1
            }, keys: { [parser] in Array(parser.key($0)) })
        if plan.isBare {
            if envelope.form == .rows { envelope.form = .values }
            if envelope.form == .one { envelope.form = .oneValue }
        }
        var fields = plan.fields
        keyColumn = envelope.form == .keyed ? givenKey ?? JSONWhole.keyName(besides: fields) : nil
        if let keyColumn {
            fields.insert(
                .init(
                    name: Array(keyColumn.utf8), column: keyColumn, plan: ColumnPlan(ColumnType(.string)), isOptional: false,
                    writesNull: false), at: 0)
        }
        rows = try RowBuilder(parser, fields: plan.fields, isBare: plan.isBare, options, input)
        plan.fields = fields
        var type = plan.type(options, envelope: envelope.text)
        if keyColumn != nil, options.given == nil { type.key = [0] }
        rowType = type
        embedded = plan.embedded
        let layout = JSONWhole.remarks(location, finder, isNamed: options.rows != nil)
        guesses = layout + plan.omissions
        remarks = layout + plan.remarks + RowScreen.respellings([screen].compactMap(\.self))
        losses = plan.losses
        screen?.fit?.rowLimit = Int64(rowCount)
        self.screen = screen?.isDone ?? true ? nil : screen
        progress?.add(bytes: count)
    }

    private static func parsed(_ parser: JSONParser, _ count: Int, _ source: TextSource) throws(FirnError) -> Tape {
        let tape = parser.parseDocument(count)
        if let fault = tape.fault {
            let location = parser.location(fault.offset)
            let isMemory = fault.message == JSONReader.beyondMemory
            throw FirnError(
                isMemory ? .outOfMemory : .rejected, count == 0 ? "the input is empty" : source.shown(fault.message),
                at: .init(file: source.input.name, line: location.line + 1, column: location.column + 1),
                advice: isMemory
                    ? FirnError.memoryAdvice
                    : JSONReader.follows.contains(where: fault.message.hasPrefix)
                        ? "if each line is a value by itself, read it as ndjson" : nil)
        }
        return tape
    }

    /// Returns where the rows are: at the pointer, or where the finder expects them. A document that is one row of the wanted type is that
    /// row.
    private static func location(
        _ finder: inout RowsFinder, _ tape: Tape, of wanted: GivenRows?, at pointer: String?, _ input: Input
    ) throws(FirnError) -> RowsFinder.Location {
        if let pointer { return try finder.location(at: pointer, input) }
        let location = finder.find()
        guard location.form == .keyed || location.path.count > 1, let wanted, JSONWhole.isRow(tape, of: wanted) else { return location }
        return RowsFinder.Location(form: .one)
    }

    /// Returns a name for the column of the keys that no other column has.
    private static func keyName(besides fields: [ColumnPlan.Field]) -> String {
        var name = "key", copy = 2
        while fields.contains(where: { $0.column == name }) {
            name = "key_\(copy)"
            copy += 1
        }
        return name
    }

    /// Observes the rows that fit. If no row is an object, other values are observed as rows; otherwise the screen rejects them from now
    /// on.
    private static func observe(
        _ tape: Tape, _ first: Int, _ total: Int, _ tree: ShapeTree, _ screen: RowScreen?, hasGiven: Bool, _ cursor: TextCursor,
        _ input: Input, _ options: JSONOptions
    ) throws(FirnError) {
        var others: [Range<Int>] = [], item = first
        for _ in 0..<total {
            let range = item..<(item + tape.items[item].step)
            item = range.upperBound
            if let screen {
                if let misfit = screen.misfit(tape, range.lowerBound) {
                    if screen.setsAside { continue }
                    var cursor = cursor
                    throw error(misfit, cursor.location(cursor.find(misfit.item)), input)
                }
                if !hasGiven, tape.items[range.lowerBound].tag != TapeTag.object {
                    others.append(range)
                    continue
                }
            }
            tree.observe(tape, range, block: 0)
        }
        if !others.isEmpty {
            if tree.rowCount > 0 { screen?.takesObjectsOnly = true } else { for range in others { tree.observe(tape, range, block: 0) } }
        }
        if let fault = tree.fault {
            let location = fault.location(tape, row: { 0 })
            let isMemory = fault.message == JSONReader.beyondMemory
            throw FirnError(
                isMemory ? .outOfMemory : .rejected, fault.message,
                at: .init(file: input.name, line: location.line + 1, column: location.column + 1),
                advice: isMemory ? FirnError.memoryAdvice : JSONReader.advice)
        }
    }

    /// Returns the error for a value that does not fit.
    private static func error(_ misfit: Fit.Misfit, _ location: (line: Int, column: Int), _ input: Input) -> FirnError {
        FirnError(
            .rejected, misfit.message, at: .init(file: input.name, line: location.line + 1, column: location.column + 1),
            advice: JSONReader.advice)
    }

    private static func isAllObjects(_ tape: Tape, _ first: Int, _ total: Int) -> Bool {
        var item = first
        for _ in 0..<total {
            if tape.items[item].tag != TapeTag.object { return false }
            item += tape.items[item].step
        }
        return true
    }

    /// Whether a document of objects is one row of a type: each of its members is a column of the type.
    private static func isRow(_ tape: Tape, of given: GivenRows) -> Bool {
        let names = Set(given.fields.map(\.name))
        var member = 1
        for _ in 0..<Int(tape.items[0].size) {
            if !names.contains(Array(tape.parser.key(tape.items[member].key))) { return false }
            member += tape.items[member].step
        }
        return true
    }

    /// Whether one of the rows, which are objects, has a member of this name.
    private static func hasMember(_ tape: Tape, _ first: Int, _ total: Int, _ name: String) -> Bool {
        let numbers = Set((0..<tape.parser.keyCount).map(UInt32.init).filter { tape.parser.key($0).elementsEqual(name.utf8) })
        var row = first
        for _ in 0..<total {
            var member = row + 1
            for _ in 0..<Int(tape.items[row].size) {
                if numbers.contains(tape.items[member].key) { return true }
                member += tape.items[member].step
            }
            row += tape.items[row].step
        }
        return false
    }

    /// Reads the whole input into the parser's buffer. Returns its size and whether it is indented.
    private static func load(_ source: TextSource, _ parser: JSONParser) throws(FirnError) -> (count: Int, isPretty: Bool) {
        let input = source.input
        var capacity = max(1 << 16, input.compression == .none ? Int(clamping: input.totalBytes ?? 0) + 1 : 0)
        var count = 0, nesting = Nesting()
        while true {
            let base = try parser.reserve(capacity, keeping: count)
            let got = try source.read(into: UnsafeMutableRawBufferPointer(start: base + count, count: capacity - count))
            // Deep nesting is found before memory for all of the text is allocated.
            try nesting.check(base, from: count, to: count + got, input, firstLine: { () throws(FirnError) in 0 })
            count += got
            if count < capacity {
                count = dropMark(base, count)
                let start = UnsafeRawBufferPointer(start: base, count: min(count, 64)).drop { $0 <= 32 }
                return (count, isIndented(start.dropFirst()))
            }
            if count >= 1 << 32 {
                throw FirnError(
                    .unsupported, "documents larger than 4 GB are not read", at: .init(file: input.name),
                    advice: "write it as NDJSON, one object per line")
            }
            capacity *= 2
        }
    }

    /// Whether the first bracket is followed by a new line and an indent.
    private static func isIndented(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        let line = text.drop { $0 == 13 }
        guard line.first == 10, let next = line.dropFirst().first else { return false }
        return next == UInt8(ascii: " ") || next == UInt8(ascii: "\t")
    }

    /// Returns the document around the rows; nil if they are the whole document.
    private static func surroundings(_ location: RowsFinder.Location, _ tape: Tape, _ cursor: TextCursor, isPretty: Bool) -> Envelope
        .Surroundings?
    {
        guard !location.path.isEmpty else { return nil }
        var cursor = cursor
        let start = cursor.find(location.item), end = start + cursor.value(start).count
        var text = Respacing(isPretty: isPretty)
        text.add(cursor.slice(0..<start))
        text.begin()
        let offset = text.out.count
        "null".utf8.withContiguousStorageIfAvailable { text.add(UnsafeRawBufferPointer($0)) }
        text.add(cursor.slice(end..<cursor.count))
        return Envelope.Surroundings(path: location.path.map { tape.parser.keyText(tape.items[$0].key) }, text: text.out, offset: offset)
    }

    /// Returns remarks about rows that are deep in the document, and about an array of objects that does not become rows.
    private static func remarks(_ location: RowsFinder.Location, _ finder: RowsFinder, isNamed: Bool) -> [String] {
        if isNamed { return [] }
        if location.path.count > 1 { return ["the rows are the array at \"\(finder.pointer(location.path))\"; --rows selects others"] }
        return location.hint.map { ["to read the array at \"\(finder.pointer($0))\" as rows, use --rows \(finder.pointer($0))"] } ?? []
    }

    func next() throws(FirnError) -> Batch? {
        guard left > 0, let rows else { return nil }
        var keys = Text(), count = 0
        while left > 0, !rows.isBatchFull {
            let row = item
            item += tape.items[row].step
            left -= 1
            if let screen, let misfit = screen.misfit(tape, row) {
                try refuse(row, misfit)
                continue
            }
            if keyColumn != nil { keys.append(parser.key(tape.items[row].key)) }
            rows.append(tape.items, row)
            count += 1
            if let fault = rows.fault {
                guard fault == .tooDeep else { throw FirnError(.rejected, JSONReader.changed, at: .init(file: input.name)) }
                let location = tape.deepLocation
                throw FirnError(
                    .rejected, JSONReader.tooDeep, at: .init(file: input.name, line: location.line + 1, column: location.column + 1))
            }
        }
        // The values are in the columns: the document is not needed any more.
        if left == 0 { parser.release() }
        guard var batch = try rows.take() else { return nil }
        _ = try rows.take()
        if left == 0 { self.rows = nil }
        if keyColumn != nil {
            var column = Column(ColumnType(.string))
            column.text = keys
            column.count = count
            batch.columns.insert(column, at: 0)
        }
        progress?.add(rows: count)
        return batch
    }

    /// Rejects a row with its text in the input. A member of an object is rejected with its key, as an object.
    private func refuse(_ row: Int, _ misfit: Fit.Misfit) throws(FirnError) {
        let start = cursor.find(row), key = cursor.key
        let value = cursor.value(start)
        var text = Array(value)
        if keyColumn != nil, let key {
            text = [UInt8(ascii: "{")] + Array(cursor.slice(key..<(start + value.count))) + [UInt8(ascii: "}")]
        }
        let offset = misfit.item == row ? start : cursor.find(misfit.item)
        let error = JSONWhole.error(misfit, cursor.location(offset), input)
        guard let rejects else { throw error }
        try rejects.add(text + [10], because: error)
    }
}
