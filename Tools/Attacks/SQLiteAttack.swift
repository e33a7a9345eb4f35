import FirnBytes
import FirnDisk
import FirnExchange
import FirnSQLite
import FirnTable

/// Reads an SQLite database: from a file, whose pages are then read without SQLite, and from memory, with links and internal tables. The result must be
/// rows, or an error that names the file. Views are left out: a view can compute for any time.
struct SQLiteAttack {
    let path: String

    private static let limit = 256 << 20

    func run(_ bytes: [UInt8]) {
        guard bytes.count <= 1 << 18 else { return }
        do {
            let file = try File(path: path, .createOrTruncate)
            try file.write(bytes, at: 0)
        } catch { trap("cannot write the scratch file: \(error)") }
        for isAll in [false, true] {
            var options = SQLiteOptions()
            (options.readsLinks, options.readsInternal) = (isAll, isAll)
            options.budget = MemoryBudget(limit: SQLiteAttack.limit)
            do throws(FirnError) {
                let input = isAll ? Input(bytes: bytes, name: "in.db") : try Input(path: path)
                let reader = try SQLiteReader(input, options: options)
                while let (type, batch) = try reader.next() {
                    trap(unless: reader.schema[type]?.columns.count == batch.columns.count, "a batch has not the columns of its type")
                    for column in batch.columns {
                        trap(unless: column.isWhole(batch.count), "the length of a column differs from that of its batch")
                    }
                    for row in stride(from: 0, to: batch.count, by: 97) { for column in batch.columns { _ = column.value(at: row) } }
                }
                _ = reader.remarks
            } catch {
                trap(unless: !error.message.isEmpty && error.location != nil || error.code == .outOfMemory, "an error has no location")
            }
        }
    }
}
