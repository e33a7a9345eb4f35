import FirnBytes
import FirnChange
import FirnTable
import Testing

/// A table in memory with rows of values, in batches of the given size.
func table(_ columns: [ColumnSchema], _ rows: [[Value]], key: [String] = [], batch: Int = 3, embedded: [TypeSchema] = []) -> MemoryTable {
    var type = TypeSchema("Row", columns: columns)
    type.key = key.map { type.index(of: $0)! }
    let schema = Schema([type] + embedded)
    var batches: [Batch] = [], start = 0
    while start < rows.count {
        var next = Batch(type, in: schema)
        for row in rows[start..<min(start + batch, rows.count)] {
            for (i, value) in row.enumerated() {
                let fits = next.columns[i].append(value)
                precondition(fits, "\(value) does not fit the column \(columns[i].name)")
            }
            next.count += 1
        }
        batches.append(next)
        start += batch
    }
    return MemoryTable(type, schema: schema, batches: batches)
}

func column(_ name: String, _ kind: ScalarKind, optional: Bool = true, notation: Notation = .plain) -> ColumnSchema {
    ColumnSchema(name, ColumnType(kind, optional: optional), notation: notation)
}

/// Returns the entries as text: `-key`, `+key`, `~key column…`.
func lines(_ difference: TableDifference) throws -> [String] {
    let readers = difference.readers()
    var out: [String] = []
    try difference.forEachEntry { entry throws(FirnError) in
        var key: [String] = []
        for value in try difference.keyValues(entry, readers) { key.append(nestedText(value)) }
        let name = key.joined(separator: ",")
        switch entry {
        case .added: out.append("+" + name)
        case .removed: out.append("-" + name)
        case .changed(_, _, let columns): out.append("~" + name + " " + columns.map { difference.columns[$0].name }.joined(separator: " "))
        }
        return true
    }
    return out
}

func difference(_ old: any Table, _ new: any Table, _ edit: (inout DifferenceOptions) -> Void = { _ in }) throws -> TableDifference {
    var options = DifferenceOptions()
    edit(&options)
    return try TableDifference.compute(old: old, new: new, options: options)
}
