import FirnBytes
import FirnDatabase
import FirnDisk
import FirnTable
import FirnThreads
import Synchronization
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `firn-bench commits FOLDER DURABILITY THREADS COUNT`: commits of one row from several threads. `Tools/bench/commits.py` compares it with
/// SQLite and LMDB.
enum CommitFigures {
    static func run(_ arguments: [String]) throws(FirnError) {
        guard arguments.count == 4, let durability = Durability(rawValue: arguments[1]), let threads = Int(arguments[2]),
            let count = Int(arguments[3]), threads > 0
        else {
            throw FirnError(.usage, "commits FOLDER full|grouped|none THREADS COUNT", at: nil)
        }
        let path = arguments[0] + "/firn-bench-\(Machine.processID).firn"
        defer { unlink(path) }
        let database = try Database.create(path: path, overwrite: true)
        let first = try database.begin()
        try first.extendSchema([
            TypeSchema(
                "Row",
                columns: [
                    ColumnSchema("id", ColumnType(.int)), ColumnSchema("name", ColumnType(.string)),
                    ColumnSchema("score", ColumnType(.double)),
                ], key: [0])
        ])
        try first.commit()
        let start = Machine.seconds
        _ = try parallelMap(count: threads, threads: threads) { (thread) throws(FirnError) in
            for step in 0..<count / threads {
                let id = Int64(thread * count + step), transaction = try database.begin()
                _ = try transaction.insert("Row", [.int(id), .string("name \(id)"), .double(Double(id) / 8)])
                _ = try transaction.commit(durability: durability)
            }
        }
        try database.settle()
        print("rate \(Double(count / threads * threads) / (Machine.seconds - start))")
    }
}
