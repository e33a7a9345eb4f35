import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnChange

/// apply(diff(a, b), a) equals b, and the reverse gives a, by content hash, for types whose rows link to each other.
@Suite struct LinkedChangesTests {
    static func hashes(_ database: Database) throws -> [String: Hash128] {
        let snapshot = try database.snapshot()
        var found: [String: Hash128] = [:]
        for type in snapshot.schema.roots {
            if let table = snapshot.table(named: type.name), table.rowCount > 0 { found[type.name] = try ContentHash(of: table).hash }
        }
        return found
    }

    /// Writes the differences of all types of two files to a third file.
    static func changes(_ old: Database, _ new: Database, _ path: String, types: [String]? = nil) throws -> Changeset {
        let before = try old.snapshot(), after = try new.snapshot()
        var changed: [ChangedType] = []
        for name in types ?? Array(Set(before.schema.roots.map(\.name) + after.schema.roots.map(\.name))).sorted() {
            let a = before.table(named: name), b = after.table(named: name)
            func key(_ table: StoredTable) -> [String] { table.type.key.map { table.type.columns[$0].name } }
            if let a, let b, !key(a).isEmpty, key(a) == key(b) {
                changed.append(ChangedType(try difference(a, b)))
            } else {
                changed.append(ChangedType(old: a, new: b))
            }
        }
        let database = try Database.create(path: path), transaction = try database.begin()
        try Changeset.write(changed, options: DifferenceOptions()) { schema throws(FirnError) in
            try transaction.extendSchema(schema.types)
        } write: { type, batch throws(FirnError) in
            _ = try transaction.bulkWriter(type).append(batch)
        }
        try transaction.commit()
        #expect(try database.snapshot().verify(full: true).isEmpty)
        return try Changeset(database.snapshot(), name: "changes")
    }

    @discardableResult
    static func apply(_ changes: Changeset, _ database: Database) throws -> Changeset.Outcome {
        let transaction = try database.begin()
        defer { transaction.cancel() }
        let outcome = try changes.apply(in: transaction, options: DifferenceOptions())
        if case .applied = outcome { try transaction.commit() }
        return outcome
    }

    /// `FIRN_HISTORIES` sets the number of random pairs. Failures include the seed.
    private static let pairs = UInt64(ProcessInfo.processInfo.environment["FIRN_HISTORIES"] ?? "") ?? 12

    @Test(arguments: Seed.first(pairs))
    func `changes of types that link to each other round trip by content hash`(seed: Seed) throws {
        let folder = TemporaryFolder()
        var random = RandomTables(seed, salt: 15_485_867)
        let before = LinkedModel(&random)
        var after = before.changed(&random)
        if seed.number % 3 == 0 { after.reshape(&random) }
        try expectBothWays(before, after, seed.number, folder, &random)
    }

    @Test(arguments: Seed.first(pairs / (Tier.isLong ? 3 : 6)))
    func `changes of types with keys of every kind and with deeply nested objects round trip by content hash`(seed: Seed) throws {
        let folder = TemporaryFolder()
        var random = RandomTables(seed, salt: 32_452_843)
        let before = LinkedModel(&random, keys: [.bool, .int, .float, .double, .string, .data, .date, .decimal, .objectID, .uuid, .any])
        var after = before.changed(&random)
        if seed.number % 2 == 0 { after.reshape(&random) }
        try expectBothWays(before, after, seed.number, folder, &random)
    }

    private func expectBothWays(
        _ before: LinkedModel, _ after: LinkedModel, _ seed: UInt64, _ folder: TemporaryFolder, _ random: inout RandomTables
    ) throws {
        let old = try before.store(folder.file("a.firn"), &random), new = try after.store(folder.file("b.firn"), &random)
        let first = try Self.hashes(old), last = try Self.hashes(new)
        let changes = try Self.changes(old, new, folder.file("c.firn"))
        guard case .applied(_, true) = try Self.apply(changes, old) else {
            Issue.record("seed \(seed): the changes were refused: \(try Self.apply(changes, old))"); return
        }
        #expect(try Self.hashes(old) == last, "seed \(seed)")
        let defects = try old.verifyStructure().map { "\($0)" } + old.snapshot().verify(full: true).map { "\($0)" }
        #expect(defects.isEmpty, "seed \(seed): \(defects)")
        for name in last.keys {
            let a = try #require(try old.snapshot().table(named: name)), b = try #require(try new.snapshot().table(named: name))
            if !a.type.key.isEmpty { #expect(try difference(a, b).isEmpty, "seed \(seed): \(name)") }
        }
        if first != last {
            do throws(FirnError) {
                let transaction = try old.begin()
                defer { transaction.cancel() }
                if case .applied = try changes.apply(in: transaction, options: DifferenceOptions()) {
                    Issue.record("seed \(seed): the changes were applied twice")
                }
            } catch { #expect(error.code == .schema, "seed \(seed): \(error)") }
        }
        for database in [old, new] {
            guard case .applied(_, true) = try Self.apply(changes.reversed, database) else {
                Issue.record("seed \(seed): the reversed changes were refused: \(try Self.apply(changes.reversed, database))"); return
            }
            #expect(try Self.hashes(database) == first, "seed \(seed)")
            let defects = try database.verifyStructure().map { "\($0)" } + database.snapshot().verify(full: true).map { "\($0)" }
            #expect(defects.isEmpty, "seed \(seed): \(defects)")
        }
        // Applies the changes again, now with empty types instead of missing ones.
        guard case .applied(_, true) = try Self.apply(changes, new) else {
            Issue.record("seed \(seed): the changes were refused again: \(try Self.apply(changes, new))"); return
        }
        #expect(try Self.hashes(new) == last, "seed \(seed)")
    }
}

/// Patches on a disk that can fail at any moment.
@Suite struct PatchCrashTests {
    @Test func `after any crash a patched file has the old or the new rows`() throws {
        let folder = TemporaryFolder()
        var random = RandomTables(seed: 41)
        let before = LinkedModel(&random)
        var after = before.changed(&random)
        after.reshape(&random)
        let none = try Database.create(path: folder.file("none.firn")), old = try before.store(folder.file("a.firn"), &random),
            new = try after.store(folder.file("b.firn"), &random)
        let first = try LinkedChangesTests.changes(none, old, folder.file("c.firn")),
            second = try LinkedChangesTests.changes(old, new, folder.file("d.firn"))
        let run = CrashRun("patches"), database = try Database.create(path: run.path)
        try run.acknowledge(database)
        for changes in [first, second, second.reversed] {
            guard case .applied(_, true) = try LinkedChangesTests.apply(changes, database) else {
                Issue.record("the changes were refused"); return
            }
            try run.acknowledge(database)
        }
        try run.visit(seed: 3) { database in
            let transaction = try database.begin()
            try transaction.extendSchema([TypeSchema("After", columns: [column("x", .int)])])
            try transaction.insert("After", [.int(1)])
            try transaction.commit()
        }
        #expect(run.failures.isEmpty, "\(run.failures.joined(separator: "\n"))")
        print("crashes, \(run.name): \(run.counts)")
    }
}

/// The requirements of links in changes, and what is refused.
@Suite struct ChangedLinksTests {
    private static let person = TypeSchema(
        "Person",
        columns: [
            column("id", .int, optional: false), column("name", .string),
            ColumnSchema("friend", ColumnType(.link, optional: true, target: "Person")),
            ColumnSchema("pets", ColumnType(.link, collection: .list, target: "Pet")),
        ], key: [0])
    private static let pet = TypeSchema(
        "Pet",
        columns: [
            column("tag", .string), ColumnSchema("owner", ColumnType(.link, optional: true, target: "Person")),
            ColumnSchema("spot", ColumnType(.link, optional: true, target: "Spot")),
        ], key: [0])
    private static let spot = TypeSchema("Spot", columns: [column("where", .string)])

    /// Persons by id, with a friend and the tags of pets. Pets by tag, with an owner and the position of a spot.
    private func file(
        _ path: String, _ persons: [(Int64, String, friend: Int64?, pets: [String])], _ pets: [(String, owner: Int64?, spot: Int?)],
        spots: [String] = ["yard", "barn"]
    ) throws -> Database {
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema([Self.person, Self.pet, Self.spot])
        var people: [Int64: Int64] = [:], animals: [String: Int64] = [:]
        let places = try spots.map { try transaction.insert("Spot", [.string($0)]) }
        for person in persons {
            people[person.0] = try transaction.insert("Person", [.int(person.0), .string(person.1), .null, .list([])])
        }
        for pet in pets {
            animals[pet.0] = try transaction.insert(
                "Pet", [.string(pet.0), pet.owner.map { .link(people[$0] ?? 77) } ?? .null, pet.spot.map { .link(places[$0]) } ?? .null])
        }
        for person in persons {
            try transaction.update(
                "Person", rowID: people[person.0]!, column: "friend", person.friend.map { .link(people[$0] ?? 77) } ?? .null)
            try transaction.update("Person", rowID: people[person.0]!, column: "pets", .list(person.pets.map { .link(animals[$0] ?? 77) }))
        }
        try transaction.commit()
        return database
    }

    private func refusal(_ changes: Changeset, _ database: Database) throws -> [String] {
        let before = try LinkedChangesTests.hashes(database), version = try database.snapshot().version
        guard case .refused(let found, let count, _) = try LinkedChangesTests.apply(changes, database) else { return ["applied"] }
        #expect(try found.count == count && LinkedChangesTests.hashes(database) == before && database.snapshot().version == version)
        return found.map { "\($0.key): \($0.what)" }.sorted()
    }

    @Test func `new rows of several types that link to each other are added together in any order of row ids`() throws {
        let folder = TemporaryFolder()
        let old = try file(folder.file("a.firn"), [(1, "Ada", nil, [])], [])
        let new = try file(
            folder.file("b.firn"), [(3, "Cy", friend: 2, ["rex", "tom"]), (2, "Bo", friend: 3, []), (1, "Ada", friend: 1, ["rex"])],
            [("tom", owner: 3, spot: 1), ("rex", owner: 1, spot: 0)])
        let changes = try LinkedChangesTests.changes(old, new, folder.file("c.firn"))
        guard case .applied(_, true) = try LinkedChangesTests.apply(changes, old) else { Issue.record("the changes were refused"); return }
        #expect(try LinkedChangesTests.hashes(old) == LinkedChangesTests.hashes(new))
        let rows = try #require(try old.snapshot().table(named: "Person"))
        #expect(try rows.row(1) == [.int(3), .string("Cy"), .link(2), .list([.link(1), .link(0)])])
    }

    @Test func `a link to a row that the file does not have is reported with type, key, column and row, and nothing is changed`() throws {
        let folder = TemporaryFolder()
        let old = try file(folder.file("a.firn"), [(1, "Ada", nil, []), (2, "Bo", nil, [])], [("rex", owner: nil, spot: nil)])
        let new = try file(folder.file("b.firn"), [(1, "Ada", friend: 2, []), (2, "Bo", nil, ["rex"])], [("rex", owner: 2, spot: nil)])
        let changes = try LinkedChangesTests.changes(old, new, folder.file("c.firn"))
        let drifted = try file(folder.file("d.firn"), [(1, "Ada", nil, [])], [("rex", owner: nil, spot: nil)])
        #expect(try refusal(changes, drifted) == ["Person id=2: the row to change or remove does not exist"])
        let lone = try LinkedChangesTests.changes(old, new, folder.file("e.firn"), types: ["Pet"])
        let missing = try refusal(lone, drifted)
        #expect(missing == ["tag=\"rex\": owner refers to a row that does not exist: Person id=2"])
        // If the row exists, other rows may differ.
        let more = try file(
            folder.file("f.firn"), [(2, "Bobby", friend: 9, []), (9, "Eve", nil, [])],
            [("tom", owner: 9, spot: 0), ("rex", owner: nil, spot: nil)])
        guard case .applied(_, false) = try LinkedChangesTests.apply(lone, more) else { Issue.record("the changes were refused"); return }
        #expect(try more.snapshot().table(named: "Pet")?.row(1) == [.string("rex"), .link(0), .null])
    }

    @Test func `removed rows are also removed from links of rows that the changes do not contain`() throws {
        let folder = TemporaryFolder()
        let old = try file(folder.file("a.firn"), [(1, "Ada", nil, []), (2, "Bo", nil, [])], []),
            new = try file(folder.file("b.firn"), [(1, "Ada", nil, [])], [])
        let changes = try LinkedChangesTests.changes(old, new, folder.file("c.firn"))
        let drifted = try file(
            folder.file("d.firn"), [(1, "Ada", nil, []), (2, "Bo", nil, []), (3, "Cy", friend: 2, [])], [("rex", owner: 2, spot: nil)])
        guard case .applied(_, false) = try LinkedChangesTests.apply(changes, drifted) else {
            Issue.record("the changes were refused"); return
        }
        #expect(
            try drifted.snapshot().table(named: "Person")?.row(2)?[2] == .null
                && drifted.snapshot().table(named: "Pet")?.row(0)?[1] == .null)
    }

    @Test func `links to rows without key are by position, and are refused in files where these rows differ`() throws {
        let folder = TemporaryFolder()
        func spotted(_ name: String, _ spot: Int?, _ spots: [String]) throws -> Database {
            try file(folder.file(name), [], [("rex", owner: nil, spot: spot)], spots: spots)
        }
        let old = try spotted("a.firn", 0, ["yard", "barn"]), new = try spotted("b.firn", 1, ["yard", "barn"])
        let changes = try LinkedChangesTests.changes(old, new, folder.file("c.firn"), types: ["Pet"])
        #expect(
            try refusal(changes, spotted("d.firn", 0, ["yard", "roof"])) == [
                ": rows of \"Spot\" have no key, links refer to them, and they are not those that the changes were made from"
            ])
        guard case .applied(_, true) = try LinkedChangesTests.apply(changes, old) else { Issue.record("the changes were refused"); return }
        #expect(try LinkedChangesTests.hashes(old) == LinkedChangesTests.hashes(new))
        // Changes of rows without key and of the links to them must be written together.
        let other = try spotted("e.firn", 2, ["roof", "barn", "tree"])
        #expect { try LinkedChangesTests.changes(new, other, folder.file("f.firn"), types: ["Pet"]) } throws: {
            ($0 as? FirnError)?.message.contains("rows of \"Spot\", which have no key") ?? false
        }
        let both = try LinkedChangesTests.changes(new, other, folder.file("g.firn"))
        guard case .applied(_, true) = try LinkedChangesTests.apply(both, old) else { Issue.record("the changes were refused"); return }
        #expect(try LinkedChangesTests.hashes(old) == LinkedChangesTests.hashes(other))
    }

    @Test func `types are added and removed with their rows, and an existing type with rows is not overwritten`() throws {
        let folder = TemporaryFolder()
        func database(_ name: String, _ rows: [String: [Int64]]) throws -> Database {
            let database = try Database.create(path: folder.file(name)), transaction = try database.begin()
            for (type, ids) in rows.sorted(by: { $0.key < $1.key }) {
                try transaction.extendSchema([
                    TypeSchema(type, columns: [column("id", .int, optional: false)], key: type == "Loose" ? [] : [0])
                ])
                for id in ids { try transaction.insert(type, [.int(id)]) }
            }
            try transaction.commit()
            return database
        }
        let old = try database("a.firn", ["A": [1, 2], "Gone": [5, 6], "Loose": [9]]),
            new = try database("b.firn", ["A": [1, 3], "Came": [7, 8], "Loose": [9, 10]])
        let changes = try LinkedChangesTests.changes(old, new, folder.file("c.firn")), first = try LinkedChangesTests.hashes(old)
        #expect(
            try refusal(changes, database("d.firn", ["A": [1, 2], "Gone": [5, 6], "Loose": [9], "Came": [1]])) == [
                ": type \"Came\" already exists and has rows"
            ])
        #expect(
            try refusal(changes, database("e.firn", ["A": [1, 2, 3], "Gone": [5], "Loose": [8]])) == [
                ": rows of \"Loose\" have no key, and are not those that the changes were made from",
                "A id=3: the row to add already exists",
                "Gone id=6: the row to change or remove does not exist",
            ])
        guard case .applied(_, true) = try LinkedChangesTests.apply(changes, old) else { Issue.record("the changes were refused"); return }
        #expect(try LinkedChangesTests.hashes(old) == LinkedChangesTests.hashes(new) && old.snapshot().table(named: "Gone")?.rowCount == 0)
        guard case .applied(_, true) = try LinkedChangesTests.apply(changes.reversed, old) else {
            Issue.record("the reversed changes were refused"); return
        }
        #expect(try LinkedChangesTests.hashes(old) == first)
        // A type that the file does not have.
        #expect { try LinkedChangesTests.apply(changes, database("f.firn", ["A": [1, 2], "Loose": [9]])) } throws: {
            ($0 as? FirnError)?.message == "there is no type \"Gone\", which the changes apply to"
        }
    }

    @Test func `changes of links to rows that have no usable key are refused, and the error names the column`() throws {
        let folder = TemporaryFolder()
        func database(_ name: String, _ types: [TypeSchema], _ value: Int64) throws -> Database {
            let database = try Database.create(path: folder.file(name)), transaction = try database.begin()
            try transaction.extendSchema(types)
            try transaction.insert("To", [.link(0)])
            try transaction.insert("From", [.int(1), .link(0), .int(value)])
            try transaction.commit()
            return database
        }
        let from = TypeSchema(
            "From", columns: [column("id", .int), ColumnSchema("to", ColumnType(.link, optional: true, target: "To")), column("x", .int)],
            key: [0])
        let to = TypeSchema("To", columns: [ColumnSchema("me", ColumnType(.link, optional: true, target: "To"))], key: [0])
        let old = try database("a.firn", [to, from], 1), new = try database("b.firn", [to, from], 2)
        #expect { try LinkedChangesTests.changes(old, new, folder.file("c.firn"), types: ["From"]) } throws: {
            ($0 as? FirnError)?.message
                == "changes of \"From.to\" cannot be written: it has links to \"To\", whose key contains links or objects"
        }
        #expect { try LinkedChangesTests.changes(old, new, folder.file("d.firn"), types: ["To"]) } throws: {
            ($0 as? FirnError)?.message.contains("the key column \"me\" contains links") ?? false
        }
    }

    @Test func `links differ between versions if their target rows have other keys, are removed, or change their position`() throws {
        let folder = TemporaryFolder()
        let database = try file(
            folder.file("a.firn"), [(1, "Ada", friend: 2, ["rex"]), (2, "Bo", friend: 1, [])],
            [("rex", owner: 1, spot: 1), ("tom", owner: 2, spot: 0)])
        func changed(_ body: (DatabaseTransaction) throws -> Void) throws -> [String: [String]] {
            let before = try database.snapshot(), transaction = try database.begin()
            try body(transaction)
            try transaction.commit()
            let after = try database.snapshot()
            var found: [String: [String]] = [:]
            for name in ["Person", "Pet"] {
                found[name] = try lines(difference(#require(before.table(named: name)), #require(after.table(named: name))))
            }
            return found
        }
        // Rows that are added at the end do not change any link.
        #expect(try changed { try $0.insert("Spot", [.string("tree")]) } == ["Person": [], "Pet": []])
        #expect(
            try changed { try $0.update("Pet", rowID: 0, column: "tag", .string("max")) } == [
                "Person": ["~1 pets"], "Pet": ["-\"rex\"", "+\"max\""],
            ])
        #expect(try changed { try $0.update("Person", rowID: 0, column: "name", .string("Ann")) } == ["Person": ["~1 name"], "Pet": []])
        #expect(try changed { try $0.delete("Spot", rowID: 0) } == ["Person": [], "Pet": ["~\"max\" spot", "~\"tom\" spot"]])
        #expect(try changed { try $0.delete("Person", rowID: 1) } == ["Person": ["-2", "~1 friend"], "Pet": ["~\"tom\" owner"]])
    }

    /// Applies changes files with randomly changed cells: this is an error, is refused, or gives consistent tables.
    @Test(arguments: Seed.first(3))
    func `a modified changes file is refused or applied, and never traps`(seed: Seed) throws {
        let folder = TemporaryFolder()
        var random = RandomTables(seed, salt: 7_368_787)
        let before = LinkedModel(&random)
        var after = before.changed(&random)
        if seed.number == 2 { after.reshape(&random) }
        let old = try before.store(folder.file("a.firn"), &random), new = try after.store(folder.file("b.firn"), &random)
        _ = try LinkedChangesTests.changes(old, new, folder.file("c.firn"))
        let first = try LinkedChangesTests.hashes(old)
        var outcomes = [0, 0, 0, 0]
        for turn in 0..<80 {
            try? FileManager.default.removeItem(atPath: folder.file("d.firn"))
            try FileManager.default.copyItem(atPath: folder.file("c.firn"), toPath: folder.file("d.firn"))
            let file = try Database.open(path: folder.file("d.firn"), writable: true)
            try mutilate(file, &random)
            let database = try Database.open(path: folder.file("a.firn"), writable: true), transaction = try database.begin()
            do {
                var changes = try Changeset(file.snapshot(), name: "changes")
                if turn % 4 == 3 { changes = changes.reversed }
                switch try changes.apply(in: transaction, options: DifferenceOptions()) {
                case .refused: outcomes[0] += 1
                case .applied(_, let isProven):
                    outcomes[isProven ? 1 : 2] += 1
                    for type in transaction.schema.types {
                        let table = transaction.table(type.name)
                        #expect(try table.liveRowIDs().count == table.rowCount, "seed \(seed), turn \(turn)")
                    }
                }
            } catch is FirnError { outcomes[3] += 1 }
            transaction.cancel()
            #expect(try LinkedChangesTests.hashes(database) == first, "seed \(seed), turn \(turn)")
        }
        #expect(outcomes[0] > 0 && outcomes[3] > 10, "seed \(seed): \(outcomes)")
    }

    private func mutilate(_ file: Database, _ random: inout RandomTables) throws {
        let transaction = try file.begin()
        for _ in 0..<random.number(1...3) {
            let types = transaction.schema.types.filter { transaction.table($0.name).rowCount > 0 && !$0.isEmbedded }
            let facts = types.filter { ["old", "new", "changes"].contains($0.name) }
            let type = (random.chance(50) ? facts : types).randomElement(using: &random.generator)!
            let rows = try transaction.table(type.name).liveRowIDs(), row = rows[random.number(0...rows.count - 1)]
            let columnPosition = random.number(0...type.columns.count - 1), column = type.columns[columnPosition]
            do throws(FirnError) {
                switch random.number(0...9) {
                case 0: try transaction.delete(type.name, rowID: row)
                case 1:
                    try transaction.insert(
                        type.name,
                        type.columns.map {
                            $0.type.kind == .link || $0.type.kind == .embedded
                                ? Column.absentValue($0.type) : random.value($0.type, in: transaction.schema)
                        })
                case 2 where column.type.kind == .link:
                    let link = Value.link(Int64([-2, -1, 0, 3, 99, .max][random.number(0...5)]))
                    let value: Value =
                        switch column.type.collection {
                        case .none: link
                        case .list: .list([link])
                        case .set: .set([link])
                        case .map: .map([Value.Entry("k", link)])
                        }
                    try transaction.update(type.name, rowID: row, column: column.name, value)
                case 3: try transaction.update(type.name, rowID: row, column: column.name, Column.absentValue(column.type))
                default:
                    guard column.type.kind != .link, column.type.kind != .embedded else { continue }
                    var value = random.value(column.type, in: transaction.schema)
                    if column.name == "pairs" { value = .int(Int64(random.number(-1...9))) }
                    try transaction.update(type.name, rowID: row, column: column.name, value)
                }
            } catch { if error.code == .damaged { throw error } }
        }
        try transaction.commit()
    }
}
