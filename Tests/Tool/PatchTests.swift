import Foundation
import Testing

@Suite struct PatchTests {
    private func sample(_ words: [String] = []) throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,name\n1,Ada\n2,Bo\n3,Cy\n")
        try scratch.write("b.csv", "id,name\n1,Ada\n2,Bob\n4,Di\n")
        for side in ["a", "b"] { #expect(try FirnRun(["convert", "\(side).csv", "\(side).firn", "--key", "id", "--type", "rows", "-q"] + words, in: scratch.folder).code == 0) }
        return scratch
    }

    @Test func `T14: check tells and changes nothing, patch commits once, and conflicts are listed`() throws {
        let scratch = try sample()
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--changes", "c.firn", "-q").code == 1)
        let whole = try Data(contentsOf: scratch.file("a.firn"))
        let check = try scratch.firn("patch", "--check", "a.firn", "c.firn")
        #expect(check.code == 0 && check.out.contains("would be 1 added, 1 removed, 1 changed"), "\(check.out)\(check.errors)")
        #expect(try Data(contentsOf: scratch.file("a.firn")) == whole)
        let run = try scratch.firn("patch", "a.firn", "c.firn")
        #expect(run.code == 0 && run.out.contains("version 2"), "\(run.out)\(run.errors)")
        #expect(try scratch.firn("query", "a.firn", "--format", "csv").out == "id,name\n1,Ada\n2,Bob\n4,Di\n")
        let again = try scratch.firn("patch", "a.firn", "c.firn")
        #expect(again.code == 1 && again.out.split(separator: "\n").sorted() == ["id=2: another value in name", "id=3: there is no such row", "id=4: there is such a row already"], "\(again.out)")
        let lines = try scratch.firn("patch", "--json", "a.firn", "c.firn").out
        #expect(lines.contains(#""applied":false"#) && lines.contains(#""conflicts":3"#), "\(lines)")
    }

    @Test func `T14: what cannot be is refused, and nothing is written`() throws {
        let scratch = try sample()
        for words in [["--ignore", "name"], ["--where", "id > 1"], ["--tolerance", "1"], ["--duplicates", "first"], ["--columns", "name"]] {
            let run = try FirnRun(["diff", "a.firn", "b.firn", "--changes", "c.firn"] + words, in: scratch.folder)
            #expect(run.code == 2 && !scratch.has("c.firn"), "\(words): \(run.errors)")
        }
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--force").code == 2)
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--changes", "b.firn", "--force").code == 2)
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--changes", "c.firn", "-q").code == 1)
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--changes", "c.firn", "-q").code == 5)
        #expect(try scratch.firn("patch", "a.csv", "c.firn").code == 4)
        #expect(try scratch.firn("patch", "a.firn", "b.firn").code == 4)
        #expect(try scratch.firn("patch", "a.firn@1", "c.firn").code == 2)
    }

    @Test func `T13: changes of encrypted files are encrypted`() throws {
        let key = Data((0..<64).map { UInt8($0) }).map { String(format: "%02x", $0) }.joined()
        let folder = try Scratch()
        try folder.write("key", key)
        let scratch = try sample(["--new-key-file", folder.file("key").path])
        let words = ["--key-file", folder.file("key").path, "-q"]
        #expect(try FirnRun(["diff", "a.firn", "b.firn", "--changes", "c.firn"] + words, in: scratch.folder).code == 1)
        let bytes = try Data(contentsOf: scratch.file("c.firn"))
        for word in ["Bob", "name", "changes"] { #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word)") }
        #expect(try scratch.firn("patch", "a.firn", "c.firn").code == 4)
        #expect(try FirnRun(["patch", "a.firn", "c.firn"] + words, in: scratch.folder).code == 0)
        #expect(try FirnRun(["diff", "a.firn", "b.firn"] + words, in: scratch.folder).code == 0)
    }
}
