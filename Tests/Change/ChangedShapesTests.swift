import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnChange

/// Changes of keys, column kinds and schemas of one type without links.
@Suite struct ChangedShapesTests {
    private static func file(_ path: String, _ types: [TypeSchema], _ rows: [String: [[Value]]]) throws -> Database {
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema(types)
        for type in types { for row in rows[type.name] ?? [] { try transaction.insert(type.name, row) } }
        try transaction.commit()
        return database
    }

    /// Applies the changes and reverses them, and checks that applying them twice is refused.
    private func expectBothWays(_ changes: Changeset, _ old: Database, _ new: Database, _ what: String = "") throws {
        let first = try LinkedChangesTests.hashes(old), last = try LinkedChangesTests.hashes(new)
        do {
            guard case .applied(_, true) = try LinkedChangesTests.apply(changes, old) else {
                Issue.record("\(what): the changes were refused"); return
            }
        } catch { Issue.record("\(what): \(error)"); return }
        #expect(try LinkedChangesTests.hashes(old) == last, "\(what)")
        #expect(try old.snapshot().verify(full: true).isEmpty, "\(what)")
        let again = try? LinkedChangesTests.apply(changes, old)
        if first != last, case .applied? = again { Issue.record("\(what): the changes were applied twice") }
        do {
            guard case .applied(_, true) = try LinkedChangesTests.apply(changes.reversed, old) else {
                Issue.record("\(what): the reversed changes were refused"); return
            }
        } catch { Issue.record("\(what): reversed changes: \(error)"); return }
        #expect(try LinkedChangesTests.hashes(old) == first, "\(what)")
    }

    @Test func `a changed key is a change, even if no row changes`() throws {
        let folder = TemporaryFolder()
        func type(_ key: [Int]) -> TypeSchema { TypeSchema("Thing", columns: [column("id", .int), column("x", .string)], key: key) }
        let rows: [String: [[Value]]] = ["Thing": [[.int(1), .string("a")], [.int(2), .string("b")]]]
        for (i, (from, to)) in [([Int](), [0]), ([0], []), ([0], [1]), ([0], [0, 1])].enumerated() {
            let old = try Self.file(folder.file("a\(i).firn"), [type(from)], rows),
                new = try Self.file(folder.file("b\(i).firn"), [type(to)], rows)
            try expectBothWays(LinkedChangesTests.changes(old, new, folder.file("c\(i).firn")), old, new, "\(from) \(to)")
        }
    }

    @Test func `a key column that changes its kind keeps its values`() throws {
        let folder = TemporaryFolder()
        let old = try Self.file(
            folder.file("a.firn"), [TypeSchema("Thing", columns: [column("id", .int), column("x", .string)], key: [0])],
            ["Thing": [[.int(1), .string("a")], [.int(2), .string("b")], [.int(3), .string("c")]]])
        let new = try Self.file(
            folder.file("b.firn"), [TypeSchema("Thing", columns: [column("id", .string), column("x", .string)], key: [0])],
            ["Thing": [[.string("1"), .string("a")], [.string("2"), .string("B")], [.string("x4"), .string("c")]]])
        try expectBothWays(LinkedChangesTests.changes(old, new, folder.file("c.firn")), old, new)
    }

    @Test func `equal values of kind any with different hashes are changes`() throws {
        let folder = TemporaryFolder()
        let type = TypeSchema(
            "Thing", columns: [column("id", .int), column("x", .any), ColumnSchema("l", ColumnType(.any, collection: .list))], key: [0])
        let odd: [Value] = [
            .float(0.1), .double(0.1), .decimal(Decimal("0.1")!), .decimal(Decimal("0.10")!), .decimal(Decimal("0.1000000000000000001")!),
            .double(Double(Float(0.1))), .int(1), .double(1), .bool(true),
            .list([.int(1)]), .set([.int(1)]), .list([.double(1)]), .int(.max), .double(0x1p63), .decimal(Decimal("9223372036854775807")!),
            .int(9007199254740993), .double(9007199254740992),
            .double(.nan), .double(-0.0), .int(0), .double(Double(bitPattern: 0x7FF8_0000_0000_0001)), .decimal(Decimal("NaN")!),
            .decimal(Decimal("Infinity")!), .double(.infinity), .float(.infinity), .null,
            .string("1"), .data([49]), .map([]), .map([.init("a", .null)]), .object([]), .list([]), .set([]), .string("é"),
            .string("e\u{301}"),
            .map([.init("e\u{301}", .int(1))]), .map([.init("é", .int(1))]), .list([.float(0.1)]), .map([.init("a", .set([.float(0.1)]))]),
            .map([.init("a", .set([.double(0.1)]))]),
        ]
        var before: [[Value]] = [], after: [[Value]] = [], key: Int64 = 0
        for a in odd {
            for b in odd {
                key += 1
                before.append([.int(key), a, .list([a, .null])])
                after.append([.int(key), b, .list([b, .null])])
            }
        }
        let old = try Self.file(folder.file("a.firn"), [type], ["Thing": before]),
            new = try Self.file(folder.file("b.firn"), [type], ["Thing": after])
        try expectBothWays(LinkedChangesTests.changes(old, new, folder.file("c.firn")), old, new)
    }

    @Test func `values that differ only in their representation are not changes`() throws {
        let folder = TemporaryFolder()
        let columns = [
            column("k", .double), column("d", .double), column("f", .float), column("m", .decimal), column("s", .string),
            ColumnSchema("set", ColumnType(.double, collection: .set)),
        ]
        let type = TypeSchema("Thing", columns: columns, key: [0])
        func row(_ k: Double, _ d: Double, _ m: String, _ s: String) -> [Value] {
            [.double(k), .double(d), .float(Float(d)), .decimal(Decimal(m)!), .string(s), .set([.double(d)])]
        }
        let old = try Self.file(
            folder.file("a.firn"), [type],
            ["Thing": [row(0, 0, "1", "é"), row(.nan, .nan, "NaN", "b"), row(1, 5, "0", "ß"), row(2, 1, "1E+3", "x")]])
        let new = try Self.file(
            folder.file("b.firn"), [type],
            [
                "Thing": [
                    row(-0.0, -0.0, "1.00", "e\u{301}"),
                    row(Double(bitPattern: 0xFFF8_0000_0000_1234), Double(bitPattern: 0x7FF8_0000_0000_0777), "NaN", "b"),
                    row(1, 6, "-0", "SS"), row(2, 1, "1000", "x"),
                ]
            ])
        let changes = try LinkedChangesTests.changes(old, new, folder.file("c.firn"))
        #expect(changes.pairs == 2)
        try expectBothWays(changes, old, new)
    }

    @Test func `a patch includes embedded types that contain each other in a diamond`() throws {
        let folder = TemporaryFolder()
        func object(_ name: String, _ target: String) -> ColumnSchema {
            ColumnSchema(name, ColumnType(.embedded, optional: true, target: target))
        }
        let types = [
            TypeSchema("D", columns: [column("v", .int)], isEmbedded: true),
            TypeSchema("C", columns: [object("d", "D"), column("c", .int)], isEmbedded: true),
            TypeSchema("B", columns: [object("c", "C"), object("d", "D")], isEmbedded: true),
        ]
        let thing = TypeSchema("Thing", columns: [column("id", .int), object("b", "B"), object("c", "C"), object("d", "D")], key: [0])
        let d = Value.object([.init("v", .int(4))]), c = Value.object([.init("d", d), .init("c", .int(3))]),
            b = Value.object([.init("c", c), .init("d", d)])
        let none = try Database.create(path: folder.file("n.firn")),
            old = try Self.file(
                folder.file("a.firn"), [TypeSchema("Thing", columns: [column("id", .int)], key: [0])], ["Thing": [[.int(1)]]])
        let new = try Self.file(folder.file("b.firn"), types + [thing], ["Thing": [[.int(1), b, c, d], [.int(2), .null, c, .null]]])
        try expectBothWays(LinkedChangesTests.changes(none, new, folder.file("c.firn")), none, new, "from nothing")
        try expectBothWays(LinkedChangesTests.changes(old, new, folder.file("d.firn")), old, new, "from one column")
        // Objects with a different schema.
        var wider = types
        wider[0].columns.append(column("w", .string))
        wider[1].columns.reverse()
        let d2 = Value.object([.init("v", .int(4)), .init("w", .string("w"))]), c2 = Value.object([.init("c", .int(3)), .init("d", d2)]),
            b2 = Value.object([.init("c", c2), .init("d", d2)])
        let other = try Self.file(folder.file("o.firn"), wider + [thing], ["Thing": [[.int(1), b2, c2, d2], [.int(2), b2, .null, d2]]])
        try expectBothWays(LinkedChangesTests.changes(new, other, folder.file("e.firn")), new, other, "another shape")
    }

    @Test func `objects whose fields are in another order receive the values by field name`() throws {
        let folder = TemporaryFolder()
        func types(_ fields: [String]) -> [TypeSchema] {
            [
                TypeSchema(
                    "Part",
                    columns: fields.map { column($0, .int) } + [ColumnSchema("to", ColumnType(.link, optional: true, target: "Thing"))],
                    isEmbedded: true),
                TypeSchema(
                    "Thing",
                    columns: [
                        column("id", .int), ColumnSchema("part", ColumnType(.embedded, optional: true, target: "Part")),
                        ColumnSchema("parts", ColumnType(.embedded, collection: .list, target: "Part")),
                    ], key: [0]),
            ]
        }
        func part(_ a: Int64, _ b: Int64) -> Value { .object([.init("a", .int(a)), .init("b", .int(b)), .init("to", .link(0))]) }
        func database(_ name: String, _ fields: [String], _ rows: [[Value]]) throws -> Database {
            try Self.file(folder.file(name), types(fields), ["Thing": rows])
        }
        let old = try database("a.firn", ["a", "b"], [[.int(1), part(1, 2), .list([])]]),
            new = try database(
                "b.firn", ["b", "a"], [[.int(1), part(3, 4), .list([part(5, 6)])], [.int(2), part(7, 8), .list([part(9, 10)])]])
        try expectBothWays(LinkedChangesTests.changes(old, new, folder.file("c.firn")), old, new)
        let turned = try database("d.firn", ["b", "a"], [[.int(1), part(1, 2), .list([])]])
        try expectBothWays(LinkedChangesTests.changes(old, new, folder.file("e.firn")), turned, new)
    }

    @Test func `types may have the names of types in a changes file`() throws {
        let folder = TemporaryFolder()
        func link(_ name: String, _ target: String) -> ColumnSchema {
            ColumnSchema(name, ColumnType(.link, optional: true, target: target))
        }
        let names = ["old", "new", "changes", "old.old", "newKey.new"]
        let types = names.map { name in
            TypeSchema(
                name, columns: [column("id", .int), column("x", .any)] + names.enumerated().map { link("to\($0.offset)", $0.element) },
                key: [0])
        }
        func database(_ path: String, _ row: Int64) throws -> Database {
            let database = try Database.create(path: folder.file(path)), transaction = try database.begin()
            try transaction.extendSchema(types)
            for name in names {
                for id in 0..<4 { try transaction.insert(name, [.int(Int64(id)), .null] + names.map { _ in .null }) }
                for id in 0..<4 {
                    for i in names.indices { try transaction.update(name, rowID: Int64(id), column: "to\(i)", .link((row + Int64(i)) % 4)) }
                    try transaction.update(name, rowID: Int64(id), column: "x", Value(link: (row + 1) % 4, to: names[id % names.count]))
                }
            }
            try transaction.commit()
            return database
        }
        for turn in 0..<4 {
            let old = try database("a\(turn).firn", 0), new = try database("b\(turn).firn", 1)
            try expectBothWays(LinkedChangesTests.changes(old, new, folder.file("c\(turn).firn")), old, new)
            // The rows are compared with the recorded cells, because the file has additional rows.
            let drifted = try database("d\(turn).firn", 0), transaction = try drifted.begin()
            for name in names { try transaction.insert(name, [.int(9), .null] + names.map { _ in .null }) }
            try transaction.commit()
            do {
                guard
                    case .applied(_, false) = try LinkedChangesTests.apply(
                        Changeset(Database.open(path: folder.file("c\(turn).firn")).snapshot(), name: "c"), drifted)
                else { Issue.record("the changes were refused"); return }
            } catch { Issue.record("\(error)") }
        }
    }

    @Test func `keys of kind any get the values of the new file, and may not contain links`() throws {
        let folder = TemporaryFolder()
        let type = TypeSchema("Thing", columns: [column("id", .any), column("x", .int)], key: [0])
        let old = try Self.file(
            folder.file("a.firn"), [type],
            ["Thing": [[.float(0.1), .int(1)], [.int(1), .int(2)], [.null, .int(3)], [.string("s"), .int(4)]]])
        let new = try Self.file(
            folder.file("b.firn"), [type],
            [
                "Thing": [
                    [.double(0.1), .int(1)], [.double(1), .int(5)], [.null, .int(6)], [.string("s"), .int(4)], [.list([.int(1)]), .int(7)],
                ]
            ])
        try expectBothWays(LinkedChangesTests.changes(old, new, folder.file("c.firn")), old, new)
        let linked = try Self.file(folder.file("d.firn"), [type], ["Thing": [[Value(link: 0, to: "Thing"), .int(1)]]])
        #expect { try LinkedChangesTests.changes(old, linked, folder.file("e.firn")) } throws: {
            ($0 as? FirnError)?.message.contains("the key column \"id\" contains links") ?? false
        }
    }

    @Test func `columns that are removed or change their kind are refused if they have values that the changes do not contain`() throws {
        let folder = TemporaryFolder()
        let x = column("x", .int, optional: false), l = ColumnSchema("l", ColumnType(.int, collection: .list))
        let before = TypeSchema("Thing", columns: [column("id", .int), column("note", .string), x, l], key: [0])
        let after = TypeSchema("Thing", columns: [column("id", .int), x, column("late", .int)], key: [0])
        func thing(_ id: Int64, _ note: Value, _ x: Int64, _ l: [Value]) -> [Value] { [.int(id), note, .int(x), .list(l)] }
        let old = try Self.file(
            folder.file("a.firn"), [before],
            ["Thing": [thing(1, .null, 1, []), thing(2, .string("b"), 2, [.int(7)]), thing(3, .null, 3, [])]])
        let new = try Self.file(
            folder.file("b.firn"), [after],
            ["Thing": [[.int(1), .int(1), .null], [.int(2), .int(2), .int(9)], [.int(3), .int(4), .null]]])
        let changes = try LinkedChangesTests.changes(old, new, folder.file("c.firn"))
        func outcome(_ name: String, _ rows: [[Value]]) throws -> [String] {
            let database = try Self.file(folder.file(name), [before], ["Thing": rows]), hashes = try LinkedChangesTests.hashes(database)
            guard case .refused(let found, _, _) = try LinkedChangesTests.apply(changes, database) else { return ["applied"] }
            #expect(try LinkedChangesTests.hashes(database) == hashes)
            return found.map { "\($0.key): \($0.what)" }
        }
        #expect(
            try outcome(
                "d.firn",
                [
                    thing(1, .null, 1, []), thing(2, .string("b"), 2, [.int(7)]), thing(3, .null, 3, []), thing(4, .string("mine"), 4, []),
                    thing(5, .null, 5, [.int(1)]),
                ]) == [
                    "id=4: column \"note\" would be dropped or replaced, but this row has a value that the changeset does not contain",
                    "id=5: column \"l\" would be dropped or replaced, but this row has a value that the changeset does not contain",
                ])
        #expect(
            try outcome("e.firn", [thing(1, .string("mine"), 1, []), thing(2, .string("b"), 2, [.int(7)]), thing(3, .null, 3, [])]) == [
                "id=1: the file differs from the recorded values in: note"
            ])
        #expect(
            try outcome(
                "f.firn", [thing(1, .null, 1, []), thing(2, .string("b"), 2, [.int(7)]), thing(3, .null, 3, []), thing(4, .null, 4, [])])
                == ["applied"])
        try expectBothWays(changes, old, new)
    }

    @Test func `an optional column of a file with additional rows stays optional`() throws {
        let folder = TemporaryFolder()
        func type(_ optional: Bool, _ more: [ColumnSchema]) -> TypeSchema {
            TypeSchema(
                "Thing",
                columns: [
                    column("id", .int), column("x", .int, optional: optional),
                    ColumnSchema("l", ColumnType(.int, collection: .list, elementOptional: optional)),
                ] + more, key: [0])
        }
        let old = try Self.file(folder.file("a.firn"), [type(false, [])], ["Thing": [[.int(1), .int(1), .list([])]]])
        let new = try Self.file(
            folder.file("b.firn"), [type(false, [column("late", .int)])], ["Thing": [[.int(1), .int(2), .list([]), .int(3)]]])
        let changes = try LinkedChangesTests.changes(old, new, folder.file("c.firn"))
        let drifted = try Self.file(
            folder.file("d.firn"), [type(true, [])],
            ["Thing": [[.int(1), .int(1), .list([])], [.int(2), .null, .list([.int(1), .null])]]])
        guard case .applied(_, false) = try LinkedChangesTests.apply(changes, drifted) else {
            Issue.record("the changes were refused"); return
        }
        #expect(try drifted.snapshot().table(named: "Thing")?.row(1) == [.int(2), .null, .list([.int(1), .null]), .null])
    }

    @Test func `embedded objects are kept if their type has another name in the new file and a column is added`() throws {
        let folder = TemporaryFolder()
        func types(_ name: String, _ more: [ColumnSchema]) -> [TypeSchema] {
            [
                TypeSchema(name + ".inner", columns: [column("v", .int)], isEmbedded: true),
                TypeSchema(
                    name + ".part",
                    columns: [column("a", .int), ColumnSchema("inner", ColumnType(.embedded, optional: true, target: name + ".inner"))],
                    isEmbedded: true),
                TypeSchema(
                    "Thing",
                    columns: [column("id", .int), ColumnSchema("part", ColumnType(.embedded, optional: true, target: name + ".part"))]
                        + more, key: [0]),
            ]
        }
        let part = Value.object([.init("a", .int(4)), .init("inner", .object([.init("v", .int(5))]))])
        let old = try Self.file(folder.file("a.firn"), types("A", []), ["Thing": [[.int(1), part], [.int(2), part]]])
        let new = try Self.file(
            folder.file("b.firn"), types("B", [column("late", .int)]),
            ["Thing": [[.int(1), part, .null], [.int(2), part, .int(3)], [.int(3), part, .null]]])
        try expectBothWays(LinkedChangesTests.changes(old, new, folder.file("c.firn")), old, new)
    }

    @Test func `pairs of rows with two different keys, and too many rows in a changes file, are refused`() throws {
        let folder = TemporaryFolder()
        let type = TypeSchema("Thing", columns: [column("id", .int), column("x", .int)], key: [0])
        let old = try Self.file(folder.file("a.firn"), [type], ["Thing": [[.int(1), .int(1)], [.int(2), .int(2)]]]),
            new = try Self.file(folder.file("b.firn"), [type], ["Thing": [[.int(1), .int(10)], [.int(2), .int(20)]]])
        _ = try LinkedChangesTests.changes(old, new, folder.file("c.firn"))
        let file = try Database.open(path: folder.file("c.firn"), writable: true)
        var transaction = try file.begin()
        try transaction.update("new.Thing", rowID: 0, column: "id", .int(7))
        try transaction.commit()
        // The file has additional rows, so a hash of all rows cannot detect the fault.
        let drifted = try Self.file(
            folder.file("d.firn"), [type], ["Thing": [[.int(1), .int(1)], [.int(2), .int(2)], [.int(3), .int(3)]]])
        #expect { try LinkedChangesTests.apply(Changeset(file.snapshot(), name: "c"), drifted) } throws: {
            ($0 as? FirnError)?.code == .damaged
        }
        for (name, most) in [("changes", 1), ("old", Changeset.maximumTypes), ("new", Changeset.maximumTypes)] {
            transaction = try file.begin()
            let table = transaction.table(name).type, row = try #require(try file.snapshot().table(named: name)?.row(0))
            var batch = Batch(table, in: Schema([table]))
            for (i, value) in row.enumerated() { for _ in 0..<1000 { batch.columns[i].append(value) } }
            batch.count = 1000
            let writer = try transaction.bulkWriter(name)
            for _ in 0...most / 1000 { try writer.append(batch) }
            try transaction.commit()
            #expect { _ = try Changeset(file.snapshot(), name: "c") } throws: { ($0 as? FirnError)?.code == .notThisFormat }
            transaction = try file.begin()
            for id in try #require(try file.snapshot().table(named: name)).liveRowIDs().dropFirst() {
                try transaction.delete(name, rowID: id)
            }
            try transaction.commit()
        }
    }

    @Test func `a key other than the expected one is kept, and a key column does not change its kind if other rows would lose their keys`()
        throws
    {
        let folder = TemporaryFolder()
        func type(_ key: [Int], _ kind: ScalarKind = .int) -> TypeSchema {
            TypeSchema("Thing", columns: [column("id", kind), column("x", .int)], key: key)
        }
        func row(_ id: Int64, _ x: Int64) -> [Value] { [.int(id), .int(x)] }
        let old = try Self.file(folder.file("a.firn"), [type([])], ["Thing": [row(1, 1), row(2, 2)]]),
            new = try Self.file(folder.file("b.firn"), [type([0])], ["Thing": [row(1, 1), row(2, 3)]])
        let changes = try LinkedChangesTests.changes(old, new, folder.file("c.firn")),
            third = try Self.file(folder.file("d.firn"), [type([1])], ["Thing": [row(1, 1), row(2, 2)]])
        guard case .refused(let found, 1, _) = try LinkedChangesTests.apply(changes, third) else {
            Issue.record("the changes were applied"); return
        }
        #expect(found[0].what == "the key of \"Thing\" is not the one that the changes were made from")
        let ints = try Self.file(folder.file("e.firn"), [type([0])], ["Thing": [row(1, 1)]]),
            texts = try Self.file(
                folder.file("f.firn"), [type([0], .string)], ["Thing": [[.string("1"), .int(2)], [.string("x"), .int(3)]]])
        let other = try LinkedChangesTests.changes(ints, texts, folder.file("g.firn")),
            drifted = try Self.file(folder.file("h.firn"), [type([0])], ["Thing": [row(1, 1), row(5, 5)]])
        guard case .refused(let lost, 1, _) = try LinkedChangesTests.apply(other, drifted) else {
            Issue.record("the changes were applied"); return
        }
        #expect(lost[0].key == "id=5")
    }

    @Test func `changes of one type cannot be applied to an embedded type`() throws {
        let folder = TemporaryFolder()
        let types = [
            TypeSchema("Part", columns: [column("v", .int)], isEmbedded: true),
            TypeSchema(
                "Thing", columns: [column("id", .int), ColumnSchema("part", ColumnType(.embedded, optional: true, target: "Part"))],
                key: [0]),
        ]
        let none = try Database.create(path: folder.file("a.firn")),
            new = try Self.file(folder.file("b.firn"), types, ["Thing": [[.int(1), .object([.init("v", .int(2))])]]])
        let changes = try LinkedChangesTests.changes(none, new, folder.file("c.firn")), transaction = try none.begin()
        defer { transaction.cancel() }
        #expect { try changes.apply(to: "Part", in: transaction, options: DifferenceOptions()) } throws: {
            [.schema, .unsupported].contains(($0 as? FirnError)?.code)
        }
    }
}
