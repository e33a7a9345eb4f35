import FirnBytes
import FirnDisk
import FirnExchange
import FirnTable
import Synchronization

/// The rows of a file as a table. Its segments are parts of batches. Columns of single values without a dictionary are read vector by
/// vector, directly from the buffers of the file; other columns of a segment are decoded when they are first read.
final class ArrowTable: Table, AccountingTable, @unchecked Sendable {
    private let source: ArrowParts
    private let parts: PartedRows
    private let held: HeldSegments<ArrowSegment>

    init(_ content: ArrowContent, _ options: ArrowOptions) {
        source = ArrowParts(content)
        held = HeldSegments(maximum: 4 * max(options.threads, 1))
        let maximum = min(options.batchRows, segmentSize)
        var parts = PartedRows()
        for batch in 0..<content.batchCount {
            let rows = content.rows(ofBatch: batch)
            guard !rows.isEmpty else { continue }
            // Whole vectors, except for the last segment.
            let wanted = (rows.count - 1) / maximum + 1, even = (rows.count - 1) / wanted + 1
            parts.add(group: batch, rows: rows, size: min(maximum, (even + vectorSize - 1) / vectorSize * vectorSize))
        }
        self.parts = parts
    }

    var type: TypeSchema { source.content.layout.type }
    var schema: Schema { source.content.layout.schema }
    var rowCount: Int { source.content.rowCount }
    var segmentCount: Int { parts.segmentCount }
    var readsByColumn: Bool { true }
    func related(_ typeName: String) throws(Damage) -> (any Table)? { typeName == type.name ? self : nil }

    func segment(_ index: Int) throws(Damage) -> any Segment {
        // About as many bytes as numbers take.
        MappedMemory.willRead(type.columns.count * segmentSize * 8)
        let part = try parts.part(ofSegment: index)
        return try held.segment(index) { () throws(Damage) in ArrowSegment(source, try source.batch(part.group), part) }
    }

    func segmentIndex(of rowID: Int64) throws(Damage) -> Int? { parts.segmentIndex(of: rowID) }
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
            do throws(FirnError) { batch = try content.batch(index) } catch { throw Damage(reported: error) }
            state.held.append((index, batch))
            if state.held.count > 2 { state.held.removeFirst() }
            return batch
        }
    }

    /// Runs an operation on a column of a batch.
    func reading<R>(_ column: Int, _ batch: ArrowBatch, _ body: () throws(ArrowFault) -> R) throws(Damage) -> R {
        let result: R
        do throws(ArrowFault) { result = try body() } catch {
            throw Damage(reported: content.layout.error(error, column: column, batch))
        }
        if content.file.isBroken { throw Damage(reported: .truncated(content.file.name)) }
        return result
    }

    /// What was read of the file, in one line.
    var account: String {
        state.withLock { "arrow: \($0.batches.count) of \(content.batchCount) batches read\n" }
    }
}

/// Some rows of a batch.
final class ArrowSegment: PartSegment, @unchecked Sendable {
    let part: PartedRows.Part
    let readers: [any PartColumn]

    init(_ source: ArrowParts, _ batch: ArrowBatch, _ part: PartedRows.Part) {
        self.part = part
        readers = source.content.layout.plans.enumerated().map { index, plan -> any PartColumn in
            if plan.isPlain { return ArrowPlainColumn(source, batch, index, part.rows) }
            return ArrowDecodedColumn(source, batch, index, part.rows)
        }
    }
}

/// A column of a segment, which is decoded when it is first read.
final class ArrowDecodedColumn: DecodedColumn, @unchecked Sendable {
    private let source: ArrowParts
    private let batch: ArrowBatch
    private let index: Int
    private let rows: Range<Int>
    let held = OnceDecoded()

    init(_ source: ArrowParts, _ batch: ArrowBatch, _ index: Int, _ rows: Range<Int>) {
        self.source = source
        self.batch = batch
        self.index = index
        self.rows = rows
    }

    var type: ColumnType { source.content.layout.plans[index].type }
    var rowCount: Int { rows.count }

    func decode() throws(Damage) -> Column {
        try source.reading(index, batch) { () throws(ArrowFault) in
            var decoder = ArrowDecoder(batch)
            return try decoder.column(source.content.layout.plans[index], rows)
        }
    }
}

/// A column of single values, which are read vector by vector from the buffers of the batch.
final class ArrowPlainColumn: PartColumn, @unchecked Sendable {
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
