import FirnKit
import Foundation
import Testing

/// Links in files that have only a part of the rows or types of their source.
@Suite struct LinksOfPartsTests {
    /// Makes `t.firn` with five rows, each with a link to the one before.
    private func chain() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("s.json", #"{"type":"T","key":["id"],"columns":[{"name":"id","type":"int"},{"name":"up","type":"link<T>?"}]}"#)
        try scratch.write("t.csv", "id,up\n0,\n1,0\n2,1\n3,2\n4,3\n")
        let run = try scratch.firn("convert", "-q", "t.csv", "t.firn", "--schema", "s.json", "--type", "T")
        #expect(run.code == 0, "\(run.errors)")
        return scratch
    }

    @Test(arguments: ["firn", "parquet", "arrow"], ["firn", "parquet", "arrow"])
    func `links are row ids if rows are left out`(source: String, target: String) throws {
        let scratch = try chain()
        if source != "firn" { #expect(try scratch.firn("convert", "-q", "t.firn", "t.\(source)").code == 0) }
        for (flag, value, expected) in [("--where", "id > 1", "id,up\n2,1\n3,2\n4,3\n"), ("--limit", "3", "id,up\n0,\n1,0\n2,1\n")] {
            let run = try scratch.firn("convert", "t.\(source)", "out.\(target)", "-f", flag, value)
            #expect(run.code == 0 && run.errors.contains("column \"up\": links to"), "\(run.code) \(run.errors)")
            #expect(try scratch.firn("query", "out.\(target)", "--format", "csv").out == expected)
            #expect(try !scratch.firn("schema", "out.\(target)").out.contains("link"))
            if target == "firn" { #expect(try scratch.firn("verify", "--full", "-q", "out.firn").code == 0) }
        }
        let query = try scratch.firn("query", "t.\(source)", "id > 1 SORT(id DESC)", "-o", "query.\(target)")
        #expect(query.code == 0 && query.errors.contains("column \"up\": links to"), "\(query.code) \(query.errors)")
        #expect(try scratch.firn("query", "query.\(target)", "--format", "csv").out == "id,up\n4,3\n3,2\n2,1\n")
        // Without these flags, they stay links.
        let whole = try scratch.firn("convert", "t.\(source)", "whole.\(target)")
        #expect(whole.code == 0, "\(whole.errors)")
        #expect(try scratch.firn("query", "whole.\(target)", "up.up.id == 1", "--format", "csv", "-s", "id").out == "id\n3\n")
    }

    @Test(arguments: ["firn", "parquet", "arrow"]) func `links lead to the same rows in a file from which rows were deleted`(target: String)
        throws
    {
        let scratch = try chain()
        // Nothing leads to row 4, which is replaced by rows with other ids.
        try scratch.write("n.csv", "id,up\n0,\n1,0\n2,1\n3,2\n7,\n8,4\n")
        #expect(try scratch.firn("convert", "-q", "n.csv", "n.firn", "--schema", "s.json", "--type", "T").code == 0)
        #expect(try scratch.firn("diff", "t.firn", "n.firn", "--key", "id", "--changes", "c.firn", "--format", "summary").code == 1)
        let patched = try scratch.firn("patch", "t.firn", "c.firn")
        #expect(patched.code == 0, "\(patched.errors)")
        for words in [["t.firn", "out.\(target)", "--columns", "id,up"], ["t.firn", "out.\(target)", "--type", "T"]] {
            let run = try FirnRun(["convert", "-f", "-q"] + words, in: scratch.folder)
            #expect(run.code == 0, "\(run.errors)")
            for (path, id) in [("up.id == 7", "8"), ("up.up.id == 1", "3")] {
                let found = try scratch.firn("query", "out.\(target)", path, "--format", "csv", "-s", "id")
                #expect(found.out == "id\n\(id)\n", "\(words) \(path) \(found.out) \(found.errors)")
            }
            if target == "firn" { #expect(try scratch.firn("verify", "--full", "-q", "out.firn").code == 0) }
        }
    }

    @Test func `links to types that are not written are row ids`() throws {
        let scratch = try Scratch(), fixture = Folders.fixtures.appending(path: "realm/links.realm")
        for (words, kept) in [(["--type", "Person"], true), (["--type", "Person", "--limit", "3"], false)] {
            let run = try FirnRun(["convert", "-f", fixture.path, "p.firn"] + words, in: scratch.folder)
            #expect(run.code == 0 && run.errors.contains("links to \"Dog\" are written as row ids"), "\(run.code) \(run.errors)")
            #expect(try scratch.firn("schema", "p.firn").out.contains("link<Person>?") == kept)
            #expect(try scratch.firn("verify", "--full", "-q", "p.firn").code == 0)
        }
    }
}
