import FirnBytes
import FirnCSV
import FirnExchange
import FirnJSON
import FirnModel

/// Text of an outside format: rows or an error with its place; and rows that were read are written, and read again as the same.
enum TextAttack {
    static func csv(_ bytes: [UInt8]) {
        guard let first = bytes.first, bytes.count <= 1 << 16 else { return }
        var options = CSVOptions()
        options.threads = 1
        if first & 1 == 1 { options.blockSize = 64 }
        if first & 2 == 2 { options.hasHeader = first & 4 == 4 }
        read("csv") { () throws(FirnError) in try CSVReader(Input(bytes: Array(bytes.dropFirst()), name: "in.csv"), options: options) } write: { output, _ in CSVWriter(output, options: CSVWriterOptions()) }
    }

    static func json(_ bytes: [UInt8], _ layout: JSONOptions.Layout) {
        guard let first = bytes.first, bytes.count <= 1 << 16 else { return }
        var options = JSONOptions(layout: layout)
        options.threads = 1
        if first & 1 == 1 { options.blockSize = 64 }
        options.isLossless = first & 2 == 2
        let chosen = options
        read("json") { () throws(FirnError) in try JSONReader(Input(bytes: Array(bytes.dropFirst()), name: "in.json"), options: chosen) } write: { output, _ in JSONWriter(output, options: chosen) }
    }

    private static func read(_ name: String, open: () throws(FirnError) -> any BatchReader, write: (Output, Schema) -> any BatchWriter) {
        do throws(FirnError) {
            let reader = try open()
            var batches: [(String, Batch)] = []
            while let (type, batch) = try reader.next() {
                for column in batch.columns { precondition(column.count == batch.count, "a column of another length") }
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
            precondition(!error.message.isEmpty, "an error without a word")
            precondition(error.place != nil || error.code != .rejected, "\(name) is refused without a place: \(error.message)")
        }
    }
}
