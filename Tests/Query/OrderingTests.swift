import FirnBytes
import FirnTable
import Testing

@testable import FirnQuery

@Suite struct OrderingTests {
    @Test func `rows with a null date keep their order, whatever their slots contain`() {
        var column = Column(ColumnType(.date, optional: true))
        for row in 0..<6 { column.append(row % 2 == 0 ? .date(Timestamp(seconds: Int64(row / 4))) : .null) }
        // Decoders may leave any values in the slots of nulls.
        column.extra[1] = 9
        column.extra[3] = 5
        column.words[5] = -1
        for (ascending, expected) in [(true, [1, 3, 5, 0, 2, 4]), (false, [4, 0, 2, 1, 3, 5])] {
            var rows: [Int32] = [0, 1, 2, 3, 4, 5]
            Ordering.sort(&rows, by: column, ascending: ascending)
            #expect(rows.map { Int($0) } == expected)
        }
    }

    /// A table of four segments, sorted by a column that scatters the rows.
    private static let table = {
        let type = TypeSchema(
            "R",
            columns: [
                ColumnSchema("id", ColumnType(.int)), ColumnSchema("key", ColumnType(.int)), ColumnSchema("text", ColumnType(.string)),
            ])
        let batches = (0..<4).map { part in
            var batch = Batch(type, in: Schema([type]))
            for row in 0..<50_000 {
                let id = part * 50_000 + row
                batch.columns[0].append(.int(Int64(id)))
                batch.columns[1].append(.int(Int64(id * 7_919 % 200_003)))
                batch.columns[2].append(.string("row \(id % 1000)"))
            }
            batch.count = 50_000
            return batch
        }
        return MemoryTable(type, schema: Schema([type]), batches: batches)
    }()

    @Test(arguments: [1, 2, 3]) func `sorted rows of many batches are in order for any number of threads, and reading can stop`(
        threads: Int
    ) throws {
        let run = try QueryRun(QueryRequest(filter: "TRUEPREDICATE SORT(key DESC)"), table: Self.table, threads: threads)
        var keys: [Int64] = [], batches = 0
        try run.forEachBatch { batch in
            batches += 1
            keys += batch.columns[1].words
            for row in stride(from: 0, to: batch.count, by: 997) {
                let id = batch.columns[0].words[row]
                #expect(batch.columns[1].words[row] == id * 7_919 % 200_003)
                #expect(batch.columns[2].value(at: row) == .string("row \(id % 1000)"))
            }
            return true
        }
        #expect(keys.count == 200_000 && batches == 4 && keys == keys.sorted(by: >))
        var read = 0
        try run.forEachBatch { batch in
            read += 1
            return read < 2
        }
        #expect(read == 2)
    }
}
