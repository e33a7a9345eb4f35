import FirnBytes
import FirnChange
import FirnDatabase
import FirnTable

/// Adds the rows of inputs to a type. A few rows are inserted one by one, many as segments, as `firn convert` writes them.
final class AddedRows {
    private let rows: RowChanges
    private let type: TypeSchema
    private let transaction: DatabaseTransaction
    private let threads: Int
    /// The number of rows of the type before.
    private let before: Int
    /// The inputs, with the number of rows that were added before them.
    private var inputs: [(name: String, start: Int)] = []
    /// Rows that are inserted one by one if they remain few.
    private var waiting: [Batch] = []
    private var count = 0
    private var isBulk: Bool

    /// Fewer rows are inserted one by one, because a segment of a few rows would be small.
    private static let bulkRows = 4096

    init(_ rows: RowChanges, of type: TypeSchema, in transaction: DatabaseTransaction, threads: Int) {
        (self.rows, self.type, self.transaction, self.threads) = (rows, type, transaction, threads)
        before = transaction.currentRows(of: type.name).rowCount
        // Such keys are compared only as a whole.
        isBulk = type.key.contains { type.columns[$0].type.kind == .embedded }
    }

    /// Begins an input.
    func begin(_ name: String) { inputs.append((name, count)) }

    func append(_ batch: Batch) throws(FirnError) {
        count += batch.count
        if count >= AddedRows.bulkRows { isBulk = true }
        guard isBulk else { return waiting.append(batch) }
        for early in waiting { try rows.load(early) }
        waiting = []
        try rows.load(batch)
    }

    /// Completes the rows, and throws `.duplicateKey`, with the input and the row, if a key occurs twice.
    func finish() throws(FirnError) {
        guard isBulk else {
            var start = 0
            for batch in waiting {
                try rows.insert(batch) { row, error in repeated(error, batch, row, after: start) }
                start += batch.count
            }
            return
        }
        try transaction.bulkWriter(type.name).finish()
        guard !type.key.isEmpty else { return }
        var options = DifferenceOptions()
        options.newName = inputs.first?.name ?? ""
        options.execution.threads = threads
        guard let found = try KeyUniqueness.firstRepeated(in: transaction.currentRows(of: type.name), options: options) else { return }
        throw error(of: found.key, row: found.later - before, earlier: found.earlier, others: found.others)
    }

    /// The error for a row that was to be inserted after `start` others.
    private func repeated(_ error: FirnError, _ batch: Batch, _ row: Int, after start: Int) -> FirnError {
        let values = type.key.map { batch.columns[$0].value(at: row) }
        let key = zip(type.key, values).map { position, value in
            "\(type.columns[position].name) = \(nestedText(value, notation: type.columns[position].notation))"
        }.joined(separator: ", ")
        let table = transaction.currentRows(of: type.name), name = place(start + row + 1).name
        guard let taken = try? transaction.find(type.name, key: values), let location = try? table.location(of: taken),
            let number = try? RowReader(table, name: name).number(location)
        else { return error }
        return self.error(of: key, row: start + row + 1, earlier: number, others: 0)
    }

    /// - Parameters:
    ///   - row: The number of the row among those that are added, from 1.
    ///   - earlier: The number of the other row in the type, from 1.
    private func error(of key: String, row: Int, earlier: Int, others: Int) -> FirnError {
        let (name, number) = place(row), more = others > 0 ? "; \(others) more keys are repeated" : ""
        guard earlier > before else {
            return FirnError(
                .duplicateKey, "row \(number): type \"\(type.name)\" already has a row with the key \(key)\(more)", at: .init(file: name),
                advice: "use 'firn upsert' to replace the values of such rows")
        }
        let (otherName, otherNumber) = place(earlier - before)
        return FirnError(
            .duplicateKey,
            "row \(number): the key \(key) is also in row \(otherNumber)\(otherName == name ? "" : " of \(otherName)")\(more)",
            at: .init(file: name), advice: "remove one of these rows, or use 'firn upsert', which keeps the last one")
    }

    /// Returns the input of an added row, and the number of the row in it.
    private func place(_ row: Int) -> (name: String, row: Int) {
        guard let input = inputs.last(where: { $0.start < row }) else { return (inputs.first?.name ?? "", row) }
        return (input.name, row - input.start)
    }
}
