import FirnDatabase
import FirnDisk
import FirnQuery
import FirnTable
import FirnThreads

extension QueryRun {
    /// Creates a run that uses all cores if there are enough segments to divide, and if the table cannot change during the run.
    convenience init(_ request: QueryRequest, over table: any Table) throws(QueryError) {
        let threads = table is WorkingTable || table.segmentCount < 4 ? 1 : Processors.count
        try self.init(
            request, table: table, threads: threads)
    }
}
