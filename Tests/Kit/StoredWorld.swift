import FirnBytes
import FirnDatabase
import FirnDisk
import FirnTable

/// A failure of a history, and its step.
package struct StoredFailure: Error, CustomStringConvertible {
    package var step: Int
    package var description: String

    package init(step: Int, description: String) {
        self.step = step
        self.description = description
    }
}

/// A database and a dictionary of rows with the same history: the model world of stored rows and transactions. It covers inserts, bulk
/// writes, changes in place, parts of transactions, versions that are held, crashes, compaction and shrinking of one type of random columns.
/// `HistoryTests` (Tests/Database) runs it, and reduces a failing history to few steps.
///
/// The model world of realm objects is `Grove` (Tests/Firn/Oracle): Kit cannot import the object layer. What else compares a file with
/// a model is another thing, and stays with its tests:
/// * `KeyTrial` (Tests/Database): its model is the map from keys to rows. Equal keys have several forms, and the point is what is refused.
/// * `Story` (Tests/Database/TagHistoryTests): several types that link to each other. Its model of a version is what the file returned
///   when that version was the newest, so it can hold schema changes and reverts that this world does not know.
/// * `LinkedModel` (Tests/Change): two files with the same rows under other row ids.
/// * `RandomWorld` with `Oracle` (Tests/Oracle), and `RandomLinks` with `PathValues` (Tests/Query): not histories but second, slow
///   evaluators of queries, written separately so that they do not share a mistake.
/// * `Story` (Tests/Store): extents of bytes, below rows.
package final class StoredWorld {
    package typealias Rows = [Int64: [Value]]

    private var folder = TemporaryFolder()
    private var journal: DiskJournal
    private var database: Database
    private var transaction: DatabaseTransaction?
    /// Whether the transaction is one of another handle.
    private var isForeign = false
    private let keep: Int
    private var schema: Schema
    private var type: TypeSchema { schema.types.last! }
    /// The committed rows, and the rows that the transaction sees.
    private var rows: Rows = [:], working: Rows = [:]
    private var workingSchema: Schema
    /// The state at the last part that the transaction kept.
    private var kept: (rows: Rows, schema: Schema)?
    /// The states that a crash may leave: the durable one, and those committed since without durability.
    private var survivors: [(rows: Rows, schema: Schema)] = []
    private var pins: [(snapshot: DatabaseSnapshot, rows: Rows)] = []
    /// How often each step was taken.
    package private(set) var counts: [String: Int] = [:]
    private var at = 0
    /// Whether the model ignores some deletions.
    private let forgets: Bool

    /// - Parameter forgets: makes a wrong model, for the test of the tests.
    package init(seed: UInt64, forgets: Bool = false) throws {
        var random = RandomTables(seed: seed)
        schema = random.schema()
        if seed.isMultiple(of: 2) {
            // Without embedded objects, rows can be appended in place.
            var thing = schema.types.last!
            for i in thing.columns.indices where thing.columns[i].type.kind == .embedded {
                thing.columns[i] = ColumnSchema("c\(i)", ColumnType(.int, optional: true))
            }
            schema = Schema([thing])
        }
        workingSchema = schema
        self.forgets = forgets
        journal = DiskJournal(of: folder)
        keep = random.number(2...8)
        database = try Database.create(path: folder.file("a"), atFirstCommit: random.chance(50), keep: keep)
        let first = try database.begin()
        try first.extendSchema(schema.types)
        try first.commit()
        schema = try database.snapshot().schema
        workingSchema = schema
        survivors = [(rows, schema)]
    }

    deinit { ScriptedDisk.end(in: folder.path) }

    package func run(_ steps: [StoredStep]) throws(StoredFailure) {
        for (index, step) in steps.enumerated() {
            at = index
            do { try take(step) } catch { throw error as? StoredFailure ?? StoredFailure(step: index, description: "\(step): \(error)") }
        }
        at = steps.count
        do {
            try end(.commit(.full))
            for pin in pins { try compare(pin.snapshot, pin.rows, "a pinned version at the end") }
        } catch { throw error as? StoredFailure ?? StoredFailure(step: at, description: "at the end: \(error)") }
    }

    private func fail(_ what: String) -> StoredFailure { StoredFailure(step: at, description: what) }

    private func begun() throws -> DatabaseTransaction {
        if let transaction { return transaction }
        working = rows
        workingSchema = schema
        kept = nil
        transaction = try database.begin()
        return transaction!
    }

    private func pick(_ number: UInt64) -> Int64? {
        let ids = working.keys.sorted()
        return ids.isEmpty ? nil : ids[Int(number % UInt64(ids.count))]
    }

    private func take(_ step: StoredStep) throws {
        counts["\(step)".split(separator: " ").first.map(String.init)!, default: 0] += 1
        switch step {
        case .insert(let seed, let count):
            let open = try begun(), type = workingSchema.types.last!
            var random = RandomTables(seed: seed)
            for row in random.rows(count, of: type, in: workingSchema) { working[try open.insert("Thing", row)] = row }
        case .bulk(let seed, let count):
            let open = try begun(), type = workingSchema.types.last!
            var random = RandomTables(seed: seed)
            let all = random.rows(count, of: type, in: workingSchema)
            let first = try open.bulkWriter("Thing").append(RandomTables.batch(all, of: type, in: workingSchema))
            for (index, row) in all.enumerated() { working[first + Int64(index)] = row }
        case .update(let number, let seed):
            let open = try begun(), type = workingSchema.types.last!
            guard let id = pick(number) else { return }
            var random = RandomTables(seed: seed)
            let column = random.number(0...type.columns.count - 1), value = random.value(type.columns[column].type, in: workingSchema)
            try open.update("Thing", rowID: id, column: type.columns[column].name, value)
            working[id]![column] = value
        case .delete(let number, let count):
            let open = try begun()
            for turn in 0..<UInt64(count) {
                guard let id = pick(number &+ turn &* 7919) else { return }
                try open.delete("Thing", rowID: id)
                if !(forgets && id % 5 == 3) { working[id] = nil }
            }
        case .inPlace(let seed, let count): try changeInPlace(seed, count)
        case .look(let seed):
            let snapshot = try database.snapshot()
            try look(snapshot.table(named: "Thing")!, rows, seed)
            if let transaction { try look(transaction.table("Thing"), working, seed) }
        case .keepPart:
            try begun().keepPart()
            kept = (working, workingSchema)
        case .rollBack:
            guard let open = transaction, let kept else { return }
            if kept.schema.types.count == workingSchema.types.count {
                // A type that was added after the kept part is rolled back with it.
                try open.extendSchema([TypeSchema("More", columns: [ColumnSchema("a", ColumnType(.int))])])
            }
            open.rollBack()
            (working, workingSchema) = kept
            if open.schema["More"] != nil { throw fail("a type of a part that was rolled back is left") }
            try compare(open.table("Thing"), working, "after a part was rolled back")
        case .second:
            try end(.commit(.full))
            // Versions that are not durable yet hold the write lock.
            try database.settle()
            survivors = [(rows, schema)]
            working = rows
            workingSchema = schema
            kept = nil
            transaction = try Database.open(path: database.path, writable: true, keep: keep).begin()
            isForeign = true
        case .flush: try begun().flushAll()
        case .addColumn:
            let open = try begun()
            guard workingSchema.types.last!.columns.count < 9 else { return }
            var wider = workingSchema.types.last!
            wider.columns.append(ColumnSchema("x\(wider.columns.count)", ColumnType(.int, optional: true)))
            try open.extendSchema([wider])
            workingSchema = open.schema
            for id in working.keys { working[id]!.append(.null) }
        case .addIndex(let number):
            let open = try begun(), type = workingSchema.types.last!
            let fitting = type.columns.filter { !$0.type.isCollection && [.int, .string].contains($0.type.kind) && $0.indexes == [] }
            guard !fitting.isEmpty else { return }
            try open.addIndex("Thing", fitting[Int(number % UInt64(fitting.count))].name, .values)
            workingSchema = open.schema
        case .commit, .cancel: try end(step)
        case .pin: pins.append((try database.snapshot(), rows))
        case .letGo(let number):
            guard !pins.isEmpty else { return }
            let pin = pins.remove(at: Int(number % UInt64(pins.count)))
            try compare(pin.snapshot, pin.rows, "a pinned version")
        case .settle:
            try end(.commit(.none))
            try database.settle()
            survivors = [(rows, schema)]
        case .reopen:
            try end(.cancel)
            try reopen()
        case .compact:
            try end(.commit(.full))
            try database.snapshot().compact(to: folder.file("a"), overwrite: true)
            pins = []
            try reopen()
        case .shrink:
            try end(.commit(.full))
            // A store with versions that are not durable yet holds the write lock.
            try database.settle()
            survivors = [(rows, schema)]
            let report = try Database.shrink(path: folder.file("a"))
            try compare(try database.snapshot(), rows, "after shrinking, \(report)")
            for pin in pins { try compare(pin.snapshot, pin.rows, "a pinned version after shrinking") }
            let defects =
                try database.snapshot().verify(full: true).map(\.description) + (try database.verifyStructure().map(\.description))
            if let defect = defects.first { throw fail("after shrinking: \(defect)") }
        case .crash(let seed): try crash(seed)
        }
    }

    /// Ends the transaction, if one is open.
    private func end(_ step: StoredStep) throws {
        guard let open = transaction else { return }
        let isForeign = isForeign
        transaction = nil
        self.isForeign = false
        try compare(open.table("Thing"), working, "in the transaction")
        if case .commit(let wanted) = step {
            // The handle ends here, and a version that is not durable would end with it.
            let durability = isForeign ? .full : wanted
            try open.commit(durability: durability)
            rows = working
            schema = workingSchema
            if durability != .none { survivors = [] }
            survivors.append((rows, schema))
        } else {
            open.cancel()
        }
        try compare(try database.snapshot(), rows, "after \(step)")
    }

    private func reopen() throws {
        let path = database.path
        try database.settle()
        database = try Database.open(path: path, writable: true, keep: keep)
        survivors = [(rows, schema)]
        try compare(try database.snapshot(), rows, "after reopening")
        let defects = try database.verifyStructure()
        if let defect = defects.first { throw fail("after reopening: \(defect)") }
    }

    /// Simulates a crash: a possible image of the disk replaces the folder.
    private func crash(_ seed: UInt64) throws {
        var images = CrashImages(seed: seed, samples: 1), all: [(String, [String: [UInt8]])] = []
        let events = journal.events
        images.visit(events, from: journal.first, stops: events.count...events.count) { _, what, files in all.append((what, files)) }
        let (what, files) = all[Int(seed % UInt64(all.count))]
        ScriptedDisk.end(in: folder.path)
        let next = TemporaryFolder()
        for (name, bytes) in files { try File(path: next.file(name), .createNew).write(bytes, at: 0) }
        // Open stores continue in the old folder, which is not used again.
        transaction?.cancel()
        transaction = nil
        isForeign = false
        pins = []
        folder = next
        journal = DiskJournal(of: next)
        database = try Database.open(path: next.file("a"), writable: true, keep: keep)
        let snapshot = try database.snapshot(), table = try allRows(snapshot.table(named: "Thing")!)
        guard let left = survivors.last(where: { same(table, $0.rows) }) else {
            throw fail("after a crash (\(what)): \(snapshot.version) holds \(table.count) rows, not one of \(survivors.map(\.rows.count))")
        }
        (rows, schema) = left
        if snapshot.schema != schema { throw fail("after a crash (\(what)): another schema") }
        survivors = [left]
        let defects = snapshot.verify(full: true)
        if let defect = defects.first { throw fail("after a crash (\(what)): \(defect)") }
    }

    private func same(_ table: [(id: Int64, values: [Value])], _ rows: Rows) -> Bool {
        table.map(\.id) == rows.keys.sorted() && table.allSatisfy { $0.values == rows[$0.id]!.map(stripped) }
    }

    private func compare(_ snapshot: DatabaseSnapshot, _ rows: Rows, _ what: @autoclosure () -> String) throws {
        try compare(snapshot.table(named: "Thing")!, rows, "\(what()), version \(snapshot.version)")
    }

    private func compare(_ table: any Table, _ rows: Rows, _ what: @autoclosure () -> String) throws {
        let found = try allRows(table)
        if table.rowCount != rows.count { throw fail("\(what()): the table says \(table.rowCount) rows, not \(rows.count)") }
        if same(found, rows) { return }
        let ids = Set(found.map(\.id)), extra = ids.subtracting(rows.keys).sorted(), missing = Set(rows.keys).subtracting(ids).sorted()
        let other = found.first { row in rows[row.id].map { $0.map(stripped) != row.values } ?? false }
        throw fail(
            "\(what()): \(extra.count) rows too many \(extra.prefix(3)), \(missing.count) missing \(missing.prefix(3)), differs: \(other.map { "\($0)" } ?? "none")"
        )
    }

    // MARK: Single rows

    /// Appends, sets and deletes rows through the table of the transaction.
    private func changeInPlace(_ seed: UInt64, _ count: Int) throws {
        let open = try begun(), table = open.table("Thing"), type = workingSchema.types.last!
        var random = RandomTables(seed: seed), ids = working.keys.sorted()
        let settable = type.columns.indices.filter { type.columns[$0].type.kind != .embedded }
        for _ in 0..<count {
            let kind = random.number(0...99)
            if kind < 42 || ids.isEmpty {
                let row = random.rows(1, of: type, in: workingSchema)[0]
                let id: Int64
                if settable.count < type.columns.count {
                    id = try open.insert("Thing", row)
                } else {
                    var fits = true
                    id = try table.append { (columns) throws(FirnError) in
                        for i in row.indices where !columns[i].append(row[i]) { fits = false }
                    }
                    if !fits { throw fail("a value does not fit its column") }
                }
                working[id] = row
                ids.append(id)
                continue
            }
            let index = random.number(0...ids.count - 1), id = ids[index]
            if kind < 84 {
                guard !settable.isEmpty else { continue }
                let column = settable[random.number(0...settable.count - 1)], what = type.columns[column].type
                let value = random.value(what, in: workingSchema)
                switch value {
                case .int(let x) where what.kind == .int && !what.isCollection && random.chance(50):
                    try table.setWord(ofRow: id, column, to: x)
                case .bool(let x) where what.kind == .bool && random.chance(50): try table.setWord(ofRow: id, column, to: x ? 1 : 0)
                case .double(let x) where what.kind == .double && random.chance(50): try table.setReal(ofRow: id, column, to: x)
                case .float(let x) where what.kind == .float && random.chance(50): try table.setReal(ofRow: id, column, to: Double(x))
                default: try table.set(id, column, value)
                }
                working[id]![column] = value
            } else {
                try table.delete(id)
                var code: FirnError.Code?
                do throws(FirnError) { try table.delete(id) } catch { code = error.code }
                if code != .notFound { throw fail("deleting row \(id) again is not refused: \(code.map { "\($0)" } ?? "no error")") }
                ids.swapAt(index, ids.count - 1)
                ids.removeLast()
                if !(forgets && id % 5 == 3) { working[id] = nil }
            }
        }
        try look(table, working, seed)
    }

    /// Reads some rows one by one: their location, their values, and numbers without a box.
    private func look(_ table: any RowTable, _ rows: Rows, _ seed: UInt64) throws {
        let ids = rows.keys.sorted()
        var random = RandomTables(seed: seed)
        for _ in 0..<min(ids.count, 6) {
            let id = ids[random.number(0...ids.count - 1)]
            guard let location = try table.location(of: id) else { throw fail("row \(id) has no location") }
            guard try table.isLive(id) else { throw fail("row \(id) is not live") }
            for (i, column) in table.type.columns.enumerated() where column.type.kind != .embedded {
                let value = try table.storedValue(id, i)
                guard value == rows[id]![i] else { throw fail("row \(id), column \(i) is \(value), not \(rows[id]![i])") }
                guard !column.type.isCollection else { continue }
                let word = try [ScalarKind.int, .bool].contains(column.type.kind) ? table.word(at: location, i) : nil
                let real = try column.type.kind == .double ? table.real(at: location, i) : nil
                switch (column.type.kind, value) {
                case (.int, .int(let x)): if word != x { throw fail("row \(id), column \(i): the word \(word ?? 0), not \(x)") }
                case (.bool, .bool(let x)): if word != (x ? 1 : 0) { throw fail("row \(id), column \(i): the word \(word ?? 2)") }
                case (.double, .double(let x)):
                    if real?.bitPattern != x.bitPattern { throw fail("row \(id), column \(i): the number \(real ?? .nan), not \(x)") }
                default: if word != nil || real != nil { throw fail("row \(id), column \(i): a number for null") }
                }
            }
        }
        let absent = (ids.last ?? 0) + 1000
        if try table.location(of: absent) != nil || table.isLive(absent) { throw fail("row \(absent) is found, but never was there") }
    }
}
