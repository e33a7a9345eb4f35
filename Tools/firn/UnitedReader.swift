import FirnBytes
import FirnExchange
import FirnQuery
import FirnTable

/// Reads the rows of a union, one input after the other.
final class UnitedReader: BatchReader {
    let schema: Schema
    private let union: InputUnion
    private var current: (reader: any BatchReader, type: TypeSchema, widening: ColumnWidening)?
    private var position = 0
    /// Rows that it excludes need not be read.
    var condition: PredicateSyntax?
    private var notes: RepeatedRemarks

    init(_ union: InputUnion) {
        self.union = union
        schema = union.schema
        notes = RepeatedRemarks(isOne: union.members.count == 1)
    }

    var remarks: [String] { union.remarks + (position < union.operands.count ? union.guesses : notes.lines) }
    var guesses: [String] { union.guesses }
    var textReasons: [(column: String, reason: String)] { union.textReasons.lines }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        let root = schema.types[0]
        while position < union.operands.count {
            if current == nil {
                if isExcluded(position) {
                    position += 1
                    continue
                }
                let (reader, type) = try union.reader(position)
                if let condition, let reader = reader as? any SkippingReader {
                    RowExclusion.apply(condition, to: reader, as: columns(type, reader.schema))
                }
                current = (reader, type, ColumnWidening(type, in: reader.schema, to: root, in: schema))
            }
            guard let (name, batch) = try current?.reader.next() else {
                for remark in current?.reader.remarks ?? [] { notes.add(remark, of: union.members[position].name) }
                current = nil
                position += 1
                continue
            }
            guard name == current?.type.name, batch.count > 0 else { continue }
            do throws(FirnError) {
                var columns = try current?.widening.columns(batch.columns, count: batch.count) ?? []
                union.rowCounts[position] += batch.count
                if let filename = union.filename, let index = root.index(of: filename) { columns[index] = names(batch.count) }
                for (name, column) in union.partitionColumns {
                    guard let index = root.index(of: name) else { continue }
                    columns[index] = union.partitions.column(column, of: union.partition(column, of: position), rows: batch.count)
                }
                return (root.name, Batch(count: batch.count, columns: columns))
            } catch {
                var placed = error
                if placed.location == nil { placed.location = .init(file: union.members[position].name) }
                throw placed
            }
        }
        return nil
    }

    /// The columns that have one value in all rows of an input, with their positions in the union.
    private func constants(_ position: Int) -> [(index: Int, value: Value)] {
        let root = schema.types[0]
        var found: [(index: Int, value: Value)] = union.partitionColumns.compactMap { name, column in
            root.index(of: name).map { ($0, union.partition(column, of: position)) }
        }
        if let index = union.filename.flatMap(root.index) { found.append((index, .string(Address(union.operands[position]).path))) }
        return found
    }

    /// Whether the condition excludes all rows of an input, by what is known before it is opened.
    private func isExcluded(_ position: Int) -> Bool {
        guard let condition else { return false }
        let constants = constants(position), columns = schema.types[0].columns
        return RowExclusion.excludes(condition, constants.map { columns[$0.index] }, constants.map(\.value))
    }

    /// What is known of the columns in the rows of the current input, whose own type is `type`.
    private func columns(_ type: TypeSchema, _ own: Schema) -> UnitedColumns {
        let root = schema.types[0], constants = Dictionary(constants(position)) { first, _ in first }
        let sources = root.columns.enumerated().map { index, column -> UnitedColumns.Source in
            if let value = constants[index] { return .value(value) }
            guard column.originalTextOf == nil else { return .unknown }
            guard let source = type.index(of: column.name) else { return .value(.null) }
            let old = type.columns[source].type
            return old.kind == column.type.kind && !old.isCollection && !column.type.isCollection ? .column(source) : .unknown
        }
        return UnitedColumns(type: root, schema: schema, sources: sources)
    }

    /// A column with the path of the current input in each row.
    private func names(_ rows: Int) -> Column {
        var column = Column(ColumnType(.string))
        let path = Address(union.operands[position]).path
        for _ in 0..<rows { column.append(.string(path)) }
        return column
    }
}
