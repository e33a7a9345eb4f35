import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange
import FirnTable

/// Reads the cells of some columns of text as JSON. The input is read twice: first the cells of these columns, which are held in memory,
/// then the rows.
final class JSONColumnsReader: BatchReader {
    let schema: Schema
    private let notes: [String]
    private let source: any BatchReader
    private let typeName: String
    /// By position: the values of all rows.
    private var columns: [Int: Column] = [:]
    /// By number of row: why a cell is not JSON. These rows are left out, and added to `rejects`.
    private let rejected: [Int: FirnError]
    private let rejects: RejectedRows?
    private let format: FormatName
    private var row = 0

    /// What to read as JSON.
    struct Wanted {
        /// The columns of `--json-column`.
        var names: [String] = []
        /// The types of cells that are given, by column; their columns are read as JSON too. `schema` has the types of objects in them.
        var given: [String: ColumnSchema] = [:]
        var schema = Schema()
        /// Whether columns that contain only arrays or objects are found.
        var detects = false
        /// Whether a column that is named can be missing.
        var mayLack = false

        var isEmpty: Bool { names.isEmpty && given.isEmpty && !detects }
    }

    /// Returns a reader of an input in which columns of text are read as JSON; or the reader itself if it has none of them.
    ///
    /// - Parameter again: Opens the input from its beginning, with other options.
    static func applied(
        to reader: any BatchReader, _ wanted: Wanted, _ options: ReadingOptions, file: String, format: FormatName,
        again: (ReadingOptions) throws(FirnError) -> any BatchReader
    ) throws(FirnError) -> any BatchReader {
        guard !wanted.isEmpty, let type = reader.schema.roots.first else { return reader }
        guard reader.schema.roots.count == 1 else {
            guard !wanted.names.isEmpty else { return reader }
            throw FirnError(
                .usage,
                "--json-column names columns of one type, and the input has several: \(reader.schema.roots.map(\.name).listed())",
                at: .init(file: file), advice: "choose one with FILE:Type")
        }
        if !wanted.mayLack { for name in wanted.names { _ = try type.position(of: name) } }
        var cells = Cells(type, names: wanted.names + wanted.given.keys, detects: wanted.detects)
        guard !cells.texts.isEmpty else { return reader }
        while let (_, batch) = try reader.next() { try cells.add(batch, file) }
        var rest = options
        // The first reading has written the rows that cannot be read.
        (rest.rejected, rest.dropsRejected) = (nil, options.rejected != nil)
        return try JSONColumnsReader(try again(rest), cells: cells, wanted: wanted, options, file: file, format: format)
    }

    private init(
        _ source: any BatchReader, cells: Cells, wanted: Wanted, _ options: ReadingOptions, file: String, format: FormatName
    ) throws(FirnError) {
        self.source = source
        self.format = format
        let names = Set(wanted.names + wanted.given.keys)
        rejects = options.dropsRejected ? nil : options.rejected
        var schema = source.schema, remarks: [String] = [], rejected: [Int: FirnError] = [:],
            read: [(position: Int, batches: [Batch], bad: [Int: FirnError])] = []
        guard let root = schema.roots.first else { throw FirnError(.schema, "the input has no rows", at: .init(file: file)) }
        var type = root
        typeName = root.name
        for (position, text) in cells.texts.sorted(by: { $0.key < $1.key }) {
            let name = root.columns[position].name, isNamed = names.contains(name)
            do throws(FirnError) {
                let found = try JSONColumnsReader.values(
                    text, of: name, schema, given: JSONColumnsReader.given(wanted, name), file: file, isNamed ? options : nil,
                    threads: options.threads)
                guard let column = found.type.columns.first else { continue }
                var inferred = column
                (inferred.name, inferred.id, inferred.writesNull) = (name, root.columns[position].id, false)
                // The values are no texts any more, so the column has no logical type of texts.
                if !root.columns[position].metadata.isEmpty { inferred.metadata = root.columns[position].metadata }
                type.columns[position] = inferred
                schema.types += found.embedded.filter { schema[$0.name] == nil }
                remarks += found.remarks + [cells.remark(position, name)].compactMap(\.self)
                if !isNamed { remarks.append("column \"\(name)\" contains JSON, and is read as \(inferred.type.shownName)") }
                rejected.merge(found.bad) { first, _ in first }
                read.append((position, found.batches, found.bad))
            } catch {
                // A column that was not named is text after all.
                if isNamed { throw error }
            }
        }
        type.envelope = nil
        for i in schema.types.indices where schema.types[i].name == root.name { schema.types[i] = type }
        self.schema = schema
        notes = remarks
        self.rejected = rejected
        for (position, batches, bad) in read {
            columns[position] = JSONColumnsReader.column(
                batches, without: bad, Column(type.columns[position], in: schema), rows: cells.rows)
        }
    }

    /// Returns the given type of a column's cells.
    private static func given(_ wanted: Wanted, _ name: String) -> GivenSchema? {
        guard var column = wanted.given[name] else { return nil }
        column.name = "value"
        var row = "cells"
        while wanted.schema[row] != nil { row += "_" }
        let type = TypeSchema(row, columns: [column])
        return GivenSchema(Schema([type] + wanted.schema.types.filter(\.isEmbedded)).reachable(from: row), rows: row)
    }

    /// Returns all values as one column, with nulls for rejected rows.
    private static func column(_ batches: [Batch], without bad: [Int: FirnError], _ empty: Column, rows: Int) -> Column {
        var out = empty, used = 0, current = 0
        if !bad.isEmpty { out.type.isOptional = true }
        for row in 0..<rows {
            if bad[row] != nil {
                out.appendNull()
                continue
            }
            while current < batches.count, used == batches[current].count { (current, used) = (current + 1, 0) }
            guard current < batches.count else { break }
            // Runs of rows that were not rejected are copied together.
            if bad.isEmpty {
                out.append(contentsOf: batches[current].columns[0])
                used = batches[current].count
                if out.count == rows { break }
            } else {
                out.append(contentsOf: batches[current].columns[0], range: used..<(used + 1))
                used += 1
            }
        }
        out.type.isOptional = empty.type.isOptional
        return out
    }

    private struct Found {
        var type: TypeSchema
        var embedded: [TypeSchema]
        var batches: [Batch]
        var bad: [Int: FirnError]
        var remarks: [String]
    }

    /// Reads the cells of a column. With `options`, cells that are not JSON are left out if rows can be rejected.
    private static func values(
        _ text: [UInt8], of name: String, _ schema: Schema, given: GivenSchema?, file: String, _ options: ReadingOptions?, threads: Int
    ) throws(FirnError) -> Found {
        let bad = RejectedCells()
        var rejects: Rejects?
        if options?.rejected != nil {
            rejects = Rejects { (_, reason) throws(FirnError) in
                guard let reason, let line = reason.location?.line else { return }
                bad.rows[line - 1] = JSONColumnsReader.error(reason, name, file)
            }
        }
        do throws(FirnError) {
            let reader = try FormatShelf.reader(
                cells: text, column: name, of: schema, given: given, name: file, rejects: rejects, threads: threads)
            var batches: [Batch] = []
            while let (_, batch) = try reader.next() { batches.append(batch) }
            guard let type = reader.schema.roots.first else { throw FirnError(.schema, "the column has no values", at: .init(file: file)) }
            return Found(
                type: type, embedded: reader.schema.types.filter(\.isEmbedded), batches: batches, bad: bad.rows, remarks: reader.remarks)
        } catch { throw JSONColumnsReader.error(error, name, file) }
    }

    private final class RejectedCells { var rows: [Int: FirnError] = [:] }

    /// Returns the error for a cell: its line among the cells is the number of the row.
    private static func error(_ error: FirnError, _ name: String, _ file: String) -> FirnError {
        guard let row = error.location?.line else { return error }
        return FirnError(
            error.code, "column \"\(name)\" of row \(row) is not JSON: \(error.message)", at: .init(file: file),
            advice: error.code == .rejected ? "correct the cell, or leave such rows out with --rejects FILE" : error.advice)
    }

    var remarks: [String] { source.remarks + notes }
    var guesses: [String] { source.guesses }
    var key: EncryptionKey? { source.key }

    func facts(ofColumn position: Int) -> ColumnFacts? {
        guard let values = columns[position], let type = schema[typeName] else { return source.facts(ofColumn: position) }
        if values.nullCount == values.count { return ColumnFacts(hasValues: false, readings: []) }
        guard type.columns[position].type.kind != .embedded else { return nil }
        return ColumnFacts.of(values, type.columns[position], in: schema, isText: false)
    }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        guard let (name, rows) = try source.next() else { return nil }
        guard name == typeName else { return (name, rows) }
        var batch = rows
        let range = row..<(row + rows.count)
        row = range.upperBound
        for (position, column) in columns {
            guard column.count >= range.upperBound else {
                throw FirnError(.rejected, "the input changed while it was read", advice: "run it again")
            }
            batch.columns[position] = column.slice(range)
        }
        if !rejected.isEmpty, range.contains(where: { rejected[$0] != nil }) {
            for row in range {
                guard let reason = rejected[row] else { continue }
                try rejects?.add(FormatShelf.text(of: rows, row: row - range.lowerBound, source.schema, format), because: reason)
            }
            let kept = (0..<rows.count).filter { rejected[range.lowerBound + $0] == nil }
            batch.columns = batch.columns.map { $0.gather(kept) }
            batch.count = kept.count
        }
        return (name, batch)
    }
}

/// The cells of the columns that may be JSON, one line for each row.
private struct Cells {
    /// By position. Null is `null`.
    private(set) var texts: [Int: [UInt8]] = [:]
    private(set) var rows = 0
    /// By position: the number of cells that are the JSON null, and of those without text.
    private var empty: [Int: (nulls: Int, missing: Int)] = [:]
    private let named: Set<Int>
    private let charge = MemoryCharge(.process)

    /// With `detects`, other columns of text are included as long as every cell is in brackets.
    init(_ type: TypeSchema, names: [String], detects: Bool) {
        let wanted = Set(names)
        named = Set(type.columns.indices.filter { wanted.contains(type.columns[$0].name) })
        for (position, column) in type.columns.enumerated() where column.type == ColumnType(.string, optional: column.type.isOptional) {
            if detects || named.contains(position) { texts[position] = [] }
        }
    }

    mutating func add(_ batch: Batch, _ file: String) throws(FirnError) {
        for (position, text) in texts {
            let column = batch.columns[position], before = text.count
            texts[position] = nil
            guard let text = Cells.adding(column, to: text, isNamed: named.contains(position)) else { continue }
            guard charge.take(text.count - before) else {
                throw FirnError.beyondMemory("JSON in columns", text.count, .process, at: .init(file: file))
            }
            texts[position] = text
            for row in 0..<column.count {
                if !column.isPresent(row) {
                    empty[position, default: (0, 0)].missing += 1
                } else if column.text.length(row) >= 4, column.text.array(row).filter({ $0 > 32 }) == Array("null".utf8) {
                    empty[position, default: (0, 0)].nulls += 1
                }
            }
        }
        rows += batch.count
    }

    /// Returns a remark if a column has cells that are the JSON null and cells without text, which become the same.
    func remark(_ position: Int, _ name: String) -> String? {
        guard let (nulls, missing) = empty[position], nulls > 0, missing > 0 else { return nil }
        return "column \"\(name)\": \(Quantity.count(nulls, "cell")) with the JSON null and \(missing) without text are both null now"
    }

    /// Returns nil if a cell of a column that is not named is no array or object.
    private static func adding(_ column: Column, to text: [UInt8], isNamed: Bool) -> [UInt8]? {
        var text = text
        for row in 0..<column.count {
            guard column.isPresent(row) else {
                text += Array("null\n".utf8)
                continue
            }
            let cell = column.text.array(row)
            let first = cell.first { $0 > 32 }, last = cell.last { $0 > 32 }
            if !isNamed {
                // "[" is two less than "]", and "{" than "}".
                guard let first, let last, first == UInt8(ascii: "[") || first == UInt8(ascii: "{"), last == first + 2 else { return nil }
            }
            // A line without a value would not be a row.
            text += first == nil ? Array("\"".utf8) : cell.map { $0 == 10 || $0 == 13 ? 32 : $0 }
            text.append(10)
        }
        return text
    }
}
