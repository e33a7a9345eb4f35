import FirnBytes
import FirnExchange
import FirnTable
import FirnThreads

/// The Arrow types of some columns, and the conversion of their values to Arrow's memory layout, for consumers in the same process
/// (`ArrowRecord`). What becomes of each column is the same as in files (`docs/guide/arrow.md`), but a value that the Arrow type cannot
/// express is an error, because a remark about it would not be read.
///
/// Fields do not change after the initializer, so threads share them.
package struct ArrowRows: @unchecked Sendable {
    private let schema: Schema
    private let columns: [ColumnSchema]
    /// The positions, in the columns given, of those that Arrow can hold: all but objects without fields.
    package let positions: [Int]
    let fields: [ArrowField]
    let metadata: [MetadataEntry]

    /// The columns of a type, or of the result of a query. Dates without a logical type get the unit that the values of `sample` need; it has
    /// the same columns.
    ///
    /// - Parameter type: the type whose rows they are, if they are those of a table: readers that know Firn then restore its schema.
    package init(_ columns: [ColumnSchema], of type: TypeSchema? = nil, in schema: Schema, sample: [Column]? = nil) {
        self.schema = schema
        self.columns = columns
        let mapping = ArrowMapping(schema)
        var positions: [Int] = [], fields: [ArrowField] = []
        for (position, column) in columns.enumerated() {
            guard let field = mapping.field(column) else { continue }
            if let sample { ArrowMapping.chooseUnits(field, sample[position], column) }
            positions.append(position)
            fields.append(field)
        }
        self.positions = positions
        self.fields = fields
        metadata = type.map { mapping.metadata($0) } ?? schema.metadata
    }

    /// Whether the Arrow type of a column depends on its values.
    package static func needsSample(_ column: ColumnSchema) -> Bool { column.type.kind == .date && column.logical == nil }

    /// Converts the values of all columns given to the initializer. `name` is the file, for errors.
    /// - Throws: `FirnError` if the Arrow type of a column cannot express one of its values.
    package func record(_ values: [Column], count: Int, threads: Int = 1, name: String) throws(FirnError) -> ArrowRecord {
        let encoded = try parallelMap(count: positions.count, threads: threads) { (index) throws(FirnError) -> ArrowRecord.Part in
            let position = positions[index], column = columns[position]
            var encoder = ArrowEncoder(schema)
            do throws(ArrowFault) {
                try encoder.append(fields[index], values[position], column, present: values[position].present)
                try encoder.loss.check()
            } catch { throw error.error(in: name, "column \"\(column.name)\"") }
            return ArrowRecord.Part(nodes: encoder.nodes, buffers: encoder.buffers, charge: values[position].text.charge)
        }
        return ArrowRecord(fields: fields, count: count, parts: encoded)
    }
}

/// Some rows in Arrow's memory layout.
package struct ArrowRecord: @unchecked Sendable {
    let fields: [ArrowField]
    package let count: Int
    let parts: [Part]

    /// One column, in the order of nodes and buffers that files have.
    struct Part: Sendable {
        var nodes: [Int64]
        var buffers: [ArrowBuffer]
        var charge: MemoryCharge?
    }
}

extension ArrowLoss {
    /// Throws if a value was left out.
    func check() throws(ArrowFault) {
        if let misfit = misfits.first {
            throw ArrowFault(
                "\(misfit.type) cannot express the value \"\(misfit.example)\"", code: .rejected,
                advice: "give the column another logical type with 'firn convert --schema', or leave the column out")
        }
        guard tooDeep == 0 else {
            throw ArrowFault(
                "objects are more than \(Column.maximumNesting) levels deep", code: .unsupported, advice: "leave the column out")
        }
    }
}
