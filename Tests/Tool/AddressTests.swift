import FirnKit
import Foundation
import Testing

/// Operands with types and versions.
@Suite struct AddressTests {
    @Test func `FILE:type of a format with one type must name that type`() throws {
        let scratch = try Scratch()
        try scratch.write("p.csv", "id\n1\n")
        try scratch.write("p.ndjson", "{\"id\":1}\n")
        for file in ["p.csv", "p.ndjson"] {
            #expect(try scratch.firn("query", "\(file):p", "--format", "csv").out == "id\n1\n")
            for words in [
                ["query", "\(file):foo"], ["convert", "\(file):foo", "x.firn", "-f"], ["hash", "\(file):foo"], ["schema", "\(file):foo"],
                ["diff", "\(file):foo", file], ["sql", "\(file):foo", "SELECT 1"], ["convert", "\(file):foo", file, "x.firn", "-f"],
            ] {
                let run = try FirnRun(words, in: scratch.folder)
                #expect(run.code == 2 && run.errors.contains("there is no type \"foo\""), "\(words): \(run.code) \(run.errors)")
            }
            let none = try scratch.firn("query", "\(file):document")
            #expect(none.code == 2 && none.errors.contains("there is no JSON document around the rows"), "\(none.errors)")
        }
        try scratch.write("s.json", "{\"type\":\"Person\",\"columns\":[{\"name\":\"id\",\"type\":\"int\"}]}")
        #expect(try scratch.firn("query", "p.csv:Person", "--schema", "s.json").code == 0)
        #expect(try scratch.firn("query", "p.csv:Pet", "--schema", "s.json").code == 2)
    }

    @Test func `types whose names contain colons, slashes and at signs can be addressed`() throws {
        let scratch = try Scratch()
        try scratch.write("p.csv", "id\n1\n")
        for name in ["a:b", "a@b", "a/b", ":", "x:y:z", "a.b"] {
            #expect(try scratch.firn("convert", "p.csv", "t.firn", "-f", "-q", "--type", name).code == 0)
            for address in ["t.firn:\(name)", "t.firn@1:\(name)", "./t.firn:\(name)"] {
                let run = try scratch.firn("query", address, "--format", "csv")
                #expect(run.code == 0 && run.out == "id\n1\n", "\(address): \(run.errors)")
            }
            #expect(try scratch.firn("query", "t.firn", "--type", name).code == 0)
            #expect(try scratch.firn("query", "t.firn:\(name)x").code == 2)
        }
        // Files whose names contain these characters.
        try FileManager.default.copyItem(at: scratch.file("t.firn"), to: scratch.file("t.firn:a@1.firn"))
        #expect(try scratch.firn("query", "t.firn:a@1.firn").code == 0)
        #expect(try scratch.firn("query", "t.firn:a@1.firn@1:a.b").code == 0)
        let missing = try scratch.firn("query", "none:a/b")
        #expect(missing.code == 5 && missing.errors.contains("none:a/b"), "\(missing.errors)")
    }

    @Test func `a version or tag that does not exist is an error of the command line in every command`() throws {
        let scratch = try Scratch()
        try scratch.write("p.csv", "id\n1\n")
        #expect(try scratch.firn("convert", "p.csv", "t.firn", "-q").code == 0)
        for version in ["7", "nosuch"] {
            for words in [
                ["query", "t.firn@\(version)"], ["convert", "t.firn@\(version)", "x.firn"], ["info", "t.firn@\(version)"],
                ["schema", "t.firn@\(version)"], ["verify", "t.firn@\(version)"], ["hash", "t.firn@\(version)"],
                ["diff", "t.firn@\(version)", "t.firn"], ["sql", "t.firn@\(version)", "SELECT 1"], ["revert", "t.firn", version],
                ["tag", "t.firn", "a@\(version)"], ["compact", "t.firn@\(version)", "x.firn"], ["recover", "t.firn@\(version)", "x.firn"],
                ["log", "t.firn@\(version)"],
            ] {
                let run = try FirnRun(words, in: scratch.folder)
                #expect(
                    run.code == 2 && run.errors.contains("no \(words[0] == "recover" ? "" : version == "7" ? "version 7" : "tag")"),
                    "\(words): \(run.code) \(run.errors)")
            }
        }
        #expect(try scratch.firn("compact", "--keep", "nosuch", "t.firn").code == 2)
        #expect(try scratch.firn("convert", "t.firn", "x.csv", "--columns", "foo").code == 2)
        #expect(try scratch.firn("convert", "p.csv", "x.firn", "--columns", "foo").code == 2)
    }
}
