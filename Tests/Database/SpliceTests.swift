import FirnBytes
import FirnDisk
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// Lists, sets and maps of which a commit writes the change (`docs/format/model.md`, "Delta records").
@Suite struct SpliceTests {
    private static let type = TypeSchema(
        "T",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("numbers", ColumnType(.int, collection: .list)),
            ColumnSchema("texts", ColumnType(.string, collection: .list, elementOptional: true)),
            ColumnSchema("set", ColumnType(.int, collection: .set)), ColumnSchema("map", ColumnType(.double, collection: .map)),
            ColumnSchema("any", ColumnType(.any, collection: .list)),
        ])

    /// The rows as arrays: sets and maps ascending.
    private struct Model {
        var rows: [Int64: [Value]] = [:]

        static func element(_ column: Int, _ random: inout RandomTables) -> Value {
            switch column {
            case 2: random.chance(10) ? .null : .string("text \(random.number(0...99_999))")
            case 4: .double(Double(random.number(0...999)) / 8)
            case 5:
                switch random.number(0...3) {
                case 0: .null
                case 1: .double(Double(random.number(0...999)))
                case 2: .string("any \(random.number(0...999))")
                default: .list([.int(Int64(random.number(0...9)))])
                }
            default: .int(Int64(random.number(0...1_000_000)))
            }
        }

        static func collection(_ column: Int, _ count: Int, _ random: inout RandomTables) -> Value {
            switch column {
            case 3: .set(Value.distinctSorted((0..<count).map { _ in element(3, &random) }))
            case 4: .map((0..<count).map { Value.Entry("key \(100_000 + $0)", element(4, &random)) })
            default: .list((0..<count).map { _ in element(column, &random) })
            }
        }

        /// Changes some elements of a collection.
        static func edit(_ value: Value, _ column: Int, _ random: inout RandomTables) -> Value {
            switch value {
            case .set(let elements): return .set(Value.distinctSorted(changed(elements, column, &random)))
            case .map(let entries):
                var byKey = Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.value) })
                for _ in 0...random.number(0...2) {
                    let key = "key \(100_000 + random.number(0...entries.count + 50))"
                    byKey[key] = random.chance(30) ? nil : element(4, &random)
                }
                return .map(byKey.sorted { $0.key < $1.key }.map { Value.Entry($0.key, $0.value) })
            case .list(let elements): return .list(changed(elements, column, &random))
            default: return value
            }
        }

        private static func changed(_ elements: [Value], _ column: Int, _ random: inout RandomTables) -> [Value] {
            var all = elements
            for _ in 0...random.number(0...2) {
                let at = random.number(0...all.count), end = min(all.count, at + random.number(0...3))
                switch random.number(0...5) {
                case 0: all.append(element(column, &random))
                case 1: all.insert(contentsOf: (0..<random.number(1...20)).map { _ in element(column, &random) }, at: at)
                case 2: all.removeSubrange(at..<end)
                case 3: if at < all.count { all[at] = element(column, &random) }
                case 4:
                    if !all.isEmpty { all.removeFirst() }
                    all.append(element(column, &random))
                default: if random.chance(5) { all.reverse() } else { all.insert(element(column, &random), at: 0) }
                }
            }
            return all
        }
    }

    private func rows(_ snapshot: DatabaseSnapshot) throws -> [Int64: [Value]] {
        let table = try #require(snapshot.table(named: "T"))
        let all = try allRows(table)
        for (id, values) in all { #expect(try table.row(id) == values, "row \(id)") }
        return Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0.values) })
    }

    private func splicesBit(_ database: Database) throws -> UInt64 {
        try database.store.newestRoot().readerFeatures & ReaderFeature.splices.bit
    }

    @Test(arguments: 1...Tier.cases(4, of: 6))
    func `random changes of collections read as in a model, at every version and after every way to write them`(seed: Int) throws {
        var random = RandomTables(seed: UInt64(seed)), model = Model()
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        let database = try Database.create(path: path, keep: 50)
        let first = try database.begin()
        try first.extendSchema([SpliceTests.type])
        for id in 0..<5 {
            let count = id == 0 ? 20 : 2500
            let row = [.int(Int64(id))] + (1...5).map { Model.collection($0, count, &random) }
            model.rows[try first.insert("T", row)] = row
        }
        if seed % 2 == 0 { try first.flushAll() }
        try first.commit()
        var frozen: [(DatabaseSnapshot, [Int64: [Value]])] = []
        var hasSpliced = false
        for step in 0..<40 {
            // Another handle has nothing of earlier versions in memory.
            let writer = random.chance(30) ? try Database.open(path: path, writable: true) : database
            let transaction = try writer.begin(), table = transaction.table("T")
            for _ in 0...random.number(0...2) {
                guard let id = model.rows.keys.sorted().randomElement(random.number(0...1000)) else { continue }
                let column = random.number(1...5), value = Model.edit(model.rows[id]![column], column, &random)
                try table.set(id, column, value)
                model.rows[id]![column] = value
                #expect(try table.storedValue(id, column) == value)
            }
            if random.chance(5), let id = model.rows.keys.max(), model.rows.count > 3 {
                try table.delete(id)
                model.rows[id] = nil
            }
            if random.chance(8) {
                let row = [.int(Int64(step))] + (1...5).map { Model.collection($0, 2000, &random) }
                model.rows[try transaction.insert("T", row)] = row
            }
            if random.chance(8) { try transaction.flushAll() }
            if random.chance(5) {
                transaction.cancel()
                model.rows = try rows(Database.open(path: path).snapshot())
                continue
            }
            try transaction.commit()
            let snapshot = try Database.open(path: path).snapshot()
            try expect(rows(snapshot), model.rows, "seed \(seed), step \(step), read again")
            try expect(rows(writer.snapshot()), model.rows, "seed \(seed), step \(step)")
            let defects = snapshot.verify(full: true)
            #expect(defects.isEmpty, "seed \(seed), step \(step): \(defects)")
            if random.chance(20) { frozen.append((snapshot, model.rows)) }
            if try splicesBit(database) != 0 { hasSpliced = true }
        }
        for (snapshot, rows) in frozen { try expect(self.rows(snapshot), rows, "seed \(seed), frozen") }
        #expect(hasSpliced, "seed \(seed)")
        try database.snapshot().compact(to: folder.file("b.firn"))
        let compacted = try Database.open(path: folder.file("b.firn"))
        try expect(rows(compacted.snapshot()), model.rows, "seed \(seed), compacted")
        #expect(try splicesBit(compacted) == 0, "a compacted file needs no splices")
    }

    private func expect(_ found: [Int64: [Value]], _ wanted: [Int64: [Value]], _ note: String) throws {
        #expect(found.keys.sorted() == wanted.keys.sorted(), "\(note)")
        for (id, values) in wanted {
            for column in values.indices where found[id]?[column] != values[column] {
                Issue.record("\(note): row \(id), column \(column)")
            }
        }
    }

    /// Returns a file with one list of 100,000 integers, in the delta store or sealed, and the bytes that commits of `changes` write.
    private func written(sealed: Bool, _ changes: [(inout [Value]) -> Void]) throws -> [Int] {
        let folder = TemporaryFolder(), journal = DiskJournal(of: folder)
        defer { ScriptedDisk.end(in: folder.path) }
        let database = try Database.create(path: folder.file("a.firn"))
        let first = try database.begin()
        try first.extendSchema([SpliceTests.type])
        var random = RandomTables(seed: 7)
        var list = (0..<100_000).map { _ in Value.int(Int64(random.number(0...1 << 40))) }
        let id = try first.insert("T", [.int(1), .list(list), .list([]), .set([]), .map([]), .list([])])
        if sealed { try first.flushAll() }
        try first.commit()
        var bytes: [Int] = []
        for change in changes {
            change(&list)
            let transaction = try database.begin()
            try transaction.table("T").set(id, 1, .list(list))
            journal.clear()
            try transaction.commit()
            bytes.append(journal.events.reduce(0) { if case .write(_, _, let bytes) = $1 { $0 + bytes.count } else { $0 } })
        }
        let found = try Database.open(path: folder.file("a.firn")).snapshot().table(named: "T")!.value(rowID: id, column: 1)
        #expect(found == .list(list))
        return bytes
    }

    @Test func `a commit that changes one element of 100,000 writes at most 4 KiB, and zeros after the end`() throws {
        let changes: [(inout [Value]) -> Void] = [
            { $0.append(.int(1)) }, { $0.append(.int(2)) }, { $0[50_000] = .int(3) }, { $0.insert(.int(4), at: 10) },
            { $0.remove(at: 70_000) },
            {
                $0.removeFirst()
                $0.append(.int(5))
            },
            {
                $0.removeFirst()
                $0.append(.int(6))
            }, { $0.removeLast() }, { $0.swapAt(3, 99_000) },
        ]
        let sealed = try written(sealed: true, changes), added = try written(sealed: false, changes)
        // One commit may extend the file by 16 KiB of zeros for later ones.
        func isSmall(_ bytes: some Sequence<Int>) -> Bool { bytes.allSatisfy { $0 <= 20_480 } && bytes.filter { $0 > 4096 }.count <= 1 }
        #expect(isSmall(sealed), "\(sealed)")
        // The first change seals the row.
        #expect(isSmall(added.dropFirst()) && added[0] > 100_000, "\(added)")
    }

    @Test func `thousands of appends to a sealed list write a bounded number of bytes each on average`() throws {
        let bytes = try written(sealed: true, Array(repeating: { $0.append(contentsOf: (0..<100).map { .int($0 << 30) }) }, count: 40))
        // Splices are at most 8 KiB. When they are longer, the segment is changed directly, which writes the list once.
        #expect(bytes.filter { $0 > 32_768 }.count <= 6 && bytes.filter { $0 <= 32_768 }.count >= 34, "\(bytes)")
    }

    @Test func `small collections are written whole, and the file needs no feature`() throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        let first = try database.begin()
        try first.extendSchema([SpliceTests.type])
        let id = try first.insert("T", [.int(1), .list((0..<500).map { .int($0) }), .list([]), .set([]), .map([]), .list([])])
        try first.flushAll()
        try first.commit()
        let second = try database.begin()
        try second.table("T").set(id, 1, .list((0..<501).map { .int($0) }))
        try second.commit()
        #expect(try splicesBit(database) == 0)
    }

    @Test func `a difference keeps what is between changes`() throws {
        var list = (0..<10_000).map { Value.int(Int64($0 * 31)) }
        let base = column(.list(list))
        list[17] = .int(-1)
        list.remove(at: 400)
        list.insert(contentsOf: [.int(-2), .int(-3)], at: 7000)
        list.removeFirst()
        list.append(.int(-4))
        let splices = try #require(CollectionDifference(from: base, to: column(.list(list))).splices(limit: 1000))
        #expect(splices.cuts.count == 5 && splices.encodedBytes < 60, "\(splices)")
        #expect(try splices.applied(to: base, MemoryScope(.process)).value(at: 0) == .list(list))
        // A second change is found with the help of the first one, although more than a search reaches over was inserted.
        list.insert(contentsOf: (0..<200).map { .int(-$0) }, at: 5000)
        let more = try #require(CollectionDifference(from: base, to: column(.list(list)), after: splices).splices(limit: 2000))
        list.insert(.int(-7), at: 30)
        let last = try #require(CollectionDifference(from: base, to: column(.list(list)), after: more).splices(limit: 2000))
        #expect(try last.applied(to: base, MemoryScope(.process)).value(at: 0) == .list(list))
        // The same value has splices, too.
        let same = try #require(CollectionDifference(from: base, to: base).splices(limit: 1000))
        #expect(try same.applied(to: base, MemoryScope(.process)).value(at: 0) == base.value(at: 0))
        // Nothing in common.
        #expect(CollectionDifference(from: base, to: column(.list((0..<9000).map { .int(-$0 - 5) }))).splices(limit: 4000) == nil)
    }

    private func column(_ value: Value) -> Column {
        var column = Column(SpliceTests.type.columns[1].type)
        column.append(value)
        return column
    }

    @Test func `versions with splices differ in the changed rows, keep their indexes, and are recovered`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn"), database = try Database.create(path: path, keep: 10)
        let first = try database.begin()
        try first.extendSchema([SpliceTests.type])
        var list = (0..<3000).map { Value.int($0 * 3) }
        let ids = try (0..<20).map { try first.insert("T", [.int(Int64($0)), .list(list), .list([]), .set([]), .map([]), .list([])]) }
        try first.addIndex("T", "id", .values)
        try first.flushAll()
        try first.commit()
        let old = try #require(database.snapshot().table(named: "T"))
        list[5] = .int(-5)
        let second = try database.begin()
        try second.table("T").set(ids[7], 1, .list(list))
        try second.table("T").set(ids[7], 0, .int(99))
        try second.table("T").set(ids[9], 1, .list(list))
        try second.commit()
        #expect(try splicesBit(database) != 0)
        let snapshot = try Database.open(path: path).snapshot(), new = try #require(snapshot.table(named: "T"))
        let differing = try #require(try new.segment(0).rowsThatMayDiffer(from: old.segment(0)))
        #expect((0..<20).filter { differing[$0] } == [7, 9])
        #expect(try old.value(rowID: ids[7], column: 1) != new.value(rowID: ids[7], column: 1))
        #expect(snapshot.verify(full: true).isEmpty)
        let recovery = try Recovery.run(from: path, to: folder.file("b.firn"), profile: .fast, threads: 1)
        #expect(recovery.losses.isEmpty)
        #expect(try rows(Database.open(path: folder.file("b.firn")).snapshot()) == rows(snapshot))
    }

    // MARK: Hostile bytes

    @Test func `splices that contradict their base or themselves are damage`() throws {
        let base = column(.list((0..<10).map { .int($0) }))
        func fails(_ count: Int, _ cuts: [CollectionSplices.Cut], _ inserted: Value, _ of: Column? = nil) -> Bool {
            let record = DeltaRecord(.update, splices: CollectionSplices(baseCount: count, cuts: cuts, inserted: inserted)).encoded
            guard let read = try? DeltaRecord(record) else { return true }
            return (try? read.splices[0].splices.applied(to: of ?? base, MemoryScope(.process))) == nil
        }
        let one = [CollectionSplices.Cut(kept: 1, removed: 2, inserted: 1)]
        #expect(!fails(10, one, .list([.int(1)])))
        #expect(fails(11, one, .list([.int(1)])), "another number of elements")
        #expect(fails(10, one, .list([])), "too few elements")
        #expect(fails(10, one, .list([.int(1), .int(2)])), "too many elements")
        #expect(fails(10, one, .set([.int(1)])), "another collection")
        #expect(fails(10, one, .int(1)), "no collection")
        #expect(fails(10, one, .list([.string("a")])), "elements of another type")
        #expect(fails(10, [], .list([])), "no cut")
        #expect(fails(10, [.init(kept: 10, removed: 1, inserted: 0)], .list([])), "outside the base")
        #expect(fails(10, [.init(kept: 1, removed: 0, inserted: 0)], .list([])), "a cut that changes nothing")
        #expect(fails(10, [.init(kept: .max >> 1, removed: .max >> 1, inserted: 0)], .list([])), "an overflow")
        #expect(fails(.max >> 1, [.init(kept: 1 << 39, removed: 1 << 39, inserted: 1 << 39)], .list([])), "an overflow")
        var null = Column(ColumnType(.int, optional: true, collection: .list))
        null.appendNull()
        #expect(fails(0, [.init(kept: 0, removed: 0, inserted: 1)], .list([.int(1)]), null), "a base that is null")
    }

    @Test(arguments: 1...4) func `altered records with splices are read or are damage`(seed: Int) throws {
        var random = RandomTables(seed: UInt64(seed))
        let base = column(.list((0..<100).map { .int($0) }))
        let record = DeltaRecord(
            .update,
            splices: CollectionSplices(
                baseCount: 100, cuts: [.init(kept: 3, removed: 2, inserted: 1), .init(kept: 50, removed: 0, inserted: 2)],
                inserted: .list([.int(1), .int(2), .int(3)]))
        ).encoded
        for _ in 0..<4000 {
            var bytes = record
            for _ in 0...random.number(0...2) { bytes[random.number(0...bytes.count - 1)] = UInt8(random.number(0...255)) }
            if random.chance(20) { bytes.removeLast(random.number(0...bytes.count - 1)) }
            _ = try? bytes.withUnsafeBytes { (bytes) throws(Damage) in try DeltaRecord.footprint(bytes) }
            _ = try? bytes.withUnsafeBytes { (bytes) throws(Damage) in try DeltaRecord.updates(2, ByteReader(bytes)) }
            guard let read = try? DeltaRecord(bytes) else { continue }
            for entry in read.splices { _ = try? entry.splices.applied(to: base, MemoryScope(.process)) }
        }
    }

    @Test func `splices in the delta store that do not fit their column or row are damage with a place`() throws {
        let cut = [CollectionSplices.Cut(kept: 1, removed: 2, inserted: 1)]
        let good = CollectionSplices(baseCount: 3000, cuts: cut, inserted: .list([.int(1)]))
        for (what, column, row, splices) in [
            ("a column of single values", UInt32(1), Int64(0), good),
            ("another count", 2, 0, CollectionSplices(baseCount: 2999, cuts: cut, inserted: .list([.int(1)]))),
            ("a row that does not exist", 2, 1, good), ("a row of the delta store", 2, 3, good),
        ] {
            let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
            let first = try database.begin()
            try first.extendSchema([SpliceTests.type])
            let values: [Value] = [.int(1), .list((0..<3000).map { .int($0) }), .list([]), .set([]), .map([]), .list([])]
            let ids = try (0..<3).map { _ in try first.insert("T", values) }
            try first.table("T").delete(ids[1])
            try first.flushAll()
            _ = try first.insert("T", values)
            try first.commit()
            let second = try database.begin()
            let tree = TreeWriter(root: second.states[0].delta, transaction: second.store)
            try tree.put(UInt64(row), DeltaRecord(.update, column, splices: splices).encoded)
            second.states[0].delta = try tree.finish()
            if row != 3 { second.states[0].deltaChanges += 1 }
            second.states[0].touch(0)
            second.forgetReadable()
            try second.commit()
            let snapshot = try Database.open(path: folder.file("a.firn")).snapshot()
            #expect(throws: (any Error).self, "\(what)") { _ = try allRows(snapshot.table(named: "T")!) }
            #expect(!snapshot.verify(full: true).isEmpty, "\(what)")
        }
    }
}

extension DeltaRecord {
    fileprivate init(_ kind: Kind, _ column: UInt32 = 2, splices: CollectionSplices) {
        self.init(kind)
        self.splices = [(column, splices)]
    }
}

extension CollectionSplices {
    fileprivate var encodedBytes: Int {
        var out = ByteWriter()
        encode(into: &out)
        return out.count
    }
}

extension Array {
    fileprivate func randomElement(_ number: Int) -> Element? { isEmpty ? nil : self[number % count] }
}
