import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnChange

@Suite struct ValueEditTests {
    /// Returns random nested values, and similar values with a few changes.
    private struct Nested {
        var generator: Random

        mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &generator) }

        mutating func value(_ depth: Int) -> Value {
            switch number(0...(depth > 0 ? 9 : 5)) {
            case 0: return .null
            case 1: return .int(Int64(number(-3...3)))
            case 2: return .double(Double(number(0...8)) / 4)
            case 3, 4: return .string(["", "a", "é", "a.b", "long text \(number(0...5))"][number(0...4)])
            case 5: return .bool(number(0...1) == 1)
            case 6, 7: return .list((0..<number(0...6)).map { _ in value(depth - 1) })
            case 8: return .set(Value.distinctSorted((0..<number(0...5)).map { _ in .int(Int64(number(0...20))) }))
            default:
                return map(
                    (0..<number(0...6)).map { _ in
                        (["k", "é", "e\u{301}", "", "a.b", "x[0]"][number(0...5)] + "\(number(0...3))", value(depth - 1))
                    })
            }
        }

        private func map(_ entries: [(String, Value)]) -> Value {
            var seen: Set<[UInt8]> = []
            let distinct = entries.filter { seen.insert(Array($0.0.utf8)).inserted }
            return .map(distinct.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }.map { Value.Entry($0.0, $0.1) })
        }

        mutating func changed(_ value: Value, _ depth: Int) -> Value {
            if number(0...7) == 0 { return self.value(depth) }
            switch value {
            case .list(var values):
                for i in values.indices where number(0...2) == 0 { values[i] = changed(values[i], depth - 1) }
                if number(0...2) == 0 { values.insert(self.value(1), at: number(0...values.count)) }
                if !values.isEmpty, number(0...2) == 0 { values.remove(at: number(0...values.count - 1)) }
                return .list(values)
            case .set(let values):
                return .set(
                    Value.distinctSorted(
                        values.filter { _ in number(0...4) > 0 } + (number(0...1) == 0 ? [.int(Int64(number(0...20)))] : [])))
            case .map(let entries):
                var out = entries.filter { _ in number(0...6) > 0 }.map { ($0.key, changed($0.value, depth - 1)) }
                if number(0...2) == 0 { out.append(("new \(number(0...9))", self.value(1))) }
                return map(out)
            default: return value
            }
        }
    }

    @Test(arguments: Seed.first(40))
    func `edits lead from one nested value to another and back, and refuse other values`(seed: Seed) {
        var random = Nested(generator: Random(seed))
        for _ in 0..<40 {
            let old = random.value(4), new = random.number(0...9) == 0 ? random.value(4) : random.changed(old, 4)
            for checks in [false, true] {
                let edits = [ValueEdit].between(old, new, checks: checks)
                #expect(edits.isEmpty == (old == new))
                var there = old
                let refused = there.apply(edits)
                #expect(refused == nil)
                #expect(there == new)
                var back = new
                let refusedBack = back.apply(edits.reversed().map(\.reversed))
                #expect(refusedBack == nil)
                #expect(back == old)
            }
            if old != new, let edits = CellEdits.between(old, new) {
                #expect(edits.size < old.encoded.count + new.encoded.count)
                // The recorded parts do not match, so applying edits twice is refused.
                var again = new
                let refused = again.apply(edits)
                #expect(refused != nil)
            }
        }
    }

    @Test func `a changed member of an object is one edit with its path`() {
        func birth(_ name: String, _ year: Int64) -> Value {
            .object([
                .init("place", .object([.init("name", .string(name)), .init("type", .string("nation"))])),
                .init("time", .object([.init("startYear", .int(year))])),
            ])
        }
        let edits = [ValueEdit].between(birth("A", 1930), birth("B", 1930))
        #expect(edits == [ValueEdit(path: [.string("place"), .string("name")], kind: .replaced, old: .string("A"), new: .string("B"))])
        #expect(edits[0].text("birth") == "birth.place.name")
        let strange = ValueEdit(path: [.string("a.b"), .int(3), .string(""), .null], kind: .added, old: .null, new: .int(1))
        #expect(strange.text("c") == #"c["a.b"][3][""][]"#)
    }

    @Test func `keys that only look equal are different keys`() {
        let filler = Value.Entry("z", .string(String(repeating: "x", count: 4000)))
        let composed = Value.map([.init("m", .map([filler, .init("\u{E9}", .int(1))])), filler]),
            decomposed = Value.map([.init("m", .map([.init("e\u{301}", .int(1)), filler])), filler])
        #expect(composed != decomposed)
        let edits = CellEdits.between(composed, decomposed)
        #expect(edits?.map(\.kind) == [.removed, .added])
    }

    @Test func `an insertion into a list is one edit, which is refused if the list has changed`() {
        let old = Value.list((0..<100).map { .string("element \($0)") })
        guard case .list(var values) = old else { return }
        values.insert(.string("new"), at: 40)
        let edits = CellEdits.between(old, .list(values))!
        #expect(edits.map(\.kind) == [.checked, .added] && edits[1].path == [.int(40)])
        // One more element at the front: the position is that of another element.
        values.remove(at: 40)
        values.insert(.string("zero"), at: 0)
        var other = Value.list(values)
        let refused = other.apply(edits)
        #expect(refused == edits[0])
    }

    @Test func `a null member that the other object does not have is not a difference`() {
        let old = Value.object([.init("x", .int(1)), .init("y", .int(5))]),
            new = Value.object([.init("x", .int(2)), .init("y", .null), .init("z", .null)])
        let edits = [ValueEdit].between(old, new, absentIsNull: true)
        #expect(edits.map(\.path) == [[.string("x")], [.string("y")]] && edits.map(\.kind) == [.replaced, .replaced])
        #expect([ValueEdit].between(new, old, absentIsNull: true).map(\.kind) == [.replaced, .replaced])
        #expect([ValueEdit].between(old, new).count == 3)
    }

    @Test func `members without edits may have other values`() {
        let old = Value.map([.init("a", .string(String(repeating: "x", count: 50))), .init("b", .int(1))]),
            new = Value.map([.init("a", .string(String(repeating: "x", count: 50))), .init("b", .int(2))])
        var other = Value.map([.init("a", .string("y")), .init("b", .int(1)), .init("c", .int(3))])
        let refused = other.apply(CellEdits.between(old, new)!)
        #expect(refused == nil)
        #expect(other == .map([.init("a", .string("y")), .init("b", .int(2)), .init("c", .int(3))]))
    }

    // MARK: Files

    private static let placeType = TypeSchema(
        "Place", columns: [column("name", .string), column("type", .string), ColumnSchema("tags", ColumnType(.string, collection: .list))],
        isEmbedded: true)
    private static let types = [
        placeType,
        TypeSchema(
            "Person",
            columns: [
                column("id", .int), ColumnSchema("birth", ColumnType(.embedded, optional: true, target: "Place")),
                ColumnSchema("places", ColumnType(.embedded, collection: .list, target: "Place")),
                ColumnSchema("marks", ColumnType(.int, collection: .set)), ColumnSchema("by", ColumnType(.string, collection: .map)),
                ColumnSchema("doc", ColumnType(.any, optional: true)),
                column("note", .string),
            ], key: [0]),
    ]

    private static func file(_ path: String, _ rows: [[Value]]) throws -> Database {
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema(types)
        for row in rows { try transaction.insert("Person", row) }
        try transaction.commit()
        return database
    }

    private static func place(_ random: inout Nested) -> Value {
        let filler = String(repeating: "place ", count: random.number(1...6))
        return .object([
            .init("name", .string(filler + "\(random.number(0...9))")), .init("type", .string(["nation", "city"][random.number(0...1)])),
            .init("tags", .list((0..<random.number(0...8)).map { _ in .string("tag \(random.number(0...9))") })),
        ])
    }

    private static func row(_ id: Int, _ random: inout Nested) -> [Value] {
        [
            .int(Int64(id)), random.number(0...5) == 0 ? .null : place(&random),
            .list((0..<random.number(0...5)).map { _ in place(&random) }),
            .set(Value.distinctSorted((0..<random.number(0...30)).map { _ in .int(Int64(random.number(0...999))) })),
            .map((0..<random.number(0...9)).map { .init("key \($0)", .string("value \(random.number(0...999))")) }), random.value(4),
            .string("n\(random.number(0...3))"),
        ]
    }

    private static func changed(_ row: [Value], _ random: inout Nested) -> [Value] {
        var out = row
        for i in [1, 2] where random.number(0...1) == 0 {
            func edit(_ value: Value, _ random: inout Nested) -> Value {
                switch value {
                case .object(var entries):
                    if random.number(0...9) == 0 { return place(&random) }
                    entries[random.number(0...1)].value = .string("other \(random.number(0...99))")
                    if random.number(0...1) == 0, case .list(var tags) = entries[2].value {
                        tags.insert(.string("inserted"), at: random.number(0...tags.count))
                        entries[2].value = .list(tags)
                    }
                    return .object(entries)
                case .list(var values):
                    for k in values.indices where random.number(0...2) == 0 { values[k] = edit(values[k], &random) }
                    if random.number(0...2) == 0 { values.insert(place(&random), at: random.number(0...values.count)) }
                    return .list(values)
                default: return place(&random)
                }
            }
            out[i] = edit(out[i], &random)
        }
        for i in 3...5 where random.number(0...1) == 0 {
            let old = out[i], new = random.changed(old, 4)
            switch (i, new) {
            case (3, .set), (5, _): out[i] = new
            case (4, .map(let entries)):
                out[i] = .map(
                    entries.map { entry in if case .string = entry.value { entry } else { .init(entry.key, .string("was no text")) } })
            default: break
            }
        }
        return out
    }

    @Test(arguments: Seed.first(12))
    func `changes of nested cells are applied and reversed, and give the hash of the new rows`(seed: Seed) throws {
        let folder = TemporaryFolder()
        var random = Nested(generator: Random(seed, salt: 31))
        let before = (0..<60).map { Self.row($0, &random) }
        let after =
            before.map { random.number(0...2) == 0 ? $0 : Self.changed($0, &random) }.filter { _ in random.number(0...20) > 0 }
            + (100..<103).map { Self.row($0, &random) }
        let old = try Self.file(folder.file("a.firn"), before), new = try Self.file(folder.file("b.firn"), after)
        let hashes = try (LinkedChangesTests.hashes(old), LinkedChangesTests.hashes(new))
        let changes = try LinkedChangesTests.changes(old, new, folder.file("c.firn"))
        let file = try Database.open(path: folder.file("c.firn")).snapshot()
        #expect(file.table(named: "edits.Person")!.rowCount > 0)
        guard case .applied(_, isProven: true) = try LinkedChangesTests.apply(changes, old) else {
            Issue.record("the changes were refused"); return
        }
        #expect(try LinkedChangesTests.hashes(old) == hashes.1)
        #expect(try old.snapshot().verify(full: true).isEmpty)
        guard case .refused(_, _, isReached: true) = try LinkedChangesTests.apply(changes, old) else {
            Issue.record("the changes were applied twice"); return
        }
        guard case .applied(_, isProven: true) = try LinkedChangesTests.apply(changes.reversed, old) else {
            Issue.record("the reversed changes were refused"); return
        }
        #expect(try LinkedChangesTests.hashes(old) == hashes.0)
    }

    @Test func `a part that differs from the recorded one is a conflict with its path, but other parts may differ`() throws {
        let folder = TemporaryFolder()
        func row(_ name: String, _ type: String, _ note: String = "n") -> [Value] {
            [
                .int(1), .object([.init("name", .string(name)), .init("type", .string(type)), .init("tags", .list([]))]), .list([]),
                .set([]), .map([]), .null, .string(note),
            ]
        }
        let old = try Self.file(folder.file("a.firn"), [row("Aberystwyth in the county of Ceredigion", "nation")]),
            new = try Self.file(folder.file("b.firn"), [row("Aberystwyth in the county of Ceredigion", "city")])
        let changes = try LinkedChangesTests.changes(old, new, folder.file("c.firn"))
        // Another member and another column differ, and both are kept.
        let merged = try Self.file(folder.file("d.firn"), [row("Aberaeron", "nation", "other")])
        guard case .applied(_, isProven: false) = try LinkedChangesTests.apply(changes, merged) else {
            Issue.record("the changes were refused"); return
        }
        #expect(try merged.snapshot().table(named: "Person")!.row(0)![1] == row("Aberaeron", "city")[1])
        let conflicting = try Self.file(folder.file("e.firn"), [row("Aberystwyth in the county of Ceredigion", "village")])
        guard case .refused(let conflicts, 1, isReached: false) = try LinkedChangesTests.apply(changes, conflicting) else {
            Issue.record("the changes were applied"); return
        }
        #expect(conflicts[0].what == "the file differs from the recorded values in: birth.type" && conflicts[0].key == "id=1")
    }

    @Test func `files without nested changes have format version 2, and invalid edits are refused`() throws {
        let folder = TemporaryFolder()
        var random = Nested(generator: Random(seed: 5))
        let row = Self.row(1, &random)
        var other = row
        other[6] = .string("another note")
        let old = try Self.file(folder.file("a.firn"), [row]), new = try Self.file(folder.file("b.firn"), [other])
        _ = try LinkedChangesTests.changes(old, new, folder.file("c.firn"))
        let file = try Database.open(path: folder.file("c.firn")).snapshot()
        #expect(try file.table(named: "changes")!.row(0)![0] == .int(2))
        let edits: [[Value]] = [
            [.int(0), .string("doc"), .int(9), .list([]), .null, .null],
            [.int(0), .string("doc"), .int(1), .list([.bool(true)]), .null, .null],
            [.int(0), .string("id"), .int(1), .list([]), .int(1), .int(2)],
            [.int(0), .string("birth"), .int(1), .list([]), row[1].withoutObjects, .int(5)],
            [.int(0), .string("none"), .int(1), .list([]), .null, .null], [.int(1), .string("doc"), .int(1), .list([]), .null, .int(5)],
        ]
        for (i, edit) in edits.enumerated() {
            let path = folder.file("c\(i).firn")
            try FileManager.default.copyItem(atPath: folder.file("c.firn"), toPath: path)
            let database = try Database.open(path: path, writable: true), transaction = try database.begin()
            try transaction.update("changes", rowID: 0, column: "version", .int(3))
            try transaction.insert("edits.Person", edit)
            try transaction.commit()
            #expect(throws: FirnError.self, "\(edit)") {
                let changes = try Changeset(try Database.open(path: path).snapshot(), name: "c")
                if case .refused = try LinkedChangesTests.apply(changes, old) { throw FirnError(.usage, "refused") }
            }
            #expect(try LinkedChangesTests.hashes(old) == LinkedChangesTests.hashes(Self.file(folder.file("f\(i).firn"), [row])))
        }
    }
}
