import FirnKit
import Foundation
import Testing

/// `firn upsert` of inputs of which most rows are in the file already, against dictionaries of the texts of the values.
@Suite struct EqualRowsTests {
    private struct Table {
        static let columns = ["a", "b", "n", "x", "t", "d", "f", "l", "o"]
        var random: Random
        let key: [String]
        /// For each key, the JSON text of each column.
        var rows: [[String]: [String: String]] = [:]

        mutating func value(_ column: String) -> String {
            let n = Int.random(in: 0..<50, using: &random)
            switch column {
            case "n": return n == 0 ? "null" : "\(n * 7 - 100)"
            case "x": return n == 0 ? "null" : "\(n - 20).5"
            case "t": return ["null", "\"\"", "\"ä\"", "\"twelve bytes\"", "\"a text of more than fifteen bytes\""][n % 5]
            case "d": return "\"2024-0\(n % 9 + 1)-1\(n % 10)T00:00:0\(n % 7)Z\""
            case "f": return n % 2 == 0 ? "true" : "false"
            case "l": return ["[]", "[1,2]", "[2,1]", "[3]"][n % 4]
            default: return "{\"p\":\(n % 3),\"q\":\"\(n % 5)\"}"
            }
        }

        mutating func fresh(_ key: [String]) -> [String: String] {
            var row: [String: String] = [:]
            for column in Table.columns where !self.key.contains(column) { row[column] = value(column) }
            for (column, value) in zip(self.key, key) { row[column] = value }
            return row
        }

        mutating func newKey() -> [String] {
            let n = Int.random(in: 0..<600, using: &random)
            return key.map { $0 == "a" ? "\(n % 40 * 1_000_003)" : "\"key \(key.count == 1 ? n : n / 40)\"" }
        }

        static func line(_ row: [String: String], _ columns: [String] = columns) -> String {
            "{" + columns.compactMap { name in row[name].map { "\"\(name)\":\($0)" } }.joined(separator: ",") + "}"
        }
    }

    @Test(arguments: 0..<9 as Range<UInt64>)
    func `rows that are equal change nothing, and others are changed as one by one`(seed: UInt64) throws {
        let scratch = try Scratch()
        let key = [["a"], ["b"], ["a", "b"]][Int(seed % 3)]
        var table = Table(random: Random(seed: seed), key: key)
        for _ in 0..<400 {
            let key = table.newKey()
            table.rows[key] = table.fresh(key)
        }
        try scratch.write("t.ndjson", table.rows.values.map { Table.line($0) + "\n" }.joined())
        #expect(try scratch.firn("convert", "t.ndjson", "t.firn", "--key", key.joined(separator: ","), "-q").code == 0)
        #expect(try scratch.firn("upsert", "t.firn", "t.ndjson").out.contains("nothing to change"))
        for step in 0..<4 {
            // Some versions leave columns out; keys repeat, and some values return to what they were.
            let given = step % 2 == 0 ? Table.columns : ["a", "b", "t", "n", "l"], before = table.rows
            var lines: [String] = []
            for key in table.rows.keys.shuffled(using: &table.random) {
                var row = table.rows[key]!
                if Int.random(in: 0..<10, using: &table.random) == 0 {
                    let column = given.filter { !table.key.contains($0) }.randomElement(using: &table.random)!
                    let old = row[column]!
                    row[column] = table.value(column)
                    lines.append(Table.line(row, given))
                    if Bool.random(using: &table.random) { row[column] = old }
                }
                lines.append(Table.line(row, given))
                table.rows[key] = row
            }
            var added = 0
            if given == Table.columns {
                for _ in 0..<9 {
                    let key = table.newKey()
                    if table.rows[key] == nil { added += 1 }
                    table.rows[key] = table.fresh(key)
                    lines.append(Table.line(table.rows[key]!))
                }
            }
            try scratch.write("more.ndjson", lines.joined(separator: "\n") + "\n")
            let run = try scratch.firn("upsert", "t.firn", "more.ndjson")
            let differing = before.filter { table.rows[$0.key] != $0.value }.count
            // A value that was changed and changed back counts as changed.
            let counted = run.out.split(separator: " ").dropLast().last.flatMap { Int($0) } ?? -1
            let isSame = run.out.contains("nothing to change") && added == 0 && differing == 0
            #expect(
                run.code == 0 && (isSame || run.out.contains("\(added) added, 0 removed") && counted >= differing),
                "\(run.out): \(differing)")
            let stored = try scratch.firn("query", "t.firn", "--format", "ndjson").out.split(separator: "\n").map(String.init)
            #expect(stored.sorted() == table.rows.values.map { Table.line($0) }.sorted())
        }
        #expect(try scratch.firn("verify", "--full", "t.firn").code == 0)
    }

    @Test func `original texts that differ are a change although their values are equal`() throws {
        let scratch = try Scratch()
        let rows = (1...200).map { "\($0),\($0).50,\($0 % 3 == 0 ? "NA" : "7")\n" }
        try scratch.write("t.csv", "id,price,n\n" + rows.joined())
        #expect(try scratch.firn("convert", "--lossless", "t.csv", "t.firn", "--key", "id", "-q").code == 0)
        #expect(try scratch.firn("upsert", "t.firn", "t.csv").out.contains("nothing to change"))
        try scratch.write("u.csv", "id,price,n\n" + rows.joined().replacing("3,3.50,NA", with: "3,3.50,n/a"))
        let run = try scratch.firn("upsert", "t.firn", "u.csv")
        #expect(run.code == 0 && run.out.contains("0 added, 0 removed, 1 changed"), "\(run.out)\(run.errors)")
        #expect(try scratch.firn("convert", "t.firn", "v.csv", "-q").code == 0)
        #expect(try scratch.read("v.csv") == scratch.read("u.csv"))
    }
}
