import FirnBytes
import FirnDisk
import FirnExchange
import FirnTable
import FirnThreads

/// Reads an SQLite database: all tables one after the other, without changing the file. For one thread.
///
/// Each table is read twice, in one transaction: first to decide what its columns become, then for its rows. A thread reads the next batch
/// while one is used.
package final class SQLiteReader: BatchReader {
    package let schema: Schema
    package let hasLinks: Bool
    package let remarks: [String]
    private let work: Work
    private let queue: BlockQueue<Int, Batch?>?
    private let progress: Progress
    /// The positions of the tables that are still to be read.
    private var waiting: [Int]
    private let names: [String]

    /// The number of batches that are read before they are asked for.
    private static let maximumAhead = 2

    /// What the threads share: only one of them uses it at a time.
    private final class Work: @unchecked Sendable {
        let sources: [SQLiteSource]
        private let connection: SQLiteConnection
        private let budget: MemoryBudget
        private var scan: (table: Int, scan: SQLiteScan)?

        init(_ connection: SQLiteConnection, _ sources: [SQLiteSource], _ budget: MemoryBudget) {
            self.connection = connection
            self.sources = sources
            self.budget = budget
        }

        /// Returns the next rows of a table; nil at its end. `begin` begins it again.
        func next(of table: Int) throws(FirnError) -> Batch? {
            let current: SQLiteScan
            if let scan, scan.table == table {
                current = scan.scan
            } else {
                scan = nil
                current = try SQLiteScan(sources[table], connection, budget: budget)
                scan = (table, current)
            }
            return try current.next().map(sources[table].converted)
        }

        func begin() { scan = nil }
    }

    /// - Throws: `.notThisFormat`, `.damaged`, `.locked`, `.unsupported` or `.outOfMemory`, with the table and the row id where they are known.
    package init(_ input: Input, options: SQLiteOptions, progress: Progress = Progress()) throws(FirnError) {
        let connection = try SQLiteConnection(reading: input, options.budget), records = try SQLiteRecords(connection)
        let tables = try SQLiteTables(connection, options, records)
        var guesses = tables.remarks, remarks = guesses
        let survey = SQLiteSurvey(connection, threads: options.threads)
        var sources = try tables.tables.map { (table) throws(FirnError) in try SQLiteSource(table, survey) }
        for i in sources.indices { try sources[i].apply(records, connection, options.budget) }
        remarks += sources.flatMap(\.remarks)
        if options.readsLinks {
            let linker = try SQLiteLinker(sources, connection, options.budget)
            sources = linker.sources
            guesses += linker.remarks
            remarks += linker.remarks
        }
        let types = sources.map(\.type)
        var schema = Schema(types + SQLiteReader.embedded(records, in: types))
        schema.otherAttributes = records.attributes(nil, nil)
        self.schema = schema
        // Values of any kind are links only in databases that Firn wrote; others mix integers, reals and texts.
        hasLinks = schema.holds(.link) || records.holdAny
        self.remarks = remarks
        self.guesses = guesses
        names = types.map(\.name)
        waiting = Array(sources.indices)
        self.progress = progress
        progress.fixTotal(bytes: nil)
        let work = Work(connection, sources, options.budget)
        self.work = work
        queue = options.threads > 1 ? BlockQueue(threads: 1) { (table) throws(FirnError) in try work.next(of: table) } : nil
    }

    /// Returns the embedded types that columns have, and those of their fields.
    private static func embedded(_ records: SQLiteRecords, in types: [TypeSchema]) -> [TypeSchema] {
        let all = Schema(records.embeddedTypes)
        var wanted: Set<String> = [], waiting = types
        while let next = waiting.popLast() {
            for name in next.columns.compactMap({ $0.type.kind == .embedded ? $0.type.target : nil }) where wanted.insert(name).inserted {
                if let type = all[name] { waiting.append(type) }
            }
        }
        return all.types.filter { wanted.contains($0.name) && !types.map(\.name).contains($0.name) }
    }

    /// What was left out.
    package let guesses: [String]

    /// Restricts the reader to the rows of one type, from the first one on. It can be called again when these have been read.
    package func choose(_ type: String) {
        while let queue, queue.pending > 0 { _ = try? queue.next() }
        work.begin()
        waiting = names.indices.filter { names[$0] == type }
    }

    package func next() throws(FirnError) -> (type: String, batch: Batch)? {
        while let table = waiting.first {
            if let batch = try batch(of: table) {
                progress.add(rows: batch.count)
                return (names[table], batch)
            }
            while let queue, queue.pending > 0 { _ = try queue.next() }
            waiting.removeFirst()
        }
        return nil
    }

    private func batch(of table: Int) throws(FirnError) -> Batch? {
        guard let queue else { return try work.next(of: table) }
        while queue.pending < SQLiteReader.maximumAhead { queue.submit(table) }
        return try queue.next() ?? nil
    }
}
