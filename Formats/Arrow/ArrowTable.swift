import FirnBytes
import FirnExchange
import FirnTable
import Synchronization

/// The rows of a file as a table. Its segments are parts of batches. Columns of single values without a dictionary are read vector by
/// vector, directly from the buffers of the file; other columns of a segment are decoded when they are first read.
final class ArrowTable: Table, AccountingTable, @unchecked Sendable {
    private let source: ArrowParts
    private let parts: [BatchParts]
    /// The segments that were used last.
    private let held: Mutex<[(index: Int, segment: ArrowSegment)]> = Mutex([])
    private let maximumHeld: Int

    /// The segments of a batch: all but the last have `size` rows.
    private struct BatchParts {
        var batch: Int
        var firstSegment: Int
        var rows: Range<Int>
        var size: Int
    }

    let segmentCount: Int

    init(_ content: ArrowContent, _ options: ArrowOptions) {
        source = ArrowParts(content)
        maximumHeld = 2 * max(options.threads, 1)
        let maximum = min(options.batchRows, segmentSize)
        var parts: [BatchParts] = [], count = 0
        for batch in 0..<content.batchCount {
            let rows = content.rows(ofBatch: batch)
            guard !rows.isEmpty else { continue }
            // Whole vectors, except for the last segment.
            let wanted = (rows.count - 1) / maximum + 1, even = (rows.count - 1) / wanted + 1
            let size = min(maximum, (even + vectorSize - 1) / vectorSize * vectorSize)
            parts.append(BatchParts(batch: batch, firstSegment: count, rows: rows, size: size))
            count += (rows.count - 1) / size + 1
        }
        self.parts = parts
        segmentCount = count
    }

    var type: TypeSchema { source.content.layout.type }
    var schema: Schema { source.content.layout.schema }
    var rowCount: Int { source.content.rowCount }
    func related(_ typeName: String) throws(Damage) -> (any Table)? { typeName == type.name ? self : nil }

    func segment(_ index: Int) throws(Damage) -> any Segment {
        guard index >= 0, index < segmentCount else { throw Damage("no segment \(index)") }
        let part = parts[last { $0.firstSegment <= index }], start = (index - part.firstSegment) * part.size
        return try held.withLock { (held) throws(Damage) in
            if let known = held.firstIndex(where: { $0.index == index }) {
                let found = held.remove(at: known)
                held.append(found)
                return found.segment
            }
            let segment = ArrowSegment(
                source, try source.batch(part.batch), start..<min(start + part.size, part.rows.count), firstRow: part.rows.lowerBound)
            held.append((index, segment))
            if held.count > maximumHeld { held.removeFirst() }
            return segment
        }
    }

    /// Returns the position of the last batch for which a condition holds that holds for the first ones.
    private func last(_ holds: (BatchParts) -> Bool) -> Int {
        var low = 0, high = parts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if holds(parts[middle]) { low = middle } else { high = middle }
        }
        return low
    }

    func segmentIndex(of rowID: Int64) throws(Damage) -> Int? {
        guard rowID >= 0, rowID < Int64(rowCount) else { return nil }
        let part = parts[last { Int64($0.rows.lowerBound) <= rowID }]
        return part.firstSegment + (Int(rowID) - part.rows.lowerBound) / part.size
    }

    var account: String { source.account }
}

/// Opens the batches of a file, and counts what is read of them. Any thread may use it.
final class ArrowParts: @unchecked Sendable {
    let content: ArrowContent
    private let state: Mutex<State> = Mutex(State())

    private struct State {
        /// The batches that were used last.
        var held: [(index: Int, batch: ArrowBatch)] = []
        var batches: Set<Int> = []
    }

    init(_ content: ArrowContent) { self.content = content }

    func batch(_ index: Int) throws(Damage) -> ArrowBatch {
        try state.withLock { (state) throws(Damage) in
            state.batches.insert(index)
            if let known = state.held.first(where: { $0.index == index }) { return known.batch }
            let batch: ArrowBatch
            do throws(FirnError) { batch = try content.batch(index) } catch { throw ArrowParts.damage(error) }
            state.held.append((index, batch))
            if state.held.count > 2 { state.held.removeFirst() }
            return batch
        }
    }

    /// Runs an operation on a column of a batch.
    func reading<R>(_ column: Int, _ batch: ArrowBatch, _ body: () throws(ArrowFault) -> R) throws(Damage) -> R {
        let result: R
        do throws(ArrowFault) { result = try body() } catch {
            throw ArrowParts.damage(content.layout.error(error, column: column, batch))
        }
        if content.file.isBroken { throw ArrowParts.damage(ArrowContent.truncated(content.file.name)) }
        return result
    }

    static func damage(_ error: FirnError) -> Damage {
        if error.code == .outOfMemory { return Damage(error.message, beyondMemory: true) }
        guard let byte = error.location?.byte else { return Damage(error.message, isUnread: error.code == .inputOutput) }
        return Damage(error.message, inFileAt: byte)
    }

    /// What was read of the file, in one line.
    var account: String {
        state.withLock { "arrow: \($0.batches.count) of \(content.batchCount) batches read\n" }
    }
}

/// Some rows of a batch.
final class ArrowSegment: Segment, @unchecked Sendable {
    private let rows: Range<Int>
    private let firstRow: Int
    private let readers: [any ArrowColumn]

    /// `firstRow`: the first row of the batch.
    init(_ source: ArrowParts, _ batch: ArrowBatch, _ rows: Range<Int>, firstRow: Int) {
        self.rows = rows
        self.firstRow = firstRow + rows.lowerBound
        readers = source.content.layout.plans.enumerated().map { index, plan -> any ArrowColumn in
            if plan.isPlain { return ArrowPlainColumn(source, batch, index, rows) }
            return ArrowDecodedColumn(source, batch, index, rows)
        }
    }

    var rowCount: Int { rows.count }
    var live: Bits? { nil }
    func rowID(at position: Int) throws(Damage) -> Int64 { Int64(firstRow + position) }
    func position(of rowID: Int64) throws(Damage) -> Int? {
        rowID >= Int64(firstRow) && rowID < Int64(firstRow + rowCount) ? Int(rowID) - firstRow : nil
    }

    func column(_ index: Int) throws(Damage) -> any ColumnReader {
        guard readers.indices.contains(index) else { throw Damage("no column \(index)") }
        return readers[index]
    }

    func column(path: [Int]) throws(Damage) -> any ColumnReader {
        guard let first = path.first, readers.indices.contains(first) else { throw Damage("no column at this path") }
        if path.count == 1 { return readers[first] }
        return MemoryColumnReader(try readers[first].decoded().field(path.dropFirst()))
    }
}

/// A column of a segment.
protocol ArrowColumn: ColumnReader {
    /// Returns all values.
    func decoded() throws(Damage) -> Column
}

/// A column of a segment, which is decoded when it is first read.
final class ArrowDecodedColumn: ArrowColumn, @unchecked Sendable {
    private let source: ArrowParts
    private let batch: ArrowBatch
    private let index: Int
    private let rows: Range<Int>
    private let held: Mutex<MemoryColumnReader?> = Mutex(nil)

    init(_ source: ArrowParts, _ batch: ArrowBatch, _ index: Int, _ rows: Range<Int>) {
        self.source = source
        self.batch = batch
        self.index = index
        self.rows = rows
    }

    var type: ColumnType { source.content.layout.plans[index].type }
    var rowCount: Int { rows.count }

    private func memory() throws(Damage) -> MemoryColumnReader {
        try held.withLock { (held) throws(Damage) in
            if let held { return held }
            let column = try source.reading(index, batch) { () throws(ArrowFault) in
                var decoder = ArrowDecoder(batch)
                return try decoder.column(source.content.layout.plans[index], rows)
            }
            let reader = MemoryColumnReader(column)
            held = reader
            return reader
        }
    }

    func decoded() throws(Damage) -> Column { try memory().column }
    func read(vector: Int, into column: inout Column) throws(Damage) { try memory().read(vector: vector, into: &column) }
    func value(at row: Int) throws(Damage) -> Value { try memory().value(at: row) }
    func search(_ range: SoughtRange, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> SearchOutcome {
        try memory().search(range, vector: vector, into: out)
    }
    func numbers(vector: Int, only rows: UnsafeBufferPointer<Int32>?, into room: NumberRoom) throws(Damage) -> Bool {
        try memory().numbers(vector: vector, only: rows, into: room)
    }
}

/// A column of single values, which are read vector by vector from the buffers of the batch.
final class ArrowPlainColumn: ArrowColumn, @unchecked Sendable {
    private let source: ArrowParts
    private let batch: ArrowBatch
    private let index: Int
    private let rows: Range<Int>
    private let plan: ArrowPlan
    private let form: ArrowForm

    init(_ source: ArrowParts, _ batch: ArrowBatch, _ index: Int, _ rows: Range<Int>) {
        self.source = source
        self.batch = batch
        self.index = index
        self.rows = rows
        plan = source.content.layout.plans[index]
        guard case .leaf(let form) = plan.shape else { trap("only leaves are read by vector") }
        self.form = form
    }

    var type: ColumnType { plan.type }
    var rowCount: Int { rows.count }

    /// Returns the rows of a vector within the batch.
    private func rows(ofVector vector: Int) -> Range<Int> {
        let start = rows.lowerBound + vector * vectorSize
        return start..<min(start + vectorSize, rows.upperBound)
    }

    private func read(_ rows: Range<Int>, into column: inout Column) throws(Damage) {
        column.removeAll()
        var out = consumeColumn(&column)
        defer { column = out }
        try source.reading(index, batch) { () throws(ArrowFault) in
            var decoder = ArrowDecoder(batch)
            try decoder.append(plan, form, rows, within: nil, to: &out)
        }
    }

    /// Takes the column out of its variable, so that it is not copied.
    private func consumeColumn(_ column: inout Column) -> Column {
        let taken = column
        column = Column(plan.type)
        return taken
    }

    func decoded() throws(Damage) -> Column {
        var out = Column(plan.type)
        try read(rows, into: &out)
        return out
    }

    func read(vector: Int, into column: inout Column) throws(Damage) {
        try read(rows(ofVector: vector), into: &column)
    }

    func value(at row: Int) throws(Damage) -> Value {
        guard row >= 0, row < rows.count else { throw Damage("no row \(row)") }
        var out = Column(plan.type)
        try read(rows.lowerBound + row..<rows.lowerBound + row + 1, into: &out)
        return out.value(at: 0)
    }

    /// Calls `body` with the stored numbers of a vector, and the validity of its rows, if they are stored as Firn has them in memory. Nil
    /// if they are not.
    private func direct<T, R>(_ vector: Int, as type: T.Type, _ body: (UnsafePointer<T>, Int, Bits?) -> R) throws(Damage) -> R? {
        switch form {
        case .int(64, true) where type == Int64.self, .real(64) where type == Double.self: break
        default: return nil
        }
        let rows = rows(ofVector: vector)
        return try source.reading(index, batch) { () throws(ArrowFault) in
            let decoder = ArrowDecoder(batch), present = try decoder.validity(plan, rows, within: nil)
            let buffer = try decoder.buffer(plan.field, 1, rows.upperBound, width: 8)
            guard let base = buffer.bytes.baseAddress, Int(bitPattern: base) & 7 == 0 else { return nil }
            return body((base + rows.lowerBound * 8).assumingMemoryBound(to: T.self), rows.count, present)
        }
    }

    func search(_ range: SoughtRange, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> SearchOutcome {
        let found: SearchOutcome?
        switch range {
        case .words(let low, let high):
            found = try direct(vector, as: Int64.self) { values, count, present in
                RangeBits.of(values, count: count, low, high, into: out)
                for w in ((count + 63) / 64)..<16 { out[w] = 0 }
                return .done(present: present)
            }
        case .reals(let low, let high):
            found = try direct(vector, as: Double.self) { values, count, present in
                RangeBits.of(values, count: count, low, high, into: out)
                for w in ((count + 63) / 64)..<16 { out[w] = 0 }
                return .done(present: present)
            }
        default: return .notDone
        }
        return found ?? .notDone
    }

    func numbers(vector: Int, only rows: UnsafeBufferPointer<Int32>?, into room: NumberRoom) throws(Damage) -> Bool {
        switch room {
        case .words(let out):
            return try direct(vector, as: Int64.self) { values, count, present in
                present == nil && NumberRoom.copy(values, count, rows, to: out)
            } ?? false
        case .reals(let out):
            return try direct(vector, as: Double.self) { values, count, present in
                present == nil && NumberRoom.copy(values, count, rows, to: out)
            } ?? false
        }
    }
}
