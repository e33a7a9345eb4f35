import FirnKit
import Foundation
import Testing

private let people = #"""
    id,name,age,city
    1,Ada,36,London
    2,"Jürg, dit ""le grand""",7,Zürich
    3,日本,,
    007,,1.50,""

    """#

@Suite struct ConvertTests {
    @Test(arguments: ["csv", "tsv", "json", "ndjson"]) func `each cell survives a round trip through a firn file and any text format`(
        format: String
    ) throws {
        let scratch = try Scratch()
        try scratch.write("people.csv", people)
        for step in [["people.csv", "a.\(format)"], ["a.\(format)", "b.firn"], ["b.firn", "c.\(format)"]] {
            let run = try FirnRun(["convert"] + step, in: scratch.folder)
            #expect(run.code == 0, "\(step): \(run.errors)")
        }
        if format.hasSuffix("json") {
            // JSON numbers are compared by value, not by text: 1.50 is written as 1.5.
            #expect(try values(scratch.read("a.\(format)")) == values(scratch.read("c.\(format)")))
        } else {
            #expect(try scratch.read("a.\(format)") == scratch.read("c.\(format)"))
        }
        #expect(scratch.names == ["a.\(format)", "b.firn", "c.\(format)", "people.csv"])
    }

    @Test func `a CSV file survives a round trip byte for byte`() throws {
        let scratch = try Scratch()
        try scratch.write("people.csv", people)
        #expect(try scratch.firn("convert", "people.csv", "people.firn").code == 0)
        #expect(try scratch.firn("convert", "people.firn", "back.csv").code == 0)
        #expect(try scratch.read("back.csv") == people)
    }

    @Test func `numbers that a numeric type would change are kept as text`() throws {
        let scratch = try Scratch()
        let tails = ["1.7", "007", "1_000", "1e400", "-0", "9007199254740993", "123456789012345678901234567890", "0x1F", "1.10"]
        for (i, tail) in tails.enumerated() {
            let text = "n\n" + (1...3000).map { "\($0)\n" }.joined() + tail + "\n"
            try scratch.write("n\(i).csv", text)
            #expect(try scratch.firn("convert", "n\(i).csv", "n\(i).firn").code == 0)
            #expect(try scratch.firn("convert", "n\(i).firn", "-", "--to", "csv").out == text, "3,000 whole numbers and \(tail)")
        }
    }

    @Test func `standard input and output work in every text format`() throws {
        let scratch = try Scratch()
        let run = try scratch.firn("convert", "-", "-", "--to", "ndjson", "-q", input: "a,b\n1,x\n2,\n")
        #expect(run.code == 0 && run.errors.isEmpty)
        #expect(run.out.hasPrefix("{\"a\":1,\"b\":\"x\"}\n{\"a\":2"))
        let back = try scratch.firn("convert", "-", "-", "--to", "csv", input: "{\"a\":1}\n{\"a\":2}\n")
        #expect(back.out == "a\n1\n2\n")
    }

    @Test func `an existing target is kept without --force and replaced with it`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "a\n1\n")
        for target in ["out.firn", "out.ndjson"] {
            try scratch.write(target, "precious")
            let run = try scratch.firn("convert", "in.csv", target)
            #expect(run.code == 5 && run.errors.contains("--force"), "\(run.code) \(run.errors)")
            #expect(try scratch.read(target) == "precious")
            #expect(try scratch.firn("convert", "in.csv", target, "--force").code == 0)
            #expect(FileManager.default.contents(atPath: scratch.file(target).path) != Data("precious".utf8))
        }
        #expect(scratch.names == ["in.csv", "out.firn", "out.ndjson"])
    }

    @Test func `a row that does not fit ends with exit code 3 and its position, and leaves the target unchanged`() throws {
        let scratch = try Scratch()
        try scratch.write("bad.csv", "a,b\n1,2\n3,4,5\n6,7\n")
        try scratch.write("out.firn", "precious")
        let run = try scratch.firn("convert", "bad.csv", "out.firn", "--force", "--ragged", "error")
        #expect(run.code == 3 && run.errors.contains("bad.csv:3"), "\(run.code) \(run.errors)")
        #expect(try scratch.read("out.firn") == "precious")
        #expect(scratch.names == ["bad.csv", "out.firn"])
    }

    @Test func `a rejected row without a line end is not joined with the next one`() throws {
        let scratch = try Scratch()
        try scratch.write("schema.csv", "a,b\n1,2\n3,4\n")
        try scratch.write("s.json", try scratch.firn("schema", "--json", "schema.csv").out)
        try scratch.write("t.csv", "a,b\n1,2\n#c\nx,3\n5,6\n4")
        let run = try scratch.firn("convert", "t.csv", "t.firn", "--schema", "s.json", "--comment", "#", "--rejects", "bad.txt")
        #expect(run.code == 3, "\(run.errors)")
        #expect(try scratch.read("bad.txt").split(separator: "\n").sorted() == ["4", "x,3"])
    }

    @Test func `rejected rows go to a file, the other rows are converted, and the exit code is 3`() throws {
        let scratch = try Scratch()
        try scratch.write("bad.csv", "a,b\n1,2\n3,4,5\n6,7\n")
        let run = try scratch.firn("convert", "bad.csv", "out.firn", "--rejects", "rejects.csv")
        #expect(run.code == 3, "\(run.errors)")
        #expect(try scratch.read("rejects.csv").contains("3,4,5"))
        #expect(try scratch.firn("convert", "out.firn", "-", "--to", "csv").out == "a,b\n1,2\n6,7\n")
    }

    @Test func `several inputs with one schema make one type`() throws {
        let scratch = try Scratch()
        try scratch.write("jan.csv", "id,x\n1,1.5\n")
        try scratch.write("feb.csv", "x,id\nn/a,2\n")
        try scratch.write("mar.csv", "id,y\n3,3\n")
        #expect(try scratch.firn("convert", "jan.csv", "feb.csv", "year.firn").code == 0)
        #expect(try scratch.firn("convert", "year.firn", "-", "--to", "csv").out == "id,x\n1,1.5\n2,n/a\n")
        let run = try scratch.firn("convert", "jan.csv", "mar.csv", "no.firn", "--union", "strict")
        #expect(run.code == 3 && run.errors.contains("\"x\"") && !scratch.has("no.firn"), "\(run.code) \(run.errors)")
    }

    @Test func `columns, rows, name and key can be chosen`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "id,x,y\n1,a,10\n2,b,20\n3,c,30\n")
        let run = try scratch.firn(
            "convert", "in.csv", "out.firn", "--columns", "y,id", "--where", "y > 10", "--limit", "1", "--type", "Thing", "--key", "id")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try scratch.firn("convert", "out.firn", "-", "--to", "csv").out == "y,id\n20,2\n")
        let schema = try scratch.firn("schema", "out.firn", "--json").out
        #expect(schema.contains("\"type\":\"Thing\"") && schema.contains("\"key\":[\"id\"]"), "\(schema)")
    }

    @Test func `--lossless writes the same bytes, or reports the line that prevents it`() throws {
        let scratch = try Scratch()
        for text in ["a,b\r\n1,x\r\n2,y\r\n", "a;b\n1;x\n2;y", "a,b\n\"1\",x\n\"2\",y\n", "\u{FEFF}a\n1\n"] {
            try scratch.write("in.csv", text)
            let run = try scratch.firn("convert", "--lossless", "--force", "in.csv", "out.firn")
            #expect(run.code == 0 || run.code == 3 && run.errors.contains("in.csv:"), "\(text): \(run.code) \(run.errors)")
        }
        try scratch.write("mixed.csv", "a,b\n\"1\",x\n2,y\n")
        #expect(try scratch.firn("convert", "--lossless", "mixed.csv", "mixed.firn").code == 3)
        #expect(!scratch.has("mixed.firn") && scratch.names.allSatisfy { !$0.contains("lossless") && !$0.contains("tmp") })
        #expect(try scratch.firn("convert", "--lossless", "in.csv", "out.ndjson").code == 2)
    }

    @Test func `a duplicate key is refused, and the error names it`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "id,x\n1,a\n2,b\n1,c\n")
        let run = try scratch.firn("convert", "in.csv", "out.firn", "--key", "id")
        #expect(run.code == 3 && run.errors.contains("1") && scratch.names == ["in.csv"], "\(run.code) \(run.errors)")
    }

    @Test func `an interrupt leaves the target unchanged and ends with exit code 130`() throws {
        let scratch = try Scratch()
        var text = "id,name,value\n"
        for i in 0..<400_000 { text += "\(i),name \(i % 977),\(i).5\n" }
        try scratch.write("big.csv", text)
        try scratch.write("out.firn", "precious")
        let process = Process()
        process.executableURL = FirnRun.binary
        process.arguments = ["convert", "big.csv", "out.firn", "--force"]
        process.currentDirectoryURL = scratch.folder
        process.standardError = FileHandle.nullDevice
        try process.run()
        // Writing has begun once the temporary file exists.
        let deadline = Date().addingTimeInterval(20)
        while process.isRunning, scratch.names.count < 3, Date() < deadline { usleep(500) }
        process.interrupt()
        process.wait()
        guard process.terminationStatus != 0 else { return }  // the command ended before the signal arrived
        #expect(process.terminationStatus == 130 || process.terminationReason == .uncaughtSignal)
        #expect(try scratch.read("out.firn") == "precious")
        #expect(scratch.names == ["big.csv", "out.firn"])
    }

    @Test func `a target that cannot be written ends with exit code 5`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "a\n1\n")
        for target in ["none/out.firn", "none/out.csv", "/proc/out.firn"] {
            let run = try scratch.firn("convert", "in.csv", target)
            #expect(run.code == 5 && run.errors.hasPrefix("firn: "), "\(target): \(run.code) \(run.errors)")
        }
        #expect(scratch.names == ["in.csv"])
    }

    @Test func `a full disk ends with exit code 5 and leaves the target unchanged`() throws {
        guard getuid() == 0 else { print("skipped: mounting a small file system needs root"); return }
        let scratch = try Scratch()
        var text = "a\n"
        for i in 0..<200_000 { text += "\(i &* 2_654_435_761 % 1_000_003) \(i)\n" }
        try scratch.write("in.csv", text)
        let disk = scratch.file("disk")
        try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
        guard shell("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk.path) == 0 else {
            print("skipped: no tmpfs can be mounted here"); return
        }
        defer { _ = shell("umount", disk.path) }
        for target in ["disk/out.firn", "disk/out.csv"] {
            try scratch.write(target, "precious")
            let run = try scratch.firn("convert", "in.csv", target, "--force")
            #expect(run.code == 5 && run.errors.contains("space"), "\(target): \(run.code) \(run.errors)")
            #expect(try scratch.read(target) == "precious")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: disk.path).allSatisfy { $0.hasPrefix("out.") && !$0.contains("tmp") })
        }
    }

    private func values(_ text: String) throws -> NSArray {
        let lines = text.hasPrefix("[") ? text : "[" + text.split(separator: "\n").joined(separator: ",") + "]"
        return try #require(try JSONSerialization.jsonObject(with: Data(lines.utf8)) as? NSArray)
    }

    private func shell(_ words: String...) -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return -1 }
        process.wait()
        return process.terminationStatus
    }

    @Test func `the file of rejected rows never overwrites the input or the target`() throws {
        let scratch = try Scratch()
        let text = "a,b\n1,2\n3\n"
        try scratch.write("in.csv", text)
        try FileManager.default.createSymbolicLink(atPath: scratch.file("link.csv").path, withDestinationPath: "in.csv")
        for name in ["in.csv", "./in.csv", "link.csv", "out.json"] {
            let run = try scratch.firn("convert", "in.csv", "out.json", "--force", "--rejects", name)
            #expect(run.code == 2 && run.errors.contains("--rejects"), "\(name): \(run.code) \(run.errors)")
        }
        #expect(try scratch.firn("query", "in.csv", "--rejects", "in.csv").code != 0)
        #expect(try scratch.read("in.csv") == text)
        #expect(scratch.names == ["in.csv", "link.csv"])
    }
}
