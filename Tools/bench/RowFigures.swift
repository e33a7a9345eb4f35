import FirnBytes
import FirnDatabase
import FirnDisk
import FirnTable
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `firn-bench rows`: writes and reads rows one by one within a transaction.
enum RowFigures {
    static func run(_ folder: String?) throws(FirnError) {
        let path = (folder ?? "/tmp") + "/firn-bench-rows-\(Machine.processID).firn"
        defer { unlink(path) }
        let database = try Database.create(path: path, overwrite: true)
        var columns = (0..<4).map { ColumnSchema("i\($0)", ColumnType(.int)) }
        for i in 0..<2 { columns.append(ColumnSchema("d\(i)", ColumnType(.double))) }
        for i in 0..<2 { columns.append(ColumnSchema("s\(i)", ColumnType(.string))) }
        let first = try database.begin()
        try first.extendSchema([TypeSchema("Row", columns: columns)])
        _ = try first.commit()

        let count = 1_000_000
        let names = (0..<1000).map { "name \($0)" }
        let transaction = try database.begin(), table = transaction.table("Row")
        var start = processorSeconds()
        for i in 0..<count {
            _ = try table.append { columns in
                let n = Int64(i)
                append(n, to: &columns[0])
                append(n & 255, to: &columns[1])
                append(n &* 7919 & 65_535, to: &columns[2])
                append(n / 100, to: &columns[3])
                append(Double(i) / 4, to: &columns[4])
                append(Double(i & 1023) * 0.5, to: &columns[5])
                append(names[i % 1000], to: &columns[6])
                append(names[i &* 31 % 1000], to: &columns[7])
            }
        }
        print("rows.append \((processorSeconds() - start) * 1e9 / Double(count)) ns")
        let wall = Machine.seconds
        _ = try transaction.commit()
        print("rows.commit-wall \(Machine.seconds - wall) s")
        print("rows.append-and-commit \(processorSeconds() - start) s")
        print("rows.peak-memory \(Machine.peakMemory >> 20) MiB")

        let second = try database.begin(), rows = second.table("Row")
        var sum: Int64 = 0
        let row: Int64 = 500_000, changes = 5_000_000
        try rows.setWord(ofRow: row, 0, to: 0)
        do throws(Damage) {
            guard let location = try rows.location(of: row) else { return }
            start = processorSeconds()
            for i in 0..<changes {
                try set(rows, row, Int64(i))
                sum &+= try rows.word(at: location, 0) ?? 0
            }
        } catch { throw .damaged(path, what: error.what, byte: error.offset) }
        print("rows.set-and-read \((processorSeconds() - start) * 1e9 / Double(changes)) ns (\(sum & 1))")
        _ = try second.commit()
    }

    /// The processor time of this thread, without other programs and without encoding on other threads.
    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    private static func set(_ rows: WorkingTable, _ row: Int64, _ value: Int64) throws(Damage) {
        do throws(FirnError) { try rows.setWord(ofRow: row, 0, to: value) } catch { throw Damage(error.message) }
    }

    @inline(__always)
    private static func append(_ value: Int64, to column: inout Column) {
        column.words.append(value)
        column.count += 1
    }

    @inline(__always)
    private static func append(_ value: Double, to column: inout Column) {
        column.reals.append(value)
        column.count += 1
    }

    @inline(__always)
    private static func append(_ value: String, to column: inout Column) {
        column.text.append(value)
        column.count += 1
    }
}
