import FirnBytes

/// Fetches rows of a table by row id, column by column: what turns stored row ids back into embedded objects.
struct RowFetcher: Sendable {
    let table: any Table
    /// Columns to fetch: a path into the table's type for each.
    let paths: [[Int]]

    /// One column for each path, with a row for each id; rows of absent ids (and of ids that no longer exist) are null.
    func fetch(_ ids: [Int64], present: Bits?) throws(Damage) -> [Column] {
        var columns: [Column] = []
        for path in paths { columns.append(try Column(shape: path, in: table)) }
        var start = 0
        while start < ids.count {
            if let present, !present[start] {
                for i in columns.indices { columns[i].appendNull() }
                start += 1
                continue
            }
            var end = start + 1
            while end < ids.count, ids[end] == ids[end - 1] &+ 1, present?[end] ?? true { end += 1 }
            try append(ids[start], count: end - start, to: &columns)
            start = end
        }
        return columns
    }

    /// Appends `count` rows with ascending ids from `first`.
    private func append(_ first: Int64, count: Int, to columns: inout [Column]) throws(Damage) {
        var done = 0
        while done < count {
            guard let index = try table.segmentIndex(of: first + Int64(done)) else {
                for i in columns.indices { columns[i].appendNull() }
                done += 1
                continue
            }
            let segment = try table.segment(index)
            guard let position = try segment.position(of: first + Int64(done)), segment.live?[position] ?? true else {
                for i in columns.indices { columns[i].appendNull() }
                done += 1
                continue
            }
            // Positions follow ids one by one as far as the segment is dense.
            var run = min(count - done, segment.rowCount - position)
            if run > 1, try segment.rowID(at: position + run - 1) != first + Int64(done + run - 1) || segment.live != nil { run = 1 }
            for (i, path) in paths.enumerated() {
                try segment.column(path: path).append(rows: position..<(position + run), to: &columns[i])
            }
            done += run
        }
    }
}

extension ColumnReader {
    /// Appends a run of rows; short runs value by value, long ones vector by vector.
    func append(rows: Range<Int>, to column: inout Column) throws(Damage) {
        if rows.count <= 8 {
            for row in rows {
                if !column.append(try value(at: row)) { column.appendNull() }
            }
            return
        }
        var scratch = column.emptyCopy
        for vector in rows.lowerBound / vectorSize...(rows.upperBound - 1) / vectorSize {
            let first = vector * vectorSize
            try read(vector: vector, into: &scratch)
            column.append(contentsOf: scratch, range: max(rows.lowerBound, first) - first..<min(rows.upperBound, first + scratch.count) - first)
        }
    }
}

extension Column {
    /// An empty column shaped as `segment.column(path:)` delivers it.
    init(shape path: [Int], in table: any Table) throws(Damage) {
        let column = try ColumnSchema(path: path, in: table.type, table.schema)
        self.init(column, in: table.schema)
    }
}

extension ColumnSchema {
    /// The column at the end of a path through embedded types: optional where something on the way may be missing; a list (flattened)
    /// where the way leads through a collection.
    package init(path: [Int], in type: TypeSchema, _ schema: Schema) throws(Damage) {
        var column = type.columns[path[0]]
        for field in path.dropFirst() {
            guard let target = column.type.target.flatMap({ schema[$0] }), field < target.columns.count else { throw Damage("no such field") }
            var next = target.columns[field]
            if column.type.isCollection {
                let inner = next.type.isCollection ? next.type.elementIsOptional : next.type.isOptional
                next.type.elementIsOptional = inner || column.type.elementIsOptional
                next.type.collection = .list
                next.type.isOptional = column.type.isOptional
            } else if column.type.isOptional {
                next.type.isOptional = true
            }
            next.name = column.name + "." + next.name
            column = next
        }
        self = column
    }
}

/// Reads a stored column of embedded objects (one, or a collection of them): the stored row ids, replaced by the fields of their rows.
final class EmbeddedColumn: ColumnReader {
    let type: ColumnType
    private let raw: any ColumnReader
    private let fetcher: RowFetcher

    init(_ raw: any ColumnReader, type: ColumnType, target: any Table) {
        self.raw = raw
        self.type = type
        fetcher = RowFetcher(table: target, paths: target.type.columns.indices.map { [$0] })
    }

    var rowCount: Int { raw.rowCount }

    func read(vector: Int, into column: inout Column) throws(Damage) {
        var links = Column(raw.type)
        try raw.read(vector: vector, into: &links)
        column.removeAll()
        column.count = links.count
        column.present = links.present
        guard type.isCollection else {
            column.children = try fetcher.fetch(links.words, present: links.present)
            return
        }
        column.offsets = links.offsets
        let inner = links.children.last!
        var elements = column.children.last!
        elements.count = inner.count
        elements.present = inner.present
        elements.children = try fetcher.fetch(inner.words, present: inner.present)
        column.children = type.collection == .map ? [links.children[0], elements] : [elements]
    }

    func value(at row: Int) throws(Damage) -> Value {
        try resolve(try raw.value(at: row))
    }

    private func resolve(_ value: Value) throws(Damage) -> Value {
        switch value {
        case .link(let id):
            let fields = try fetcher.fetch([id], present: nil)
            return .object(zip(fetcher.table.type.columns, fields).map { Value.Entry($0.name, $1.value(at: 0)) })
        case .list(let values), .set(let values):
            var out: [Value] = []
            for value in values { out.append(try resolve(value)) }
            return .list(out)
        case .map(let entries):
            var out: [Value.Entry] = []
            for entry in entries { out.append(Value.Entry(entry.key, try resolve(entry.value))) }
            return .map(out)
        default: return value
        }
    }
}

/// Reads one field of embedded objects without the others: `birth.place.name`, or `movements.name` as a list of names.
final class PathColumn: ColumnReader {
    let type: ColumnType
    private let raw: any ColumnReader
    private let fetcher: RowFetcher

    init(_ raw: any ColumnReader, type: ColumnType, target: any Table, rest: [Int]) {
        self.raw = raw
        self.type = type
        fetcher = RowFetcher(table: target, paths: [rest])
    }

    var rowCount: Int { raw.rowCount }

    func read(vector: Int, into column: inout Column) throws(Damage) {
        var links = Column(raw.type)
        try raw.read(vector: vector, into: &links)
        column = try resolve(links)
    }

    func value(at row: Int) throws(Damage) -> Value {
        var links = Column(raw.type)
        if !links.append(try raw.value(at: row)) { links.appendNull() }
        return try resolve(links).value(at: 0)
    }

    private func resolve(_ links: Column) throws(Damage) -> Column {
        guard raw.type.isCollection else {
            var leaf = try fetcher.fetch(links.words, present: links.present)[0]
            leaf.type = type
            return leaf
        }
        let inner = links.children.last!
        let leaf = try fetcher.fetch(inner.words, present: inner.present)[0]
        var out = Column(type)
        out.count = links.count
        out.present = links.present
        if leaf.type.isCollection {
            // A list of lists reads as one list: its bounds are the bounds of the bounds.
            out.offsets = links.offsets.map { leaf.offsets[$0] }
            out.children = [leaf.children.last!]
        } else {
            out.offsets = links.offsets
            out.children = [leaf]
        }
        out.children[0].type = type.element
        return out
    }
}
