import FirnKit
import Foundation
import Testing

@Suite struct AddedNotationTests {
    private func dates() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id;born;x\n1;31.01.2024;1,5\n2;13.02.2024;2,25\n")
        #expect(try scratch.firn("convert", "--key", "id", "a.csv", "a.firn", "-q").code == 0)
        return scratch
    }

    private func csv(_ scratch: Scratch, _ file: String = "a.firn") throws -> String {
        try scratch.firn("convert", file, "-", "--to", "csv", "-q").out
    }

    @Test func `added rows are written in the notations of the file`() throws {
        let scratch = try dates()
        #expect(try scratch.firn("append", "a.firn", "-", input: "id,born,x\n3,2024-05-06,\"1,5\"\n").code == 0)
        #expect(try scratch.firn("append", "a.firn", "-", input: "{\"id\":4,\"born\":\"2024-05-07\",\"x\":0.5}\n").code == 0)
        #expect(try scratch.firn("upsert", "a.firn", "-", input: "id;born\n1;1.2.2024\n").code == 0)
        #expect(
            try csv(scratch) == "id;born;x\n1;01.02.2024;1,5\n2;13.02.2024;2,25\n3;06.05.2024;1,5\n4;07.05.2024;0,5\n")
    }

    @Test func `--dates decides how dates are read that allow several readings`() throws {
        let scratch = try dates()
        #expect(try scratch.firn("append", "--dates", "M/d/yyyy", "a.firn", "-", input: "id;born;x\n3;1/2/2024;3\n").code == 0)
        // The day comes first in the file.
        #expect(try scratch.firn("append", "a.firn", "-", input: "id;born;x\n4;1/2/2024;3\n").code == 0)
        // The month comes first, as one cell shows.
        #expect(try scratch.firn("append", "a.firn", "-", input: "id;born;x\n5;1/2/2024;3\n6;1/25/2024;3\n").code == 0)
        #expect(
            try csv(scratch).hasSuffix("3;02.01.2024;3\n4;01.02.2024;3\n5;02.01.2024;3\n6;25.01.2024;3\n"))
    }

    @Test func `numbers are read with the decimal mark of the file, or that of --decimal`() throws {
        let scratch = try dates()
        // A point before three digits can separate groups, as in the file; before another number of digits, a fraction follows.
        for row in ["3,2024-05-06,1.500", "3,2024-05-06,1.500\n4,2024-05-06,98", "3,2024-05-06,0.125"] {
            let run = try scratch.firn("append", "a.firn", "-", input: "id,born,x\n\(row)\n")
            #expect(run.code == 3 && run.errors.contains("two ways") && run.errors.contains("--decimal"), "\(row): \(run.errors)")
        }
        for (row, mark) in [("3,2024-05-06,1.500", ","), ("4,2024-05-06,1.500", "."), ("5,2024-05-06,1.5", "")] {
            let words = mark.isEmpty ? [] : ["--decimal", mark]
            #expect(try scratch.firn(["append", "a.firn", "-"] + words, input: "id,born,x\n\(row)\n").code == 0, "\(row)")
        }
        let sums = try scratch.firn("query", "a.firn", "id > 2", "--select", "id,x", "--format", "ndjson")
        #expect(sums.out == "{\"id\":3,\"x\":1500}\n{\"id\":4,\"x\":1.5}\n{\"id\":5,\"x\":1.5}\n", "\(sums.out)")
        // A file with points reads commas where every cell has one.
        try scratch.write("p.csv", "id,x\n1,1.5\n2,0.25\n")
        #expect(try scratch.firn("convert", "p.csv", "p.firn", "-q").code == 0)
        #expect(try scratch.firn("append", "p.firn", "-", input: "id;x\n3;7,5\n4;1.234,5\n").code == 0)
        #expect(try csv(scratch, "p.firn") == "id,x\n1,1.5\n2,0.25\n3,7.5\n4,1234.5\n")
    }

    @Test func `original texts and zones are those of the new values`() throws {
        let scratch = try Scratch()
        try scratch.write(
            "o.csv",
            """
            id,v,d
            1,1.5,2024-01-01T10:00:00+01:00
            2,.5,2024-01-01T10:00:00+01:00
            3,NA,2024-07-01T10:00:00+02:00
            4,2e3,2024-01-01T10:00:00+01:00

            """)
        #expect(try scratch.firn("convert", "--key", "id", "o.csv", "o.firn", "-q").code == 0)
        try scratch.write(
            "n.csv",
            """
            id,v,d
            1,.75,2024-08-01T10:00:00+02:00
            2,3,2024-01-01T10:00:00+01:00
            3,4,2024-01-01T10:00:00+01:00
            4,2000,2024-01-01T10:00:00+01:00
            5,NA,2024-08-01T10:00:00+02:00
            6,1e1,2024-01-01T10:00:00Z

            """)
        let run = try scratch.firn("upsert", "o.firn", "n.csv")
        #expect(run.code == 0 && run.out.contains("2 added, 0 removed, 4 changed"), "\(run.out)\(run.errors)")
        #expect(try csv(scratch, "o.firn") == scratch.read("n.csv"))
        #expect(try scratch.firn("upsert", "o.firn", "n.csv").out.contains("nothing to change"))
        // Without texts of its own, an input removes those of the values that it changes.
        let lines = "{\"id\":1,\"v\":0.75,\"d\":\"2024-08-01T08:00:00Z\"}\n{\"id\":5,\"v\":5,\"d\":\"2024-01-01T09:00:00Z\"}\n"
        let changed = try scratch.firn("upsert", "o.firn", "-", input: lines)
        #expect(changed.out.contains("0 added, 0 removed, 1 changed"), "\(changed.out)\(changed.errors)")
        let found = try csv(scratch, "o.firn")
        #expect(found.contains("\n1,.75,2024-08-01T10:00:00+02:00\n") && found.contains("\n5,5,2024-01-01T10:00:00+01:00\n"), "\(found)")
    }
}
