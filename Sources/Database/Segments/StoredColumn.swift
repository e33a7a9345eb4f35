import FirnBytes
import FirnCodecs
import FirnDisk
import FirnStore
import FirnTable
import FirnThreads
import Synchronization

/// A chunk overlay in memory: new values for some rows of a segment's column, from the overlay of its chunk and then from the delta store.
struct ColumnOverlay: Sendable {
    /// Ascending and distinct.
    var positions: [Int]
    /// One row per position. Embedded values are row ids in `words`.
    var values: Column

    /// Returns this overlay with the values of a later one in place of its own.
    func overlaid(by later: ColumnOverlay, _ memory: MemoryScope) throws(Damage) -> ColumnOverlay {
        var positions: [Int] = []
        var values = self.values.emptyCopy
        try values.hold(memory, adding: self.values.footprint + later.values.footprint)
        var i = 0, j = 0
        while i < self.positions.count || j < later.positions.count {
            if j < later.positions.count, i == self.positions.count || later.positions[j] <= self.positions[i] {
                if i < self.positions.count, later.positions[j] == self.positions[i] { i += 1 }
                positions.append(later.positions[j])
                values.append(contentsOf: later.values, range: j..<(j + 1))
                j += 1
            } else {
                positions.append(self.positions[i])
                values.append(contentsOf: self.values, range: i..<(i + 1))
                i += 1
            }
        }
        return ColumnOverlay(positions: positions, values: values)
    }

    /// Returns the index of a row's new value, or nil if it has none.
    func index(of row: Int) -> Int? {
        if row < positions.count, positions[row] == row { return row }  // the overlay has every row, or every row up to this one
        let i = lowerBound(row)
        return i < positions.count && positions[i] == row ? i : nil
    }

    func lowerBound(_ row: Int) -> Int {
        var low = 0, high = positions.count
        while low < high {
            let middle = (low + high) / 2
            if positions[middle] < row { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// A stored column with embedded objects as row ids: the chunk (or none, if the column was added after the segment was written) and its
/// overlay.
final class RawColumn: Sendable {
    /// The type, with embedded objects as links.
    let type: ColumnType
    let rowCount: Int
    /// Nil if the column was added after the segment was written; every row then has `Column.absentValue`.
    let chunk: ChunkReader?
    let overlay: ColumnOverlay?
    let zone: Zone?
    /// Keeps the mapped bytes valid.
    private let owner: (any AnyObject & Sendable)?
    let memory: MemoryScope
    /// A counter that grows if a file was truncated while it was read, so that zeros were read in place of its contents, and in a forked
    /// child.
    private nonisolated(unsafe) let faults = Mapping.faults
    private let faultsBefore = Mapping.faults.pointee

    init(
        type: ColumnType, rowCount: Int, chunk: ChunkReader?, overlay: ColumnOverlay?, zone: Zone?, owner: (any AnyObject & Sendable)?,
        memory: MemoryScope
    ) {
        self.memory = memory
        var raw = type
        if raw.kind == .embedded { raw.kind = .link }
        self.type = raw
        self.rowCount = rowCount
        self.chunk = chunk
        self.overlay = overlay
        self.zone = zone
        self.owner = owner
    }

    /// Throws `Damage` if zeros may have been read because the file was truncated. Call it after reading.
    @inline(__always)
    func checkIntact() throws(Damage) { if faults.pointee != faultsBefore { try askOwner() } }

    private func askOwner() throws(Damage) {
        switch owner {
        case let extents as FileExtents: try extents.checkIntact()
        case let salvage as Salvage: try salvage.checkIntact()
        case let transaction as StoreTransaction: try transaction.base.checkIntact()
        default: break
        }
    }

    func read(vector: Int, into column: inout Column) throws(Damage) {
        try readVector(vector, into: &column)
        try checkIntact()
    }

    private func readVector(_ vector: Int, into column: inout Column) throws(Damage) {
        let first = vector * vectorSize
        let count = min(vectorSize, rowCount - first)
        if let overlay, overlay.positions.count == rowCount {
            column.removeAll()
            try column.hold(memory, adding: overlay.values.footprint(of: first..<(first + count)))
            return column.append(contentsOf: overlay.values, range: first..<(first + count))
        }
        if let chunk {
            try chunk.read(vector: vector, into: &column)
        } else {
            column.removeAll()
            for _ in 0..<count { column.appendAbsent() }
        }
        guard let overlay else { return }
        let low = overlay.lowerBound(first), high = overlay.lowerBound(first + count)
        guard low < high else { return }
        var spliced = column.emptyCopy
        try spliced.hold(memory, adding: column.footprint + overlay.values.footprint(of: low..<high))
        var next = 0
        for i in low..<high {
            let row = overlay.positions[i] - first
            spliced.append(contentsOf: column, range: next..<row)
            spliced.append(contentsOf: overlay.values, range: i..<(i + 1))
            next = row + 1
        }
        spliced.append(contentsOf: column, range: next..<count)
        column = spliced
    }

    /// Returns whether the overlay has values for rows of a vector.
    func isOverlaid(_ vector: Int) -> Bool {
        guard let overlay else { return false }
        return overlay.lowerBound(vector * vectorSize) < overlay.lowerBound((vector + 1) * vectorSize)
    }

    func value(at row: Int) throws(Damage) -> Value {
        if let overlay, let i = overlay.index(of: row) { return overlay.values.value(at: i) }
        guard let chunk else { return Column.absentValue(type) }
        let value = try chunk.value(at: row)
        try checkIntact()
        return value
    }

    /// Returns one row as a column, and charges its memory.
    func row(at row: Int) throws(Damage) -> Column {
        if let overlay, let i = overlay.index(of: row) {
            var one = overlay.values.emptyCopy
            try one.hold(memory, adding: overlay.values.footprint(of: i..<i + 1))
            one.append(contentsOf: overlay.values, range: i..<i + 1)
            return one
        }
        guard let chunk else {
            var one = Column(type)
            one.appendAbsent()
            return one
        }
        let one = try chunk.row(at: row)
        try checkIntact()
        return one
    }

    /// Returns a value of a bool, int or link column, or nil for null.
    func word(at row: Int) throws(Damage) -> Int64? {
        if let overlay, let i = overlay.index(of: row) { return overlay.values.isPresent(i) ? overlay.values.words[i] : nil }
        guard let chunk else { return type.isOptional || type.kind == .link ? nil : 0 }
        let word = try chunk.word(at: row)
        try checkIntact()
        return word
    }

    /// Returns a value of a float or double column, or nil for null.
    func real(at row: Int) throws(Damage) -> Double? {
        if let overlay, let i = overlay.index(of: row) { return overlay.values.isPresent(i) ? overlay.values.reals[i] : nil }
        guard let chunk else { return type.isOptional ? nil : 0 }
        let real = try chunk.real(at: row)
        try checkIntact()
        return real
    }
}

/// Reads a stored column whose values are not embedded objects.
final class StoredColumn: ColumnReader {
    private let raw: RawColumn
    /// The segment and the position of the column in it. Nil: the caller adds the location to errors.
    private let owner: (segment: StoredSegment, column: Int)?
    /// The first values of vectors that were requested so far, for text that ascends.
    private let firstValues: Mutex<[Int: [UInt8]]> = Mutex([:])

    init(_ raw: RawColumn, of owner: (segment: StoredSegment, column: Int)? = nil) {
        self.raw = raw
        self.owner = owner
    }

    /// Runs `body`. A `Damage` that it throws gets the location of the column.
    @inline(__always)
    private func located<R>(_ body: () throws(Damage) -> R) throws(Damage) -> R {
        do throws(Damage) { return try body() } catch {
            throw owner.map { $0.segment.location(of: $0.column).named(error) } ?? error
        }
    }

    var type: ColumnType { raw.type }
    var rowCount: Int { raw.rowCount }

    var storedBytes: Int { raw.chunk.map { $0.streams.reduce(0) { $0 + $1.length } } ?? 0 }

    func zone() -> Zone? { raw.zone }

    func zone(ofVector vector: Int) -> Zone? {
        guard let chunk = raw.chunk, !type.isCollection else { return nil }
        if raw.isOverlaid(vector) { return nil }
        // Entries are not in the order of the rows, but their bounds are those of all rows.
        if let relation = chunk.relation { return chunk.zone(of: relation) }
        if !chunk.isDirect, chunk.pieces == nil { return Zone(mayHaveNulls: chunk.present != nil, allNull: false, bounds: .none) }
        let count = min(vectorSize, rowCount - vector * vectorSize)
        let ones = chunk.present.map { $0.ones(ofVector: vector) } ?? count
        var zone = Zone(mayHaveNulls: ones != count, allNull: ones == 0, bounds: .none)
        if type.kind == .any || type.kind == .decimal { return zone }
        if let bounds = chunk.words?.bounds(ofVector: vector) { zone.bounds = .words(bounds.0, bounds.1) }
        if let bounds = textBounds(ofVector: vector, chunk) { zone.bounds = .text(bounds) }
        if let bounds = chunk.reals?.bounds(ofVector: vector) { zone.bounds = .reals(bounds.0, bounds.1) }
        return zone
    }

    /// Returns the bounds of a vector if values ascend: its first value and that of the next vector. Reads only first values, one for each
    /// requested vector.
    private func textBounds(ofVector vector: Int, _ chunk: ChunkReader) -> TextBounds? {
        guard raw.overlay == nil, case .text(let whole)? = raw.zone?.bounds, whole.ascends, let text = chunk.text, chunk.present == nil
        else {
            return nil
        }
        guard let low = firstValue(vector, text, chunk.pieces) else { return nil }
        let isLast = (vector + 1) * vectorSize >= rowCount
        let bounds =
            isLast
            ? TextBounds(low: low, high: whole.high, isCut: whole.isCut)
            : firstValue(vector + 1, text, chunk.pieces).map { TextBounds(low: low, high: $0) }
        return bounds.flatMap { $0.mayHold(low) ? $0 : nil }
    }

    private func firstValue(_ vector: Int, _ text: TextReader, _ pieces: PiecesReader?) -> [UInt8]? {
        if let known = firstValues.withLock({ $0[vector] }) { return known }
        let row = vector * vectorSize
        guard var value = try? text.withValue(at: row, { Array($0) }), (try? raw.checkIntact()) != nil else { return nil }
        if let pieces {
            guard let whole = try? pieces.value(value, at: row) else { return nil }
            value = whole
        }
        firstValues.withLock { $0[vector] = value }
        return value
    }

    func read(vector: Int, into column: inout Column) throws(Damage) {
        try located { () throws(Damage) in try raw.read(vector: vector, into: &column) }
    }

    func value(at row: Int) throws(Damage) -> Value { try located { () throws(Damage) in try raw.value(at: row) } }
    func row(at row: Int) throws(Damage) -> Column { try located { () throws(Damage) in try raw.row(at: row) } }

    func dictionary() throws(Damage) -> Text? {
        guard raw.overlay == nil, !type.isCollection, type.payload == [.text], let chunk = raw.chunk, let text = chunk.text,
            chunk.relation?.original == nil, chunk.pieces == nil
        else { return nil }
        return try located { () throws(Damage) in
            let values = try text.values
            try raw.checkIntact()
            return values
        }
    }

    func readCodes(vector: Int, into column: inout Column) throws(Damage) {
        guard let chunk = raw.chunk, let text = chunk.text else {
            trap("this segment has no dictionary: ask dictionary() first")
        }
        let count = min(vectorSize, rowCount - vector * vectorSize)
        column.count = count
        try located { () throws(Damage) in
            if let relation = chunk.relation {
                try chunk.readRelatedCodes(relation, vector: vector, into: &column)
                return try raw.checkIntact()
            }
            column.present = try ChunkReader.bits(chunk.present, vector: vector, count: count)
            try ChunkReader.fill(&column.words, count) { (out) throws(Damage) in try text.decodeCodes(vector: vector, into: out) }
            try raw.checkIntact()
        }
    }

    func search(_ range: SoughtRange, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> SearchOutcome {
        guard let chunk = raw.chunk, !type.isCollection, !raw.isOverlaid(vector) else { return .notDone }
        return try located { () throws(Damage) in
            let outcome = try chunk.search(range, vector: vector, into: out)
            try raw.checkIntact()
            return outcome
        }
    }

    func sum(vector: Int) throws(Damage) -> VectorSum {
        guard let chunk = raw.chunk, !type.isCollection, !raw.isOverlaid(vector) else { return .notDone }
        return try located { () throws(Damage) in
            let sum = try chunk.sum(vector: vector)
            try raw.checkIntact()
            return sum
        }
    }

    func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, into column: inout Column) throws(Damage) -> Bool {
        guard let chunk = raw.chunk, !type.isCollection, !raw.isOverlaid(vector) else { return false }
        return try located { () throws(Damage) in
            let isDone = try chunk.gather(rows, vector: vector, into: &column)
            try raw.checkIntact()
            return isDone
        }
    }

    func numbers(vector: Int, only rows: UnsafeBufferPointer<Int32>?, into room: NumberRoom) throws(Damage) -> Bool {
        guard let chunk = raw.chunk, !type.isCollection, !raw.isOverlaid(vector) else { return false }
        return try located { () throws(Damage) in
            let isDone = try chunk.numbers(vector: vector, only: rows, into: room)
            try raw.checkIntact()
            return isDone
        }
    }
}
