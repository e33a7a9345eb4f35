import FirnBytes
import FirnExchange
import FirnTable

/// Passes on rows whose links to types that are not written whole are columns of row ids: in the output, the rows have other row ids, or do not
/// exist.
final class RowIDLinksReader: BatchReader {
    let schema: Schema
    private let source: any BatchReader
    private let whole: Set<String>
    private let changed: [String]

    /// `whole` are the types all of whose rows are written. Returns nil if no links lead to other types.
    init?(_ source: any BatchReader, whole: Set<String>) {
        var schema = source.schema, changed: [String] = []
        for type in schema.types.indices {
            for i in schema.types[type].columns.indices {
                let column = schema.types[type].columns[i]
                guard column.type.kind == .link, let target = column.type.target, !whole.contains(target) else { continue }
                schema.types[type].columns[i].type = RowIDLinksReader.rowIDs(column.type)
                changed.append("column \"\(column.name)\": links to \"\(target)\" are written as row ids")
            }
        }
        guard !changed.isEmpty else { return nil }
        (self.source, self.whole, self.schema, self.changed) = (source, whole, schema, changed)
    }

    private static func rowIDs(_ type: ColumnType) -> ColumnType {
        var type = type
        type.kind = .int
        type.target = nil
        return type
    }

    var remarks: [String] { source.remarks + changed }
    var guesses: [String] { source.guesses }
    var unreproduced: [String] { source.unreproduced }
    var key: EncryptionKey? { source.key }
    func facts(ofColumn position: Int) -> ColumnFacts? { source.facts(ofColumn: position) }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        guard var (name, batch) = try source.next() else { return nil }
        for i in batch.columns.indices { change(&batch.columns[i]) }
        return (name, batch)
    }

    /// Row ids and links are stored alike, so only the types change: of the column, its elements and its fields.
    private func change(_ column: inout Column) {
        if column.type.kind == .link, let target = column.type.target, !whole.contains(target) {
            column.type = RowIDLinksReader.rowIDs(column.type)
        }
        for i in column.children.indices { change(&column.children[i]) }
    }
}
