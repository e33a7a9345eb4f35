import FirnBytes
import FirnExchange
import FirnQuery
import FirnTable

/// Passes on the rows that match a condition, batch by batch.
final class FilteredReader: BatchReader {
    private let source: any BatchReader
    private let condition: QuerySyntax
    private let text: String
    private let threads: Int
    private let type: TypeSchema
    private let inputs: String?

    /// `inputs`: the names of several inputs, for errors in the condition.
    init(_ source: any BatchReader, _ condition: String, threads: Int, inputs: String? = nil) throws(FirnError) {
        self.source = source
        self.inputs = inputs
        self.threads = threads
        text = condition
        guard let root = source.schema.roots.first, source.schema.roots.count == 1 else {
            throw FirnError(.usage, "--where needs an input of one type", advice: "choose one with FILE:Type")
        }
        type = root
        guard let parsed = try QueryCommand.parsed(condition, and: nil) else { throw FirnError(.usage, "--where needs a predicate") }
        guard parsed.descriptors.isEmpty else {
            throw FirnError(.usage, "--where takes no SORT, DISTINCT or LIMIT", advice: "use --limit, or 'firn query' for the others")
        }
        self.condition = parsed
        try RowExclusion.apply(parsed, to: source)
        // Runs the condition on an empty batch, so that its names and types are checked before anything is written.
        _ = try run(Batch(root, in: source.schema))
    }

    var schema: Schema { source.schema }
    var remarks: [String] { source.remarks }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        while let (name, batch) = try source.next() {
            var kept = Batch(type, in: schema)
            try run(batch).forEachBatch { (part) throws(FirnError) in
                if kept.count == 0 {
                    kept = part
                } else {
                    for i in kept.columns.indices { kept.columns[i].append(contentsOf: part.columns[i]) }
                    kept.count += part.count
                }
                return true
            }
            if kept.count > 0 { return (name, kept) }
        }
        return nil
    }

    private func run(_ batch: Batch) throws(FirnError) -> QueryRun {
        let table = MemoryTable(type, schema: schema, batches: [batch])
        var request = QueryRequest(filter: text, parsed: condition)
        request.includesCompanions = true
        return try QueryCommand.run(request, table, file: inputs, threads: threads, isOneOfSeveral: inputs != nil)
    }
}
