import FirnBytes
import FirnQuery
import FirnTable

/// Reads a column of the elements of a collection, vector by vector.
struct ColumnReading {
    private let core: RealmCore
    /// The rows that are read, and the path to the column within them.
    private let table: any Table
    private let path: [Int]
    private var segment = -1
    private var vector = 0
    private var vectorCount = 0
    private var reader: (any ColumnReader)?
    private var live: Bits?
    /// The results of a query, for a path that leads through links.
    private var batches: [Column] = []
    private var next = 0
    private(set) var column: Column

    init(_ source: _CollectionSource, _ path: PathSyntax) {
        let access = source.managedElements
        core = source.managedCore
        core.check()
        let rows: any Table =
            if source.isInvalidated { MemoryTable(access.type, schema: core.schema, batches: []) } else if source is TableSource {
                access.table
            } else {
                SelectedRows(source.rowIDs(), of: access.table)
            }
        table = rows
        if let indexes = ColumnReading.indexes(path, table) {
            self.path = indexes
            column = Column(ColumnType(.int))
            return
        }
        self.path = []
        column = Column(ColumnType(.int))
        var found: [Column] = []
        let request = QueryRequest(select: [path.description], names: source.names), table = table
        let run: QueryRun
        do { run = try QueryRun(request, table: table) } catch { trap("\(error)") }
        core.failing(()) { () throws(FirnError) in
            try run.forEachBatch { (batch) throws(FirnError) in
                found.append(batch.columns[0])
                return true
            }
        }
        batches = found
    }

    /// Returns the column positions of a property or of a field of embedded objects; nil for other paths.
    private static func indexes(_ path: PathSyntax, _ table: any Table) -> [Int]? {
        var type = table.type, indexes: [Int] = []
        for (i, step) in path.steps.enumerated() {
            guard case .name(let name, _) = step, let index = type.index(of: name) else { return nil }
            indexes.append(index)
            guard i + 1 < path.steps.count else { break }
            let column = type.columns[index].type
            guard column.kind == .embedded, !column.isCollection, let target = column.target.flatMap({ table.schema[$0] }) else {
                return nil
            }
            type = target
        }
        return indexes
    }

    /// Decodes the next vector into `column`; false at the end. The memory of `column` is reused if nothing else references it.
    mutating func advance() -> Bool {
        if path.isEmpty {
            guard next < batches.count else { return false }
            column = batches[next]
            next += 1
            return true
        }
        let more = core.reading(false) { () throws(Damage) in try read() }
        return more
    }

    private mutating func read() throws(Damage) -> Bool {
        while true {
            while vector >= vectorCount {
                guard segment + 1 < table.segmentCount else { return false }
                segment += 1
                let current = try table.segment(segment)
                let reader = try current.column(path: path)
                if self.reader?.type != reader.type { column = Column(reader.type) }
                self.reader = reader
                live = current.live
                vectorCount = current.vectorCount
                vector = 0
            }
            let first = vector * vectorSize
            try reader!.read(vector: vector, into: &column)
            vector += 1
            if let live {
                let rows = (0..<column.count).filter { live[first + $0] }
                if rows.count < column.count { column = column.gather(rows) }
            }
            if column.count > 0 { return true }
        }
    }
}
