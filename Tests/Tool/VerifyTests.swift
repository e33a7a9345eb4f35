import Foundation
import Testing

@Suite struct VerifyTests {
    private func sample() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,x\n" + (0..<3000).map { "\($0),text \($0 % 97)\n" }.joined())
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "-q").code == 0)
        return scratch
    }

    @Test func `verify --quiet prints nothing for an intact file`() throws {
        let scratch = try sample()
        let quiet = try scratch.firn("verify", "-q", "a.firn"), loud = try scratch.firn("verify", "a.firn")
        #expect(quiet.code == 0 && quiet.out.isEmpty && quiet.errors.isEmpty)
        #expect(loud.code == 0 && loud.out.hasPrefix("a.firn: intact"))
    }

    @Test func `a missing file is reported once and not called damaged`() throws {
        let scratch = try sample()
        for words in [["verify", "none.firn"], ["verify", "-q", "a.firn", "none.firn"]] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(
                run.code == 5 && run.out.isEmpty && run.errors.contains("none.firn") && !run.errors.contains("damaged"),
                "\(words): \(run.out)\(run.errors)")
        }
    }

    @Test func `an error about damage names the file and proposes verify, except in the output of verify`() throws {
        let scratch = try sample()
        let whole = try Data(contentsOf: scratch.file("a.firn"))
        var refused = 0
        for place in stride(from: 0, to: whole.count, by: max(1, whole.count / 40)) {
            var bytes = whole
            bytes[place] ^= 0x10
            try bytes.write(to: scratch.file("bad.firn"))
            let query = try scratch.firn("query", "bad.firn", "x CONTAINS 'text'", "--format", "csv")
            if query.code == 4, !query.errors.contains("not a Firn file") {
                refused += 1
                #expect(query.errors.hasPrefix("firn: bad.firn") && query.errors.contains("firn verify"), "byte \(place): \(query.errors)")
            }
            let verify = try scratch.firn("verify", "-q", "bad.firn")
            #expect(!(verify.out + verify.errors).contains("firn verify"), "byte \(place): \(verify.out)\(verify.errors)")
            if verify.code != 0 { #expect(!(verify.out + verify.errors).isEmpty, "byte \(place)") }
        }
        #expect(refused > 0)
    }
}
