import FirnArrow
import FirnBytes
import FirnTable

/// Reads columns of some rows of a segment.
struct SegmentReader: Sendable {
    private let segment: any Segment
    private let table: any Table
    private let chosen: [Chosen]
    private let pool: BufferPool
    /// The number of rows that are read.
    let count: Int
    /// Whether they are all physical rows of the segment.
    private let isWhole: Bool

    private struct Chosen {
        var vector: Int
        var rows: VectorRows
        var count: Int
    }

    /// All physical rows, also deleted ones.
    init(_ segment: any Segment, of table: any Table) {
        self.init(segment, of: table, vectors: 0..<segment.vectorCount, rows: nil, limit: .max)
    }

    /// The first `limit` of the rows of some vectors that are set in `rows`, which has a bit for each physical row; nil: all.
    init(
        _ segment: any Segment, of table: any Table, vectors: Range<Int>, rows: Bits?, limit: Int, pool: BufferPool = BufferPool()
    ) {
        self.pool = pool
        self.segment = segment
        self.table = table
        var chosen: [Chosen] = [], left = limit, isWhole = vectors == 0..<segment.vectorCount
        for vector in vectors where left > 0 {
            let range = segment.rows(ofVector: vector)
            var found = VectorRows.all, count = range.count
            if let rows {
                let bits = rows.slice(range)
                count = bits.ones
                found = VectorRows(bits, count: count)
            }
            if count > left {
                count = left
                found = found.prefix(left, of: range.count)
            }
            if count > 0 { chosen.append(Chosen(vector: vector, rows: found, count: count)) }
            if count < range.count { isWhole = false }
            left -= count
        }
        self.chosen = chosen
        count = chosen.reduce(0) { $0 + $1.count }
        self.isWhole = isWhole && count == segment.rowCount
    }

    /// Returns the values of a column.
    func column(_ position: Int) throws(Damage) -> Column {
        let memory = MemoryScope(table.memory, type: table.type.name, column: table.type.columns[position].name)
        let reader = try segment.column(position)
        var column = Column(table.type.columns[position], in: table.schema)
        guard count > 0 else { return column }
        if try numbers(reader, into: &column) {
            try column.hold(memory)
            return column
        }
        if var texts = try CodedTexts(reader, rows: count, pool) {
            for chosen in chosen { try texts.append(reader, vector: chosen.vector, rows: chosen.rows) }
            return try texts.column(memory)
        }
        if isWhole, let whole = try reader.wholeColumn() { return whole }
        var part = Column(reader.type)
        for (i, chosen) in chosen.enumerated() {
            if case .all = chosen.rows {
                try reader.read(vector: chosen.vector, into: &part)
                try take(part, isFirst: i == 0, into: &column, memory)
                continue
            }
            let rows = chosen.rows.list(of: segment.rows(ofVector: chosen.vector).count)
            if rows.count < vectorSize / 8,
                try rows.withUnsafeBufferPointer({ (rows) throws(Damage) in try reader.gather(rows, vector: chosen.vector, into: &part) })
            {
                try take(part, isFirst: i == 0, into: &column, memory)
                continue
            }
            try reader.read(vector: chosen.vector, into: &part)
            if i == 0 { column = part.emptyCopy }
            try column.hold(memory, adding: part.footprint)
            column.appendGathered(part, rows: rows.map { Int($0) })
        }
        return column
    }

    /// Returns the integers, dates or doubles of a column in a layout; nil if a row has no value, or one that the layout cannot express.
    func numbers(_ position: Int, as layout: NumberLayout) throws(Damage) -> NumberColumn? {
        let memory = MemoryScope(table.memory, type: table.type.name, column: table.type.columns[position].name)
        let reader = try segment.column(position)
        guard count > 0, !reader.type.isCollection else { return nil }
        let buffer = pool.buffer(room * MemoryLayout<Int64>.size), isDone: Bool
        switch reader.type.kind {
        case .int, .date:
            isDone = try buffer.withValues(Int64.self) { (out) throws(Damage) in
                try fill(out) { (vector, rows, room) throws(Damage) in try reader.numbers(vector: vector, only: rows, into: .words(room)) }
            }
        case .double, .float:
            isDone = try buffer.withValues(Double.self) { (out) throws(Damage) in
                try fill(out) { (vector, rows, room) throws(Damage) in try reader.numbers(vector: vector, only: rows, into: .reals(room)) }
            }
        default: return nil
        }
        guard isDone else { return nil }
        return layout.column(buffer, count: count, pool, charge: try memory.holding(count * MemoryLayout<Int64>.size))
    }

    /// Returns the texts of a column as codes. If there are more different texts than rows, or no dictionary, each row has a text of its own.
    func coded(_ position: Int) throws(Damage) -> CodedColumn {
        let memory = MemoryScope(table.memory, type: table.type.name, column: table.type.columns[position].name)
        let reader = try segment.column(position)
        guard count > 0, var texts = try CodedTexts(reader, rows: count, pool), texts.valueCount <= count else {
            return CodedColumn(try column(position), pool)
        }
        for chosen in chosen { try texts.append(reader, vector: chosen.vector, rows: chosen.rows) }
        return try texts.coded(memory)
    }

    /// Returns the texts of a column as views.
    func viewed(_ position: Int) throws(Damage) -> ViewColumn {
        let memory = MemoryScope(table.memory, type: table.type.name, column: table.type.columns[position].name)
        let reader = try segment.column(position)
        guard count > 0, var texts = try CodedTexts(reader, rows: count, pool) else { return ViewColumn(try column(position), pool) }
        for chosen in chosen { try texts.append(reader, vector: chosen.vector, rows: chosen.rows) }
        return try texts.viewed(memory, pool)
    }

    private func take(_ part: Column, isFirst: Bool, into column: inout Column, _ memory: MemoryScope) throws(Damage) {
        try column.hold(memory, adding: part.footprint)
        if isFirst { column = part } else { column.append(contentsOf: part) }
    }

    /// Decodes integers or doubles directly into the memory of the column. Returns false if a row has no value, or if the column has other
    /// values.
    private func numbers(_ reader: any ColumnReader, into column: inout Column) throws(Damage) -> Bool {
        guard !reader.type.isCollection else { return false }
        switch reader.type.kind {
        case .int:
            guard
                let words = try filled(
                    Int64.self,
                    { (vector, rows, room) throws(Damage) in
                        try reader.numbers(vector: vector, only: rows, into: .words(room))
                    })
            else { return false }
            column.words = words
        case .double, .float:
            guard
                let reals = try filled(
                    Double.self,
                    { (vector, rows, room) throws(Damage) in
                        try reader.numbers(vector: vector, only: rows, into: .reals(room))
                    })
            else { return false }
            column.reals = reals
        default: return false
        }
        column.count = count
        return true
    }

    /// The number of values for which a buffer must have room: a vector that is not read as a whole may need room for all of its rows.
    private var room: Int { count + vectorSize }

    /// Returns the values that `read` writes for each vector; nil if it returns false.
    private func filled<T>(
        _ type: T.Type, _ read: (Int, UnsafeBufferPointer<Int32>?, UnsafeMutablePointer<T>) throws(Damage) -> Bool
    ) throws(Damage) -> [T]? {
        var failure: Damage?, isDone = false
        let values = [T](unsafeUninitializedCapacity: room) { out, filled in
            do throws(Damage) { isDone = try fill(out, read) } catch { failure = error }
            filled = isDone ? count : 0
        }
        if let failure { throw failure }
        return isDone ? values : nil
    }

    /// Lets `read` write the values of each vector. Returns false if it does.
    private func fill<T>(
        _ out: UnsafeMutableBufferPointer<T>, _ read: (Int, UnsafeBufferPointer<Int32>?, UnsafeMutablePointer<T>) throws(Damage) -> Bool
    ) throws(Damage) -> Bool {
        trap(unless: out.count >= room, "a buffer for the values of a scan has too little room")
        guard var next = out.baseAddress else { return false }
        for chosen in chosen {
            switch chosen.rows {
            case .all: guard try read(chosen.vector, nil, next) else { return false }
            case .some(let rows):
                guard try rows.withUnsafeBufferPointer({ (rows) throws(Damage) in try read(chosen.vector, rows, next) }) else {
                    return false
                }
            case .runs(let runs):
                guard try read(chosen.vector, nil, next) else { return false }
                // Rows ascend, so none is overwritten before it is moved.
                var end = next
                for run in runs {
                    end.update(from: next + run.lowerBound, count: run.count)
                    end += run.count
                }
            }
            next += chosen.count
        }
        return true
    }
}
