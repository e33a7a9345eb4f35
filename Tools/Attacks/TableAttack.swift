import FirnBytes
import FirnExchange
import FirnTable

/// What must hold of the rows that readers of columnar files deliver, whatever the bytes are.
enum TableAttack {
    /// A few bytes can stand for any number of rows.
    private static let maximumBatches = 40

    /// Reads an input as rows, in batches of many and of a few rows, with little memory. `open` gets the maximum number of rows of a batch, and
    /// returns the reader and, if it has one, its table.
    static func run(_ bytes: [UInt8], _ open: (_ rows: Int) throws(FirnError) -> (reader: any BatchReader, table: (any Table)?)) {
        guard bytes.count <= 1 << 16 else { return }
        let limit = MemoryBudget.process.limit
        MemoryBudget.process.limit = min(limit, 1 << 29)
        defer { MemoryBudget.process.limit = limit }
        for rows in [65_536, 5] {
            do throws(FirnError) {
                let (reader, table) = try open(rows)
                var batches = 0
                while batches < maximumBatches, let (_, batch) = try reader.next() {
                    for column in batch.columns { check(column, batch.count) }
                    batches += 1
                }
                _ = reader.remarks
                if let table { read(table) }
            } catch {
                trap(unless: !error.message.isEmpty && error.location != nil || error.code == .outOfMemory, "an error has no location")
            }
        }
    }

    /// Reads some segments from the last to the first.
    private static func read(_ table: any Table) {
        for index in (0..<min(table.segmentCount, 10)).reversed() {
            guard let segment = try? table.segment(index) else { continue }
            for column in table.type.columns.indices {
                _ = try? segment.zone(of: column)
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

extension Column {
    /// Whether the column and its children have as many entries as rows. The fields of embedded objects are columns of their own.
    func isWhole(_ rows: Int) -> Bool {
        guard count == rows, present.map({ $0.count == rows }) ?? true else { return false }
        if type.isCollection { return offsets.count == rows + 1 && children.allSatisfy { $0.isWhole(offsets[rows]) } }
        return type.kind == .embedded ? children.allSatisfy { $0.isWhole(rows) } : holds(rows)
    }
}
