import FirnKit
import Foundation
import Testing

/// Several JSON inputs with odd values among their numbers.
@Suite struct UnionTokenTests {
    private func values(_ text: String) throws -> [NSObject] {
        try text.split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: NSObject]
            return object?["x"] ?? NSNull()
        }
    }

    /// Unites lists of JSON values, as inputs of one column, in two orders. Returns the type of the column.
    private func unite(_ inputs: [[String]], sourceLocation: SourceLocation = #_sourceLocation) throws -> (type: String, errors: String) {
        let scratch = try Scratch()
        for (i, cells) in inputs.enumerated() {
            try scratch.write("\(i).ndjson", cells.enumerated().map { "{\"n\":\($0.offset),\"x\":\($0.element)}\n" }.joined())
        }
        var errors = "", types: Set<String> = []
        for order in [Array(inputs.indices), inputs.indices.reversed()] {
            let names = order.map { "\($0).ndjson" }
            let run = try FirnRun(["convert"] + names + ["o.firn", "--force"], in: scratch.folder)
            #expect(run.code == 0, "\(run.errors)", sourceLocation: sourceLocation)
            errors += run.errors
            let wanted = try values(order.map { try scratch.read("\($0).ndjson") }.joined())
            let stored = try scratch.firn("convert", "o.firn", "-", "--to", "ndjson").out
            let direct = try FirnRun(["convert"] + names + ["-", "--to", "ndjson"], in: scratch.folder).out
            #expect(try values(stored) == wanted && values(direct) == wanted, "\(inputs): \(stored)", sourceLocation: sourceLocation)
            #expect(try scratch.firn("verify", "--full", "o.firn").code == 0, sourceLocation: sourceLocation)
            // Files that were made of each input are united in the same way.
            for name in names { #expect(try scratch.firn("convert", name, "\(name).firn", "--force", "-q").code == 0) }
            let again = try FirnRun(["convert"] + names.map { "\($0).firn" } + ["-", "--to", "ndjson"], in: scratch.folder).out
            #expect(try values(again) == wanted, "\(inputs): \(again)", sourceLocation: sourceLocation)
            let schema = try scratch.firn("schema", "o.firn").out
            types.insert(schema.split(separator: "\n").first { $0.hasPrefix("x ") }?.split(separator: " ")[1].description ?? "")
        }
        #expect(types.count == 1, "\(types)", sourceLocation: sourceLocation)
        return (types.first ?? "", errors)
    }

    @Test func `columns of numbers with odd values stay numbers, and keep strings and spellings`() throws {
        #expect(try unite([["1", "\"NA\"", "2"], ["3", "1e3", "4"]]).type == "int?")
        #expect(try unite([["1", "\"12\"", "2"], ["2.5", "3.25"]]).type == "double")
        #expect(try unite([["1.5", "\"n/a\"", "-0", "2.25"], ["7", "8"]]).type == "double?")
        #expect(try unite([["1", "2", "\"\""], ["null", "5"]]).type == "int?")
        let many = (0..<2500).map(String.init) + ["\"see note\"", "true"]
        #expect(try unite([many, ["1", "2"]]).type == "int?")
    }

    @Test func `if another input makes the column one of any values, strings and numbers of the first stay what they are`() throws {
        #expect(try unite([["1", "\"NA\"", "2", "\"12\"", "3"], ["\"a\"", "\"b\""]]).type == "any?")
        #expect(try unite([["1", "\"NA\"", "2"], ["[1]", "{\"y\":2}"]]).type == "any?")
        #expect(try unite([(0..<2500).map(String.init) + ["true", "\"see\""], ["\"a\""]]).type == "any?")
        #expect(try unite([["0.5", "1.5"] + (0..<200).map { "\($0).25" } + ["0.12345678901234567890123"], ["\"a\""]]).type == "any?")
    }

    @Test func `a file of another format next to JSON keeps the values of JSON as they are`() throws {
        let scratch = try Scratch()
        try scratch.write("a.ndjson", "{\"x\":1}\n{\"x\":\"12\"}\n{\"x\":2}\n{\"x\":3}\n")
        try scratch.write("b.csv", "x\n7\nNA\n")
        #expect(try scratch.firn("convert", "a.ndjson", "b.csv", "o.firn").code == 0)
        let out = try scratch.firn("convert", "o.firn", "-", "--to", "ndjson").out
        #expect(out.hasPrefix("{\"x\":1}\n{\"x\":\"12\"}\n"), "\(out)")
    }

    @Test(arguments: Seed.first(12)) func `random values of several inputs are written back equal`(seed: Seed) throws {
        var random = Random(seed)
        let odd = ["\"NA\"", "\"12\"", "\"1.5\"", "1e3", "-0", "2.0", "\"\"", "null", "true", "\"x\"", "1.50"]
        let inputs = (0..<random.number(2...3)).map { _ -> [String] in
            let kind = random.below(4)
            return (0..<random.number(2...30)).map { _ in
                if random.chance(10) { return odd[random.below(kind == 3 ? odd.count : 8)] }
                return kind == 0
                    ? "\(random.below(3000))"
                    : kind == 1
                        ? "\(random.below(300)).\(random.number(1...9))" : kind == 2 ? "\(random.below(9))" : "\"s\(random.below(9))\""
            }
        }
        _ = try unite(inputs)
    }

    @Test func `texts of CSV that are no numbers are strings in a column of type any`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,v\n1,5\n2,NA\n3,1e1\n4,\n")
        try scratch.write("b.ndjson", "{\"id\":5,\"v\":8}\n{\"id\":6,\"v\":\"NA\"}\n")
        for inputs in [["a.csv", "b.ndjson"], ["b.ndjson", "a.csv"]] {
            let run = try FirnRun(["convert"] + inputs + ["o.firn", "--force"], in: scratch.folder)
            #expect(run.code == 0 && run.errors.contains("read as any; its numbers keep no unusual spelling"), "\(run.errors)")
            let lines = try scratch.firn("query", "o.firn", "--sort", "id", "--format", "ndjson").out
            #expect(
                lines
                    == #"{"id":1,"v":5}"# + "\n" + #"{"id":2,"v":"NA"}"# + "\n" + #"{"id":3,"v":10}"# + "\n" + #"{"id":4,"v":null}"# + "\n"
                    + #"{"id":5,"v":8}"# + "\n" + #"{"id":6,"v":"NA"}"# + "\n", "\(lines)")
        }
    }
}
