import FirnBytes
import FirnDisk
import FirnKit
import FirnThreads
import Foundation
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// A file that random transactions change, and the content of its tagged versions.
private struct Story {
    let path: String
    var database: Database
    var random: RandomTables
    var types: [TypeSchema]
    /// Existing row ids by type.
    var ids: [String: [Int64]] = [:]
    var names = 0

    init(_ path: String, seed: UInt64) throws {
        self.path = path
        random = RandomTables(seed: seed)
        var first = TypeSchema(
            "First",
            columns: [
                ColumnSchema("k", ColumnType(.int)), ColumnSchema("s", ColumnType(.string, optional: true)),
                ColumnSchema("l", ColumnType(.int, collection: .list)),
                ColumnSchema("to", ColumnType(.link, optional: true, target: "Second")),
            ], key: [0])
        if random.chance(50) { first.columns[1].indexes = .values }
        types = [
            first,
            TypeSchema(
                "Second", columns: [ColumnSchema("m", ColumnType(.double, collection: .map)), ColumnSchema("t", ColumnType(.string))]),
        ]
        database = try Database.create(path: path, atFirstCommit: random.chance(50))
        let transaction = try database.begin()
        try transaction.extendSchema(types)
        try transaction.commit()
        for type in types { ids[type.name] = [] }
    }

    private mutating func row(_ type: TypeSchema) -> [Value] {
        type.columns.enumerated().map { i, column in
            if column.name == "k" { names += 1; return .int(Int64(names * 7919 % 1_000_003)) }
            if column.type.kind == .link {
                return random.chance(50) ? .null : ids["Second"]!.randomElement(using: &random.generator).map { .link($0) } ?? .null
            }
            return random.value(column.type, in: Schema())
        }
    }

    /// Makes a transaction with inserts, bulk writes, updates and deletions. Sometimes it extends the schema, or adds or drops an index.
    mutating func step() throws {
        let transaction = try database.begin()
        for type in types {
            if random.chance(25) {
                let rows = (0..<random.number(1...3000)).map { _ in row(type) }
                let first = try transaction.bulkWriter(type.name).append(RandomTables.batch(rows, of: type, in: Schema(types)))
                ids[type.name]! += (0..<rows.count).map { first + Int64($0) }
            }
            for _ in 0..<random.number(0...30) { ids[type.name]!.append(try transaction.insert(type.name, row(type))) }
            for _ in 0..<random.number(0...20) where !ids[type.name]!.isEmpty {
                let id = ids[type.name]!.randomElement(using: &random.generator)!,
                    column = type.columns[random.number(1...type.columns.count - 1)]
                if column.type.kind != .link {
                    try transaction.update(type.name, rowID: id, column: column.name, random.value(column.type, in: Schema()))
                }
            }
            for _ in 0..<random.number(0...(random.chance(10) ? 500 : 5)) where !ids[type.name]!.isEmpty {
                let position = random.number(0...ids[type.name]!.count - 1)
                try transaction.delete(type.name, rowID: ids[type.name]!.remove(at: position))
            }
        }
        if random.chance(15) { try transaction.flushAll() }
        if random.chance(15) {
            let position = random.number(0...1)
            types[position].columns.append(ColumnSchema("new\(types[position].columns.count)", ColumnType(.int, optional: true)))
            try transaction.extendSchema([types[position]])
        }
        if random.chance(10), types.count == 2 {
            types.append(TypeSchema("Third", columns: [ColumnSchema("x", ColumnType(.int)), ColumnSchema("y", ColumnType(.string))]))
            ids["Third"] = []
            try transaction.extendSchema([types[2]])
        }
        if random.chance(20) {
            if random.chance(50) {
                try transaction.addIndex("Second", "t", .values)
            } else {
                try transaction.dropIndex("Second", "t", .values)
            }
        }
        try transaction.commit()
    }
}

/// Returns every row of every type by name: row ids and values.
private func content(_ snapshot: DatabaseSnapshot) throws -> [String: [Int64: [Value]]] {
    var content: [String: [Int64: [Value]]] = [:]
    for table in snapshot.tables {
        content[table.type.name] = Dictionary(uniqueKeysWithValues: try allRows(table).map { ($0.id, $0.values) })
    }
    return content
}

/// Returns whether the rows are equal, where `new` may have additional types and columns without values.
private func same(_ old: [String: [Int64: [Value]]], _ new: [String: [Int64: [Value]]]) -> Bool {
    for (name, rows) in new {
        let before = old[name] ?? [:]
        guard before.count == rows.count else { return false }
        for (id, values) in rows {
            guard let was = before[id], values.count >= was.count, Array(values.prefix(was.count)) == was,
                values.dropFirst(was.count).allSatisfy(\.isNull)
            else { return false }
        }
    }
    return old.allSatisfy { $0.value.isEmpty || new[$0.key] != nil }
}

private func check(_ database: Database, _ note: String) throws {
    #expect(try database.verifyStructure().isEmpty, "\(note)")
    let defects = try database.snapshot().verify(full: true)
    #expect(defects.isEmpty, "\(note): \(defects.prefix(3))")
}

/// `FIRN_HISTORIES` is the number of random histories. A failure is reported with its seed.
private let histories = UInt64(ProcessInfo.processInfo.environment["FIRN_HISTORIES"] ?? "") ?? UInt64(Tier.cases(2, of: 3))

@Suite struct TagHistoryTests {
    @Test(arguments: Seed.first(histories))
    func `tagged versions stay readable, can be reverted to, and survive compaction [T11]`(seed: Seed) throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        var story = try Story(path, seed: seed.number), held: [String: [String: [Int64: [Value]]]] = [:]
        for step in 0..<24 {
            let note = "seed \(seed), step \(step)"
            try story.step()
            if story.random.chance(25) {
                let name = "t\(step)", snapshot = try story.database.snapshot()
                try story.database.tag(name, snapshot)
                held[name] = try content(snapshot)
                #expect(try story.database.snapshot().version == snapshot.version + 1, "\(note)")
            }
            if story.random.chance(10) { story.database = try Database.open(path: path, writable: true) }
            if story.random.chance(15) {
                let before = try content(story.database.snapshot()), report = try Database.shrink(path: path)
                #expect(try content(story.database.snapshot()) == before, "\(note): shrunk, \(report)")
                try check(story.database, "\(note): shrunk, \(report)")
                for (name, rows) in held {
                    #expect(try content(story.database.snapshot(tag: name)) == rows, "\(note): \(name), after shrinking")
                }
            }
            if story.random.chance(12), let name = held.keys.sorted().randomElement(using: &story.random.generator) {
                let transaction = try story.database.begin()
                try transaction.revert(to: story.database.snapshot(tag: name))
                try transaction.commit()
                let now = try content(story.database.snapshot())
                #expect(same(held[name]!, now), "\(note): reverted to \(name)")
                try check(story.database, "\(note): reverted to \(name)")
                for type in story.types { story.ids[type.name] = now[type.name]?.keys.sorted() ?? [] }
            }
            if story.random.chance(8), let name = held.keys.sorted().randomElement(using: &story.random.generator) {
                #expect(try story.database.untag(name), "\(note)")
                held[name] = nil
            }
        }
        try check(story.database, "seed \(seed)")
        #expect(try story.database.tags().map(\.name) == held.keys.sorted(), "seed \(seed)")
        for (name, rows) in held {
            let snapshot = try Database.open(path: path).snapshot(tag: name)
            #expect(try content(snapshot) == rows, "seed \(seed), \(name)")
            #expect(snapshot.verify(full: true).isEmpty, "seed \(seed), \(name)")
        }

        // Compacts the file with all its tags.
        let newest = try story.database.snapshot()
        var versions: [(snapshot: DatabaseSnapshot, names: [String])] = []
        for (version, tags) in Dictionary(grouping: try story.database.tags(), by: \.version).sorted(by: { $0.key < $1.key }) {
            versions.append((try story.database.snapshot(version: version), tags.map(\.name)))
        }
        versions.append((newest, []))
        try Database.compact(versions, retention: Retention(versions: 5), to: folder.file("b.firn"))
        let compacted = try Database.open(path: folder.file("b.firn"), writable: true)
        #expect(try compacted.tags().map(\.name) == held.keys.sorted() && compacted.retention() == Retention(versions: 5), "seed \(seed)")
        #expect(try content(compacted.snapshot()) == content(newest), "seed \(seed)")
        try check(compacted, "seed \(seed), compacted")
        for (name, rows) in held {
            let snapshot = try compacted.snapshot(tag: name), before = try story.database.snapshot(tag: name)
            #expect(try content(snapshot) == rows, "seed \(seed), \(name) compacted")
            #expect(snapshot.verify(full: true).isEmpty, "seed \(seed), \(name) compacted")
            #expect(snapshot.time == before.time && snapshot.schema == before.schema, "seed \(seed), \(name)")
        }
        // The compacted file can be written.
        story.database = compacted
        for _ in 0..<5 { try story.step() }
        try check(compacted, "seed \(seed), written after compaction")
        for (name, rows) in held { #expect(try content(compacted.snapshot(tag: name)) == rows, "seed \(seed), \(name) later") }
    }

    @Test func `a revert writes only the segments that have changed since`() throws {
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"))
        let type = TypeSchema("T", columns: [ColumnSchema("n", ColumnType(.int)), ColumnSchema("s", ColumnType(.string))])
        var transaction = try database.begin()
        try transaction.extendSchema([type])
        var random = RandomTables(seed: 1)
        for _ in 0..<4 {
            let rows = (0..<65_536).map { i -> [Value] in
                [.int(Int64(bitPattern: random.generator.next())), .string("row \(i) \(random.number(0...1_000_000))")]
            }
            try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
        }
        try transaction.commit()
        let before = try database.snapshot(), size = try Paths.size(folder.file("a.firn"))
        try database.tag("before", before)
        transaction = try database.begin()
        try transaction.delete("T", rowID: 70_000)
        try transaction.update("T", rowID: 80_000, column: "n", .int(1))
        try transaction.commit()
        transaction = try database.begin()
        try transaction.revert(to: before)
        try transaction.commit()
        let after = try database.snapshot()
        #expect(try Paths.size(folder.file("a.firn")) < size + size * 4 / 10)
        #expect(after.table(named: "T")!.rowCount == 4 * 65_536)
        #expect(try after.table(named: "T")!.row(70_000) == before.table(named: "T")!.row(70_000))
        #expect(try after.table(named: "T")!.row(80_000) == before.table(named: "T")!.row(80_000))
        // The segment still has the rows: only the records of the delta are dropped.
        let changed = try ChangedRows(between: before.core, after.core, type: 0)
        #expect(changed.ranges.isEmpty)
        #expect(try Paths.size(folder.file("a.firn")) < size + size / 10)
        try check(database, "")
        // Reverting again changes nothing.
        transaction = try database.begin()
        try transaction.revert(to: after)
        try transaction.commit()
        #expect(try ChangedRows(between: after.core, database.snapshot().core, type: 0).ranges.isEmpty)
    }

    @Test func `a revert restores dropped columns, and rows are found by key`() throws {
        let folder = TemporaryFolder()
        let database = try Database.create(path: folder.file("a.firn"), atFirstCommit: true)
        let type = TypeSchema("T", columns: [ColumnSchema("k", ColumnType(.int)), ColumnSchema("s", ColumnType(.string))], key: [0])
        var transaction = try database.begin()
        try transaction.extendSchema([type])
        for k in 0..<500 { try transaction.insert("T", [.int(Int64(k * 31 % 500)), .string("s\(k)")]) }
        try transaction.commit()
        try database.tag("first", database.snapshot())
        transaction = try database.begin()
        try transaction.revise(
            TypeSchema(
                "T", columns: [ColumnSchema("k", ColumnType(.int)), ColumnSchema("other", ColumnType(.double, optional: true))], key: [0]))
        try transaction.delete("T", rowID: 3)
        try transaction.commit()
        #expect(try database.snapshot().table(named: "T")!.find(key: [.int(93)]) == nil)
        transaction = try database.begin()
        try transaction.revert(to: database.snapshot(tag: "first"))
        try transaction.commit()
        let snapshot = try database.snapshot(), table = snapshot.table(named: "T")!
        #expect(table.type.columns.map(\.name) == ["k", "s"] && table.rowCount == 500)
        #expect(try table.find(key: [.int(93)]) == 3)
        #expect(try table.row(3) == [.int(93), .string("s3")])
        try check(database, "")
        transaction = try database.begin()
        #expect(throws: FirnError.self) { try transaction.insert("T", [.int(93), .string("again")]) }
        let id = try transaction.insert("T", [.int(1000), .string("new")])
        #expect(id == 500)
        try transaction.commit()
    }

    @Test func `the file stores how many versions are kept, and later writers follow this`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        func commit(_ database: Database) throws -> Int {
            let transaction = try database.begin()
            try transaction.insert("T", [.int(1)])
            try transaction.commit()
            return try database.versions().count
        }
        let first = try Database.create(path: path, atFirstCommit: true)
        let transaction = try first.begin()
        try transaction.extendSchema([TypeSchema("T", columns: [ColumnSchema("n", ColumnType(.int))])])
        try transaction.commit()
        var counts = try (0..<10).map { _ in try commit(first) }
        #expect(counts.last == 8)
        let chosen = try Database.open(path: path, writable: true, retention: Retention(versions: 12))
        counts = try (0..<10).map { _ in try commit(chosen) }
        #expect(counts.last == 12)
        let later = try Database.open(path: path, writable: true)
        counts = try (0..<3).map { _ in try commit(later) }
        #expect(counts.last == 12)
        try later.retain(nil)
        #expect(try commit(later) == 8)
        // Tagging drops no version.
        for name in ["a", "b", "c"] { try later.tag(name, later.snapshot()) }
        #expect(try later.versions().count == 11)
        #expect(throws: FirnError.self) { try later.tag("1", later.snapshot()) }
        #expect(throws: FirnError.self) { try Database.open(path: path).tag("x", later.snapshot()) }
    }
}
