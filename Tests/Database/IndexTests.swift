import FirnBytes
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

@Suite struct IndexTests {
    private let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("n", ColumnType(.int, optional: true)), ColumnSchema("s", ColumnType(.string, optional: true)),
            ColumnSchema("d", ColumnType(.double)),
            ColumnSchema("plain", ColumnType(.int)),
        ])

    private func row(_ random: inout RandomTables) -> [Value] {
        [
            random.chance(10) ? .null : .int(Int64(random.number(-40...40)) << Int64(random.number(0...1) * 40)),
            random.chance(10)
                ? .null : .string(random.chance(50) ? "w\(random.number(0...60))" : "a long text, beginning \(random.number(0...60))"),
            .double(random.chance(3) ? .nan : random.chance(3) ? -0.0 : Double(random.number(-50...50)) / 4),
            .int(Int64(random.number(0...1000))),
        ]
    }

    private func rowIDs(_ candidates: RowCandidates, _ table: StoredTable) throws -> Set<Int64> {
        var found: Set<Int64> = []
        for index in candidates.segments {
            let segment = try table.segment(index), rows = candidates.rows(index)
            for position in 0..<segment.rowCount where rows?[position] ?? true { found.insert(try segment.rowID(at: position)) }
        }
        return found
    }

    /// Compares indexes with the rows: no matching row may be missing, and `verify` must agree.
    private func check(_ database: Database, _ note: String) throws {
        let snapshot = try database.snapshot(), table = snapshot.table(named: "T")!
        let defects = snapshot.verify(full: true)
        #expect(defects.isEmpty, "\(note): \(defects)")
        let rows = try allRows(table)
        for (column, name) in [(0, "n"), (1, "s"), (2, "d")] {
            guard let index = table.columnIndex(column, .values) else {
                Issue.record("\(note): no index of \(name)")
                continue
            }
            var seen: Set<Value> = []
            for row in rows where seen.count < 25 && seen.insert(row.values[column]).inserted {
                let value = row.values[column], probe = IndexProbe(equal: value, table.type.columns[column].type.kind)
                let wanted = rows.filter { Value.areEquivalent($0.values[column], value, tolerance: 0) }.map(\.id)
                let found = try rowIDs(try index.candidates(probe), table)
                #expect(wanted.allSatisfy(found.contains), "\(note): \(name) == \(value)")
            }
        }
        let between = rows.filter { if case .int(let n) = $0.values[0] { n >= -5 && n <= 7 } else { false } }.map(\.id)
        let found = try rowIDs(try table.columnIndex(0, .values)!.candidates(.words(-5, 7)), table)
        #expect(between.allSatisfy(found.contains), "\(note): a range")
        let prefix = rows.filter { if case .string(let s) = $0.values[1] { s.hasPrefix("w1") } else { false } }.map(\.id)
        let begun = try rowIDs(try table.columnIndex(1, .values)!.candidates(.bytes(prefix: Array("w1".utf8))), table)
        #expect(prefix.allSatisfy(begun.contains), "\(note): a prefix")
    }

    @Test(arguments: Seed.first(Tier.cases(2, of: 6)))
    func `indexes have every row after inserts, updates, deletions, bulk writes, flushes and compaction`(seed: Seed) throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        var random = RandomTables(seed), type = type, ids: [Int64] = []
        if seed.number % 2 == 0 { for i in 0..<3 { type.columns[i].indexes = .values } }
        let database = try Database.create(path: path)
        let first = try database.begin()
        try first.extendSchema([type])
        try first.commit()
        for step in 0..<14 {
            let transaction = try database.begin()
            switch random.number(0...5) {
            case 0:
                let rows = (0..<random.number(1...5000)).map { _ in row(&random) }
                let start = try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
                ids += (start..<start + Int64(rows.count)).map { $0 }
            case 1: for _ in 0..<random.number(1...4000) { ids.append(try transaction.insert("T", row(&random))) }
            case 2:
                for _ in 0..<random.number(1...40) where !ids.isEmpty {
                    try transaction.delete("T", rowID: ids.remove(at: random.number(0...ids.count - 1)))
                }
            case 3: if random.chance(50) { try transaction.flushAll() }
            default:
                for _ in 0..<(random.chance(30) ? 900 : 12) where !ids.isEmpty {
                    let id = ids[random.number(0...ids.count - 1)], column = random.number(0...3)
                    try transaction.update("T", rowID: id, column: type.columns[column].name, row(&random)[column])
                }
            }
            if step == 4, seed.number % 2 == 1 { for name in ["n", "s", "d"] { try transaction.addIndex("T", name, .values) } }
            try transaction.commit()
            if step >= 4 || seed.number % 2 == 0 { try check(database, "seed \(seed), step \(step)") }
            if step >= 4 || seed.number % 2 == 0 { try check(try Database.open(path: path), "seed \(seed), step \(step), opened") }
        }
        try database.snapshot().compact(to: folder.file("b.firn"))
        let compacted = try Database.open(path: folder.file("b.firn"))
        try check(compacted, "seed \(seed), compacted")
        #expect(try compacted.snapshot().indexes.map(\.column) == ["n", "s", "d"])
    }

    @Test(arguments: [IndexKind.values, .words])
    func `rows that were deleted when an index was made are found after a revert`(kind: IndexKind) throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        var random = RandomTables(seed: 3)
        let first = try database.begin()
        try first.extendSchema([type])
        try first.bulkWriter("T").append(RandomTables.batch((0..<3000).map { _ in row(&random) }, of: type, in: Schema([type])))
        try first.commit()
        // Few rows are deleted in the delta store, many in the segment.
        let deleting = try database.begin()
        for id in stride(from: Int64(5), to: 3000, by: 500) { try deleting.delete("T", rowID: id) }
        try deleting.commit()
        let indexing = try database.begin()
        for name in kind == .words ? ["s"] : ["n", "s", "d"] { try indexing.addIndex("T", name, kind) }
        try indexing.commit()
        let restoring = try database.begin()
        try restoring.revert(to: try database.snapshot(version: 1))
        try restoring.commit()
        #expect(try database.snapshot().table(named: "T")!.rowCount == 3000)
        if kind == .values { try check(database, "after the revert") }
        let defects = try database.snapshot().verify(full: true)
        #expect(defects.isEmpty, "\(defects)")
    }

    @Test func `rows of a transaction stay when a type with an index is added after them`() throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        var indexed = type
        indexed.columns[0].indexes = .values
        let transaction = try database.begin()
        try transaction.extendSchema([TypeSchema("Before", columns: [ColumnSchema("x", ColumnType(.int))])])
        let table = transaction.table("Before")
        let rowID = try table.append { (columns) throws(FirnError) in _ = columns[0].append(.int(7)) }
        try transaction.extendSchema([indexed])
        #expect(try table.location(of: rowID) != nil && table.rowCount == 1)
        try transaction.commit()
        let snapshot = try database.snapshot()
        #expect(snapshot.table(named: "Before")!.rowCount == 1 && snapshot.verify(full: true).isEmpty)
        #expect(try allRows(snapshot.table(named: "Before")!).map(\.values) == [[.int(7)]])
    }

    @Test func `index runs are merged, so that their number stays small`() throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        var random = RandomTables(seed: 9)
        for round in 0..<24 {
            let transaction = try database.begin()
            if round == 0 { try transaction.extendSchema([type]) }
            if round == 1 { try transaction.addIndex("T", "n", .values) }
            let rows = (0..<3000).map { _ in row(&random) }
            try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
            try transaction.commit()
            if round > 0 { #expect(try database.snapshot().indexes[0].runs <= 7, "round \(round)") }
        }
        #expect(try database.snapshot().indexes[0].entries == 24 * 3000)
        #expect(try database.snapshot().verify(full: true).isEmpty)
    }

    @Test func `a commit of one row writes nothing of an index`() throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        var random = RandomTables(seed: 3)
        let first = try database.begin()
        try first.extendSchema([type])
        try first.bulkWriter("T").append(RandomTables.batch((0..<5000).map { _ in row(&random) }, of: type, in: Schema([type])))
        for name in ["n", "s", "d"] { try first.addIndex("T", name, .values) }
        try first.commit()
        let before = try database.snapshot().core.catalogue.types[0]
        let second = try database.begin()
        try second.insert("T", row(&random))
        try second.update("T", rowID: 7, column: "n", .int(123_456))
        try second.commit()
        let after = try database.snapshot().core.catalogue.types[0]
        #expect(after.directory == before.directory && after.indexes == before.indexes && !after.indexes.isEmpty)
        #expect(
            try database.snapshot().table(named: "T")!.columnIndex(0, .values)!.candidates(IndexProbe(equal: .int(123_456), .int)).rows(0)?[
                7] == true)
    }

    @Test func `a file with an index requires writers that maintain indexes, also after the index is dropped`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn"), database = try Database.create(path: path)
        let first = try database.begin()
        try first.extendSchema([type])
        try first.commit()
        #expect(try database.store.snapshot().root.writerFeatures == 0)
        let second = try database.begin()
        try second.addIndex("T", "s", .values)
        try second.commit()
        #expect(
            try Store.open(path: path, writable: false).snapshot().root.writerFeatures == WriterFeature.indexes.bit
                | WriterFeature.shortIndexEntries.bit)
        #expect(try Database.open(path: path).snapshot().schema["T"]!.columns[1].indexes == .values)
        let third = try database.begin()
        #expect(try third.dropIndex("T", "s", .values) && !third.dropIndex("T", "s", .values))
        try third.commit()
        #expect(try Database.open(path: path).snapshot().indexes.isEmpty)
        #expect(
            try database.store.snapshot().root.writerFeatures == WriterFeature.indexes.bit | WriterFeature.shortIndexEntries.bit,
            "the file has lost a feature")
    }

    @Test func `columns that cannot have an index are refused with the reason`() throws {
        let other = TypeSchema("E", columns: [ColumnSchema("x", ColumnType(.int))], isEmbedded: true)
        let type = TypeSchema(
            "T",
            columns: [
                ColumnSchema("l", ColumnType(.int, collection: .list)),
                ColumnSchema("e", ColumnType(.embedded, optional: true, target: "E")),
                ColumnSchema("n", ColumnType(.int)),
            ])
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        let transaction = try database.begin()
        try transaction.extendSchema([other, type])
        for (column, kind, part) in [
            ("l", IndexKind.values, "it is a list"), ("e", .values, "it holds objects"),
            ("n", .words, "only string columns can have an index of words"),
            ("m", .values, "no column"),
        ] {
            do {
                try transaction.addIndex("T", column, kind)
                Issue.record("\(column) was indexed")
            } catch let error { #expect(error.message.contains(part), "\(error.message)") }
        }
    }

    @Test func `dropping a column drops its index, and other columns keep theirs`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn"), database = try Database.create(path: path)
        var random = RandomTables(seed: 5)
        let first = try database.begin()
        try first.extendSchema([type])
        for name in ["n", "s", "d"] { try first.addIndex("T", name, .values) }
        try first.bulkWriter("T").append(RandomTables.batch((0..<3000).map { _ in row(&random) }, of: type, in: Schema([type])))
        try first.commit()
        let second = try database.begin()
        var without = type
        without.columns.removeAll { $0.name == "d" }
        try second.revise(without)
        try second.commit()
        let snapshot = try Database.open(path: path).snapshot()
        #expect(snapshot.indexes.map(\.column) == ["n", "s"] && snapshot.indexes.map(\.entries) == [3000, 3000])
        #expect(snapshot.verify(full: true).isEmpty)
    }

    @Test func `a key that does not ascend gets an index with the second segment, and is found by it`() throws {
        for ascends in [true, false] {
            let type = TypeSchema("T", columns: [ColumnSchema("id", ColumnType(.int)), ColumnSchema("v", ColumnType(.int))], key: [0])
            let folder = TemporaryFolder(), path = folder.file("a.firn"), database = try Database.create(path: path)
            let count = 150_000
            func id(_ i: Int) -> Int64 { ascends ? Int64(i) * 3 : Int64(bitPattern: UInt64(i) &* 0x9E37_79B9_7F4A_7C15) }
            let first = try database.begin()
            try first.extendSchema([type])
            let writer = try first.bulkWriter("T")
            for start in stride(from: 0, to: count, by: 50_000) {
                var batch = Batch(type, in: Schema([type]))
                for i in start..<start + 50_000 {
                    batch.columns[0].append(.int(id(i)))
                    batch.columns[1].append(.int(Int64(i)))
                }
                batch.count = 50_000
                try writer.append(batch)
            }
            try first.commit()
            let again = try Database.open(path: path, writable: true)
            let table = try again.snapshot().table(named: "T")!
            #expect(try again.snapshot().indexes.map(\.isForKey) == (ascends ? [] : [true]))
            for i in stride(from: 0, to: count, by: 9973) { #expect(try table.find(key: [.int(id(i))]) == Int64(i)) }
            #expect(try table.find(key: [.int(1)]) == nil)
            if !ascends { #expect(again.keys.work.vectors == 0 && again.keys.work.builds == 0, "a column was scanned") }
            // The same in a transaction, with rows that the delta changed.
            let second = try again.begin()
            try second.update("T", rowID: 70_000, column: "id", .int(2))
            try second.delete("T", rowID: 5)
            #expect(try second.find("T", key: [.int(2)]) == 70_000)
            try second.commit()
            let after = try again.snapshot().table(named: "T")!
            #expect(try after.find(key: [.int(2)]) == 70_000)
            #expect(try after.find(key: [.int(id(70_000))]) == nil)
            #expect(try after.find(key: [.int(id(5))]) == nil)
            #expect(try after.find(key: [.int(id(6))]) == 6)
        }
    }

    @Test(arguments: Seed.first(8))
    func `a run returns the entries of any range`(seed: Seed) throws {
        var random = RandomTables(seed), entries = IndexEntries(.values)
        let count = [0, 1, 1023, 1024, 1025, 5000, 9000, 20_000][Int(seed.number - 1) % 8], few = seed.number % 2 == 0
        for i in 0..<count {
            let word = few ? Int64(random.number(-30...30)) : Int64(bitPattern: random.generator.next())
            entries.append(IndexEntry(IndexKey(word, UInt32(random.number(0...2))), Int64(seed.number % 3 == 0 ? count - i : i)))
        }
        if seed.number > 2 { for row in [9, 4, 4, 70] as [Int64] { entries.append(null: row) } }
        entries.sort()
        #expect(entries.nulls == (seed.number > 2 ? [4, 9, 70] : []))
        let bytes = IndexRun.encoded(entries.entries, nulls: entries.nulls)
        try bytes.withUnsafeBytes { bytes in
            let run = try IndexRun(bytes, owner: nil)
            #expect(try run.all().entries == entries.entries.sorted() && run.all().nulls == entries.nulls)
            for _ in 0..<200 {
                let word =
                    few
                    ? Int64(random.number(-32...32))
                    : entries.entries.isEmpty ? 0 : entries.entries[random.number(0...entries.entries.count - 1)].word
                let low = IndexKey(word, UInt32(random.number(0...2))),
                    high = random.chance(40) ? low : max(low, IndexKey(word &+ (few ? 7 : 1 << 60), 1))
                var found: [Int64] = []
                try run.rows(try run.entries(low...high)) { found.append($0) }
                #expect(found == entries.entries.filter { (low...high).contains($0.key) }.map(\.row), "\(low) \(high)")
            }
        }
    }

    @Test func `the bytes of a run do not change`() {
        let entries = (0..<5).map { IndexEntry(IndexKey(Int64($0) * 7 - 3, UInt32($0)), Int64(4 - $0)) }
        let bytes = IndexRun.encoded(entries, nulls: [8, 9])
        #expect(
            bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                == "697201000500000002000000fdffffffffffffff000000000300000002050e030000000200020300000002080103000000021002")
    }

    @Test(arguments: [ScalarKind.int, .bool, .float, .double, .string, .data, .date, .decimal, .objectID, .uuid])
    func `index keys ascend like their values`(kind: ScalarKind) throws {
        var random = RandomTables(seed: UInt64(kind.rawValue))
        let column = ColumnType(kind)
        let values =
            (0..<300).map { _ in random.value(column, in: Schema()) }
            + (kind == .double
                ? [.double(0), .double(-0.0), .double(.infinity), .double(-.infinity), .double(.leastNonzeroMagnitude)] : [])
        for a in values {
            for b in values {
                let order = Value.order(a, b), x = IndexKey(a, kind)!, y = IndexKey(b, kind)!
                if order == 0 { #expect(x == y, "\(a) \(b)") } else if order < 0 { #expect(x.word <= y.word, "\(a) \(b)") }
            }
        }
        // A column gives the keys of its values.
        let isText = kind == .string || kind == .data
        var stored = Column(column), entries = IndexEntries(.values, keepsShort: isText)
        for value in values { stored.append(value) }
        entries.add(stored) { Int64($0) }
        #expect(entries.entries.map(\.key) == values.map { IndexKey($0, kind)! })
    }
}
