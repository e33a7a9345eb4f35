import Foundation
import Testing

/// `firn recover`: what hashes right is saved, what does not is told, and nothing is overwritten.
@Suite struct RecoverTests {
    /// Three segments, columns in extents of their own.
    private func sample() throws -> (Scratch, Data) {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,name,x\n" + (0..<150_000).map { "\($0),text \($0 % 997),\($0 * 7919 % 10_007)\n" }.joined())
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "-q").code == 0)
        return (scratch, try Data(contentsOf: scratch.file("a.firn")))
    }

    @Test func `T6 a whole file is recovered whole, and no target is overwritten unasked`() throws {
        let (scratch, _) = try sample()
        let run = try scratch.firn("recover", "a.firn", "b.firn")
        #expect(run.code == 0 && run.out.contains("150,000 rows") && run.out.contains("nothing lost"), "\(run.out)\(run.errors)")
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--key", "id").code == 0)
        #expect(try scratch.firn("recover", "a.firn", "b.firn").code == 5)
        #expect(try scratch.firn("recover", "a.firn", "b.firn", "--force", "-q").code == 0)
    }

    @Test func `T6 both roots may go: the commit record leads to everything`() throws {
        let (scratch, whole) = try sample()
        var bytes = whole
        for start in [0, 4096] { bytes.replaceSubrange(start..<start + 512, with: Data(count: 512)) }
        try bytes.write(to: scratch.file("bad.firn"))
        #expect(try scratch.firn("query", "bad.firn", "id < 3").code == 4)
        let run = try scratch.firn("recover", "bad.firn", "b.firn")
        #expect(run.code == 0, "\(run.out)\(run.errors)")
        #expect(try scratch.firn("diff", "a.firn", "b.firn", "--key", "id").code == 0)
    }

    @Test func `T6 a damaged chunk costs one column of one segment, and the place is told`() throws {
        let (scratch, whole) = try sample()
        var partial = 0
        for place in stride(from: 6000, to: whole.count, by: whole.count / 12) {
            var bytes = whole
            bytes[place] ^= 4
            try bytes.write(to: scratch.file("bad.firn"))
            let verify = try scratch.firn("verify", "bad.firn"), run = try scratch.firn("recover", "bad.firn", "b.firn", "--force", "--json")
            #expect(!run.isCrash && [0, 1].contains(run.code), "byte \(place): \(run.code) \(run.errors)")
            guard run.code == 1 else { continue }
            partial += 1
            #expect(verify.code != 0 && verify.out.contains("byte"), "byte \(place): verify is content")
            #expect(run.out.contains("\"losses\":[{") && run.out.contains("\"byte\":") && run.out.contains("\"complete\":false"), "byte \(place): \(run.out)")
            #expect(try scratch.firn("verify", "--full", "b.firn").code == 0, "byte \(place)")
        }
        #expect(partial > 3)
    }

    @Test func `T6 a file cut short gives what is before the cut, and nothing makes no target`() throws {
        let (scratch, whole) = try sample()
        try whole.prefix(whole.count / 2).write(to: scratch.file("bad.firn"))
        let cut = try scratch.firn("recover", "bad.firn", "b.firn")
        #expect(!cut.isCrash && [1, 4].contains(cut.code), "\(cut.code) \(cut.out)\(cut.errors)")
        try Data(count: 5000).write(to: scratch.file("bad.firn"))
        let none = try scratch.firn("recover", "bad.firn", "none.firn")
        #expect(none.code == 4 && !FileManager.default.fileExists(atPath: scratch.file("none.firn").path), "\(none.code) \(none.errors)")
    }
}
