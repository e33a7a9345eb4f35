import FirnBytes
import FirnExchange
import FirnTable
import Foundation
import Testing

@testable import FirnJSON

/// A measurement, enabled if FIRN_JSON_INPUT names a file of lines: `FIRN_JSON_INPUT=rows.ndjson swift test --filter SpeedTests`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["FIRN_JSON_INPUT"] != nil)) struct SpeedTests {
    @Test func `reading and writing lines prints the speed`() throws {
        let path = ProcessInfo.processInfo.environment["FIRN_JSON_INPUT"]!
        let size = Double(try FileManager.default.attributesOfItem(atPath: path)[.size] as! Int) / 1e6
        for threads in [1, 2] {
            var options = JSONOptions(layout: .lines)
            options.threads = threads
            let start = clockSeconds
            let reader = try JSONReader(Input(path: path), options: options)
            let typed = clockSeconds
            var rows = 0, batches: [Batch] = []
            while let (_, batch) = try reader.next() {
                rows += batch.count
                if batches.count < 4 { batches.append(batch) }
            }
            let end = clockSeconds
            print(
                "threads \(threads): \(rows) rows, types \(typed - start) s, values \(end - typed) s, all \(end - start) s = \(size / (end - start)) MB/s"
            )
            let output = Output(memory: "out"), writer = JSONWriter(output, options: options)
            let before = clockSeconds
            try writer.begin(reader.schema)
            for batch in batches { try writer.write(batch, type: reader.schema.types[0].name) }
            try writer.finish()
            print("written: \(Double(output.bytes.count) / 1e6 / (clockSeconds - before)) MB/s")
        }
    }
}
