import FirnBytes
import FirnCommandLine
import FirnExchange
import FirnQuery

/// `firn delete FILE PREDICATE`
struct DeleteCommand {
    let session: Session

    func run() throws(FirnError) -> ExitCode {
        let request = try request(), target = try TargetType(session), progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }
        let transaction = try target.begin()
        let rows = RowChanges(of: target.type, in: transaction, path: target.path) { (row) throws(FirnError) in
            if row % 4096 == 0 { try progress.check() }
        }
        let version: UInt64?
        do throws(FirnError) {
            try rows.delete(matching: request, threads: try session.threads())
            version = try target.commit(rows, transaction)
        } catch {
            target.end(transaction, after: error)
            throw error
        }
        transaction.cancel()
        display.end()
        try target.report(rows, version: version)
        return rows.removed > 0 ? .done : .no
    }

    private func request() throws(FirnError) -> QueryRequest {
        let text = session.arguments.operands[1]
        guard let query = try QueryCommand.parsed(text, and: nil) else {
            throw FirnError(.usage, "the predicate is empty", advice: "TRUEPREDICATE selects all rows")
        }
        guard query.descriptors.isEmpty else {
            throw FirnError(
                .usage, "'firn delete' takes a predicate without SORT, DISTINCT and LIMIT",
                advice: "select the rows by a predicate alone, such as 'age > 30'")
        }
        var request = QueryRequest()
        (request.parsed, request.filter) = (query, text)
        return request
    }
}
