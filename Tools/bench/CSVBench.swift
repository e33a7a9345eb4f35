import FirnCSV
import FirnDisk
import FirnExchange
import FirnTable
import FirnThreads

/// Measures inference, reading and writing of CSV files, and prints `name value unit` lines.
func benchCSV(_ paths: [String]) throws {
    for path in paths {
        let megabytes = Double(try Paths.size(path)) / 1e6
        var options = CSVOptions()
        options.threads = Processors.count
        let start = Machine.seconds
        let reader = try CSVReader(try Input(path: path), options: options)
        let looked = Machine.seconds
        var rows = 0, batches: [Batch] = []
        while let (_, batch) = try reader.next() {
            rows += batch.count
            if batches.isEmpty { batches.append(batch) }
        }
        let read = Machine.seconds
        let memory = Machine.peakMemory
        print(path + ":", reader.schema.types[0].columns.map { "\($0.name) \($0.type.name) \($0.notation.code)" }.joined(separator: ", "))
        print("csv.infer \(round(megabytes / (looked - start))) MB/s")
        print("csv.read \(round(megabytes / (read - looked))) MB/s")
        print("csv.total \(round((read - start) * 1000)) ms, \(rows) rows")
        print("csv.peak \(round(Double(memory) / 1e6)) MB")
        let again = Machine.seconds
        let output = try Output(path: "/dev/null")
        let writer = CSVWriter(output)
        try writer.begin(reader.schema)
        for _ in 0..<10 { for batch in batches { try writer.write(batch, type: reader.schema.types[0].name) } }
        let bytes = output.position
        try writer.finish()
        print("csv.write \(round(Double(bytes) / 1e6 / (Machine.seconds - again))) MB/s")
    }
}

private func round(_ value: Double) -> Double { (value * 10).rounded() / 10 }
