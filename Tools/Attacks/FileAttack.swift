import FirnBytes
import FirnDatabase
import FirnDisk
import FirnQuery
import FirnTable

/// Runs everything that readers, queries and writers do on an untrusted file.
package struct FileAttack {
    let path: String
    /// Limits of the work per input. The other segments and vectors exercise the same code.
    private let maximumSegments = 3, maximumVectors = 4

    /// A part of the attack. A fuzzer runs one part per input, so that it tries far more inputs; tests run all parts.
    package enum Facet: CaseIterable, Sendable {
        /// Free space, retention, tags, and the structure of all versions.
        case structure
        /// Full verification of the newest version: every value is decoded and compared with indexes and keys.
        case verification
        /// Full verification of earlier versions.
        case olderVersions
        /// Reading columns by vector, by row and by dictionary code.
        case columns
        /// Queries with and without indexes.
        case queries
        /// Two commits with every kind of change, and verification of the result.
        case commits
        /// Compaction of the newest version, and of several versions.
        case compaction
        /// Revert to an earlier version, and shrinking in place.
        case revision
        /// Recovery.
        case recovery
    }

    /// The part that a fuzzer runs on an input: one facet, and one query per table. It is determined by the hash of the input.
    package struct Part: Sendable {
        let facet: Facet
        let query: Int

        package init(of bytes: UnsafeRawBufferPointer) {
            let hash = Hash128(of: bytes)
            facet = Facet.allCases[Int(hash.low % UInt64(Facet.allCases.count))]
            query = Int(hash.high & 0xFFFF)
        }
    }

    func run(_ bytes: UnsafeRawBufferPointer, only part: Part? = nil) {
        guard bytes.count <= 1 << 20 else { return }
        do {
            let file = try File(path: path, .createOrTruncate)
            try file.write(bytes, at: 0)
        } catch { trap("cannot write the scratch file: \(error)") }
        if part?.facet == .recovery { return recover() }
        guard let database = open() else {
            if part == nil { recover() }
            return
        }
        if let part { use(database, part.facet, query: part.query) } else { useAll(database) }
    }

    private func useAll(_ database: Database) {
        var isWhole = true
        for facet in Facet.allCases where facet != .recovery { isWhole = use(database, facet) && isWhole }
        if !isWhole { recover() }
    }

    /// Runs one facet. Returns false if the file is not intact.
    @discardableResult
    private func use(_ database: Database, _ facet: Facet, query: Int? = nil) -> Bool {
        func newest() -> DatabaseSnapshot? { try? database.snapshot() }
        switch facet {
        case .structure:
            _ = try? database.space()
            _ = try? database.retention()
            for snapshot in earlier(database) { _ = try? snapshot.statistics() }
            return (try? database.verifyStructure())?.isEmpty == true
        case .verification: return newest()?.verify(full: true).isEmpty == true
        case .olderVersions: return earlier(database).allSatisfy { $0.verify(full: true).isEmpty }
        case .columns: newest()?.tables.forEach(readColumns)
        case .queries: newest()?.tables.forEach { ask($0, only: query) }
        case .commits: commit(database)
        case .compaction: compact(database)
        case .revision: revise(database)
        case .recovery: recover()
        }
        return true
    }

    /// Returns some kept and tagged versions, including the newest.
    private func earlier(_ database: Database) -> [DatabaseSnapshot] {
        let tagged = ((try? database.tags()) ?? []).prefix(2).compactMap { try? database.snapshot(tag: $0.name) }
        return ((try? database.versions()) ?? []).prefix(3).compactMap { try? database.snapshot(version: $0.version) } + tagged
    }

    /// Opens the file, with the key if it is encrypted: the attacker knows the key.
    private func open() -> Database? {
        do throws(FirnError) { return try Database.open(path: path, writable: true) } catch {
            guard error.code == .encrypted else { return nil }
            return try? Database.open(path: path, writable: true, key: EncryptionKey([UInt8](0..<64)))
        }
    }

    private func recover() { _ = try? Recovery.run(from: path, to: path + ".saved", overwrite: true, profile: .fast, threads: 1) }

    private func readColumns(_ table: StoredTable) {
        for index in 0..<min(table.segmentCount, maximumSegments) {
            guard let segment = try? table.segment(index) else { continue }
            for column in table.type.columns.indices {
                if let reader = try? segment.column(column) { read(reader, Column(table.type.columns[column], in: table.schema), segment) }
            }
        }
        for id in [0, 1, 7, 500, Int64.max] { _ = try? table.row(id) }
        if !table.type.key.isEmpty { _ = try? table.find(key: table.type.key.map { Column.absentValue(table.type.columns[$0].type) }) }
    }

    /// Runs queries on a table. `query` selects one of them; nil runs all.
    private func ask(_ table: StoredTable, only query: Int?) {
        let all = requests(of: table.type, in: table.schema)
        for (index, request) in all.enumerated() where query.map({ $0 % all.count == index }) ?? true {
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
        for vector in 0..<min(segment.vectorCount, maximumVectors) {
            _ = reader.zone(ofVector: vector)
            if (try? reader.read(vector: vector, into: &column)) != nil {
                for row in stride(from: 0, to: column.count, by: 1 + column.count / 50) { _ = column.value(at: row) }
            }
            if let dictionary, (try? reader.readCodes(vector: vector, into: &column)) != nil {
                for row in 0..<column.count where column.isPresent(row) {
                    trap(
                        unless: column.words[row] >= 0 && column.words[row] < dictionary.count, "a code outside the dictionary was returned"
                    )
                }
            }
            let ranges: [SoughtRange] =
                switch reader.type.kind {
                case .bool, .int, .link: [.words(0, 100), .words(.min, .max)]
                case .float, .double: [.reals(-1, 1e9)]
                case .date, .uuid, .objectID: [.pairs(low: (0, 0), high: (1 << 40, 5))]
                case .string, .data: dictionary == nil ? [] : [.codes(0, 3)]
                default: []
                }
            for range in ranges {
                bits.withUnsafeMutableBufferPointer { _ = try? reader.search(range, vector: vector, into: $0.baseAddress!) }
            }
            if reader.type.kind == .int || reader.type.kind == .double { _ = try? reader.sum(vector: vector) }
            let rows = segment.rows(ofVector: vector).count, some = [Int32](stride(from: Int32(0), to: Int32(rows), by: 37))
            some.withUnsafeBufferPointer { _ = try? reader.gather($0, vector: vector, into: &column) }
        }
        for row in [0, 1, segment.rowCount / 2, segment.rowCount - 1] where row >= 0 && row < segment.rowCount {
            _ = try? reader.value(at: row)
            if let id = try? segment.rowID(at: row) { _ = try? segment.position(of: id) }
        }
    }

    /// Returns queries for each column, through its index if it has one, some of them with sorting, grouping and aggregates.
    private func requests(of type: TypeSchema, in schema: Schema) -> [QueryRequest] {
        var requests: [QueryRequest] = []
        for column in type.columns.prefix(8) {
            let name = quoted(column)
            // A column of linked rows or embedded objects.
            let inner = column.type.target.flatMap { schema[$0]?.columns.first { !$0.type.isCollection } }
            if column.type.isCollection {
                requests.append(QueryRequest(filter: "\(name).@count > 1"))
                if let inner {
                    requests.append(QueryRequest(filter: "ANY \(name).\(quoted(inner)) == nil OR NONE \(name).\(quoted(inner)) != nil"))
                }
                if column.type.kind == .int { requests.append(QueryRequest(filter: "ANY \(name) == 3 OR \(name).@sum > 10")) }
                continue
            }
            if let inner {
                requests.append(QueryRequest(filter: "\(name).\(quoted(inner)) != nil", sort: [.init("\(name).\(quoted(inner))")]))
            }
            switch column.type.kind {
            case .bool: requests.append(QueryRequest(filter: "\(name) == true"))
            case .int, .float, .double, .decimal:
                requests.append(QueryRequest(filter: "\(name) == 7"))
                requests.append(
                    QueryRequest(filter: "\(name) BETWEEN {2, 90}", aggregates: [Aggregate(.sum, name), Aggregate(.min, name)]))
            case .string:
                requests.append(QueryRequest(filter: "\(name) BEGINSWITH 'w' OR \(name) TEXT 'word1'", sort: [.init(name)], limit: 5))
            case .date: requests.append(QueryRequest(filter: "\(name) > 2001-01-01@00:00:00"))
            case .any: requests.append(QueryRequest(filter: "\(name) == 5 OR \(name) == 'any1'"))
            default: requests.append(QueryRequest(filter: "\(name) == nil"))
            }
        }
        if let first = type.columns.first, !first.type.isCollection {
            requests.append(QueryRequest(groupBy: [first.name], aggregates: [Aggregate(.count)]))
        }
        return requests
    }

    private func quoted(_ column: ColumnSchema) -> String { "`\(column.name.replacing("`", with: ""))`" }

    /// Makes two commits with every kind of change, and then verifies the file.
    private func commit(_ database: Database) {
        for round in 0..<2 {
            guard let transaction = try? database.begin(wait: .no, threads: 1) else { return }
            for type in transaction.schema.roots.prefix(3) {
                let row = type.columns.map { Column.absentValue($0.type) }
                guard (try? transaction.insert(type.name, row)) != nil else { continue }
                for id in [Int64(0), 3, 70] {
                    for column in type.columns.prefix(3) {
                        try? transaction.update(type.name, rowID: id, column: column.name, Column.absentValue(column.type))
                    }
                }
                try? transaction.delete(type.name, rowID: Int64(1 + round))
                if let column = type.columns.first, round == 0, column.type.refusal(of: .values) == nil {
                    try? transaction.addIndex(type.name, column.name, .values)
                }
            }
            for type in transaction.schema.types.prefix(4) { try? transaction.deleteLinks(to: type.name, rows: [2, 5]) }
            if round == 1 { try? transaction.flushAll() }
            guard (try? transaction.commit()) != nil else { return }
        }
        _ = (try? database.snapshot())?.verify(full: true)
    }

    private func compact(_ database: Database) {
        guard let last = try? database.snapshot() else { return }
        try? last.compact(to: path + ".compact", overwrite: true, threads: 1)
        guard let before = earlier(database).last, before.version < last.version else { return }
        try? Database.compact([(before, ["one"]), (last, [])], retention: nil, to: path + ".compact", threads: 1)
    }

    private func revise(_ database: Database) {
        revert(database)
        // No snapshot is held any more, so everything can be moved.
        _ = try? Database.shrink(path: path, key: database.key)
    }

    private func revert(_ database: Database) {
        guard let before = earlier(database).last, let transaction = try? database.begin(wait: .no, threads: 1),
            (try? transaction.revert(to: before)) != nil
        else { return }
        guard (try? transaction.commit()) != nil else { return }
        _ = try? database.tag("attack", before, wait: .no)
        _ = (try? database.snapshot())?.verify(full: true)
    }
}
