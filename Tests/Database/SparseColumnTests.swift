import FirnBytes
import FirnCodecs
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// Columns with few values, while they are collected for a segment.
@Suite struct SparseColumnTests {
    private func column(_ kind: ScalarKind, _ collection: CollectionKind, rows: Int, oneIn: Int, _ random: inout Random) -> Column {
        var column = Column(ColumnType(kind, optional: true, collection: collection))
        for _ in 0..<rows {
            if oneIn == 0 || random.below(oneIn) > 0 {
                column.appendNull()
                continue
            }
            func scalar() -> Value {
                kind == .string
                    ? .string("t\(random.below(20))")
                    : kind == .double
                        ? .double(Double(random.below(100)))
                        : kind == .any ? (random.bool() ? .string("x") : .int(3)) : .int(Int64(random.below(1000)))
            }
            let value: Value = collection == .list ? .list((0..<random.below(3)).map { _ in scalar() }) : scalar()
            precondition(column.append(value))
        }
        return column
    }

    @Test func `a column that is collected in parts has their values, and few slots if it has few values`() {
        for seed in Seed.first(60) {
            var random = Random(seed)
            let (kind, collection) = [
                (ScalarKind.int, CollectionKind.none), (.string, .none), (.double, .none), (.any, .none), (.int, .list), (.string, .list),
            ][Int(seed.number % 6)]
            var buffered = BufferedColumn(ColumnType(kind, optional: true, collection: collection), rows: 1_000), expected: [Value] = []
            for _ in 0..<random.below(12) + 1 {
                let piece = column(kind, collection, rows: random.below(400), oneIn: [1, 2, 30, 200, 0][random.below(5)], &random)
                let low = random.below(piece.count + 1), high = low + random.below(piece.count - low + 1)
                buffered.append(piece, range: low..<high)
                for row in low..<high { expected.append(piece.value(at: row)) }
                let whole = buffered.column, ones = expected.count { $0 != .null }
                #expect(
                    whole.count == expected.count && (0..<whole.count).allSatisfy { whole.value(at: $0) == expected[$0] }, "seed \(seed)")
                #expect((buffered.present?.ones ?? buffered.count) == ones)
                #expect(buffered.slots <= max(64, 8 * ones), "seed \(seed): \(buffered.slots) slots for \(ones) values")
            }
        }
    }

    @Test func `a column that is collected in parts has room for one segment, not for twice as many rows`() {
        let rows = 4096
        for kind in [ScalarKind.int, .double, .string] {
            for part in [1, 100, 257, 1000, 3000, 4096] {
                var random = Random(seed: UInt64(part))
                let source = column(kind, .none, rows: part, oneIn: 1, &random)
                var buffered = BufferedColumn(ColumnType(kind, optional: true), rows: rows)
                while buffered.count < rows { buffered.append(source, range: 0..<min(part, rows - buffered.count)) }
                let held = buffered.column, most = rows + rows / 8
                #expect(held.count == rows)
                #expect(
                    held.words.capacity <= most && held.reals.capacity <= most && held.text.offsets.capacity <= most, "\(kind), \(part)")
                #expect(held.text.bytes.capacity <= held.text.bytes.count * 5 / 4 + 256, "\(kind), \(part)")
            }
        }
    }

    @Test func `validity for which a reference would save nothing is not compared`() {
        for rows in [100, 1000, 20_000, 65_536] {
            for ones in [1, 2, 5, 20, 100, 1000] where ones * 8 < rows {
                var random = Random(seed: UInt64(rows + ones)), bits = Bits(repeating: false, count: rows)
                for _ in 0..<ones { bits[random.below(rows)] = true }
                let encoded = BooleansEncoder.encode(bits, profile: .standard).count
                if !PresencePlan.mayGain(rows, ones: bits.ones) {
                    #expect(encoded < max(32, rows / 512) + 2, "\(rows) rows, \(ones) ones: \(encoded) bytes")
                }
            }
        }
    }
}
