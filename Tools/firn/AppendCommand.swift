import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnExchange
import FirnTable

/// `firn append FILE INPUT...` and `firn upsert FILE INPUT...`
struct AppendCommand {
    let session: Session
    /// Whether rows replace the values of those with their key.
    let replaces: Bool

    func run() throws(FirnError) -> ExitCode {
        let target = try TargetType(session), type = target.type
        if replaces { try checkKey(target) }
        let progress = Progress(), display = ProgressDisplay(session, progress)
        defer { display.end() }
        var inputs = try AddedInputs(session, target, progress, replaces: replaces)
        let transaction = try target.begin()
        let rows = RowChanges(of: type, in: transaction, path: target.path) { (row) throws(FirnError) in
            if row % 4096 == 0 { try progress.check() }
        }
        let version: UInt64?
        do throws(FirnError) {
            try write(&inputs, rows, to: target, in: transaction)
            try ReadingOptions.check(session.arguments, for: inputs.formats)
            version = try target.commit(rows, transaction) { () throws(FirnError) in try inputs.rejected?.finish() }
        } catch {
            target.end(transaction, after: error)
            throw error
        }
        transaction.cancel()
        display.end()
        let remarks = inputs.notes + inputs.remarks.lines, rejected = inputs.rejected?.count ?? 0
        for remark in remarks + (inputs.rejected?.remarks ?? []) { session.remark(remark) }
        try target.report(rows, version: version, rejected: rejected, remarks: remarks)
        return rejected > 0 ? .rejected : .done
    }

    private func checkKey(_ target: TargetType) throws(FirnError) {
        let type = target.type
        guard !type.key.isEmpty else {
            throw FirnError(
                .usage, "type \"\(type.name)\" has no primary key, by which rows could be found", at: .init(file: target.path),
                advice: "make a file with a key: firn convert --key COLUMN \(target.path) NEW.firn; 'firn append' needs no key")
        }
        guard !type.key.contains(where: { type.columns[$0].type.kind == .embedded }) else {
            throw FirnError(.unsupported, "rows of type \"\(type.name)\" cannot be found by a key of objects", at: .init(file: target.path))
        }
    }

    private func write(_ inputs: inout AddedInputs, _ rows: RowChanges, to target: TargetType, in transaction: DatabaseTransaction)
        throws(FirnError)
    {
        guard !replaces else {
            return try inputs.forEachBatch { (batch, fit, _) throws(FirnError) in try rows.upsert(batch, fit, source: "the input") }
        }
        let added = AddedRows(rows, of: target.type, in: transaction, threads: try session.threads())
        var last: String?
        try inputs.forEachBatch { (batch, _, input) throws(FirnError) in
            if last != input { added.begin(input) }
            last = input
            try added.append(batch)
        }
        try added.finish()
    }
}
