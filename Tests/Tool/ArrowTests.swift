import FirnKit
import Foundation
import Testing

/// Arrow files and streams as inputs of the command.
@Suite struct ArrowTests {
    private func scratch(_ names: String...) throws -> Scratch {
        let scratch = try Scratch()
        for name in names {
            try FileManager.default.copyItem(at: Folders.fixtures.appending(path: "arrow/\(name)"), to: scratch.file(name))
        }
        return scratch
    }

    @Test func `the examples of the page on Arrow print what it shows`() throws {
        let scratch = try scratch("orders.arrow"), steps = try Transcript(page: "arrow.md").steps
        #expect(steps.count >= 4)
        for step in steps { #expect(try Transcript.run(step.command, in: scratch) == step.output, "\(step.command)") }
    }

    @Test func `a converted file has the rows of its source, in all formats`() throws {
        let scratch = try scratch("types.arrow", "nested.arrows", "odd.arrow")
        for name in ["types.arrow", "nested.arrows", "odd.arrow"] {
            #expect(try scratch.firn("convert", name, "\(name).firn", "-q").code == 0)
            let rows = try scratch.firn("convert", name, "-", "--to", "ndjson", "-q")
            let stored = try scratch.firn("convert", "\(name).firn", "-", "--to", "ndjson", "-q")
            #expect(rows.code == 0 && rows.out == stored.out)
            let hashes = try [name, "\(name).firn"].map { try scratch.firn("hash", $0).out.prefix(32) }
            #expect(hashes[0] == hashes[1] && hashes[0].count == 32)
        }
        let difference = try scratch.firn("diff", "nested.arrows", "nested.arrows.firn", "--key", "id")
        #expect(difference.code == 0, "\(difference.out) \(difference.errors)")
        let sql = try scratch.firn("sql", "nested.arrows", "select count(*), max(id) from nested")
        #expect(sql.code == 0 && sql.out.contains("12"), "\(sql.out) \(sql.errors)")
    }

    @Test(arguments: [
        #"{"a":[["2024-01-02T03:04:05.123456789Z"],[]]}"#, #"{"a":{"b":{"c":"2024-01-02T03:04:05.123456789Z"}}}"#,
        #"{"a":{"b":["2024-01-02T03:04:05.123456789Z"]}}"#, #"{"a":[[["2024-01-02T03:04:05.123456789Z"]]]}"#,
        #"{"a":{"k1":["2024-01-02T03:04:05.123456789Z"]}}"#, #"{"a":[{"b":[["2024-01-02T03:04:05.123456789Z"]]}]}"#,
    ])
    func `the digits of dates at every depth are written to Arrow and Parquet`(row: String) throws {
        let scratch = try Scratch()
        try scratch.write("a.ndjson", row + "\n")
        for name in ["b.arrow", "b.arrows", "b.parquet"] {
            for flags in [[], ["--map", "a"]] where flags.isEmpty || row.contains("k1") {
                let run = try FirnRun(["convert", "-f", "a.ndjson", name] + flags, in: scratch.folder)
                #expect(run.code == 0, "\(name): \(run.errors)")
                #expect(try scratch.firn("convert", name, "-", "--to", "ndjson", "-q").out == row + "\n", "\(name)")
            }
        }
    }

    @Test func `damage and former formats are errors with the file and the offset`() throws {
        let scratch = try scratch("types.arrow")
        let bytes = try Array(Data(contentsOf: scratch.file("types.arrow")))
        try Data(bytes.dropLast(9)).write(to: scratch.file("cut.arrow"))
        let cut = try scratch.firn("schema", "cut.arrow")
        #expect(cut.code == 4 && cut.errors.contains("does not end with \"ARROW1\""), "\(cut.errors)")
        try Data(Array("FEA1".utf8) + [UInt8](repeating: 0, count: 60)).write(to: scratch.file("old.feather"))
        let old = try scratch.firn("query", "old.feather")
        #expect(old.code == 4 && old.errors.contains("Feather file of version 1"), "\(old.errors)")
        try scratch.write("text.arrow", "a,b\n1,2\n")
        let text = try scratch.firn("schema", "text.arrow")
        #expect(text.code == 4 && text.errors.contains("no Arrow data"), "\(text.errors)")
        #expect(!text.errors.contains("firn verify"), "\(text.errors)")
    }
}
