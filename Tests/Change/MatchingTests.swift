import FirnBytes
import FirnChange
import FirnKit
import FirnTable
import Testing

/// Differences of tables without a key.
@Suite struct MatchingTests {
    private let columns = [column("city", .string), column("id", .int), column("score", .double)]

    private func rows(_ rows: (String, Int64, Double)...) -> MemoryTable {
        table(columns, rows.map { [.string($0.0), .int($0.1), .double($0.2)] })
    }

    @Test func `the first unique column that the tables have in common is the key`() throws {
        let old = rows(("a", 1, 1), ("b", 2, 2), ("b", 3, 3)), new = rows(("b", 3, 4), ("a", 1, 1), ("c", 9, 5))
        let result = try difference(old, new) { $0.findsKey = true }
        #expect(result.matching == .foundKey(["id"]))
        #expect(try lines(result) == ["-2", "~3 score", "+9"])
    }

    @Test func `a unique column whose values all changed is not the key if another one has values in common`() throws {
        let old = rows(("u", 1, 1), ("v", 2, 2), ("w", 3, 3)), new = rows(("x", 1, 1), ("y", 2, 5), ("z", 3, 3))
        let result = try difference(old, new) { $0.findsKey = true }
        #expect(result.matching == .foundKey(["id"]))
        #expect(try lines(result) == ["~1 city", "~2 city score", "~3 city"])
    }

    @Test func `two columns are the key if only both together are unique`() throws {
        let old = rows(("a", 1, 1), ("a", 2, 1), ("b", 1, 1)), new = rows(("a", 1, 1), ("a", 2, 7), ("b", 1, 1))
        let result = try difference(old, new) { $0.findsKey = true }
        #expect(result.matching == .foundKey(["city", "id"]))
        #expect(try lines(result) == [#"~"a",2 score"#])
    }

    @Test func `the options' key and that of a type are used rather than another one`() throws {
        let values: [[Value]] = [[.string("a"), .int(1), .double(1)], [.string("b"), .int(2), .double(1)]]
        let keyed = table(columns, values, key: ["id"]), plain = table(columns, values)
        #expect(try difference(plain, keyed) { $0.findsKey = true }.matching == .key)
        #expect(try difference(keyed, plain) { $0.findsKey = true }.matching == .key)
        #expect(try difference(plain, plain) { ($0.findsKey, $0.key) = (true, ["id"]) }.matching == .key)
    }

    @Test func `tables without a column in common are refused`() throws {
        let error = #expect(throws: FirnError.self) {
            try difference(table([column("a", .double)], [[.double(1)]]), table([column("b", .double)], [[.double(1)]])) {
                $0.findsKey = true
            }
        }
        #expect(error?.code == .usage)
    }

    /// Returns how often each row occurs, as text.
    private func counts(_ rows: [[Value]], _ shown: (Int) -> Bool = { _ in true }) -> [String: Int] {
        var counts: [String: Int] = [:]
        for row in rows { counts[nestedText(.list(row.indices.filter(shown).map { row[$0] })), default: 0] += 1 }
        return counts
    }

    @Test(arguments: [UInt64.max, 3, 0]) func `whole rows are matched as often as both tables have them`(mask: UInt64) throws {
        let columns = [column("a", .double), ColumnSchema("tags", ColumnType(.string, collection: .list)), column("occurrence", .string)]
        for seed in 0..<40 as Range<UInt64> {
            var dice = Random(seed: seed)
            func random() -> [[Value]] {
                // The first rows occur in each table twice, so no columns are unique.
                let fixed: [[Value]] = [[.double(0), .list([]), .null], [.double(0), .list([]), .null]]
                return fixed
                    + (0..<Int.random(in: 0..<60, using: &dice)).map { _ in
                        [
                            Bool.random(using: &dice) ? .null : .double(Double(Int.random(in: 0..<3, using: &dice))),
                            .list(
                                (0..<Int.random(in: 0..<3, using: &dice)).map { _ in .string("ab".prefix(1 + Int(seed % 2)).description) }),
                            .string(["x", "y"].randomElement(using: &dice)!),
                        ]
                    }
            }
            let before = random(), after = random()
            let result = try difference(table(columns, before), table(columns, after, batch: 7)) {
                $0.findsKey = true
                $0.execution.hashMask = mask
                $0.execution.threads = 2
            }
            #expect(result.matching == .wholeRows(nearly: nil) && result.key.isEmpty && result.changed == 0)
            let old = counts(before), new = counts(after)
            let common = old.reduce(0) { $0 + min($1.value, new[$1.key] ?? 0) }
            #expect(
                (result.unchanged, result.removed, result.added) == (common, before.count - common, after.count - common), "seed \(seed)")
            // The rows that are listed are those that one table has more often.
            var listed: [String: Int] = [:]
            let readers = result.readers()
            try result.forEachEntry { entry throws(FirnError) in
                let (row, reader, sign) =
                    switch entry {
                    case .added(let row): (row, readers.new, 1)
                    case .removed(let row): (row, readers.old, -1)
                    case .changed(let row, _, _): (row, readers.old, 1000)
                    }
                var values: [Value] = []
                for i in columns.indices { values.append(try reader.value(row, i)) }
                listed[nestedText(.list(values)), default: 0] += sign
                return true
            }
            let expected = Dictionary(
                Set(old.keys).union(new.keys).map { ($0, (new[$0] ?? 0) - (old[$0] ?? 0)) }.filter { $0.1 != 0 }, uniquingKeysWith: +)
            #expect(listed == expected, "seed \(seed)")
        }
    }
}
