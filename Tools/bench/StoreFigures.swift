import FirnBytes
import FirnDatabase
import FirnDisk
import FirnTable
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Figures that must be measured within a process, as `name value unit` lines (`Tools/bench/run` calls them).
enum StoreFigures {
    /// `firn-bench open FILE`: opens a file and reads the first row of its first type, repeatedly.
    static func open(_ path: String) throws(FirnError) {
        let rounds = 300
        var times: [Double] = []
        for _ in 0..<rounds {
            let start = Machine.seconds
            let snapshot = try Database.open(path: path).snapshot()
            guard let table = snapshot.tables.first(where: { !$0.type.isEmbedded }) else {
                throw FirnError(.schema, "no types in it", at: .init(file: path))
            }
            do throws(Damage) {
                let segment = try table.segment(0)
                for column in table.type.columns.indices { _ = try segment.column(column).value(at: 0) }
            } catch { throw .damaged(path, what: error.what, byte: error.offset) }
            times.append(Machine.seconds - start)
        }
        times.sort()
        print("open.first-row \(times[rounds / 2] * 1e6) us")
    }

    /// `firn-bench commit`: durable commits of one row of three columns, to a new file in the given folder or in the folder for temporary
    /// files.
    static func commit(_ folder: String?) throws(FirnError) {
        let path = (folder ?? "/tmp") + "/firn-bench-\(Machine.processID).firn"
        defer { unlink(path) }
        let database = try Database.create(path: path, overwrite: true)
        let type = TypeSchema(
            "Row",
            columns: [
                ColumnSchema("id", ColumnType(.int), id: 0), ColumnSchema("name", ColumnType(.string), id: 1),
                ColumnSchema("score", ColumnType(.double), id: 2),
            ], key: [0])
        let first = try database.begin()
        try first.extendSchema([type])
        _ = try first.commit()
        let count = 2000
        let bytes = written(), start = Machine.seconds
        for i in 0..<count {
            let transaction = try database.begin()
            _ = try transaction.insert("Row", [.int(Int64(i)), .string("name \(i)"), .double(Double(i) / 8)])
            _ = try transaction.commit()
        }
        let seconds = Machine.seconds - start
        print("commit.rate \(Double(count) / seconds) commits/s")
        if let bytes, let after = written() { print("commit.bytes \(Double(after - bytes) / Double(count)) B") }
        print("commit.count \(count) commits")
    }

    /// The number of bytes that this process has passed to write calls; nil if the system does not count them.
    private static func written() -> Int? {
        guard let file = fopen("/proc/self/io", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix("wchar: ") { return Int(text.dropFirst(7).filter { $0 != "\n" }) }
        }
        return nil
    }
}
