import Foundation
import Testing

/// `--schema` for files that write the same types in other notations.
@Suite struct SchemaNotationTests {
    private func files() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("de.csv", "id;d;amt\n1;31.01.2024;1,50\n2;01.02.2024;1.234,75\n")
        try scratch.write("us.csv", "id,d,amt\n1,1/31/2024,1.50\n2,2/1/2024,\"1,234.75\"\n")
        try scratch.write("iso.csv", "id,d,amt\n1,2024-01-31,1.50\n2,2024-02-01,1234.75\n")
        try scratch.write("doubt.csv", "id,d,amt\n1,03/01/2024,1.50\n2,04/02/2024,2.50\n")
        return scratch
    }

    @Test(arguments: ["de.csv", "us.csv", "iso.csv"])
    func `a schema that was printed for one file reads the others`(printed: String) throws {
        let scratch = try files()
        try scratch.write("s.json", try scratch.firn("schema", printed, "--json").out)
        for name in ["de.csv", "us.csv", "iso.csv"] {
            let run = try scratch.firn("convert", "--schema", "s.json", name, "\(name).firn")
            #expect(run.code == 0, "\(printed) for \(name): \(run.errors)")
            let query = try scratch.firn("query", "\(name).firn", "d == 2024-02-01 AND amt == 1234.75", "-a", "count", "--format", "csv")
            #expect(query.out == "count\n1\n", "\(printed) for \(name): \(query.errors)")
        }
    }

    @Test func `the pattern of --dates applies to the dates of a schema`() throws {
        let scratch = try files()
        try scratch.write("s.json", try scratch.firn("schema", "iso.csv", "--json").out)
        let run = try scratch.firn("convert", "--schema", "s.json", "--dates", "dd/MM/yyyy", "doubt.csv", "d.firn")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try scratch.firn("query", "d.firn", "d == 2024-01-03", "-a", "count", "--format", "csv").out == "count\n1\n")
    }
}
