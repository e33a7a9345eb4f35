import Foundation
import Testing

/// `firn recover` saves what has a correct hash, reports everything else, and overwrites nothing.
@Suite struct RecoverTests {
    /// Three segments, with columns in separate extents.
    private func sample() throws -> (Scratch, Data) {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,name,x\n" + (0..<150_000).map { "\($0),text \($0 % 997),\($0 * 7919 % 10_007)\n" }.joined())
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "-q").code == 0)
        return (scratch, try Data(contentsOf: scratch.file("a.firn")))
    }

    @Test func `an intact file is recovered completely, and a target is not overwritten without --force`() throws {
        let (scratch, _) = try sample()
        let run = try scratch.firn("recover", "a.firn", "b.firn")
        #expect(run.code == 0 && run.out.contains("150,000 rows") && run.out.contains("nothing lost"), "\(run.out)\(run.errors)")
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--key", "id").code == 0)
        #expect(try scratch.firn("recover", "a.firn", "b.firn").code == 5)
        #expect(try scratch.firn("recover", "a.firn", "b.firn", "--force", "-q").code == 0)
    }

    @Test func `a file without both roots is recovered completely through its commit record`() throws {
        let (scratch, whole) = try sample()
        var bytes = whole
        for start in [0, 4096] { bytes.replaceSubrange(start..<start + 512, with: Data(count: 512)) }
        try bytes.write(to: scratch.file("bad.firn"))
        #expect(try scratch.firn("query", "bad.firn", "id < 3").code == 4)
        let run = try scratch.firn("recover", "bad.firn", "b.firn")
        #expect(run.code == 0, "\(run.out)\(run.errors)")
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--key", "id").code == 0)
    }

    @Test func `recover reports the position of each loss, and writes an intact file`() throws {
        let (scratch, whole) = try sample()
        var partial = 0
        for place in stride(from: 6000, to: whole.count, by: whole.count / 12) {
            var bytes = whole
            bytes[place] ^= 4
            try bytes.write(to: scratch.file("bad.firn"))
            let verify = try scratch.firn("verify", "bad.firn"),
                run = try scratch.firn("recover", "bad.firn", "b.firn", "--force", "--json")
            #expect(!run.isCrash && [0, 1].contains(run.code), "byte \(place): \(run.code) \(run.errors)")
            guard run.code == 1 else { continue }
            partial += 1
            #expect(verify.code != 0 && verify.out.contains("byte"), "byte \(place): verify reports no damage")
            #expect(
                run.out.contains("\"losses\":[{") && run.out.contains("\"byte\":") && run.out.contains("\"complete\":false"),
                "byte \(place): \(run.out)")
            #expect(try scratch.firn("verify", "--full", "b.firn").code == 0, "byte \(place)")
        }
        #expect(partial > 3)
    }

    @Test func `a truncated file is recovered up to the cut, and a file without data makes no target`() throws {
        let (scratch, whole) = try sample()
        try whole.prefix(whole.count / 2).write(to: scratch.file("bad.firn"))
        let cut = try scratch.firn("recover", "bad.firn", "b.firn")
        #expect(!cut.isCrash && [1, 4].contains(cut.code), "\(cut.code) \(cut.out)\(cut.errors)")
        try Data(count: 5000).write(to: scratch.file("bad.firn"))
        let none = try scratch.firn("recover", "bad.firn", "none.firn")
        #expect(none.code == 4 && !FileManager.default.fileExists(atPath: scratch.file("none.firn").path), "\(none.code) \(none.errors)")
    }

    @Test func `the damaged file is never overwritten under any of its names`() throws {
        let (scratch, whole) = try sample()
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("other.firn").path, withDestinationPath: scratch.file("a.firn").path)
        try FileManager.default.linkItem(at: scratch.file("a.firn"), to: scratch.file("hard.firn"))
        for name in ["a.firn", "./a.firn", "other.firn", "hard.firn"] {
            let run = try scratch.firn("recover", "a.firn", name, "--force")
            #expect(
                run.code == 2 && run.errors.contains("the same file") && run.errors.contains("another name"),
                "\(name): \(run.code) \(run.errors)")
        }
        #expect(try Data(contentsOf: scratch.file("a.firn")) == whole)
    }

    @Test func `an encrypted file is recovered, compacted and converted with its key, also from a version`() throws {
        let scratch = try Scratch()
        try Data(0..<64).write(to: scratch.file("k1"))
        try scratch.write("a.csv", "id,name\n" + (0..<3000).map { "\($0),marmalade \($0 % 97)\n" }.joined())
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "--new-key-file", "k1", "-q").code == 0)
        #expect(try scratch.firn("tag", "--key-file", "k1", "a.firn", "first").code == 0)
        #expect(try scratch.firn("index", "--key-file", "k1", "a.firn", "a.name").code == 0)
        let whole = try Data(contentsOf: scratch.file("a.firn"))
        #expect(try scratch.firn("recover", "a.firn", "b.firn").code == 4)
        // Offsets up to the end of the file, which the last commit wrote.
        var damaged = 0
        for place in stride(from: 200, to: whole.count, by: whole.count / 25) {
            var bytes = whole
            bytes[place] ^= 8
            try bytes.write(to: scratch.file("bad.firn"))
            let run = try scratch.firn("recover", "--key-file", "k1", "bad.firn", "b.firn", "--force")
            #expect(!run.isCrash && [0, 1, 4].contains(run.code), "byte \(place): \(run.code) \(run.errors)")
            if run.code != 4 {
                #expect(try Data(contentsOf: scratch.file("b.firn")).range(of: Data("marmalade".utf8)) == nil, "byte \(place)")
                #expect(try scratch.firn("verify", "--full", "--key-file", "k1", "b.firn").code == 0, "byte \(place)")
            }
            for words in [["compact", "bad.firn@first", "c.firn"], ["convert", "bad.firn@first", "c.csv"]] {
                let run = try FirnRun(words + ["--key-file", "k1", "--force", "-q"], in: scratch.folder)
                #expect(!run.isCrash && [0, 4].contains(run.code), "\(words) with byte \(place): \(run.code) \(run.errors)")
                if run.code == 0, words[0] == "convert" { #expect(try scratch.read("c.csv") == scratch.read("a.csv"), "byte \(place)") }
                if run.code == 4 { damaged += 1 }
            }
        }
        #expect(damaged > 0)
        let plain = try scratch.firn("recover", "--key-file", "k1", "--plain", "a.firn@first", "plain.firn")
        #expect(plain.code == 0 && plain.out.contains("3,000 rows"), "\(plain.out)\(plain.errors)")
        #expect(try scratch.firn("verify", "plain.firn").code == 0)
        #expect(try scratch.firn("recover", "--key-file", "k1", "a.firn@nothing", "none.firn").code != 0)
        #expect(try scratch.firn("recover", "--key-file", "k1", "a.firn:a", "none.firn").code == 2)
    }

    @Test func `the JSON of verify and recover has the type, column, rows and substituted version of damaged data`() throws {
        let (scratch, whole) = try sample()
        var seen = 0
        for place in stride(from: whole.count / 8, to: whole.count, by: whole.count / 6) {
            var bytes = whole
            bytes[place] ^= 4
            try bytes.write(to: scratch.file("bad.firn"))
            let run = try scratch.firn("verify", "--json", "bad.firn")
            let object = try #require(try JSONSerialization.jsonObject(with: Data(run.out.utf8)) as? [String: Any])
            for defect in object["defects"] as? [[String: Any]] ?? [] where defect["column"] != nil {
                seen += 1
                #expect(
                    defect["type"] as? String == "a" && ["id", "name", "x"].contains(defect["column"] as? String ?? "")
                        && defect["lastRow"] as? Int ?? 0 > defect["firstRow"] as? Int ?? 0
                        && (defect["part"] as? String ?? "").hasPrefix("segment") && defect["byte"] as? Int ?? 0 > 0, "\(defect)")
            }
        }
        #expect(seen > 0)
    }
}
