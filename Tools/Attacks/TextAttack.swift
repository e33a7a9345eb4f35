import FirnBytes
import FirnCSV
import FirnExchange
import FirnJSON
import FirnTable

/// Reads text of an outside format. The result must be rows, which are written again, or an error with its location. The first byte selects
/// the options.
enum TextAttack {
    /// A given schema: values of the text fit it or are rejected.
    private static let given = GivenSchema(
        Schema([
            TypeSchema(
                "rows",
                columns: [
                    ColumnSchema("id", ColumnType(.int)), ColumnSchema("name", ColumnType(.string, optional: true)),
                    ColumnSchema("score", ColumnType(.double, optional: true)),
                    ColumnSchema("day", ColumnType(.date, optional: true)),
                    ColumnSchema("part", ColumnType(.embedded, optional: true, target: "part")),
                    ColumnSchema("tags", ColumnType(.string, optional: true, collection: .set)),
                    ColumnSchema("map", ColumnType(.any, optional: true, collection: .map)),
                    ColumnSchema("price", ColumnType(.decimal, optional: true)), ColumnSchema("raw", ColumnType(.data, optional: true)),
                    ColumnSchema("uid", ColumnType(.uuid, optional: true)),
                    ColumnSchema("next", ColumnType(.link, optional: true, target: "rows")),
                ]),
            TypeSchema(
                "part",
                columns: [ColumnSchema("x", ColumnType(.int, optional: true)), ColumnSchema("y", ColumnType(.string, optional: true))],
                isEmbedded: true),
        ]), rows: "rows")
    private static let flat = TypeSchema(
        "rows", columns: given.type.columns.filter { !$0.type.isCollection && ![.embedded, .link].contains($0.type.kind) })

    static func csv(_ bytes: [UInt8]) {
        guard let first = bytes.first, bytes.count <= 1 << 16 else { return }
        var options = CSVOptions()
        options.threads = 1
        if first & 1 == 1 { options.blockSize = 64 }
        if first & 2 == 2 { options.hasHeader = first & 4 == 4 }
        if first & 8 == 8 { options.rejects = rejects() }
        if first & 16 == 16 { options.encoding = first & 1 == 1 ? .latin1 : .utf16LittleEndian }
        if first & 32 == 32 { options.types = flat }
        if first & 64 == 64 { options.nullWords += ["NA", "0"] }
        if first & 128 == 128 { options.delimiter = UInt8(ascii: ";") }
        choose(&options, bytes.last ?? 0)
        let chosen = options
        read("csv") { () throws(FirnError) in
            try CSVReader(Input(bytes: Array(bytes.dropFirst()), name: "in.csv"), options: chosen)
        } write: { output, _ in
            CSVWriter(output, options: CSVWriterOptions())
        }
        compare(Array(bytes.dropFirst()), chosen)
    }

    /// Compares a text with a copy that lacks some of its bytes, by records. The rows must be those of readers of the whole texts.
    private static func compare(_ text: [UInt8], _ options: CSVOptions) {
        let from = text.count / 3, to = from + text.count / 7
        let texts = [text, Array(text[..<from] + text[to...])]
        func input(_ index: Int) -> Input { Input(bytes: texts[index], name: "in.csv") }
        do throws(FirnError) {
            guard let key = try? CSVReader(input(0), options: options).schema.types[0].columns[0].name,
                let pair = try CSVPair(old: .init(input(0), options), new: .init(input(1), options), key: [key], limit: 1 << 16)
            else { return }
            for (index, part) in [pair.old, pair.new].enumerated() {
                let whole = try CSVReader(input(index), options: options)
                trap(unless: whole.schema.types[0].columns == part.schema.types[0].columns, "records have other columns than a text")
                let rows = (all: try self.rows(whole), others: try self.rows(part))
                trap(unless: rows.all == rows.others + pair.equalRows, "records are missing, or are there twice")
            }
        } catch { trap("texts can be compared by records, and one of them cannot be read: \(error)") }
    }

    private static func rows(_ reader: CSVReader) throws(FirnError) -> Int {
        var count = 0
        while let (_, batch) = try reader.next() { count += batch.count }
        return count
    }

    /// Sets the notation by the last byte of the text. Half of the texts are read with what is detected.
    private static func choose(_ options: inout CSVOptions, _ last: UInt8) {
        guard last & 1 == 1 else {
            if last & 2 == 2 { options.hasDecimalComma = last & 4 == 4 }
            return
        }
        switch last >> 1 & 7 {
        case 0: options.delimiterBytes = Array("::".utf8)
        case 1: options.delimiterBytes = Array(", ".utf8)
        case 2: options.quoting = .mark(UInt8(ascii: "'"))
        case 3: options.quoting = .none
        case 4: options.escape = UInt8(ascii: "\\")
        case 5: options.comment = "#"
        case 6: (options.skipped, options.skippedFooter) = (1, 1)
        default: (options.isLossless, options.encoding) = (true, nil)
        }
        let ragged: [CSVRagged?] = [nil, .pad, .cut, .error]
        options.ragged = options.rejects == nil ? ragged[Int(last >> 4 & 3)] : nil
        if last & 64 == 64 { options.hasHeader = nil }
    }

    static func json(_ bytes: [UInt8], _ layout: JSONOptions.Layout) {
        guard let first = bytes.first, bytes.count <= 1 << 16 else { return }
        var options = JSONOptions(layout: layout)
        options.threads = 1
        if first & 1 == 1 { options.blockSize = 64 }
        options.isLossless = first & 2 == 2
        if first & 4 == 4 { options.given = given }
        if first & 8 == 8, !options.isLossless { options.rejects = rejects() }
        if first & 16 == 16 { options.findsLayout = true }
        if first & 32 == 32 { options.maps = ["*", "part.*", "a.*.b"] }
        if first & 64 == 64 { options.objects = ["map", "*.*"] }
        if first & 128 == 128, first & 16 == 16 { options.rows = first & 1 == 1 ? "/a" : "" }
        if first & 192 == 192, first & 4 == 0 { options.column = "cell" }
        let chosen = options
        read("json") { () throws(FirnError) in
            try JSONReader(Input(bytes: Array(bytes.dropFirst()), name: "in.json"), options: chosen)
        } write: { output, _ in
            JSONWriter(output, options: chosen)
        }
    }

    private static func rejects() -> Rejects {
        Rejects { row, reason in
            trap(unless: row.count <= 1 << 16 && reason?.message.isEmpty != true, "a rejected row is too long or has an empty reason")
        }
    }

    private static func read(_ name: String, open: () throws(FirnError) -> any BatchReader, write: (Output, Schema) -> any BatchWriter) {
        do throws(FirnError) {
            let reader = try open()
            var batches: [(String, Batch)] = []
            while let (type, batch) = try reader.next() {
                for column in batch.columns {
                    trap(unless: column.count == batch.count, "the length of a column differs from that of its batch")
                }
                batches.append((type, batch))
            }
            _ = reader.remarks
            guard reader.schema.roots.count == 1 else { return }
            let output = Output(memory: "out")
            let writer = write(output, reader.schema)
            try writer.begin(reader.schema)
            for (type, batch) in batches { try writer.write(batch, type: type) }
            try writer.finish()
        } catch {
            trap(unless: !error.message.isEmpty, "an error has no message")
            trap(unless: !error.message.contains("changed while it was read"), "\(name) gives other rows in the second reading: \(error)")
            trap(unless: error.location != nil || error.code != .rejected, "\(name) is rejected without a location: \(error.message)")
        }
    }
}
