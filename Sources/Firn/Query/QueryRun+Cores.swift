import FirnDisk
import FirnModel
import FirnQuery

extension QueryRun {
    /// Creates a run that uses all cores if there are enough segments to divide, and if the table cannot change during the run.
    convenience init(_ request: QueryRequest, over table: any Table) throws(QueryError) {
        let threads = table is WorkingTable || table.segmentCount < 4 ? 1 : Machine.cores
        try self.init(
            request, table: table, threads: threads, parallel: { count, body in parallel(count: count, threads: threads) { body($0) } })
    }
}
