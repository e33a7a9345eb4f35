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
    /// - Parameters:
    ///   - type: the type whose rows they are, if they are those of a table: readers that know Firn then restore its schema.
    ///   - coded: the positions of columns of texts whose Arrow type is a dictionary, if `canBeCoded` permits it.
    ///   - viewed: the positions of columns of texts whose Arrow type is that of views, with the same condition.
    package init(
        _ columns: [ColumnSchema], of type: TypeSchema? = nil, in schema: Schema, sample: [Column]? = nil, coded: Set<Int> = [],
        viewed: Set<Int> = []
    ) {
        self.schema = schema
        self.columns = columns
        let mapping = ArrowMapping(schema)
        var positions: [Int] = [], fields: [ArrowField] = []
        for (position, column) in columns.enumerated() {
            guard let field = mapping.field(column) else { continue }
            if let sample { mapping.chooseUnits(field, sample[position], column) }
            positions.append(position)
            let isViewed = viewed.contains(position)
            fields.append(coded.contains(position) ? ArrowRows.dictionary(of: field) : isViewed ? ArrowRows.views(field) : field)
        }
        self.positions = positions
        self.fields = fields
        metadata = type.map { mapping.metadata($0) } ?? schema.metadata
    }

    /// Whether the Arrow type of a column depends on its values: whether it has dates without a logical type, also within objects.
    package static func needsSample(_ column: ColumnSchema, in schema: Schema) -> Bool { needsSample(column, schema, inside: []) }

    private static func needsSample(_ column: ColumnSchema, _ schema: Schema, inside: Set<String>) -> Bool {
        if column.type.kind == .date { return column.type.isCollection || column.logical == nil }
        guard column.type.kind == .embedded, let name = column.type.target, !inside.contains(name), let target = schema[name] else {
            return false
        }
        return target.columns.contains { needsSample($0, schema, inside: inside.union([name])) }
    }

    /// Whether all values of a column of dates are whole days, for which Arrow has a type.
    package static func hasOnlyDays(_ column: Column) -> Bool { ArrowLeaf.wholeDays(column) != nil }

    /// Whether dates, in seconds, are whole days.
    package static func areDays(_ seconds: UnsafeBufferPointer<Int64>) -> Bool { ArrowLeaf.areDays(seconds) }

    /// Whether a column has texts that Arrow types of dictionaries can have.
    package static func canBeCoded(_ column: ColumnSchema) -> Bool {
        column.type.kind == .string && !column.type.isCollection && column.logical == nil
    }

    /// The columns whose values are numbers for Firn, by position, and how Arrow lays them out.
    package var numbers: [Int: NumberLayout] {
        var out: [Int: NumberLayout] = [:]
        for (position, field) in zip(positions, fields) where !columns[position].type.isCollection && field.dictionary == nil {
            out[position] = NumberLayout(field.type, of: columns[position].type.kind)
        }
        return out
    }

    private static func views(_ field: ArrowField) -> ArrowField {
        ArrowField(field.name, .text(.view), nullable: field.isNullable, metadata: field.metadata)
    }

    private static func dictionary(of values: ArrowField) -> ArrowField {
        let field = ArrowField(values.name, values.type, nullable: values.isNullable, metadata: values.metadata)
        field.dictionary = .init(
            id: 0, index: .int(bits: 32, isSigned: true), isOrdered: false, values: ArrowField(values.name, values.type, nullable: false))
        return field
    }

    /// Converts the values of all columns given to the initializer. `name` is the file, for errors.
    /// - Parameter ready: columns in Arrow's layout by position, in place of their values; among them are all columns of dictionaries and views.
    /// - Throws: `FirnError` if the Arrow type of a column cannot express one of its values.
    package func record(_ values: [Column], ready: [Int: ReadyColumn] = [:], count: Int, threads: Int = 1, name: String)
        throws(FirnError) -> ArrowRecord
    {
        let encoded = try parallelMap(count: positions.count, threads: threads) { (index) throws(FirnError) -> ArrowRecord.Part in
            let position = positions[index], column = columns[position]
            var encoder = ArrowEncoder(schema)
            do throws(ArrowFault) {
                if let ready = ready[position] { return try ready.part(fields[index]) }
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
        /// The values of a dictionary, if the column has one.
        var dictionary: [Part] = []
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
