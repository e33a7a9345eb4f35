import FirnBytes
import FirnDatabase
import FirnDisk
import FirnQuery
import FirnTable
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `firn-bench lookups`: finds single rows by key, by row id and by query, in random order.
enum LookupFigures {
    static func run(_ folder: String?, rows count: Int) throws(FirnError) {
        let path = (folder ?? "/tmp") + "/firn-bench-lookups-\(Machine.processID).firn"
        defer { unlink(path) }
        for kind in [ScalarKind.int, .string, .uuid] { try run(path, kind, count) }
    }

    private static func run(_ path: String, _ kind: ScalarKind, _ count: Int) throws(FirnError) {
        let type = TypeSchema("Row", columns: [ColumnSchema("id", ColumnType(kind)), ColumnSchema("value", ColumnType(.int))], key: [0])
        let writing = try Database.create(path: path, overwrite: true)
        let transaction = try writing.begin()
        try transaction.extendSchema([type])
        let writer = try transaction.bulkWriter("Row")
        for start in stride(from: 0, to: count, by: segmentSize) {
            var batch = Batch(type, in: Schema([type]))
            for i in start..<min(start + segmentSize, count) {
                batch.columns[0].append(key(i, kind))
                batch.columns[1].append(.int(Int64(i)))
                batch.count += 1
            }
            try writer.append(batch)
        }
        var start = processorSeconds()
        try transaction.commit()
        print("lookups.\(kind).commit \(processorSeconds() - start) s")
        let index = try writing.snapshot().indexes[0]
        print("lookups.\(kind).index-bytes \(Double(index.bytes) / Double(count)) B a row")

        let database = try Database.open(path: path), snapshot = try database.snapshot(), table = snapshot.table(named: "Row")!
        var random: UInt64 = 88_172_645_463_325_252, sum: Int64 = 0
        func next() -> Int {
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            return Int(random % UInt64(count))
        }
        func take(_ name: String, _ times: Int, _ body: (Int) throws(Damage) -> Void) throws(FirnError) {
            let start = processorSeconds()
            do throws(Damage) { for _ in 0..<times { try body(next()) } } catch {
                throw .damaged(path, what: error.what, byte: error.offset)
            }
            print("lookups.\(kind).\(name) \((processorSeconds() - start) * 1e9 / Double(times)) ns")
        }
        let few = min(count / 200, 4000)
        let find = { (i: Int) throws(Damage) in sum &+= try table.find(key: [key(i, kind)]) ?? -1 }
        try take("key-first", few, find)
        try take("key-disk", few, find)
        guard database.keys.work.builds == 0 else {
            throw FirnError(.inputOutput, "the index in memory was built too early for this figure")
        }
        try take("key-until-memory", count / 10, find)
        try take("key-memory", count, find)
        try take("making-the-key", count) { (i) throws(Damage) in if case .int(let x) = key(i, kind) { sum &+= x } }
        try take("row-id", count) { (i) throws(Damage) in if case .int(let x) = try table.value(rowID: Int64(i), column: 1) { sum &+= x } }
        start = processorSeconds()
        for _ in 0..<1000 {
            let run: QueryRun
            do throws(QueryError) {
                run = try QueryRun(QueryRequest(filter: "id == $0", arguments: [key(next(), kind)]), table: table)
            } catch { throw error.asFirnError }
            sum &+= Int64(try run.count())
        }
        print("lookups.\(kind).query \((processorSeconds() - start) * 1e9 / 1000) ns (\(sum & 1))")
    }

    /// Keys in random order.
    private static func key(_ i: Int, _ kind: ScalarKind) -> Value {
        let mixed = UInt64(i) &* 0x9E37_79B9_7F4A_7C15
        switch kind {
        case .int: return .int(Int64(bitPattern: mixed))
        case .uuid: return .uuid(Identifier(high: mixed, low: mixed ^ mixed >> 32))
        default: return .string("user-" + String(mixed, radix: 36))
        }
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
