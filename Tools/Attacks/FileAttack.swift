import FirnBytes
import FirnDisk
import FirnModel
import FirnQuery

/// Everything that readers, questions and writers do with a file whose author may have meant harm.
struct FileAttack {
    let path: String
    /// What a file of a few kilobytes may make us look at; the rest of it is of the same kind.
    private let mostSegments = 3, mostVectors = 4

    func run(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= 1 << 20 else { return }
        do {
            let file = try File(path: path, .createOrTruncate)
            try file.write(bytes, at: 0)
        } catch { preconditionFailure("the scratch file cannot be written: \(error)") }
        guard let database = try? Database.open(path: path, writable: true) else { return }
        _ = try? database.verifyStructure()
        _ = try? database.space()
        for version in ((try? database.versions()) ?? []).prefix(3) {
            guard let snapshot = try? database.snapshot(version: version.version) else { continue }
            _ = snapshot.verify(full: true)
            _ = try? snapshot.statistics()
            for table in snapshot.tables { read(table) }
        }
        write(database)
    }

    private func read(_ table: StoredTable) {
        for index in 0..<min(table.segmentCount, mostSegments) {
            guard let segment = try? table.segment(index) else { continue }
            for column in table.type.columns.indices {
                if let reader = try? segment.column(column) { read(reader, Column(table.type.columns[column], in: table.schema), segment) }
            }
        }
        for id in [0, 1, 7, 500, Int64.max] { _ = try? table.row(id) }
        for request in requests(of: table.type) {
            guard let run = try? QueryRun(request, table: table) else { continue }
            _ = try? run.count()
            guard let rows = try? QueryRun(request, table: table) else { continue }
            var left = 3000
            try? rows.forEachBatch { batch in
                left -= batch.count
                return left > 0
            }
        }
    }

    private func read(_ reader: any ColumnReader, _ empty: Column, _ segment: any Segment) {
        _ = reader.zone()
        var column = empty, bits = [UInt64](repeating: 0, count: 16)
        let dictionary = try? reader.dictionary()
        for vector in 0..<min(segment.vectorCount, mostVectors) {
            _ = reader.zone(ofVector: vector)
            if (try? reader.read(vector: vector, into: &column)) != nil {
                for row in stride(from: 0, to: column.count, by: 1 + column.count / 50) { _ = column.value(at: row) }
            }
            if let dictionary, (try? reader.readCodes(vector: vector, into: &column)) != nil {
                for row in 0..<column.count where column.isPresent(row) {
                    precondition(column.words[row] >= 0 && column.words[row] < dictionary.count, "a code outside the dictionary is handed out")
                }
            }
            let ranges: [SoughtRange] = switch reader.type.kind {
            case .bool, .int, .link: [.words(0, 100), .words(.min, .max)]
            case .float, .double: [.reals(-1, 1e9)]
            case .date, .uuid, .objectID: [.pairs(low: (0, 0), high: (1 << 40, 5))]
            case .string, .data: dictionary == nil ? [] : [.codes(0, 3)]
            default: []
            }
            for range in ranges { bits.withUnsafeMutableBufferPointer { _ = try? reader.search(range, vector: vector, into: $0.baseAddress!) } }
            if reader.type.kind == .int || reader.type.kind == .double { _ = try? reader.sum(vector: vector) }
            let rows = segment.rows(ofVector: vector).count, some = [Int32](stride(from: Int32(0), to: Int32(rows), by: 37))
            some.withUnsafeBufferPointer { _ = try? reader.gather($0, vector: vector, into: &column) }
        }
        for row in [0, 1, segment.rowCount / 2, segment.rowCount - 1] where row >= 0 && row < segment.rowCount {
            _ = try? reader.value(at: row)
            if let id = try? segment.rowID(at: row) { _ = try? segment.position(of: id) }
        }
    }

    /// A question to each column, through its index if it has one; a sort, and a group.
    private func requests(of type: TypeSchema) -> [QueryRequest] {
        var requests: [QueryRequest] = []
        for column in type.columns.prefix(8) {
            let name = "`\(column.name.replacing("`", with: ""))`"
            if column.type.isCollection {
                requests.append(QueryRequest(filter: "\(name).@count > 1"))
                continue
            }
            switch column.type.kind {
            case .bool: requests.append(QueryRequest(filter: "\(name) == true"))
            case .int, .float, .double, .decimal:
                requests.append(QueryRequest(filter: "\(name) == 7"))
                requests.append(QueryRequest(filter: "\(name) BETWEEN {2, 90}", aggregates: [Aggregate(.sum, name), Aggregate(.min, name)]))
            case .string: requests.append(QueryRequest(filter: "\(name) BEGINSWITH 'w' OR \(name) TEXT 'word1'", sort: [.init(name)], limit: 5))
            case .date: requests.append(QueryRequest(filter: "\(name) > 2001-01-01@00:00:00"))
            case .any: requests.append(QueryRequest(filter: "\(name) == 5 OR \(name) == 'any1'"))
            default: requests.append(QueryRequest(filter: "\(name) == nil"))
            }
        }
        if let first = type.columns.first, !first.type.isCollection { requests.append(QueryRequest(groupBy: [first.name], aggregates: [Aggregate(.count)])) }
        return requests
    }

    /// Two commits of every kind of change, and then all is read once more.
    private func write(_ database: Database) {
        for round in 0..<2 {
            guard let transaction = try? database.begin(wait: false, threads: 1) else { return }
            for type in transaction.schema.roots.prefix(3) {
                let row = type.columns.map { Column.absentValue($0.type) }
                guard (try? transaction.insert(type.name, row)) != nil else { continue }
                for id in [Int64(0), 3, 70] {
                    for column in type.columns.prefix(3) { try? transaction.update(type.name, rowID: id, column: column.name, Column.absentValue(column.type)) }
                }
                try? transaction.delete(type.name, rowID: Int64(1 + round))
                if let column = type.columns.first, round == 0, column.type.refusal(of: .values) == nil { try? transaction.addIndex(type.name, column.name, .values) }
            }
            if round == 1 { try? transaction.flushAll() }
            guard (try? transaction.commit()) != nil else { return }
        }
        guard let snapshot = try? database.snapshot() else { return }
        _ = snapshot.verify(full: true)
        try? snapshot.compact(to: path + ".compact", overwrite: true, threads: 1)
    }
}
