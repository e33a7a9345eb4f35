import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Testing

@testable import FirnJSON

/// Rows that several threads format.
@Suite struct JSONThreadTests {
    private static let texts = ["", "x", "\"q\" \\ \n", "é", "a text longer than thirty-two bytes, and then some", "\u{1}", "null"]

    /// Returns an object with flat members, each of them missing or null in some rows, a list and an object.
    private func object(_ row: Int, _ dice: inout Random) -> JSONDocument {
        var members: [(String, JSONDocument)] = [("id", .number("\(row)"))]
        let flat: [(String, JSONDocument)] = [
            ("n", .number("\(Int64(bitPattern: dice.next()))")), ("price", .number("\(dice.below(10_000)).\(dice.below(90) + 10)")),
            ("real", .number(JSONBytes.plain(Double(Int64(bitPattern: dice.next())) * 1e-25))), ("is", .bool(dice.below(2) == 0)),
            ("day", .string("20\(dice.below(90) + 10)-0\(dice.below(9) + 1)-1\(dice.below(10))")),
            ("at", .string("2024-01-0\(dice.below(9) + 1)T10:00:0\(dice.below(10))Z")),
            ("a \"name\"", .string(Self.texts.randomElement(using: &dice)!)),
            ("uuid", .string("6ba7b810-9dad-11d1-80b4-00c04fd4\(dice.below(9000) + 1000)")),
        ]
        for member in flat where dice.below(8) > 0 { members.append(member) }
        if dice.below(2) == 0 { members.append(("tags", .array((0..<dice.below(4)).map { .string(Self.texts[$0]) }))) }
        if dice.below(2) == 0 { members.append(("inner", .object([("a", .number("\(dice.below(9))")), ("b", .array([]))]))) }
        return .object(members)
    }

    private func document(_ objects: [JSONDocument], _ form: Int) -> JSONDocument {
        switch form {
        case 0: .array(objects)
        case 1: .object(objects.enumerated().map { ("key \($0)", $1) })
        default: .object([("version", .number("1")), ("rows", .array(objects)), ("end", .bool(true))])
        }
    }

    @Test(arguments: Seed.first(4)) func `rows are written with the same bytes by any number of threads`(seed: Seed) throws {
        var dice = Random(seed)
        let rows = 1 + dice.below(4000)
        let objects = (0..<rows).map { object($0, &dice) }
        let lines = Array(objects.map { $0.compact + "\n" }.joined().utf8)
        try expectSameLines(lines)
        let table = try Table(lines, .lines)
        let one = try table.written(.lines) { $0.threads = 1 }
        for threads in [2, 3, 8] { #expect(try table.written(.lines) { $0.threads = threads } == one, "seed \(seed), \(threads) threads") }
        for form in 0..<3 {
            let document = document(objects, form)
            for isPretty in [false, true] {
                let bytes = Array((isPretty ? document.pretty : document.compact).utf8), table = try Table(bytes, .document)
                let one = try table.written { $0.threads = 1 }
                #expect(try foundation(bytes).isEqual(foundation(one)), "seed \(seed), form \(form)")
                let again = try Table(one, .document).written() == one
                #expect(again, "seed \(seed), form \(form)")
                for threads in [2, 5] {
                    #expect(try table.written { $0.threads = threads } == one, "seed \(seed), form \(form), \(threads) threads")
                }
            }
        }
    }

    @Test func `names count when rows are divided, so that long names of few values are not all in memory at a time`() throws {
        let name = String(repeating: "n", count: 1 << 18), type = TypeSchema("R", columns: [ColumnSchema(name, ColumnType(.int))])
        var batch = Batch(type, in: Schema([type]))
        for row in 0..<4000 { batch.columns[0].append(.int(Int64(row))) }
        batch.count = 4000
        let names = name.utf8.count * batch.count
        let rows = RowPieces.groups(batch, 0..<batch.count, threads: 2, names: names).flatMap { $0 }
        #expect(rows.allSatisfy { $0.count <= 4 } && rows.map(\.count).reduce(0, +) == 4000)
        #expect(RowPieces.groups(batch, 0..<batch.count, threads: 2).flatMap { $0 }.count == 2)
    }

    @Test func `objects with more members than have lanes are written like those with fewer`() throws {
        let names = (0..<1100).map { "column \($0)" }
        let wide = (0..<40).map { row in
            JSONDocument.object(names.enumerated().filter { $0.offset % 7 != row % 7 }.map { ($0.element, .number("\(row * $0.offset)")) })
        }
        try expectSameLines(Array(wide.map { $0.compact + "\n" }.joined().utf8))
        try expectSameDocument(Array(document(wide, 1).pretty.utf8))
    }
}
