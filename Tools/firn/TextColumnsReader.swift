import FirnBytes
import FirnExchange
import FirnTable

/// Passes on the rows of one type of a reader, with some of its columns as text: each value as its input writes it.
final class TextColumnsReader: BatchReader {
    let schema: Schema
    private let source: any BatchReader
    private let type: String
    private var widening: ColumnWidening

    /// `columns` are names of columns of bools, numbers, dates or UUIDs.
    init(_ source: any BatchReader, _ type: TypeSchema, columns: Set<String>) {
        source.choose(type.name)
        self.source = source
        self.type = type.name
        var changed = type
        changed.columns.removeAll { $0.originalTextOf.map(columns.contains) ?? false }
        changed.key = type.key.compactMap { changed.index(of: type.columns[$0].name) }
        for i in changed.columns.indices where columns.contains(changed.columns[i].name) {
            (changed.columns[i].type.kind, changed.columns[i].notation) = (.string, .plain)
            changed.columns[i].type.isOptional = true
            changed.columns[i].otherAttributes = []
        }
        let own = source.schema.reachable(from: type.name)
        schema = Schema([changed] + own.types.filter { $0.name != type.name })
        widening = ColumnWidening(type, in: own, to: changed, in: schema)
    }

    /// Whether the values of a column are written in a notation in which texts of another file are not read when they are compared with
    /// values, or as original texts.
    static func hasOwnTexts(_ column: ColumnSchema, of type: TypeSchema) -> Bool {
        guard !column.type.isCollection else { return false }
        let hasOriginals = type.columns.contains { $0.originalTextOf == column.name }
        return switch column.type.kind {
        case .int, .double, .decimal: hasOriginals || NumberLayout(column.notation) != nil
        case .bool, .uuid: hasOriginals || column.notation != .plain
        case .date: DateLayout(column.notation) != nil
        default: false
        }
    }

    var remarks: [String] { source.remarks }
    var guesses: [String] { source.guesses }
    var textReasons: [(column: String, reason: String)] { source.textReasons }
    var key: EncryptionKey? { source.key }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        while let (name, batch) = try source.next() {
            guard name == type else { continue }
            return (name, Batch(count: batch.count, columns: try widening.columns(batch.columns, count: batch.count)))
        }
        return nil
    }
}
