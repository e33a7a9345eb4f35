import FirnKit
import Foundation
import Testing

/// Input that cannot be read ends the command with the line and column of the error, and nothing is written.
@Suite struct BadInputTests {
    /// Converts a file, with or without an existing target. Checks that an error has a position and leaves the folder unchanged.
    private func convert(_ path: String, _ words: [String] = [], in scratch: Scratch, overwrites: Bool, input: String? = nil) throws
        -> FirnRun
    {
        try? FileManager.default.removeItem(at: scratch.file("out.firn"))
        if overwrites { try scratch.write("out.firn", "as it was") }
        let before = scratch.names
        let run = try FirnRun(
            ["convert", path, "out.firn", "-q"] + (overwrites ? ["--force"] : []) + words, input: input, in: scratch.folder)
        #expect(!run.isCrash && [0, 3, 4].contains(run.code), "\(path) \(words): \(run.code) \(run.errors)")
        guard run.code != 0 else { return run }
        #expect(scratch.names == before, "\(path) \(words) changed the folder: \(scratch.names)")
        if overwrites { #expect(try scratch.read("out.firn") == "as it was", "\(path) \(words) changed the target") }
        #expect(
            run.out.isEmpty && run.errors.hasPrefix("firn: \(path == "-" ? "standard input" : path)"), "\(path) \(words): \(run.errors)")
        let isWhole = ["the input is empty", "compressed with"].contains(where: run.errors.contains)
        #expect(place(run, path) != nil || isWhole, "\(path) \(words) has an error without a position: \(run.errors)")
        return run
    }

    /// The line and column of an error.
    private func place(_ run: FirnRun, _ path: String) -> String? {
        let rest = run.errors.dropFirst("firn: \(path == "-" ? "standard input" : path):".count),
            parts = rest.split(separator: ":", maxSplits: 2)
        guard parts.count == 3, let line = Int(parts[0]), let column = Int(parts[1]), line > 0, column > 0 else { return nil }
        return "\(line):\(column)"
    }

    @Test(arguments: [
        ("ragged.csv", "a,b\n1,2\n3,4,5\n", "3:6"), ("short.csv", "a,b\n1,2\n\"x\"\n", "3:4"), ("open.csv", "a,b\n1,\"2\n3,4\n", "2:3"),
        ("quote.csv", "a,b\n1,\"2\"3\n", "2:6"),
        ("bytes.csv", "a,b\n1,x\u{FFFF}\n", "2:4"),
        ("comma.json", "[{\"a\":1},]", "1:10"), ("cut.json", "[{\"a\":1}\n,{\"a\":", "2:7"), ("twice.json", "{\"a\":1} {", "1:9"),
        ("word.json", "[\n  {\"a\": nul}]", "2:9"),
        ("line.ndjson", "{\"a\":1}\n{\"a\":\n", "2:6"), ("text.ndjson", "{\"a\":1}\n\n{\"a\":\"\t\"}\n", "3:7"),
        ("tab.json", "[1,\n {\"a\":\"x\ty\"}]", "2:9"), ("open.json", "[{\"a\":1},\n{\"b", "2:2"),
        ("open.ndjson", "{\"a\":1}\n{\"a\":\"b\n", "2:6"),
        ("deep.json", String(repeating: "[", count: 3000), "1:513"),
    ])
    func `a syntax error is reported with line and column, and nothing is written`(name: String, text: String, truth: String) throws {
        let scratch = try Scratch()
        // U+FFFF is replaced by bytes that are not UTF-8.
        let bytes = Data(text.utf8).split(separator: Data([0xEF, 0xBF, 0xBF]), omittingEmptySubsequences: false).joined(
            separator: Data([0xC3, 0x28]))
        try Data(bytes).write(to: scratch.file(name))
        // Without these flags, such rows are read in another way, and other encodings are recognised.
        let strict = name.hasSuffix(".csv") ? ["--ragged", "error", "--encoding", "utf-8"] : []
        for overwrites in [false, true] {
            let run = try convert(name, strict, in: scratch, overwrites: overwrites)
            #expect(run.code == 3 && place(run, name) == truth, "\(name): \(run.code) \(run.errors)")
        }
        if !text.contains("\u{FFFF}") {
            let piped = try convert(
                "-", ["--from", String(name.split(separator: ".")[1])] + strict, in: scratch, overwrites: true, input: text)
            #expect(piped.code == 3 && place(piped, "-") == truth, "\(name) through a pipe: \(piped.errors)")
        }
        for words in [["query", name], ["schema", name], ["hash", name], ["diff", name, name, "--key", "a"]] {
            let run = try FirnRun(words + strict, in: scratch.folder)
            #expect(run.code == 3 && run.errors.contains("\(name):\(truth): "), "\(words): \(run.code) \(run.errors)")
        }
    }

    /// Reads each file in the format of its file name extension. CSV is also read with `--lossless`, and some JSON as NDJSON.
    @Test func `each invalid file of the collections is read, or its error is reported with a position`() throws {
        guard let bad = SharedData.file("bad") else { return }
        let scratch = try Scratch()
        var refused = 0, accepted = 0, number = 0
        for case let name as String in FileManager.default.enumerator(atPath: bad.path)! {
            let file = bad.appending(path: name), last = file.lastPathComponent
            guard (try? file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true else { continue }
            number += 1
            guard Tier.isLong || number % 2 == 0 else { continue }
            let isJSON = last.hasSuffix(".json")
            var ways = [isJSON ? ["--from", "json"] : []]
            if (refused + accepted) % 4 == 0 || !isJSON || last.contains("line") {
                ways.append(isJSON ? ["--from", "ndjson"] : ["--from", "csv", "--lossless"])
            }
            for words in ways {
                let run = try convert(file.path, words, in: scratch, overwrites: (refused + accepted) % 2 == 0)
                if run.code == 0 { accepted += 1 } else { refused += 1 }
                guard words.last == "json" else { continue }
                if last.hasPrefix("y_") { #expect(run.code == 0, "\(name): \(run.errors)") }
                // Two documents one after the other are no JSON text, but a sequence of values.
                if last.hasPrefix("n_"), !last.contains("double_array") { #expect(run.code == 3, "\(name) is accepted") }
            }
        }
        print("bad inputs: \(accepted) accepted, \(refused) refused")
        #expect(accepted > Tier.cases(80, of: 200) && refused > Tier.cases(80, of: 200))
    }
}
