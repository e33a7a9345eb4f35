import FirnKit
import Foundation
import Testing

/// The command on damaged files and on files of other formats: it ends with an error, never with a trap or a hang.
@Suite struct DamageTests {
    private func sample(_ scratch: Scratch) throws -> Data {
        var text = "id,name,score,day\n"
        for i in 0..<3000 { text += "\(i),\(["Ada", "Grace", "Edsger"][i % 3]) \(i % 50),\(Double(i % 700) / 4),2024-01-\(10 + i % 20)\n" }
        try scratch.write("in.csv", text)
        let run = try scratch.firn("convert", "in.csv", "whole.firn", "-q")
        #expect(run.code == 0, "\(run.errors)")
        return try Data(contentsOf: scratch.file("whole.firn"))
    }

    @Test func `every command reports a truncated file as damaged`() throws {
        let scratch = try Scratch()
        let whole = try sample(scratch)
        for part in [0, 1, 3, 4, 64, 512, 4096, whole.count / 4, whole.count / 2, whole.count - 64, whole.count - 1]
        where part < whole.count {
            try whole.prefix(part).write(to: scratch.file("cut.firn"))
            for words in [
                ["info", "cut.firn"], ["schema", "cut.firn"], ["query", "cut.firn"], ["verify", "cut.firn"],
                ["convert", "cut.firn", "out.csv", "--force"],
                ["diff", "cut.firn", "whole.firn", "--key", "id"], ["compact", "cut.firn"],
            ] {
                let run = try FirnRun(words, in: scratch.folder)
                #expect(!run.isCrash && [0, 1, 2, 3, 4, 5].contains(run.code), "\(words) of \(part) bytes: \(run.code) \(run.errors)")
                if words[0] == "verify" { #expect(run.code != 0, "verify accepts \(part) of \(whole.count) bytes") }
                // For verify, damage is the answer, unless the file cannot be recognised.
                let codes: Set<Int32> = words[0] == "verify" ? (part < 64 ? [1, 4] : [1]) : [4]
                if part > 0 { #expect(codes.contains(run.code), "\(words) of \(part) of \(whole.count) bytes: \(run.code) \(run.errors)") }
            }
        }
    }

    @Test func `a flipped bit is reported, or the data is unchanged`() throws {
        let scratch = try Scratch()
        let whole = try sample(scratch)
        let truth = try scratch.read("in.csv")
        let seed = Seed.one(38)
        var random = Random(seed)
        for _ in 0..<60 {
            let place = random.below(whole.count), bit = UInt8(1) << UInt8(random.below(8))
            var bytes = whole
            bytes[place] ^= bit
            try bytes.write(to: scratch.file("bad.firn"))
            let verify = try scratch.firn("verify", "--full", "bad.firn"),
                convert = try scratch.firn("convert", "bad.firn", "-", "--to", "csv", "-q")
            #expect(!verify.isCrash && !convert.isCrash, "byte \(place) ^ \(bit)")
            #expect(convert.code == 0 || convert.code == 4, "byte \(place) ^ \(bit): \(convert.code) \(convert.errors)")
            if convert.code == 0 { #expect(convert.out == truth, "byte \(place) ^ \(bit) changes the data unnoticed") }
            if verify.code == 0 {
                #expect(convert.code == 0, "byte \(place) ^ \(bit): verify says intact, convert fails: \(convert.errors)")
            }
        }
    }

    @Test func `a file of another format is an error with exit code 4`() throws {
        let scratch = try Scratch()
        try scratch.write("text.firn", "hello, world\n")
        for words in [["info", "text.firn"], ["verify", "text.firn"], ["compact", "text.firn"]] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 4, "\(words): \(run.code) \(run.errors)")
        }
    }
}
