import CSQLiteLibrary
import FirnBytes
import FirnThreads

/// Reads tables once, to find out what their values are. Large tables are read in two halves, on two threads.
final class SQLiteSurvey: @unchecked Sendable {
    private let connection: SQLiteConnection
    /// For the second half; nil if there is only one thread.
    private let second: SQLiteConnection?

    /// Smaller databases are read on one thread.
    private static let minimumBytes = 4 << 20

    private struct Part: Sendable {
        var facts: [firn_sqlite_facts]
        var rows: Int64 = 0
        var readsPages = false
    }

    init(_ connection: SQLiteConnection, threads: Int) {
        self.connection = connection
        second = threads > 1 && connection.byteCount >= SQLiteSurvey.minimumBytes ? connection.sibling() : nil
    }

    /// Returns what the values of each column are, the number of rows, and whether these can be read from the pages of the file.
    func facts(of table: SQLiteTable) throws(FirnError) -> (facts: [firn_sqlite_facts], rows: Int, readsPages: Bool) {
        guard second != nil, let name = table.rowIDName, let middle = try middle(of: table, name) else {
            let part = try part(of: table, connection, .min ... .max)
            return (part.facts, Int(part.rows), part.readsPages)
        }
        let parts = try parallelMap(count: 2, threads: 2) { [self] (half) throws(FirnError) -> Part in
            try part(of: table, half == 0 ? connection : second ?? connection, half == 0 ? .min...middle - 1 : middle ... .max)
        }
        return (
            zip(parts[0].facts, parts[1].facts).map { $0.merged(with: $1) }, Int(parts[0].rows + parts[1].rows),
            parts.allSatisfy(\.readsPages)
        )
    }

    /// Returns a row id about halfway through the table; nil if it has few rows.
    private func middle(of table: SQLiteTable, _ name: String) throws(FirnError) -> Int64? {
        let statement = try connection.statement(
            "SELECT (SELECT min(\(name)) FROM main.\(SQLiteFormat.quoted(table.name))), (SELECT max(\(name)) FROM main.\(SQLiteFormat.quoted(table.name)))",
            about: table.subject)
        guard try statement.step(), statement.isInt(0), statement.isInt(1) else { return nil }
        let low = statement.int(0), high = statement.int(1), (span, overflow) = high.subtractingReportingOverflow(low)
        return overflow || span < 10_000 ? nil : low + span / 2
    }

    private func part(of table: SQLiteTable, _ connection: SQLiteConnection, _ rowIDs: ClosedRange<Int64>) throws(FirnError) -> Part {
        if let tree = SQLiteTree(table, connection) {
            var part = Part(facts: table.columns.map(\.emptyFacts), readsPages: true)
            tree.limit(rowIDs)
            let code = part.facts.withUnsafeMutableBufferPointer { firn_sqlite_tree_survey(tree.pointer, $0.baseAddress, &part.rows) }
            // SQLite reads a table with unusual pages, and finds out what is wrong with it.
            if Int(code) == FIRN_SQLITE_DONE { return part }
        }
        var condition = ""
        if let name = table.rowIDName {
            if rowIDs.lowerBound > .min { condition = " WHERE \(name) >= \(rowIDs.lowerBound)" }
            if rowIDs.upperBound < .max { condition = " WHERE \(name) <= \(rowIDs.upperBound)" }
        }
        var part = Part(facts: table.columns.map(\.emptyFacts)), rows: Int64 = 0, last: Int64 = 0
        // Pages that refer to each other could otherwise be walked without end.
        let most = table.kind == .table || table.kind == .shadow ? connection.byteCount : Int64.max
        let selection = table.selection, statement = try connection.statement(selection.sql + condition, about: table.subject)
        let code = Int(
            part.facts.withUnsafeMutableBufferPointer {
                firn_sqlite_survey(
                    statement.pointer, $0.baseAddress, Int32(clamping: $0.count), selection.hasRowID ? 1 : 0, most, &rows, &last)
            })
        part.rows = rows
        if code == FIRN_SQLITE_DONE { return part }
        let context = table.subject + (rows == 0 ? "" : selection.hasRowID ? ", after row id \(last)" : ", after \(rows) rows")
        if code == FIRN_SQLITE_DISORDER { throw SQLiteScan.disorder(context, .init(file: connection.name)) }
        throw connection.error(Int32(truncatingIfNeeded: code), about: context)
    }
}

extension firn_sqlite_facts {
    fileprivate func merged(with other: firn_sqlite_facts) -> firn_sqlite_facts {
        var sum = self
        sum.minimum = integers == 0 ? other.minimum : other.integers == 0 ? minimum : min(minimum, other.minimum)
        sum.maximum = integers == 0 ? other.maximum : other.integers == 0 ? maximum : max(maximum, other.maximum)
        sum.nulls += other.nulls
        sum.integers += other.integers
        sum.reals += other.reals
        sum.texts += other.texts
        sum.blobs += other.blobs
        sum.malformed += other.malformed
        sum.inexact += other.inexact
        sum.misfits += other.misfits
        let zoned: UInt32 = 1 << UInt32(FIRN_SQLITE_DATE_ZONED)
        if forms & zoned == 0 { sum.zone = other.zone }
        let haveBoth = forms & other.forms & zoned != 0
        if haveBoth, (zone.kind, zone.quarters, zone.follows_t) != (other.zone.kind, other.zone.quarters, other.zone.follows_t) {
            sum.misfits += 1
        }
        sum.forms |= other.forms
        sum.digits |= other.digits
        sum.has_zero_fraction = has_zero_fraction || other.has_zero_fraction
        return sum
    }
}
