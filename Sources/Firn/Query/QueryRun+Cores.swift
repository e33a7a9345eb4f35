import FirnDisk
import FirnModel
import FirnQuery

extension QueryRun {
    /// On all cores, where there is enough to share and nobody writes to the table meanwhile.
    convenience init(_ request: QueryRequest, over table: any Table) throws(QueryError) {
        let threads = table is WorkingTable || table.segmentCount < 4 ? 1 : Machine.cores
        try self.init(request, table: table, threads: threads, parallel: { count, body in parallel(count: count, threads: threads) { body($0) } })
    }
}
