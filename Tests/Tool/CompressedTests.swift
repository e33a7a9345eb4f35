import FirnKit
import Foundation
import Testing

@Suite struct CompressedTests {
    private let endings = ["gz", "zst", "xz", "bz2"]

    @Test func `outputs are compressed by extension, by --compress and by --to, and read back`() throws {
        let scratch = try Scratch()
        let text = "id,name\n" + (0..<2000).map { "\($0),name \($0 % 7)\n" }.joined()
        try scratch.write("in.csv", text)
        for ending in endings {
            for words in [
                ["out.csv.\(ending)"], ["x.\(ending)", "--to", "csv"], ["y", "--to", "csv.\(ending)"],
                ["z", "--to", "csv", "--compress", ending],
            ] {
                let run = try FirnRun(["convert", "in.csv", "-f", "--json"] + words, in: scratch.folder)
                #expect(run.code == 0, "\(run.errors)")
                let size = try Data(contentsOf: scratch.file(words[0])).count
                #expect(size < text.utf8.count / 3 && run.out.contains("\"bytesOut\":\(size)"), "\(words) \(size) \(run.out)")
                #expect(try FirnRun(["convert", words[0], "back.csv", "-f", "--from", "csv"], in: scratch.folder).code == 0)
                #expect(try scratch.read("back.csv") == text)
            }
            let lines = try FirnRun(["convert", "in.csv", "o.ndjson.\(ending)", "--profile", "fast", "-q"], in: scratch.folder)
            #expect(lines.code == 0)
            #expect(try scratch.firn("query", "o.ndjson.\(ending)", "-a", "sum(id) as s", "--format", "csv").out == "s\n1999000\n")
        }
        let plain = try scratch.firn("convert", "in.csv", "plain.csv.gz", "--compress", "none")
        #expect(try plain.code == 0 && scratch.read("plain.csv.gz") == text)
        #expect(try scratch.firn("convert", "in.csv", "x", "--to", "csv.rar").code == 2)
    }

    @Test func `compressed rows go through a pipe`() throws {
        let scratch = try Scratch(), firn = FirnRun.binary.path
        try scratch.write("in.csv", "a,b\n1,x\n2,\n")
        for ending in endings {
            let process = try Process.run(
                URL(filePath: "/bin/sh"),
                arguments: [
                    "-c",
                    "cd '\(scratch.folder.path)' && cat in.csv | '\(firn)' convert -q - - --to csv --compress \(ending) | '\(firn)' convert -q - - --to ndjson.\(ending) | '\(firn)' convert -f -q - out.csv",
                ])
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect(try scratch.read("out.csv") == "a,b\n1,x\n2,\n")
        }
    }

    @Test func `a ZIP archive and a file that is compressed twice are refused, whatever their names`() throws {
        let scratch = try Scratch()
        try Data([0x50, 0x4B, 3, 4, 20, 0, 0, 0]).write(to: scratch.file("z.csv"))
        let zip = try scratch.firn("query", "z.csv")
        #expect(zip.code == 4 && zip.errors.contains("ZIP archive"), "\(zip.code) \(zip.errors)")
        try scratch.write("in.csv", "a\n1\n")
        let process = try Process.run(
            URL(filePath: "/bin/sh"), arguments: ["-c", "cd '\(scratch.folder.path)' && gzip -c in.csv | gzip -c > twice.csv.gz"])
        process.waitUntilExit()
        let twice = try scratch.firn("query", "twice.csv.gz")
        #expect(twice.code == 4 && twice.errors.contains("compressed twice"), "\(twice.code) \(twice.errors)")
    }

    @Test func `damaged compressed input and a full disk leave the target unchanged`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "a\n" + (0..<200_000).map { "\($0 &* 2_654_435_761 % 1_000_003)\n" }.joined())
        let disk = scratch.file("disk")
        try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
        let mount = try Process.run(
            URL(filePath: "/bin/sh"), arguments: ["-c", "mount -t tmpfs -o size=64k tmpfs '\(disk.path)' 2>/dev/null"])
        mount.waitUntilExit()
        defer { try? Process.run(URL(filePath: "/bin/sh"), arguments: ["-c", "umount '\(disk.path)' 2>/dev/null"]).waitUntilExit() }
        if mount.terminationStatus != 0 { print("skipped: no tmpfs can be mounted here") }
        for ending in endings {
            try scratch.write("t.csv.\(ending)", "old")
            if mount.terminationStatus == 0 {
                try scratch.write("disk/t.csv.\(ending)", "old")
                let full = try scratch.firn("convert", "-f", "in.csv", "disk/t.csv.\(ending)")
                #expect(full.code == 5 && full.errors.contains("No space left"), "\(full.code) \(full.errors)")
                #expect(try scratch.read("disk/t.csv.\(ending)") == "old")
            }
            #expect(try scratch.firn("convert", "in.csv", "whole.csv.\(ending)").code == 0)
            try Data(contentsOf: scratch.file("whole.csv.\(ending)")).dropLast(50_000).write(to: scratch.file("cut.csv.\(ending)"))
            let cut = try scratch.firn("convert", "-f", "cut.csv.\(ending)", "t.csv.\(ending)")
            #expect(cut.code == 4 && cut.errors.contains("cut short"), "\(cut.code) \(cut.errors)")
            #expect(try scratch.read("t.csv.\(ending)") == "old")
        }
    }
}
