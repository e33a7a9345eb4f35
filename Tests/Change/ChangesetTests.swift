import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnChange

/// apply(diff(a, b), a) equals b, and the reverse gives a, by content hash.
@Suite struct ChangesetTests {
    static let key = ["k1", "k2"]

    private func hash(_ table: any Table) throws -> Hash128 {
        var options = ContentHash.Options()
        options.key = Self.key
        return try ContentHash(of: table, options: options).hash
    }

    private func store(_ schema: Schema, _ rows: [[Value]], _ path: String) throws -> Database {
        let database = try Database.create(path: path)
        let transaction = try database.begin()
        try transaction.extendSchema(schema.types)
        let type = schema["Thing"]!, half = rows.count / 2
        _ = try transaction.bulkWriter("Thing").append(RandomTables.batch(Array(rows[..<half]), of: type, in: schema))
        for row in rows[half...] { try transaction.insert("Thing", row) }
        try transaction.commit()
        return database
    }

    private func table(_ database: Database) throws -> StoredTable { try #require(try database.snapshot().table(named: "Thing")) }

    /// Writes the differences of two files to a third file.
    private func changes(_ old: Database, _ new: Database, _ path: String) throws -> Changeset {
        let found = try difference(table(old), table(new)) { $0.key = Self.key }
        let database = try Database.create(path: path), transaction = try database.begin()
        try found.writeChanges { schema throws(FirnError) in
            try transaction.extendSchema(schema.types)
        } write: { type, batch throws(FirnError) in
            _ = try transaction.bulkWriter(type).append(batch)
        }
        try transaction.commit()
        let read = try Changeset(database.snapshot(), name: "changes")
        #expect(
            (read.added, read.removed) == (found.added, found.removed) && read.pairs >= found.changed
                && (!found.schema.isEmpty || holdsAny(found) || read.pairs == found.changed))
        return read
    }

    /// Values in `any` columns may be equal but not identical.
    private func holdsAny(_ difference: TableDifference) -> Bool {
        difference.new.type.columns.contains { difference.new.schema.mayHoldAny($0.type) }
    }

    private func apply(_ changes: Changeset, _ database: Database) throws -> Changeset.Outcome {
        let transaction = try database.begin()
        defer { transaction.cancel() }
        let outcome = try changes.apply(to: "Thing", in: transaction, options: DifferenceOptions())
        if case .applied = outcome { try transaction.commit() }
        return outcome
    }

    /// A random type with a key of two optional columns, and rows with distinct keys.
    private func sample(_ random: inout RandomTables, keyed: Bool) -> (Schema, [[Value]]) {
        var schema = random.schema()
        let position = schema.types.firstIndex { $0.name == "Thing" }!
        schema.types[position].columns += [column("k1", .int), column("k2", .string)]
        let width = schema.types[position].columns.count
        if keyed { schema.types[position].key = [width - 2, width - 1] }
        return (schema, rows(random.number(0...900), &random, schema, taken: []))
    }

    private func rows(_ count: Int, _ random: inout RandomTables, _ schema: Schema, taken: [[Value]]) -> [[Value]] {
        let type = schema["Thing"]!
        var keys = Set(taken.map { Array($0.suffix(2)) })
        return random.rows(count, of: type, in: schema).compactMap { row in
            var row = row
            row[row.count - 2] = random.chance(10) ? .null : .int(Int64(random.number(-5...60)))
            row[row.count - 1] = random.chance(10) ? .null : .string("k\(random.number(0...40))")
            return keys.insert(Array(row.suffix(2))).inserted ? row : nil
        }
    }

    /// `FIRN_HISTORIES` sets the number of random pairs. Failures include the seed.
    private static let pairs = UInt64(ProcessInfo.processInfo.environment["FIRN_HISTORIES"] ?? "") ?? 8

    @Test(arguments: Seed.first(pairs))
    func `changes of random rows round trip by content hash`(seed: Seed) throws {
        let folder = TemporaryFolder()
        var random = RandomTables(seed, salt: 15_485_863)
        let (schema, before) = sample(&random, keyed: seed.number % 2 == 0), type = schema["Thing"]!
        var after: [[Value]] = []
        for row in before where !random.chance(10) {
            var row = row
            while random.chance(30) {
                let position = random.number(0...type.columns.count - 3)
                row[position] = random.value(type.columns[position].type, in: schema)
            }
            after.append(row)
        }
        after += rows(random.number(0...80), &random, schema, taken: before)
        after.shuffle(using: &random.generator)
        var wider = schema
        if random.chance(30) {
            // The columns change too: one is removed, one is added, one changes its type.
            let position = wider.types.firstIndex { $0.name == "Thing" }!
            wider.types[position].columns[0] = ColumnSchema("c0", ColumnType(.data, optional: true))
            wider.types[position].columns.append(column("late", .double))
            for i in after.indices {
                after[i] = [.data([UInt8(i & 255)])] + after[i].dropFirst() + [i % 3 == 0 ? .null : .double(Double(i))]
            }
        }
        let old = try store(schema, before, folder.file("a.firn")), new = try store(wider, after, folder.file("b.firn"))
        let (first, last) = (try hash(table(old)), try hash(table(new)))
        let changes = try changes(old, new, folder.file("c.firn"))
        guard case .applied(let there, true) = try apply(changes, old) else {
            Issue.record("seed \(seed): the changes were refused"); return
        }
        #expect(try there == last && hash(table(old)) == last, "seed \(seed)")
        #expect(try difference(table(old), table(new)) { $0.key = Self.key }.isEmpty, "seed \(seed)")
        #expect(try old.verifyStructure().isEmpty && old.snapshot().verify(full: true).isEmpty, "seed \(seed)")
        guard case .applied(let back, true) = try apply(changes.reversed, old) else {
            Issue.record("seed \(seed): the reversed changes were refused"); return
        }
        #expect(try back == first && hash(table(old)) == first, "seed \(seed)")
        #expect(try old.snapshot().verify(full: true).isEmpty, "seed \(seed)")
        // In reverse from the other file too.
        guard case .applied(first, true) = try apply(changes.reversed, new) else {
            Issue.record("seed \(seed): the other file refused the reversed changes"); return
        }
    }

    static let plain = Schema([
        TypeSchema("Thing", columns: [column("k1", .int), column("k2", .string), column("x", .int), column("y", .string)])
    ])

    private func row(_ key: Int, _ x: Int?, _ y: String = "y") -> [Value] {
        [.int(Int64(key)), .null, x.map { .int(Int64($0)) } ?? .null, .string(y)]
    }

    @Test func `rows that differ from the recorded ones refuse all changes, and are named`() throws {
        let folder = TemporaryFolder()
        func file(_ name: String, _ rows: [[Value]]) throws -> Database { try store(Self.plain, rows, folder.file(name)) }
        let old = try file("a.firn", [row(1, 1), row(2, 2), row(3, 3), row(4, nil)]),
            new = try file("b.firn", [row(1, 1), row(2, 20), row(4, 4), row(5, 5)])
        let changes = try changes(old, new, folder.file("c.firn"))
        func refusals(_ name: String, _ rows: [[Value]]) throws -> [String] {
            let database = try file(name, rows), before = try hash(table(database))
            guard case .refused(let found, let count, _) = try apply(changes, database) else { return ["applied"] }
            #expect(try found.count == count && hash(table(database)) == before && database.snapshot().version == 1)
            return found.map { "\($0.key): \($0.what)" }.sorted()
        }
        let reported = try refusals("d.firn", [row(1, 1), row(2, 3, "z"), row(4, nil), row(5, 6)])
        #expect(
            reported == [
                "k1=2, k2=null: the file differs from the recorded values in: x",
                "k1=3, k2=null: the row to change or remove does not exist", "k1=5, k2=null: the row to add already exists",
            ])
        #expect(try refusals("e.firn", []).count == 3)
        // Other changes are kept, in other rows and in other cells of the same rows.
        let drifted = try file("f.firn", [row(9, 9), row(1, 100), row(2, 2, "z"), row(3, 3), row(4, nil)])
        guard case .applied(_, false) = try apply(changes, drifted) else {
            Issue.record("the changes were refused, or their result was proven"); return
        }
        let wanted = try file("g.firn", [row(9, 9), row(1, 100), row(2, 20, "z"), row(4, 4), row(5, 5)])
        #expect(try hash(table(drifted)) == hash(table(wanted)))
        // Already applied.
        guard case .refused(_, _, isReached: true) = try apply(changes, new) else { Issue.record("the changes were applied twice"); return }
        // A file with other columns.
        let other = try Database.create(path: folder.file("h.firn")), transaction = try other.begin()
        try transaction.extendSchema([TypeSchema("Thing", columns: [column("k1", .int), column("k2", .string)])])
        try transaction.commit()
        #expect(throws: FirnError.self) { try apply(changes, other) }
    }

    @Test func `changes whose rows do not match their description are damage, and not applied`() throws {
        let folder = TemporaryFolder()
        let old = try store(Self.plain, [row(1, 1), row(2, 2)], folder.file("a.firn")),
            new = try store(Self.plain, [row(1, 1), row(2, 20)], folder.file("b.firn"))
        _ = try changes(old, new, folder.file("c.firn"))
        let file = try Database.open(path: folder.file("c.firn"), writable: true)
        func edited(_ type: String, _ column: String, _ value: Value) throws {
            let transaction = try file.begin()
            try transaction.update(type, rowID: 0, column: column, value)
            try transaction.commit()
        }
        try edited("new.Thing", "x", .int(21))
        #expect { try apply(Changeset(file.snapshot(), name: "c"), old) } throws: { ($0 as? FirnError)?.code == .damaged }
        #expect(try old.snapshot().version == 1)
        for (type, column, value) in [
            ("changes", "version", Value.int(4)), ("old", "pairs", .int(3)), ("old", "pairs", .int(-1)), ("new", "hash", .string("x")),
            ("new", "key", .list([.string("none")])),
            ("old", "key", .list([])), ("old", "name", .string("Other")), ("old", "name", .null),
            ("new", "required", .list([.string("none")])), ("new", "primaryKey", .list([.string("none")])),
        ] {
            let table = try #require(try file.snapshot().table(named: type)),
                before = try #require(try table.row(0))[try #require(table.type.index(of: column))]
            try edited(type, column, value)
            #expect(throws: FirnError.self, "\(type).\(column) \(value)") { _ = try Changeset(file.snapshot(), name: "c") }
            try edited(type, column, before)
        }
        _ = try Changeset(file.snapshot(), name: "c")
        #expect(throws: FirnError.self) { _ = try Changeset(old.snapshot(), name: "a") }
        // Rows that do not exist.
        let deleting = try file.begin()
        try deleting.delete("old.Thing", rowID: 0)
        _ = try deleting.insert("old.Thing", row(2, 2))
        try deleting.commit()
        #expect { _ = try Changeset(file.snapshot(), name: "c") } throws: { ($0 as? FirnError)?.code == .damaged }
    }
}
