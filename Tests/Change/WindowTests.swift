import FirnBytes
import FirnChange
import FirnKit
import FirnTable
import Testing

/// The ways of computing a difference that bound memory have the result of the plain one.
@Suite struct WindowTests {
    /// A table that is best read column by column.
    private final class Columnar: Table {
        let base: any Table
        init(_ base: any Table) { self.base = base }
        var type: TypeSchema { base.type }
        var schema: Schema { base.schema }
        var rowCount: Int { base.rowCount }
        var segmentCount: Int { base.segmentCount }
        var readsByColumn: Bool { true }
        func segment(_ index: Int) throws(Damage) -> any Segment { try base.segment(index) }
        func segmentIndex(of rowID: Int64) throws(Damage) -> Int? { try base.segmentIndex(of: rowID) }
    }

    private static let kinds: [ScalarKind] = [.int, .string, .date, .uuid]

    private func key(_ number: Int, _ kind: ScalarKind) -> Value {
        switch kind {
        case .string: .string(String(repeating: "0", count: 6 - "\(number)".count) + "\(number)")
        case .date: .date(Timestamp(seconds: Int64(number / 3), nanoseconds: Int32(number % 3)))
        case .uuid: .uuid(Identifier(high: UInt64(number / 5), low: UInt64(number % 5)))
        default: .int(Int64(number) - 50)
        }
    }

    /// Rows with a key of one or two columns; those of a run are shuffled, and sometimes a key occurs twice.
    private func rows(_ count: Int, _ kind: ScalarKind, _ dice: inout Random, shuffled: Int) -> [[Value]] {
        var rows = (0..<count).filter { _ in dice.number(0...9) > 0 }.map { number -> [Value] in
            [
                key(number / 2, kind), .int(Int64(number % 2)), .double(Double(number % 7)),
                number % 5 == 0 ? .null : .string("n\(number % 11)"),
            ]
        }
        var start = 0
        while start < rows.count {
            let end = min(rows.count, start + shuffled)
            rows[start..<end].shuffle(using: &dice)
            start = end
        }
        return rows
    }

    @Test(arguments: Seed.first(40)) func `windows, columns and compact results give the difference of whole tables`(seed: Seed) throws {
        var dice = Random(seed)
        let number = Int(seed.number), kind = WindowTests.kinds[number % 4], shuffled = [1, 1, 6, 40][number / 4 % 4]
        let columns = [
            column("id", kind, optional: false), column("part", .int, optional: false), column("score", .double), column("note", .string),
        ]
        let old = rows(number * 6, kind, &dice, shuffled: shuffled)
        var new = rows(number * 6, kind, &dice, shuffled: shuffled)
        for i in new.indices where dice.number(0...9) == 0 { new[i][2] = .double(99) }
        if number % 3 == 0, let row = new.randomElement(using: &dice) { new.append(row) }
        let tables = (old: table(columns, old, batch: 4), new: table(columns, new, batch: 5))
        let keep = number % 5 == 0 ? dice.number(1...5) : 0
        func edit(_ options: inout DifferenceOptions) {
            options.key = ["id", "part"]
            options.duplicates = .takeFirst
            options.execution.threads = 1 + number % 2
            guard keep > 0 else { return }
            options.scope.rows = { _, table, segment in
                var bits = Bits(count: (try? table.segment(segment).rowCount) ?? 0)
                for i in 0..<bits.count where (i + segment) % keep != 0 { bits[i] = true }
                return bits
            }
        }
        let whole = try difference(tables.old, tables.new) { edit(&$0) }, expected = try lines(whole)
        for (window, keeps, isColumnar) in [(1, true, false), (1, false, true), (1 << 20, false, false), (1 << 20, true, true)] {
            let pair: (any Table, any Table) =
                isColumnar ? (Columnar(tables.old), Columnar(tables.new)) : (tables.old as any Table, tables.new as any Table)
            let found = try difference(pair.0, pair.1) {
                edit(&$0)
                ($0.execution.windowRows, $0.execution.keepsPartners) = (window, keeps)
            }
            let name = "window \(window), keeps \(keeps), columnar \(isColumnar)"
            #expect(try lines(found) == expected, "\(name)")
            #expect(
                [found.added, found.removed, found.changed, found.unchanged, found.changedCells, found.leftOutOld, found.leftOutNew]
                    == [
                        whole.added, whole.removed, whole.changed, whole.unchanged, whole.changedCells, whole.leftOutOld, whole.leftOutNew,
                    ], "\(name)")
            #expect(found.columns.map(\.changed) == whole.columns.map(\.changed), "\(name)")
        }
    }

    @Test func `the error of a key that occurs twice names the rows of the whole table, also with windows`() throws {
        let columns = [column("id", .int, optional: false), column("v", .int)]
        let old = (0..<200).map { [Value.int(Int64($0)), .int(1)] }
        for side in [DifferenceSide.old, .new] {
            var twice = old
            twice.insert([.int(150), .int(2)], at: 151)
            let tables = (old: table(columns, side == .old ? twice : old), new: table(columns, side == .new ? twice : old))
            var messages: [String] = []
            for window in [1, 1 << 20] {
                let error = #expect(throws: FirnError.self) {
                    try difference(tables.old, tables.new) {
                        $0.key = ["id"]
                        $0.execution.windowRows = window
                    }
                }
                messages.append("\(error.map { "\($0)" } ?? "")")
            }
            #expect(messages[0] == messages[1] && messages[0].contains("rows 151 and 152"), "\(messages)")
        }
    }

    @Test func `keys ascend from segment to segment in tables of the same order only`() throws {
        let columns = [column("id", .int, optional: false)]
        let ascending = table(columns, (0..<300).map { [.int(Int64($0))] })
        let shuffled = table(columns, (0..<300).map { [.int(Int64($0 * 7919 % 300))] })
        let optional = table([column("id", .int)], (0..<300).map { [$0 == 9 ? .null : .int(Int64($0))] })
        var options = DifferenceOptions()
        options.key = ["id"]
        #expect(try TableDifference.keysAscend(old: ascending, new: ascending, options: options))
        #expect(try !TableDifference.keysAscend(old: ascending, new: shuffled, options: options))
        #expect(try !TableDifference.keysAscend(old: shuffled, new: ascending, options: options))
        #expect(try !TableDifference.keysAscend(old: optional, new: ascending, options: options))
        options.key = ["other"]
        #expect(try !TableDifference.keysAscend(old: ascending, new: ascending, options: options))
    }
}
