import FirnBytes
import FirnChange
import FirnDatabase
import FirnKit
import FirnTable
import Testing

@Suite struct TableChangesTests {
    static let part = TypeSchema(
        "Part", columns: [ColumnSchema("size", ColumnType(.int)), ColumnSchema("note", ColumnType(.string, optional: true))],
        isEmbedded: true)
    static let plain = TypeSchema(
        "Row",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("name", ColumnType(.string, optional: true)),
            ColumnSchema("score", ColumnType(.double, optional: true)),
            ColumnSchema("tags", ColumnType(.string, collection: .list)),
        ])

    static func row(_ id: Int) -> [Value] {
        [.int(Int64(id)), id % 7 == 0 ? .null : .string("name \(id % 100)"), .double(Double(id) / 4), .list([])]
    }

    /// A file with this number of rows in sealed segments.
    static func file(_ folder: TemporaryFolder, rows: Int) throws -> Database {
        let database = try Database.create(path: folder.file("a.firn"), keep: 64)
        let transaction = try database.begin()
        try transaction.extendSchema([plain])
        if rows > 0 {
            let writer = try transaction.bulkWriter("Row")
            for start in stride(from: 0, to: rows, by: 50_000) {
                var batch = Batch(plain, in: Schema([plain]))
                for id in start..<min(rows, start + 50_000) {
                    for (i, value) in row(id).enumerated() { batch.columns[i].append(value) }
                    batch.count += 1
                }
                try writer.append(batch)
            }
        }
        try transaction.commit()
        return database
    }

    @Test func `a change of one row in a million decodes a handful of values`() throws {
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"))
        let type = TypeSchema("Row", columns: (0..<4).map { ColumnSchema("c\($0)", ColumnType(.int)) })
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        let writer = try transaction.bulkWriter("Row")
        for start in stride(from: 0, to: 1_000_000, by: 50_000) {
            var batch = Batch(type, in: Schema([type]))
            for c in 0..<4 {
                batch.columns[c].words = (0..<50_000).map { Int64(($0 + start) * (c + 1) % 10_007) }
                batch.columns[c].count = 50_000
            }
            batch.count = 50_000
            try writer.append(batch)
        }
        try transaction.commit()
        let before = try database.snapshot()
        let second = try database.begin()
        try second.update("Row", rowID: 777_777, column: "c2", .int(-1))
        try second.commit()
        let after = try database.snapshot()
        let old = try #require(before.table(named: "Row")), new = try #require(after.table(named: "Row"))
        let changes = try TableChanges.between(old, new)
        #expect((changes.inserted, changes.deleted, changes.modified.rowIDs) == ([], [], [777_777]))
        #expect(changes.modified.columns(at: 0) == Bits(words: [0b0100], count: 4))
        #expect(changes.decoded.vectors == 0 && changes.decoded.values <= 8)
        #expect(try TableChanges.between(new, new).isEmpty)
        let indices = try CollectionChanges.between(old: old, new: new, changes: changes)
        #expect((indices.modificationsOld, indices.modificationsNew) == ([777_777], [777_777]))
    }

    @Test func `rows that only moved from the delta to segments are not changed`() throws {
        let folder = TemporaryFolder()
        let database = try Self.file(folder, rows: 3000)
        let first = try database.begin()
        for id in 3000..<3100 { _ = try first.insert("Row", Self.row(id)) }
        try first.update("Row", rowID: 5, column: "name", .string("other"))
        try first.delete("Row", rowID: 9)
        try first.commit()
        let before = try database.snapshot()
        let second = try database.begin()
        try second.flushAll()
        try second.commit()
        let after = try database.snapshot()
        let changes = try TableChanges.between(before.table(named: "Row"), after.table(named: "Row"))
        #expect(changes.isEmpty)
        // The same with one actual change of each kind.
        let third = try database.begin()
        try third.update("Row", rowID: 3050, column: "tags", .list([.string("x")]))
        try third.update("Row", rowID: 6, column: "score", .double(6.0 / 4))
        try third.delete("Row", rowID: 3099)
        let id = try third.insert("Row", Self.row(1))
        try third.flushAll()
        try third.commit()
        let last = try database.snapshot()
        let more = try TableChanges.between(before.table(named: "Row"), last.table(named: "Row"))
        #expect((more.inserted, more.deleted, more.modified.rowIDs) == ([id], [3099], [3050]))
        #expect(more.modified.columns(ofRow: 3050) == Bits(words: [0b1000], count: 4))
        // In reverse, insertions become deletions and the other way round.
        let back = try TableChanges.between(last.table(named: "Row"), before.table(named: "Row"))
        #expect((back.inserted, back.deleted, back.modified.rowIDs) == ([3099], [id], [3050]))
    }

    @Test func `an added or removed column changes only the rows with a value in it`() throws {
        let folder = TemporaryFolder()
        let database = try Self.file(folder, rows: 5000)
        let before = try database.snapshot()
        let transaction = try database.begin()
        var wider = Self.plain
        wider.columns.append(ColumnSchema("weight", ColumnType(.double)))
        wider.columns.append(ColumnSchema("more", ColumnType(.string, optional: true)))
        try transaction.extendSchema([wider])
        try transaction.update("Row", rowID: 17, column: "more", .string("x"))
        try transaction.update("Row", rowID: 18, column: "weight", .double(0))
        try transaction.update("Row", rowID: 19, column: "weight", .double(2))
        try transaction.commit()
        let after = try database.snapshot()
        let changes = try TableChanges.between(before.table(named: "Row"), after.table(named: "Row"))
        #expect((changes.inserted, changes.deleted, changes.modified.rowIDs) == ([], [], [17, 19]))
        #expect(changes.modified.columns(at: 0) == Bits(words: [0b100000], count: 6))
        let back = try TableChanges.between(after.table(named: "Row"), before.table(named: "Row"))
        #expect(back.modified.rowIDs == [17, 19] && back.modified.differsInRemovedColumn(at: 0))
        #expect(back.modified.columns(at: 0).noneSet)
        // If one version does not have the type, all its rows are inserted or deleted.
        #expect(try TableChanges.between(nil, after.table(named: "Row")).inserted.count == 5000)
        #expect(try TableChanges.between(after.table(named: "Row"), nil).deleted.count == 5000)
    }

    @Test func `a changed field of an embedded object is a change of the embedded type only`() throws {
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"))
        let owner = TypeSchema(
            "Owner",
            columns: [
                ColumnSchema("part", ColumnType(.embedded, optional: true, target: "Part")), ColumnSchema("n", ColumnType(.int)),
                ColumnSchema("parts", ColumnType(.embedded, collection: .list, target: "Part")),
            ])
        let transaction = try database.begin()
        try transaction.extendSchema([Self.part, owner])
        func part(_ size: Int) -> Value { .object([.init("size", .int(Int64(size))), .init("note", .null)]) }
        for i in 0..<4000 { _ = try transaction.insert("Owner", [i % 2 == 0 ? .null : part(i), .int(Int64(i)), .list([part(i)])]) }
        try transaction.flushAll()
        try transaction.commit()
        let before = try database.snapshot()
        let second = try database.begin()
        try second.update("Part", rowID: 10, column: "size", .int(-5))
        try second.update("Owner", rowID: 100, column: "part", part(3))
        try second.commit()
        let after = try database.snapshot()
        let owners = try TableChanges.between(before.table(named: "Owner"), after.table(named: "Owner"))
        #expect(owners.modified.rowIDs == [100] && owners.modified.columns(at: 0) == Bits(words: [1], count: 3))
        #expect(owners.decoded.vectors == 0)
        let parts = try TableChanges.between(before.table(named: "Part"), after.table(named: "Part"))
        #expect((parts.inserted.count, parts.deleted, parts.modified.rowIDs) == (1, [], [10]))
    }

    @Test func `tables in memory are compared by row id for any batches`() throws {
        let columns = [column("a", .int), column("b", .any), column("c", .string)]
        var rows: [[Value]] = (0..<40).map { [.int(Int64($0)), $0 % 3 == 0 ? .null : .double(.nan), .string("s")] }
        let old = table(columns, rows, batch: 7)
        rows[3][2] = .null
        rows[39][1] = .string("x")
        let new = table(columns, rows + [[.null, .null, .null]], batch: 5)
        let changes = try TableChanges.between(old, new)
        #expect((changes.inserted, changes.deleted, changes.modified.rowIDs) == ([40], [], [3, 39]))
        #expect(changes.modified.columns(ofRow: 3) == Bits(words: [4], count: 3))
        #expect(changes.modified.columns(ofRow: 4) == nil)
        // Objects that are stored in the rows themselves are compared field by field.
        let place = ColumnSchema("place", ColumnType(.embedded, optional: true, collection: .list, target: "Part"))
        func places(_ note: Value) -> MemoryTable {
            table(
                [place], (0..<20).map { [$0 == 9 ? .list([.object([.init("size", .int(1)), .init("note", note)])]) : .list([])] },
                batch: 20, embedded: [Self.part])
        }
        #expect(try TableChanges.between(places(.string("x")), places(.string("y"))).modified.rowIDs == [9])
        #expect(try TableChanges.between(places(.null), places(.null)).isEmpty)
    }

    @Test func `if a run grew, only the rows that its segments report are read`() throws {
        let rows = (0..<5000).map(Int64.init)
        let old = KnowingTable([rows], changed: [], longest: 5000)
        var later = rows + [70, 71]
        later[4321] = -1
        let new = KnowingTable([later], changed: [17, 4321, 5000, 5001], longest: 5002)
        let changes = try TableChanges.between(old, new)
        #expect((changes.inserted, changes.deleted, changes.modified.rowIDs) == ([5000, 5001], [], [4321]))
        #expect(changes.decoded.vectors == 0 && changes.decoded.values == 4)
        // In reverse: the old version is longer.
        let back = try TableChanges.between(
            KnowingTable([later], changed: [], longest: 5002), KnowingTable([rows], changed: [4321, 5000, 5001], longest: 5002))
        #expect((back.inserted, back.deleted, back.modified.rowIDs) == ([], [5000, 5001], [4321]))
        // The additional row is in the next segment of the other version, so nothing was inserted or deleted.
        let split = try TableChanges.between(
            KnowingTable([later], changed: [], longest: 5002), KnowingTable([later.dropLast(), [71]], changed: [5001], longest: 5002))
        #expect(split.isEmpty)
        #expect(throws: Damage.self) { try TableChanges.between(old, KnowingTable([later], changed: [], longest: 12)) }
    }

    /// Random commits with and without flush. Any two versions are compared in both directions, with a dictionary as model.
    @Test(arguments: Seed.first(Tier.cases(3, of: 6))) func `the changes between any two versions are those of their rows`(seed: Seed)
        throws
    {
        var random = RandomTables(seed)
        let folder = TemporaryFolder()
        let type = TypeSchema(
            "Row",
            columns: [
                ColumnSchema("a", ColumnType(.int)), ColumnSchema("b", ColumnType(.string, optional: true)),
                ColumnSchema("c", ColumnType(.any)), ColumnSchema("d", ColumnType(.int, collection: .set)),
                ColumnSchema("e", ColumnType(.double, optional: true)), ColumnSchema("f", ColumnType(.date, collection: .map)),
                ColumnSchema("g", ColumnType(.decimal)), ColumnSchema("h", ColumnType(.uuid, optional: true)),
                ColumnSchema("i", ColumnType(.data, optional: true)), ColumnSchema("j", ColumnType(.bool)),
            ])
        let schema = Schema([type])
        let database = try Database.create(path: folder.file("a.firn"), keep: 64)
        var model: [Int64: [Value]] = [:], versions: [(DatabaseSnapshot, [Int64: [Value]])] = [], next: Int64 = 0
        for round in 0..<8 {
            let transaction = try database.begin()
            if round == 0 { try transaction.extendSchema([type]) }
            if random.chance(30) {
                let rows = random.rows(random.number(1...1500), of: type, in: schema)
                let writer = try transaction.bulkWriter("Row")
                try writer.append(RandomTables.batch(rows, of: type, in: schema))
                for row in rows {
                    model[next] = row
                    next += 1
                }
            }
            for _ in 0..<random.number(0...60) {
                let ids = model.keys.sorted()
                switch random.number(0...3) {
                case 0:
                    let row = random.rows(1, of: type, in: schema)[0]
                    model[try transaction.insert("Row", row)] = row
                    next += 1
                case 1 where !ids.isEmpty:
                    let id = ids[random.number(0...ids.count - 1)]
                    try transaction.delete("Row", rowID: id)
                    model[id] = nil
                default:
                    guard !ids.isEmpty else { continue }
                    let id = ids[random.number(0...ids.count - 1)], c = random.number(0...9)
                    let value = random.value(type.columns[c].type, in: schema)
                    try transaction.update("Row", rowID: id, column: type.columns[c].name, value)
                    model[id]![c] = value
                }
            }
            if random.chance(40) { try transaction.flushAll() }
            try transaction.commit()
            versions.append((try database.snapshot(), model))
        }
        for (i, old) in versions.enumerated() {
            for (j, new) in versions.enumerated() {
                try check(old, new, "seed \(seed), versions \(i) and \(j)")
            }
        }
    }

    private func check(_ old: (DatabaseSnapshot, [Int64: [Value]]), _ new: (DatabaseSnapshot, [Int64: [Value]]), _ context: String) throws {
        guard let before = old.0.table(named: "Row"), let after = new.0.table(named: "Row") else { return }
        let changes = try TableChanges.between(before, after)
        #expect(changes.inserted == new.1.keys.filter { old.1[$0] == nil }.sorted(), "\(context)")
        #expect(changes.deleted == old.1.keys.filter { new.1[$0] == nil }.sorted(), "\(context)")
        let modified = new.1.filter { old.1[$0.key] != nil && old.1[$0.key] != $0.value }
        #expect(changes.modified.rowIDs == modified.keys.sorted(), "\(context)")
        for (k, id) in changes.modified.rowIDs.enumerated() {
            let columns = changes.modified.columns(at: k)
            for c in 0..<10 { #expect(columns[c] == (old.1[id]![c] != new.1[id]![c]), "\(context), row \(id), column \(c)") }
        }
        let before1 = old.1.keys.sorted(), after1 = new.1.keys.sorted()
        let indices = try CollectionChanges.between(old: before, new: after, changes: changes)
        #expect(applied(indices, to: before1, after1) == after1, "\(context)")
        #expect(
            indices.modificationsOld.map { before1[$0] } == changes.modified.rowIDs
                && indices.modificationsNew.map { after1[$0] } == changes.modified.rowIDs)
        #expect(indices == CollectionChanges.between(old: before1, new: after1) { changes.modified.contains($0) }, "\(context)")
    }
}
