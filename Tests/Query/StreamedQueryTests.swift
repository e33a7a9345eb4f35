import FirnBytes
import FirnKit
import FirnTable
import Testing

@testable import FirnQuery

/// Rows that arrive in batches and are not kept give the same answers as a table that contains them all.
@Suite struct StreamedQueryTests {
    private func rows(_ give: ((Batch) throws(FirnError) -> Bool) throws(FirnError) -> Void) throws -> [[Value]] {
        var out: [[Value]] = []
        try give { batch in
            for row in 0..<batch.count { out.append(batch.columns.map { $0.value(at: row) }) }
            return true
        }
        return out
    }

    @Test func `streamed rows and rows of a table give the same answers to random queries`() throws {
        for seed in Seed.first(60) {
            var random = Random(seed: seed.number + 900)
            let data = RandomTable(&random)
            for _ in 0..<12 {
                var request = QueryRequest(filter: RandomPredicate.make(&random, 2).0)
                if random.below(3) == 0 {
                    request.filter! +=
                        [
                            " SORT(i ASC)", " DISTINCT(s)", " LIMIT(\(random.below(9)))", " SORT(d DESC) LIMIT(4)",
                            " DISTINCT(b, i) SORT(s ASC)",
                        ][random.below(5)]
                }
                switch random.below(6) {
                case 0: request.sort = [.init("d", ascending: random.bool()), .init("s")]
                case 1: request.distinct = ["s"]
                case 2: (request.groupBy, request.aggregates) = (["s"], try Aggregate.list("count, sum(i), max(d), first(i), median(i)"))
                case 3: request.aggregates = try Aggregate.list("count, sum(i + 1), count(distinct s)")
                default: request.select = [[], ["s", "i"], ["l.@count"]][random.below(3)]
                }
                if random.below(3) == 0 { request.limit = random.below(20) }
                if random.below(4) == 0 { request.offset = random.below(10) }
                let whole = try QueryRun(request, table: data.table),
                    streamed = try StreamedQuery(request, type: data.table.type, schema: data.table.schema)
                let wanted = try rows { (give) throws(FirnError) in try whole.forEachBatch(give) }
                let found = try rows { (give) throws(FirnError) in
                    feeding: for s in 0..<data.table.segmentCount {
                        let segment = try! data.table.segment(s)
                        let columns = data.table.type.columns.indices.map { (try! segment.column($0) as! MemoryColumnReader).column }
                        for start in stride(from: 0, to: segment.rowCount, by: 7) {
                            let part = start..<min(start + 7, segment.rowCount)
                            if try !streamed.add(Batch(count: part.count, columns: columns.map { $0.slice(part) }), give) { break feeding }
                        }
                    }
                    try streamed.finish(give)
                }
                #expect(streamed.columns == whole.columns)
                #expect(found.description == wanted.description, "seed \(seed): \(request)")
            }
        }
    }

    @Test func `only the first rows of a sorted stream are kept`() throws {
        let type = TypeSchema("T", columns: [ColumnSchema("x", ColumnType(.int))])
        let query = try StreamedQuery(QueryRequest(sort: [.init("x")], limit: 5), type: type, schema: Schema([type]))
        let none: (Batch) throws(FirnError) -> Bool = { _ in
            Issue.record("no row may be returned before the end of the stream")
            return true
        }
        var random = Random(seed: 3), most = 0
        for _ in 0..<60 {
            var batch = Batch(type, in: Schema([type]))
            batch.columns[0].words = (0..<10_000).map { _ in Int64(random.below(1 << 40)) }
            batch.columns[0].count = 10_000
            batch.count = 10_000
            #expect(try query.add(batch, none))
            most = max(most, query.heldCount)
        }
        #expect(most <= StreamedQuery.leastPatience + 10_000)
        let found = try rows { (give) throws(FirnError) in try query.finish(give) }
        #expect(found.count == 5 && found.map { $0[0].number! } == found.map { $0[0].number! }.sorted())
    }

    @Test func `a stream ends when its limit is reached`() throws {
        let type = TypeSchema("T", columns: [ColumnSchema("x", ColumnType(.int))])
        let query = try StreamedQuery(QueryRequest(filter: "x > 1 LIMIT(3)"), type: type, schema: Schema([type]))
        var batch = Batch(type, in: Schema([type]))
        for i in 0..<4 { batch.columns[0].append(.int(Int64(i))) }
        batch.count = 4
        var given = 0
        let count: (Batch) throws(FirnError) -> Bool = { batch in
            given += batch.count
            return true
        }
        #expect(try query.add(batch, count))
        #expect(try !query.add(batch, count))
        #expect(try !query.add(batch, count))
        try query.finish(count)
        #expect(given == 3)
    }
}
