import Dispatch
import FirnBytes
import FirnChange
import FirnKit
import FirnTable
import Testing

@Suite struct PropertyTests {
    /// The simple method: a dictionary of keys.
    func slow(_ old: [[Value]], _ new: [[Value]], key: Int, names: [String]) -> [String] {
        func text(_ row: [Value]) -> String { row.prefix(key).map(nestedText).joined(separator: ",") }
        var rows: [String: [Value]] = [:]
        for row in old { rows[text(row)] = row }
        let kept = Set(new.map(text))
        var out = old.filter { !kept.contains(text($0)) }.map { "-" + text($0) }
        for row in new {
            guard let before = rows[text(row)] else {
                out.append("+" + text(row))
                continue
            }
            let changed = row.indices.dropFirst(key).filter { row[$0] != before[$0] }
            if !changed.isEmpty { out.append("~" + text(row) + " " + changed.map { names[$0] }.joined(separator: " ")) }
        }
        return out
    }

    func rows(_ count: Int, _ dice: inout Random, wide: Bool) -> [[Value]] {
        var seen: Set<String> = []
        var out: [[Value]] = []
        let range = Int64(wide ? count * 2 : 40)
        for _ in 0..<count {
            let year: Value = .int(Int64.random(in: 0..<range, using: &dice))
            let name: Value =
                Int.random(in: 0..<9, using: &dice) == 0
                ? .null : .string(["", "a", "Ann", "Nine more", "a name longer than sixteen bytes"].randomElement(using: &dice)!)
            guard seen.insert(nestedText(.list([year, name]))).inserted else { continue }
            out.append([
                year, name, .double(Double(Int.random(in: 0..<4, using: &dice)) / 2), Bool.random(using: &dice) ? .string("x") : .null,
                .list([.int(Int64.random(in: 0..<3, using: &dice))]),
            ])
        }
        return out
    }

    @Test(arguments: Seed.first(60, inStepsOf: 5)) func `the difference of random tables is that of a simple comparison`(seed: Seed) throws
    {
        let number = Int(seed.number - 1) % 60
        var dice = Random(seed)
        let columns = [
            column("year", .int), column("name", .string), column("score", .double), column("note", .string),
            ColumnSchema("list", ColumnType(.int, optional: true, collection: .list)),
        ]
        let old = rows(number * 40, &dice, wide: number % 2 == 0)
        var new: [[Value]]
        switch number % 3 {
        case 0: new = rows(number * 40, &dice, wide: number % 2 == 0)
        case 1: new = old.shuffled(using: &dice)
        default: new = old.filter { _ in Int.random(in: 0..<20, using: &dice) > 0 }
        }
        for i in new.indices where Int.random(in: 0..<10, using: &dice) == 0 { new[i][2] = .double(7) }
        let batch = [1, 7, 1500, 65_536][number % 4]
        let result = try difference(table(columns, old, batch: batch), table(columns, new, batch: batch)) {
            $0.key = ["year", "name"]
            $0.execution.hashMask = [UInt64.max, 0xFF00_0000_0000_0003, UInt64.max, 7][number / 2 % 4]
            $0.execution.threads = 1 + number % 2 * 3
            if number % 2 == 1 { $0.execution.threads = 4 }
        }
        #expect(try lines(result) == slow(old, new, key: 2, names: columns.map(\.name)), "seed \(seed)")
        #expect(result.added + result.changed + result.unchanged == new.count)
        #expect(result.removed + result.changed + result.unchanged == old.count)
    }
}
