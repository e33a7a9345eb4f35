import CSimdJSON
import FirnBytes
import FirnExchange
import FirnTable

/// Moves values from tapes into the builders of one row type.
final class RowBuilder: @unchecked Sendable {
    /// Why a value was not accepted.
    enum Fault {
        /// The value differs from what the first reading found.
        case changed
        case tooDeep
    }

    private let parser: JSONParser
    private let values: TapeValues
    private let fields: [ColumnPlan.Field]
    /// The row as an embedded object; if rows are bare values, their only field.
    private let row: ColumnBuilder.Node
    private let isBare: Bool
    private(set) var fault: Fault?
    /// The original texts within the value that is being appended to the column `kept`.
    private var parts = OriginalParts.Writer()
    private var kept: ColumnBuilder.Node?

    /// The charge for the columns and for the batch that was returned last.
    private let charge: MemoryCharge
    private let columnBytes: Int
    private let name: String

    init(_ parser: JSONParser, fields: [ColumnPlan.Field], isBare: Bool, _ options: JSONOptions, _ input: Input) throws(FirnError) {
        batchCells = options.batchCells
        let count = fields.reduce(0) { $0 + $1.plan.nodeCount }
        charge = MemoryCharge(input.budget)
        columnBytes = count * RowBuilder.columnSize
        name = input.name
        guard charge.take(columnBytes) else {
            throw FirnError.beyondMemory("\(count) columns", columnBytes, input.budget, at: .init(file: name))
        }
        self.parser = parser
        values = TapeValues(parser)
        self.fields = fields
        self.isBare = isBare
        row = isBare ? ColumnBuilder.make(fields[0].plan) : ColumnBuilder.make(ColumnPlan(ColumnType(.embedded), fields: fields))
        if isBare, fields.count > 1 { row.pointee.companion = ColumnBuilder.make(fields[1].plan) }
    }

    deinit {
        if isBare, let companion = row.pointee.companion { ColumnBuilder.free(companion) }
        ColumnBuilder.free(row)
    }

    func forgetKeys() { ColumnBuilder.forgetKeys(row) }

    /// Appends one value as a row.
    func append(_ items: UnsafePointer<firn_json_item>, _ index: Int) {
        if items[index].tag == TapeTag.null {
            appendNull(row)
        } else if isBare, let companion = row.pointee.companion {
            append(items, index, row, companion: companion, row: row.pointee.count)
        } else {
            append(items, index, row)
        }
        rows &+= 1
        if rows >= JSONReader.batchSize || rows &* (columns &+ 1) > batchCells { endBatch() }
    }

    /// The memory for a column, with an empty column of a batch, in bytes.
    private static let columnSize = 768

    /// See `JSONOptions.batchCells`.
    private let batchCells: Int

    private func endBatch() {
        ends.append(rows)
        rows = 0
        columns = 0
        batch &+= 1
    }

    /// The number of rows of each batch that is complete and not taken.
    private var ends: [Int] = []
    /// The number of rows in the current batch, the number of columns that have a value in it, and the number of the batch.
    private var rows = 0, columns = 0, batch = 1
    private var taken = 0

    /// Whether a batch is complete.
    var isBatchFull: Bool { !ends.isEmpty }
    /// The number of batches that can be taken.
    var batchCount: Int { ends.count + (rows > 0 ? 1 : 0) }

    /// Returns the next batch of the appended rows. Returns nil if there are no more; then rows of another text can be appended.
    func take() throws(FirnError) -> Batch? {
        if taken == ends.count, rows > 0 { endBatch() }
        guard taken < ends.count else {
            ColumnBuilder.reset(row)
            if isBare, let companion = row.pointee.companion { ColumnBuilder.reset(companion) }
            ends = []
            taken = 0
            try? charge.set(columnBytes, for: name)
            return nil
        }
        let count = ends[taken]
        let slots = isBare ? ColumnBuilder.slots(count, row) : row.pointee.children.reduce(0) { $0 + ColumnBuilder.slots(count, $1) }
        try? charge.set(columnBytes, for: name)
        guard charge.take(slots * 16) else {
            throw FirnError.beyondMemory("a batch of \(count) rows", slots * 16, charge.budget, at: .init(file: name))
        }
        taken += 1
        var columns = fields.map { $0.plan.column(optional: $0.isOptional) }, vacant = VacantColumns()
        if isBare {
            ColumnBuilder.take(count, from: row, into: &columns[0], &vacant)
            if let companion = row.pointee.companion { ColumnBuilder.take(count, from: companion, into: &columns[1], &vacant) }
        } else {
            for index in columns.indices { ColumnBuilder.take(count, from: row.pointee.children[index], into: &columns[index], &vacant) }
        }
        return Batch(count: count, columns: columns)
    }

    // MARK: One value

    private func appendNull(_ node: ColumnBuilder.Node) { node.pointee.addGap(1) }

    private func append(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: ColumnBuilder.Node) {
        let item = items[index], tag = item.tag
        switch node.pointee.collection {
        case .none: break
        case .map: return tag == TapeTag.object ? appendMap(items, index, node) : fail(node)
        default: return tag == TapeTag.array ? appendList(items, index, node) : fail(node)
        }
        if node.pointee.keepsTexts, appendPart(item, at: index, node) { return }
        if node.pointee.isJSON { return appendJSON(items, index, node) }
        switch node.pointee.kind {
        case .string:
            guard tag == TapeTag.string else { return fail(node) }
            appendText(item.bytes, node)
        case .int:
            guard let value = TapeScalar.int(item) else { return fail(node) }
            node.pointee.words.append(value)
        case .double:
            if tag == TapeTag.double {
                node.pointee.reals.append(item.double)
            } else {
                guard let value = tag == TapeTag.int ? Double(item.integer) : TapeScalar.double(item) else { return fail(node) }
                node.pointee.reals.append(value)
            }
        case .bool:
            guard tag == TapeTag.yes || tag == TapeTag.no else { return fail(node) }
            node.pointee.words.append(tag == TapeTag.yes ? 1 : 0)
        case .embedded:
            if node.pointee.isBare { return appendBare(items, index, node) }
            guard tag == TapeTag.object else { return fail(node) }
            return appendObject(items, index, node)
        case .any: return appendAny(items, index, node)
        case .date:
            guard tag == TapeTag.string, let date = DateText.parse(item.bytes) else { return fail(node) }
            node.pointee.words.append(date.seconds)
            node.pointee.extra.append(date.nanoseconds)
        case .uuid:
            guard let uuid = TapeScalar.uuid(item) else { return fail(node) }
            appendPair(Column.pair(uuid: uuid), node)
        case .decimal:
            guard let decimal = TapeScalar.decimal(item) else { return fail(node) }
            appendPair(Column.pair(decimal), node)
        case .objectID:
            guard let id = TapeScalar.objectID(item) else { return fail(node) }
            appendPair(Column.pair(objectID: id), node)
        case .float:
            guard let float = TapeScalar.float(item) else { return fail(node) }
            node.pointee.reals.append(Double(float))
        case .link:
            guard let row = TapeScalar.int(item) else { return fail(node) }
            node.pointee.words.append(row)
        case .data:
            guard let bytes = TapeScalar.data(item) else { return fail(node) }
            bytes.withBytes { appendText($0, node) }
        }
        node.pointee.advance()
    }

    /// Appends any value as its JSON text.
    private func appendJSON(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: ColumnBuilder.Node) {
        var text = JSONBytes()
        text.append(items, index, keysOf: parser)
        appendText(text.bytes, node)
        node.pointee.advance()
    }

    private func fail(_ node: ColumnBuilder.Node) {
        fault = .changed
        appendNull(node)
    }

    @inline(__always)
    private func appendPair(_ pair: (Int64, Int64), _ node: ColumnBuilder.Node) {
        node.pointee.words.append(pair.0)
        node.pointee.extra.append(pair.1)
    }

    @inline(__always)
    private func appendText(_ bytes: UnsafeRawBufferPointer, _ node: ColumnBuilder.Node) {
        if let base = bytes.baseAddress { node.pointee.bytes.append(base.assumingMemoryBound(to: UInt8.self), bytes.count) }
        node.pointee.offsets.append(node.pointee.bytes.count)
    }

    private func appendList(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: ColumnBuilder.Node) {
        let element = node.pointee.children[0]
        if node.pointee.collection == .set {
            for (item, _) in values.sortedElements(items, index, element.pointee.kind) {
                if items[item].tag == TapeTag.null { appendNull(element) } else { append(items, item, element) }
            }
            node.pointee.offsets.append(element.pointee.count)
            node.pointee.advance()
            return
        }
        var item = index &+ 1
        for _ in 0..<Int(items[index].size) {
            if items[item].tag == TapeTag.null { appendNull(element) } else { append(items, item, element) }
            item &+= items[item].step
        }
        node.pointee.offsets.append(element.pointee.count)
        node.pointee.advance()
    }

    private func appendMap(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: ColumnBuilder.Node) {
        let keys = node.pointee.children[0], elements = node.pointee.children[1]
        for item in values.sortedMembers(items, index) {
            appendText(parser.key(items[item].key), keys)
            keys.pointee.advance()
            if items[item].tag == TapeTag.null { appendNull(elements) } else { append(items, item, elements) }
        }
        node.pointee.offsets.append(elements.pointee.count)
        node.pointee.advance()
    }

    /// Appends an object whose only field is the value itself.
    private func appendBare(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: ColumnBuilder.Node) {
        let child = node.pointee.children[0]
        child.pointee.skip(to: node.pointee.count)
        node.pointee.advance()
        append(items, index, child)
    }

    private func appendObject(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: ColumnBuilder.Node) {
        let fieldCount = node.pointee.children.count, members = Int(items[index].size)
        var item = index &+ 1, guess = 0
        // First finds the position of each field's value (the last one of a repeated key), then appends the fields in order.
        for _ in 0..<members {
            let key = items[item].key
            if guess >= fieldCount || node.pointee.keys[guess] != key { guess = field(key, node) }
            if guess >= 0 {
                node.pointee.slots[guess] = item
                guess &+= 1
            } else {
                fault = .changed
                guess = 0
            }
            item &+= items[item].step
        }
        let row = node.pointee.count
        node.pointee.advance()
        if members &* 2 >= fieldCount {
            for position in 0..<fieldCount { appendField(items, node, position, row) }
        } else {
            // If few of the fields have a value, only these are visited.
            item = index &+ 1
            guess = 0
            for _ in 0..<members {
                let key = items[item].key
                if guess >= fieldCount || node.pointee.keys[guess] != key { guess = field(key, node) }
                if guess >= 0 { appendField(items, node, guess, row) }
                guess = max(guess &+ 1, 0)
                item &+= items[item].step
            }
        }
    }

    /// Appends the value of a field, if it has one. Fields without one are not touched: they count fewer rows.
    @inline(__always)
    private func appendField(_ items: UnsafePointer<firn_json_item>, _ node: ColumnBuilder.Node, _ position: Int, _ row: Int) {
        let at = node.pointee.slots[position]
        guard at >= 0 else { return }
        node.pointee.slots[position] = -1
        let child = node.pointee.children[position]
        guard items[at].tag != TapeTag.null || child.pointee.keepsNull else { return }
        child.pointee.skip(to: row)
        if child.pointee.batch != batch {
            child.pointee.batch = batch
            columns &+= 1
        }
        if let companion = child.pointee.companion { return append(items, at, child, companion: companion, row: row) }
        append(items, at, child)
    }

    /// Appends the value of a column that keeps original texts, of its values or within them.
    private func append(
        _ items: UnsafePointer<firn_json_item>, _ at: Int, _ node: ColumnBuilder.Node, companion: ColumnBuilder.Node, row: Int
    ) {
        if node.pointee.keepsTexts {
            if let token = appendNumber(items[at], at: at, node) { keep(token, companion, row) } else { append(items, at, node) }
            return
        }
        kept = node
        append(items, at, node)
        kept = nil
        if !parts.isEmpty { keep(parts.take(), companion, row) }
    }

    /// Appends a part of a value, if it needs its original text, and keeps that. Returns false if nothing was appended.
    private func appendPart(_ item: firn_json_item, at index: Int, _ node: ColumnBuilder.Node) -> Bool {
        guard let token = appendNumber(item, at: index, node) else { return false }
        if let kept { parts.add(ColumnBuilder.path(from: kept, to: node), token: token) }
        return true
    }

    /// Appends a value that a column of numbers writes as another text, and returns its token. Appends nothing and returns nil if the column
    /// writes the same text.
    private func appendNumber(_ item: firn_json_item, at: Int, _ node: ColumnBuilder.Node) -> [UInt8]? {
        let isDouble = node.pointee.kind == .double
        switch item.tag {
        case TapeTag.string:
            append(number: item.bytes, node)
            return OriginalToken.token(ofString: item.bytes)
        case TapeTag.no, TapeTag.yes:
            appendNull(node)
            return Array((item.tag == TapeTag.yes ? "true" : "false").utf8)
        case TapeTag.double where node.pointee.kind == .int:
            let text = parser.spelling(ofItem: at)
            append(number: text, node)
            return Array(text)
        case TapeTag.double where isDouble && item.isUnusual:
            let text = parser.spelling(ofItem: at)
            if OddValues.isWritten(item.double, node.pointee.notation, as: text) { return nil }
            node.pointee.reals.append(item.double)
            node.pointee.advance()
            return Array(text)
        case TapeTag.double where isDouble && item.endsInPointZero && !node.pointee.notation.writesPointZero:
            var text = JSONBytes()
            text.append(item.double, .pointZero)
            node.pointee.reals.append(item.double)
            node.pointee.advance()
            return Array(text.bytes)
        case TapeTag.numberText where isDouble:
            append(number: item.bytes, node)
            return Array(item.bytes)
        default: return nil
        }
    }

    /// Appends the number that a text denotes, or null if it denotes none.
    private func append(number text: UnsafeRawBufferPointer, _ node: ColumnBuilder.Node) {
        switch node.pointee.kind {
        case .int:
            guard let value = OriginalText.int(text) else { return appendNull(node) }
            node.pointee.words.append(value)
        case .double:
            guard let value = OriginalText.double(text) else { return appendNull(node) }
            node.pointee.reals.append(value)
        default:
            guard let value = OriginalText.decimal(text) else { return appendNull(node) }
            appendPair(Column.pair(value), node)
        }
        node.pointee.advance()
    }

    private func keep(_ text: [UInt8], _ companion: ColumnBuilder.Node, _ row: Int) {
        companion.pointee.skip(to: row)
        if companion.pointee.batch != batch {
            companion.pointee.batch = batch
            columns &+= 1
        }
        text.withBytes { appendText($0, companion) }
        companion.pointee.advance()
    }

    @inline(never)
    private func field(_ key: UInt32, _ node: ColumnBuilder.Node) -> Int {
        if let position = node.pointee.lookup[key] { return position }
        guard let position = node.pointee.fieldsByName[Array(parser.key(key))] else { return -1 }
        node.pointee.lookup[key] = position
        node.pointee.keys[position] = key
        return position
    }

    // MARK: Values of any kind

    private func pushAny(_ node: ColumnBuilder.Node, _ tag: UInt8, word: Int64 = 0, extra: Int64 = 0, real: Double = 0) {
        node.pointee.tags.append(tag)
        node.pointee.words.append(word)
        node.pointee.extra.append(extra)
        node.pointee.reals.append(real)
        node.pointee.offsets.append(node.pointee.bytes.count)
    }

    private func appendAny(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: ColumnBuilder.Node) {
        let item = items[index]
        node.pointee.advance()
        switch item.tag {
        case TapeTag.no, TapeTag.yes: pushAny(node, ScalarKind.bool.rawValue, word: item.tag == TapeTag.yes ? 1 : 0)
        case TapeTag.int: pushAny(node, ScalarKind.int.rawValue, word: item.integer)
        case TapeTag.double: pushAny(node, ScalarKind.double.rawValue, real: item.double)
        case TapeTag.numberText:
            let pair = Column.pair(TapeScalar.decimal(item) ?? Decimal(Int64(0)))
            pushAny(node, ScalarKind.decimal.rawValue, word: pair.0, extra: pair.1)
        case TapeTag.string:
            if let base = item.bytes.baseAddress { node.pointee.bytes.append(base.assumingMemoryBound(to: UInt8.self), item.bytes.count) }
            pushAny(node, ScalarKind.string.rawValue)
        case TapeTag.array, TapeTag.object:
            let value = values.value(items, index)
            if value == nil { fault = .tooDeep }
            var writer = ByteWriter()
            (value ?? .null).encode(into: &writer)
            writer.bytes.withUnsafeBufferPointer { node.pointee.bytes.append($0.baseAddress!, $0.count) }
            pushAny(node, item.tag == TapeTag.array ? AnyTag.list : AnyTag.map)
        default: pushAny(node, AnyTag.null)
        }
    }
}
