import FirnBytes
import FirnCSV
import FirnExchange
import FirnTable
import Foundation

/// Returns all rows of a reader as values.
struct Table {
    var schema: Schema
    var rows: [[Value]] = []
    var batches: [Batch] = []
    var reader: CSVReader

    init(_ bytes: [UInt8], _ options: CSVOptions = CSVOptions()) throws(FirnError) {
        reader = try CSVReader(Input(bytes: bytes, name: "test.csv"), options: options)
        schema = reader.schema
        while let (_, batch) = try reader.next() {
            for row in 0..<batch.count { rows.append(batch.columns.map { $0.value(at: row) }) }
            batches.append(batch)
        }
    }

    init(_ text: String, _ options: CSVOptions = CSVOptions()) throws(FirnError) { try self.init(Array(text.utf8), options) }

    var types: [String] { schema.types[0].columns.map(\.type.name) }
    var names: [String] { schema.types[0].columns.map(\.name) }
    var notations: [Notation] { schema.types[0].columns.map(\.notation) }

    func written(_ options: CSVWriterOptions = CSVWriterOptions()) throws(FirnError) -> [UInt8] {
        let output = Output(memory: "written.csv")
        let writer = CSVWriter(output, options: options)
        try writer.begin(schema)
        for batch in batches { try writer.write(batch, type: schema.types[0].name) }
        try writer.finish()
        return output.bytes
    }
}

/// Parses cells with a second, simple implementation of RFC 4180. Nil for an empty unquoted cell.
func plainCells(_ bytes: [UInt8], delimiter: UInt8 = 44) -> [[[UInt8]?]] {
    var rows: [[[UInt8]?]] = [], row: [[UInt8]?] = [], cell: [UInt8] = []
    var at = 0, wasQuoted = false
    let newline: UInt8 = bytes.contains(10) ? 10 : 13
    func endCell() {
        row.append(cell.isEmpty && !wasQuoted ? nil : cell)
        (cell, wasQuoted) = ([], false)
    }
    func endRow() {
        if row.count == 0, cell.isEmpty, !wasQuoted, rows.first.map({ $0.count > 1 }) ?? true { return }
        endCell()
        rows.append(row)
        row = []
    }
    while at < bytes.count {
        let byte = bytes[at]
        if byte == 34, cell.isEmpty, !wasQuoted {
            wasQuoted = true
            at += 1
            while at < bytes.count {
                if bytes[at] == 34 {
                    if at + 1 < bytes.count, bytes[at + 1] == 34 { at += 1 } else { break }
                }
                cell.append(bytes[at])
                at += 1
            }
        } else if byte == delimiter {
            endCell()
        } else if byte == newline {
            endRow()
        } else if byte == 13, newline == 10, at + 1 < bytes.count, bytes[at + 1] == 10 {
        } else {
            cell.append(byte)
        }
        at += 1
    }
    if !row.isEmpty || !cell.isEmpty || wasQuoted { endRow() }
    return rows
}
