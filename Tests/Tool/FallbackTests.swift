import Foundation
import Testing

/// Files whose newest version cannot be read: every command reports it, `--strict` refuses them, and a writer restores what it can.
@Suite struct FallbackTests {
    /// Two versions. The second is small, so its commit record lists what it wrote. The first has too many bytes for a single extent.
    private func sample() throws -> (Scratch, Data) {
        func text(_ row: Int) -> String {
            String(UInt64(row + 1) &* 0x9E37_79B9_7F4A_7C15, radix: 36) + String(UInt64(row + 1) &* 0x5851_F42D_4C95_7F2D, radix: 36)
        }
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,name\n" + (0..<9000).map { "\($0),\(text($0))\n" }.joined())
        try scratch.write("b.csv", "id,name\n" + (0..<9000).map { "\($0),\($0 == 5 ? "text 5000" : text($0))\n" }.joined())
        for name in ["a", "b"] {
            #expect(try scratch.firn("convert", "\(name).csv", "\(name).firn", "--key", "id", "--type", "a", "-q").code == 0)
        }
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--changes", "c.firn", "-q").code == 1)
        #expect(try scratch.firn("patch", "a.firn", "c.firn", "-q").code == 0)
        return (scratch, try Data(contentsOf: scratch.file("a.firn")))
    }

    /// Overwrites the newest root with zeros: version 2 is in slot 0.
    private func damaged(_ scratch: Scratch, _ whole: Data) throws {
        var bytes = whole
        bytes.replaceSubrange(0..<512, with: Data(count: 512))
        try bytes.write(to: scratch.file("bad.firn"))
    }

    @Test func `a fallback to an older version is a member of JSON reports, and an error with --strict`() throws {
        let (scratch, whole) = try sample()
        try damaged(scratch, whole)
        for words in [
            ["info", "bad.firn"], ["hash", "bad.firn"], ["convert", "bad.firn", "out.csv", "--force"], ["log", "bad.firn"],
            ["compact", "bad.firn", "out.firn", "--force"],
        ] {
            let run = try FirnRun(words + ["--json"], in: scratch.folder)
            #expect(
                run.code == 0 && run.out.contains("\"notices\":[\"bad.firn: a commit was interrupted or the file is damaged"),
                "\(words): \(run.code) \(run.out)\(run.errors)")
            #expect(
                try !FirnRun(words.map { $0 == "bad.firn" ? "a.firn" : $0 } + ["--json"], in: scratch.folder).out.contains("notices"),
                "\(words)")
            let strict = try FirnRun(words + ["--strict"], in: scratch.folder)
            #expect(
                strict.code == 4 && strict.errors.contains("version 1 is the newest readable version"),
                "\(words): \(strict.code) \(strict.errors)")
        }
        for words in [
            ["query", "bad.firn", "id == 5"], ["sql", "bad.firn", "SELECT count(*) FROM a"], ["diff", "bad.firn", "a.firn", "-q"],
        ] {
            let run = try FirnRun(words, in: scratch.folder), strict = try FirnRun(words + ["--strict"], in: scratch.folder)
            #expect(
                [0, 1].contains(run.code) && run.errors.contains("version 1, the newest readable version"),
                "\(words): \(run.code) \(run.errors)")
            #expect(strict.code == 4, "\(words): \(strict.code) \(strict.errors)")
        }
    }

    @Test func `one flipped bit in the newest root does not change what is read, and verify prints a notice`() throws {
        let (scratch, whole) = try sample()
        var bytes = whole
        bytes[50] ^= 4
        try bytes.write(to: scratch.file("bad.firn"))
        let query = try scratch.firn("query", "bad.firn", "id == 5", "--strict"), verify = try scratch.firn("verify", "bad.firn"),
            json = try scratch.firn("verify", "--json", "bad.firn")
        #expect(query.code == 0 && query.out.contains("text 5000") && query.errors.isEmpty, "\(query.out)\(query.errors)")
        #expect(
            verify.code == 0 && verify.errors.contains("notice") && verify.errors.contains("root at 0"),
            "\(verify.code) \(verify.out)\(verify.errors)")
        #expect(json.code == 0 && json.out.contains("\"intact\":true") && json.out.contains("\"notices\":["), "\(json.out)")
    }

    @Test func `a command that writes restores the newest root and continues from its version`() throws {
        let (scratch, whole) = try sample()
        try damaged(scratch, whole)
        #expect(try scratch.firn("verify", "bad.firn").out.contains("version 2 is not read"))
        let tag = try scratch.firn("tag", "bad.firn", "mine")
        #expect(tag.code == 0 && tag.errors.contains("is restored"), "\(tag.code) \(tag.out)\(tag.errors)")
        #expect(try scratch.firn("diff", "a.firn", "bad.firn").code == 0)
        #expect(try scratch.firn("verify", "--full", "bad.firn").code == 0)
        #expect(try scratch.firn("query", "bad.firn@mine", "id == 5").out.contains("text 5000"))
    }

    @Test func `recover finds the newest version through its commit record if only its root is damaged`() throws {
        let (scratch, whole) = try sample()
        try damaged(scratch, whole)
        let run = try scratch.firn("recover", "--json", "bad.firn", "s.firn")
        #expect(run.code == 0 && run.out.contains("\"version\":2") && run.out.contains("by its commit record"), "\(run.out)\(run.errors)")
        #expect(try scratch.firn("diff", "a.firn", "s.firn").code == 0)
    }

    @Test func `recover uses the previous version if that is complete and has more rows`() throws {
        let scratch = try Scratch()
        // The second commit changes the type of a column, so the two versions share none of its data.
        try scratch.write("a.csv", "id,x\n" + (0..<500).map { "\($0),\($0 * 7)\n" }.joined())
        try scratch.write("b.csv", "id,x\n" + (0..<500).map { "\($0),\($0 % 3 == 0 ? "text \($0)" : "\($0 * 7)")\n" }.joined())
        for name in ["a", "b"] {
            #expect(try scratch.firn("convert", "\(name).csv", "\(name).firn", "--key", "id", "--type", "T", "-q").code == 0)
        }
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--changes", "c.firn", "-q").code == 1)
        #expect(try scratch.firn("patch", "a.firn", "c.firn", "-q").code == 0)
        let whole = try Data(contentsOf: scratch.file("a.firn"))
        for left in stride(from: whole.count - 20, to: 8192 + 512, by: -max(64, whole.count / 40)) {
            try whole.prefix(left).write(to: scratch.file("d.firn"))
            let read = try scratch.firn("query", "d.firn", "--agg", "count", "--format", "csv")
            guard read.code == 0 else { continue }
            let run = try scratch.firn("recover", "d.firn", "s.firn", "--force")
            #expect([0, 1].contains(run.code), "\(left) bytes: \(run.out)\(run.errors)")
            #expect(try scratch.firn("query", "s.firn", "--agg", "count", "--format", "csv").out == read.out, "\(left) bytes: \(run.out)")
        }
    }

    @Test func `commands that do not write leave a file with an interrupted commit unchanged`() throws {
        let (scratch, whole) = try sample()
        for left in [whole.count - 40, whole.count - 100] {
            let cut = whole.prefix(left)
            try cut.write(to: scratch.file("d.firn"))
            for words in [
                ["patch", "--check", "d.firn", "c.firn"], ["compact", "d.firn"], ["compact", "--dry-run", "d.firn"], ["verify", "d.firn"],
                ["tag", "d.firn"], ["log", "d.firn"],
            ] {
                _ = try FirnRun(words, in: scratch.folder)
                #expect(try Data(contentsOf: scratch.file("d.firn")) == cut, "\(words)")
            }
            let check = try scratch.firn("patch", "--check", "d.firn", "c.firn")
            #expect(check.code == 4 && check.errors.contains("--check changes nothing"), "\(check.errors)")
        }
    }

    @Test func `diff reports damage in either of its two files`() throws {
        let (scratch, whole) = try sample()
        try FileManager.default.copyItem(at: scratch.file("b.firn"), to: scratch.file("good.firn"))
        _ = whole
        let good = try Data(contentsOf: scratch.file("good.firn"))
        var found = 0
        for place in stride(from: 5000, to: good.count - 5000, by: good.count / 12) {
            var bytes = good
            bytes[place] ^= 64
            try bytes.write(to: scratch.file("bad.firn"))
            guard try scratch.firn("verify", "bad.firn").code != 0 else { continue }
            for words in [["bad.firn", "good.firn"], ["good.firn", "bad.firn"]] {
                let run = try FirnRun(["diff"] + words, in: scratch.folder)
                #expect(run.code == 4, "byte \(place), \(words): \(run.code) \(run.out.prefix(200))\(run.errors)")
            }
            found += 1
        }
        #expect(found > 5)
    }

    @Test func `recover writes no value of a small file whose hash is wrong, and writes unproven rows only with --unproven`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,city\n" + (0..<40).map { "\($0),Sacramento \($0)\n" }.joined())
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "-q").code == 0)
        let whole = try Data(contentsOf: scratch.file("a.firn"))
        for place in stride(from: 192, to: whole.count, by: max(1, whole.count / 40)) {
            var bytes = whole
            bytes[place] ^= 4
            try bytes.write(to: scratch.file("bad.firn"))
            for words in [["recover"], ["recover", "--unproven"]] {
                let run = try FirnRun(words + ["bad.firn", "b.firn"], in: scratch.folder)
                #expect(
                    run.code == 4 && !FileManager.default.fileExists(atPath: scratch.file("b.firn").path),
                    "byte \(place): \(run.code) \(run.out)\(run.errors)")
            }
        }
        var bytes = whole
        bytes.replaceSubrange(0..<176, with: Data(count: 176))
        try bytes.write(to: scratch.file("bad.firn"))
        let none = try scratch.firn("recover", "bad.firn", "b.firn")
        #expect(none.code == 4 && none.errors.contains("--unproven"), "\(none.code) \(none.errors)")
        let run = try scratch.firn("recover", "--unproven", "--json", "bad.firn", "b.firn")
        #expect(run.code == 1 && run.out.contains("\"firstRow\":0,\"lastRow\":39,\"rows\":40,\"unproven\":true"), "\(run.out)\(run.errors)")
        let text = try scratch.firn("recover", "--unproven", "--force", "bad.firn", "b.firn")
        #expect(text.code == 1 && text.out.contains("unproven: a, rows 0 to 39"), "\(text.out)")
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--key", "id").code == 0)
    }
}
