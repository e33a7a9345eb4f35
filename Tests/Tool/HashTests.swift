import Foundation
import Testing

@Suite struct HashTests {
    private func hash(_ run: FirnRun) -> String { String(run.out.prefix { $0 != " " }) }

    @Test func `equal content has one hash in any format, profile, row order and version`() throws {
        let scratch = try Scratch()
        let rows = (0..<3000).map { "\($0),name \($0 % 97),\(Double($0) / 4)" }
        try scratch.write("a.csv", "id,name,score\n" + rows.joined(separator: "\n") + "\n")
        try scratch.write(
            "b.csv",
            "name,score,id\n"
                + rows.reversed().map { row in
                    let cells = row.split(separator: ",")
                    return "\(cells[1]),\(cells[2]),\(cells[0])\n"
                }.joined())
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "--profile", "small").code == 0)
        #expect(try scratch.firn("convert", "b.csv", "b.firn", "--key", "id", "--profile", "fast").code == 0)
        #expect(try scratch.firn("convert", "a.csv", "a.ndjson").code == 0)
        let plain = hash(try scratch.firn("hash", "a.csv")), keyed = hash(try scratch.firn("hash", "b.firn"))
        #expect(plain.count == 32 && plain.allSatisfy(\.isHexDigit) && plain != keyed)
        for file in ["a.firn", "a.ndjson"] { #expect(try hash(scratch.firn("hash", file)) == plain, "\(file)") }
        #expect(try hash(scratch.firn("hash", "b.csv")) != plain)
        let all = try scratch.firn("hash", "--key", "id", "a.csv", "b.csv", "a.firn", "b.firn", "a.ndjson")
        #expect(
            all.code == 0 && all.out == ["a.csv", "b.csv", "a.firn", "b.firn", "a.ndjson"].map { "\(keyed)  \($0)\n" }.joined(),
            "\(all.out)\(all.errors)")
        #expect(try scratch.firn("compact", "b.firn").code == 0)
        #expect(try hash(scratch.firn("hash", "b.firn")) == keyed)
    }

    @Test func `columns and types have their own hashes, which are also printed as JSON`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,x\n1,a\n2,b\n")
        try scratch.write("b.csv", "id,x\n1,a\n2,c\n")
        func columns(_ file: String) throws -> [String: String] {
            let run = try scratch.firn("hash", "--json", "--each-column", "--key", "id", file)
            let object = try #require(try JSONSerialization.jsonObject(with: Data(run.out.utf8)) as? [String: Any])
            let type = try #require((object["types"] as? [[String: Any]])?.first)
            #expect(
                object["v"] as? Int == 1 && object["rows"] as? Int == 2 && object["hash"] as? String == type["hash"] as? String
                    && type["key"] as? [String] == ["id"])
            return Dictionary(uniqueKeysWithValues: try #require(type["columns"] as? [[String: String]]).map { ($0["name"]!, $0["hash"]!) })
        }
        let a = try columns("a.csv"), b = try columns("b.csv")
        #expect(a["id"] == b["id"] && a["x"] != b["x"])
        let text = try scratch.firn("hash", "--each-column", "a.csv").out
        #expect(text.split(separator: "\n").map { $0.drop { $0 != " " }.dropFirst(2) } == ["a.csv", "a.csv:a.id", "a.csv:a.x"])
        let wrong = try scratch.firn("hash", "--key", "nothing", "a.csv")
        #expect(wrong.code == 2 && wrong.errors.contains("nothing") && wrong.errors.contains("id, x"), "\(wrong.errors)")
        #expect(try scratch.firn("hash", "none.firn").code == 5)
    }

    @Test func `hash reports files that cannot be read, and still hashes the other files`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,x\n1,a\n2,b\n")
        try scratch.write("bad.firn", "not a file of rows")
        let alone = try scratch.firn("hash", "a.csv").out, none = try scratch.firn("hash", "a.csv", "none.csv", "a.csv")
        #expect(none.code == 5 && none.out == alone + alone && none.errors.contains("none.csv"), "\(none.out)\(none.errors)")
        let worse = try scratch.firn("hash", "bad.firn", "none.csv", "a.csv")
        #expect(
            worse.code == 5 && worse.out == alone && worse.errors.contains("bad.firn") && worse.errors.contains("none.csv"),
            "\(worse.out)\(worse.errors)")
        let damaged = try scratch.firn("hash", "a.csv", "bad.firn")
        #expect(damaged.code == 4 && damaged.out == alone, "\(damaged.out)\(damaged.errors)")
        #expect(try scratch.firn("hash", "--key", "y", "a.csv", "a.csv").code == 2)
    }

    @Test func `the hashes of the golden files never change`() throws {
        for (name, truth) in [
            ("plain.firn", "b28fb849fc92456caa5f28c44f5e89c7"), ("collections.firn", "0697b3f521c2f082caca0646fef1053e"),
            ("tags.firn", "b57ede3a6b06ec9fbeb0d195d5936a67"), ("indexes.firn", "4ba3be60e91788165f4745e2b4f4a153"),
        ] {
            let run = try FirnRun(["hash", Folders.fixtures.appending(path: "firn/\(name)").path])
            #expect(hash(run) == truth, "\(name): \(run.out)\(run.errors)")
        }
    }
}
