import FirnBytes

/// A table in memory, made of batches: one segment per batch, row ids ascending from 0.
package final class MemoryTable: Table {
    package let type: TypeSchema
    package let schema: Schema
    package let rowCount: Int
    private let segments: [MemorySegment]
    private let others: @Sendable (String) -> (any Table)?

    /// `related` returns the tables that links refer to, by the names of their types. Links of a type to itself do not need it.
    package init(
        _ type: TypeSchema, schema: Schema, batches: [Batch], related others: @escaping @Sendable (String) -> (any Table)? = { _ in nil }
    ) {
        self.type = type
        self.schema = schema
        self.others = others
        var first: Int64 = 0
        var segments: [MemorySegment] = []
        for batch in batches where batch.count > 0 {
            segments.append(MemorySegment(batch, firstRowID: first))
            first += Int64(batch.count)
        }
        self.segments = segments
        rowCount = Int(first)
    }

    package var segmentCount: Int { segments.count }
    package func segment(_ index: Int) throws(Damage) -> any Segment { segments[index] }
    package func segmentIndex(of rowID: Int64) throws(Damage) -> Int? {
        segments.firstIndex { rowID >= $0.firstRowID && rowID < $0.firstRowID + Int64($0.rowCount) }
    }
    package func related(_ typeName: String) throws(Damage) -> (any Table)? { others(typeName) ?? (typeName == type.name ? self : nil) }
}

/// A segment in memory.
package final class MemorySegment: Segment {
    package let rowCount: Int
    package let live: Bits?
    let firstRowID: Int64
    private let readers: [MemoryColumnReader]

    package init(_ batch: Batch, firstRowID: Int64, live: Bits? = nil) {
        rowCount = batch.count
        self.live = live
        self.firstRowID = firstRowID
        readers = batch.columns.map(MemoryColumnReader.init)
    }

    package func rowID(at position: Int) throws(Damage) -> Int64 { firstRowID + Int64(position) }
    package func position(of rowID: Int64) throws(Damage) -> Int? {
        rowID >= firstRowID && rowID < firstRowID + Int64(rowCount) ? Int(rowID - firstRowID) : nil
    }
    package func column(_ index: Int) throws(Damage) -> any ColumnReader { readers[index] }
    package func column(path: [Int]) throws(Damage) -> any ColumnReader {
        guard let first = path.first, readers.indices.contains(first) else { throw Damage("no column at this path") }
        if path.count == 1 { return readers[first] }
        return MemoryColumnReader(try readers[first].column.field(path.dropFirst()))
    }
}

/// Reads a column in memory.
package final class MemoryColumnReader: ColumnReader {
    package let column: Column

    package init(_ column: Column) { self.column = column }

    package var type: ColumnType { column.type }
    package var rowCount: Int { column.count }
    package func read(vector: Int, into out: inout Column) throws(Damage) {
        out.removeAll()
        out.append(contentsOf: column, range: vector * vectorSize..<min((vector + 1) * vectorSize, column.count))
    }
    package func wholeColumn() throws(Damage) -> Column? { column }
    package func value(at row: Int) throws(Damage) -> Value { column.value(at: row) }

    package func numbers(vector: Int, only rows: UnsafeBufferPointer<Int32>?, into room: NumberRoom) throws(Damage) -> Bool {
        let first = vector * vectorSize, count = min(vectorSize, column.count - first)
        if let present = column.present, !present.slice(first..<first + count).allSet { return false }
        switch room {
        case .words(let out):
            guard column.type.kind == .int, !column.type.isCollection else { return false }
            return column.words.withUnsafeBufferPointer { NumberRoom.copy($0.baseAddress! + first, count, rows, to: out) }
        case .reals(let out):
            guard column.type.kind == .double || column.type.kind == .float, !column.type.isCollection else { return false }
            return column.reals.withUnsafeBufferPointer { NumberRoom.copy($0.baseAddress! + first, count, rows, to: out) }
        }
    }

    package func search(_ range: SoughtRange, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> SearchOutcome {
        let first = vector * vectorSize, count = min(vectorSize, column.count - first)
        guard !column.type.isCollection, max(column.words.count, column.reals.count) >= first + count else { return .notDone }
        switch (range, column.type.kind) {
        case (.words(let low, let high), .bool), (.words(let low, let high), .int), (.words(let low, let high), .link):
            column.words.withUnsafeBufferPointer { RangeBits.of($0.baseAddress! + first, count: count, low, high, into: out) }
        case (.reals(let low, let high), .float), (.reals(let low, let high), .double):
            column.reals.withUnsafeBufferPointer { RangeBits.of($0.baseAddress! + first, count: count, low, high, into: out) }
        default: return .notDone
        }
        for w in ((count + 63) / 64)..<16 { out[w] = 0 }
        return .done(present: column.present?.slice(first..<first + count))
    }
}
