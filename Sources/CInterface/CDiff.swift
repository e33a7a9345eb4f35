import CFirn
import FirnBytes
import FirnChange
import FirnDatabase
import FirnExchange
import FirnTable

/// `firn_diff` of `firn.h`.
@_cdecl("firn_diff")
public func firnDiff(
    _ old: OpaquePointer?, _ new: OpaquePointer?, _ options: UnsafePointer<firn_diff_options>?,
    _ counts: UnsafeMutablePointer<firn_diff_counts>?, _ out: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let old = try CTable.reading(old, "old table"), new = try CTable.reading(new, "new table")
        let given = try FirnCInterface.options(
            options, first: MemoryLayout<firn_diff_options>.offset(of: \.progress) ?? 0, firn_diff_options())
        var options = try DifferenceOptions(given, old, new)
        let progress = Progress(), total = new.table.rowCount
        options.execution.progress = { (rows) throws(FirnError) in
            progress.add(rows: rows)
            try progress.check()
        }
        let (oldTable, newTable, chosen) = (old.table, new.table, options)
        let difference = try CProgress(given.progress, given.context).during(
            { (min(progress.rows, total), total) }, cancel: progress.cancel
        ) {
            () throws(FirnError) in try TableDifference.compute(old: oldTable, new: newTable, options: chosen)
        }
        counts?.pointee = firn_diff_counts(
            added: Int64(difference.added), removed: Int64(difference.removed), changed: Int64(difference.changed),
            unchanged: Int64(difference.unchanged))
        let pipe = BatchPipe<[UInt8]> { (give) throws(FirnError) in try DifferenceText(difference).write(give) }
        // The tables keep the snapshots that the difference reads.
        out?.pointee =
            CCursor { () throws(FirnError) in try withExtendedLifetime((old, new)) { () throws(FirnError) in try pipe.next() } }.retained
    }
}

extension DifferenceOptions {
    fileprivate init(_ given: firn_diff_options, _ old: CTable, _ new: CTable) throws(FirnError) {
        self.init()
        (oldName, newName) = (old.path, new.path)
        key = try texts(given.key, given.key_count, "the key") ?? []
        ignore = try texts(given.ignore, given.ignore_count, "the ignored columns") ?? []
        tolerance = Tolerance(amount: given.tolerance)
        execution.threads = CTable.threads(given.threads)
        execution.keepsPartners = false
    }
}

/// The rows that differ, as JSON.
private struct DifferenceText {
    private let difference: TableDifference
    /// The number of rows of a text.
    private static let rows = 256
    private let columns: (old: [(position: Int, column: ColumnSchema)], new: [(position: Int, column: ColumnSchema)])

    init(_ difference: TableDifference) {
        self.difference = difference
        columns = (difference.shownColumns(.old), difference.shownColumns(.new))
    }

    func write(_ give: ([UInt8]) -> Bool) throws(FirnError) {
        let readers = difference.readers()
        var text: [UInt8] = [], count = 0
        try difference.forEachEntry { (entry) throws(FirnError) in
            text.append(UInt8(ascii: count == 0 ? "[" : ","))
            ExactJSON.append(.map(try value(entry, readers)), to: &text)
            count += 1
            guard count == DifferenceText.rows else { return true }
            text.append(UInt8(ascii: "]"))
            defer { (text, count) = ([], 0) }
            return give(text)
        }
        if count > 0 { _ = give(text + [UInt8(ascii: "]")]) }
    }

    private func value(_ entry: DifferenceEntry, _ readers: (old: RowReader, new: RowReader)) throws(FirnError) -> [Value.Entry] {
        let key = Value.Entry("key", .list(try difference.keyValues(entry, readers)))
        switch entry {
        case .added(let row): return [.init("kind", .string("added")), key, .init("new", try all(row, readers.new, columns.new))]
        case .removed(let row): return [.init("kind", .string("removed")), key, .init("old", try all(row, readers.old, columns.old))]
        case .changed(let old, let new, let columns):
            var before: [Value.Entry] = [], after: [Value.Entry] = []
            for index in columns {
                let column = difference.columns[index]
                before.append(.init(column.name, try readers.old.shownValue(old, column.old)))
                after.append(.init(column.name, try readers.new.shownValue(new, column.new)))
            }
            return [.init("kind", .string("changed")), key, .init("old", .map(before)), .init("new", .map(after))]
        }
    }

    private func all(_ row: RowLocation, _ reader: RowReader, _ columns: [(position: Int, column: ColumnSchema)]) throws(FirnError) -> Value
    {
        var out: [Value.Entry] = []
        for (i, column) in columns { out.append(.init(column.name, try reader.shownValue(row, i))) }
        return .map(out)
    }
}
