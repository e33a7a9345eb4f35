import FirnArrow
import FirnBytes
import FirnDisk
import FirnExchange
import FirnTable

/// Reads an Arrow file or stream. The result must be rows, or an error that names the file.
enum ArrowAttack {
    /// A few bytes can stand for any number of rows.
    private static let maximumBatches = 40

    static func run(_ bytes: [UInt8]) {
        guard bytes.count <= 1 << 16 else { return }
        let limit = MemoryBudget.process.limit
        MemoryBudget.process.limit = min(limit, 1 << 29)
        defer { MemoryBudget.process.limit = limit }
        for rows in [65_536, 5] {
            do throws(FirnError) {
                var options = ArrowOptions(typeName: "rows")
                (options.batchRows, options.staysOffDisk) = (rows, true)
                let input = Input(bytes: bytes, name: "in.arrow")
                // A stream is read as from a pipe, and as a file.
                let reader = rows < 100 ? try ArrowReader.spooled(input, options: options) : try ArrowReader.open(input, options: options)
                var batches = 0
                while batches < maximumBatches, let (_, batch) = try reader.next() {
                    for column in batch.columns { check(column, batch.count) }
                    batches += 1
                }
                _ = reader.remarks
                if let table = (reader as? ArrowFileReader)?.table { readTable(table) }
            } catch {
                trap(unless: !error.message.isEmpty && error.location != nil || error.code == .outOfMemory, "an error has no location")
            }
        }
    }

    /// Reads some segments from the last to the first.
    private static func readTable(_ table: any Table) {
        for index in (0..<min(table.segmentCount, 10)).reversed() {
            guard let segment = try? table.segment(index) else { continue }
            for column in table.type.columns.indices {
                guard let reader = try? segment.column(column), let value = try? reader.value(at: segment.rowCount - 1) else { continue }
                _ = canonicalText(value)
            }
        }
    }

    private static func check(_ column: Column, _ count: Int) {
        trap(unless: column.count == count, "the length of a column differs from that of its rows")
        trap(unless: column.present.map { $0.count == count } ?? true, "the validity of a column has another length")
        guard column.type.isCollection else {
            for child in column.children { check(child, count) }
            if count > 0 { _ = column.value(at: count - 1) }
            return
        }
        trap(unless: column.offsets.count == count + 1 && column.offsets[0] == 0, "a column has wrong offsets")
        for child in column.children { check(child, column.offsets[count]) }
        if column.type.collection == .map { trap(unless: column.children[0].present == nil, "a map has a key that is null") }
    }
}
