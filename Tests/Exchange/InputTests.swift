import CZlib
import FirnBytes
import FirnExchange
import FirnKit
import Foundation
import Testing

@Suite struct InputTests {
    private let scratch = TemporaryFolder()
    private var folder: String { scratch.path + "/" }

    private func shell(_ command: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        try process.run()
        process.wait()
    }

    @Test func `plain and gzip inputs give the same bytes when they are read twice`() throws {
        var bytes: [UInt8] = []
        for i in 0..<300_000 { bytes.append(UInt8(truncatingIfNeeded: i &* i >> 7)) }
        try Data(bytes).write(to: URL(fileURLWithPath: folder + "plain"))
        try shell(
            "gzip -c '\(folder)plain' > '\(folder)packed'; gzip -c '\(folder)plain' >> '\(folder)twice'; gzip -c '\(folder)plain' >> '\(folder)twice'"
        )
        for (name, copies) in [("plain", 1), ("packed", 1), ("twice", 2)] {
            let input = try Input(path: folder + name)
            let expected = Array([[UInt8]](repeating: bytes, count: copies).joined())
            #expect(try input.peek(10) == Array(bytes[..<10]))
            #expect(try input.readToEnd() == expected)
            try input.rewind()
            #expect(try input.readToEnd() == expected)
            #expect(input.bytesRead == input.totalBytes)
        }
        let packed = try Data(contentsOf: URL(fileURLWithPath: folder + "packed"))
        for cut in [2, 11, packed.count / 2, packed.count - 1] {
            try packed.prefix(cut).write(to: URL(fileURLWithPath: folder + "cut"))
            #expect(throws: FirnError.self) { _ = try Input(path: folder + "cut").readToEnd() }
        }
    }

    @Test func `zstd inputs are read, and truncated ones refused`() throws {
        try shell("seq 1 20000 > '\(folder)n'; command -v zstd >/dev/null && zstd -q -c '\(folder)n' > '\(folder)n.zst'")
        guard let packed = try? Data(contentsOf: URL(fileURLWithPath: folder + "n.zst")), !packed.isEmpty else {
            print("skipped: no zstd command")
            return
        }
        let input = try Input(path: folder + "n.zst")
        #expect(input.compression == .zstd)
        let plain = try Array(Data(contentsOf: URL(fileURLWithPath: folder + "n")))
        #expect(try input.readToEnd() == plain)
        try packed.prefix(packed.count / 2).write(to: URL(fileURLWithPath: folder + "cut"))
        #expect(throws: FirnError.self) { _ = try Input(path: folder + "cut").readToEnd() }
    }

    @Test func `zeros after the last gzip member are padding, and other bytes there are an error with their position`() throws {
        try shell("printf 'a\\n1\\n' | gzip > '\(folder)one'; printf '2\\n' | gzip > '\(folder)two'")
        let one = try Data(contentsOf: URL(filePath: folder + "one")), two = try Data(contentsOf: URL(filePath: folder + "two"))
        func read(_ bytes: Data) throws -> String {
            try bytes.write(to: URL(filePath: folder + "packed"))
            return String(decoding: try Input(path: folder + "packed").readToEnd(), as: UTF8.self)
        }
        #expect(try read(one + two) == "a\n1\n2\n")
        for count in [1, 2, 511, 300_000] {
            #expect(try read(one + Data(count: count)) == "a\n1\n")
            #expect(try read(one + two + Data(count: count)) == "a\n1\n2\n")
        }
        for (garbage, byte) in [
            (Data("x".utf8), 0), (Data(count: 3) + Data("x".utf8), 3), (Data(count: 200_000) + Data([1]), 200_000),
            (Data([0x1F, 0x00, 1, 2, 3]), 0), (Data(count: 2) + two, 2),
        ] {
            let error = #expect(throws: FirnError.self) { try read(one + garbage) }
            #expect(
                error?.code == .damaged && error?.message.contains("followed by bytes that are not gzip") == true,
                "\(String(describing: error))")
            #expect(error?.location?.byte == UInt64(one.count + byte), "\(String(describing: error))")
        }
    }

    @Test func `bytes after the last Zstandard frame are an error with their position`() throws {
        try shell("printf 'a\\n1\\n' > '\(folder)n'; command -v zstd >/dev/null && zstd -q -c '\(folder)n' > '\(folder)n.zst'")
        guard let packed = try? Data(contentsOf: URL(filePath: folder + "n.zst")), !packed.isEmpty else {
            print("skipped: no zstd command")
            return
        }
        try (packed + packed).write(to: URL(filePath: folder + "twice"))
        #expect(String(decoding: try Input(path: folder + "twice").readToEnd(), as: UTF8.self) == "a\n1\na\n1\n")
        try (packed + Data("garbage".utf8)).write(to: URL(filePath: folder + "more"))
        let error = #expect(throws: FirnError.self) { _ = try Input(path: folder + "more").readToEnd() }
        #expect(
            error?.message.contains("followed by bytes that are not Zstandard") == true && error?.location?.byte == UInt64(packed.count),
            "\(String(describing: error))")
    }

    @Test func `a pipe can be read twice`() throws {
        try shell("mkfifo '\(folder)pipe'")
        let path = folder + "pipe"
        Thread.detachNewThread {
            let text = (1...50_000).map { "\($0)\n" }.joined()
            try? FileHandle(forWritingAtPath: path)?.write(contentsOf: Data(text.utf8))
        }
        let input = try Input(path: folder + "pipe")
        let first = try input.peek(5)
        #expect(first == Array("1\n2\n3".utf8))
        let all = try input.readToEnd()
        try input.rewind()
        #expect(try input.readToEnd() == all)
        #expect(all.count == 288_894)
    }

    @Test func `missing files and directories have specific errors`() {
        do { _ = try Input(path: folder + "nothing"); Issue.record("a missing file was opened") } catch { #expect(error.code == .notFound) }
        do { _ = try Input(path: folder); Issue.record("a folder was opened") } catch { #expect(error.message.contains("directory")) }
    }

    @Test func `an output replaces its target only when it is finished`() throws {
        let path = folder + "out"
        let first = try Output(path: path)
        try first.write("one")
        #expect(!FileManager.default.fileExists(atPath: path))
        try first.finish()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "one")
        do { _ = try Output(path: path); Issue.record("an existing file was overwritten") } catch { #expect(error.code == .exists) }
        do {
            let second = try Output(path: path, force: true)
            try second.write("two")
            second.cancel()
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "one")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["out"])
    }

    @Test func `formats are detected by name and by content`() {
        #expect(FormatName.detect(path: "a/b.csv.zst", firstBytes: []) == .csv)
        #expect(FormatName.detect(path: "b.TSV", firstBytes: []) == .tsv)
        #expect(FormatName.detect(path: "-", firstBytes: Array("{\"a\":1}\n{\"a\":2}\n".utf8)) == .ndjson)
        #expect(FormatName.detect(path: "-", firstBytes: Array("{\"a\":1}\n".utf8)) == .json)
        #expect(FormatName.detect(path: "-", firstBytes: Array("[1]".utf8)) == .json)
        #expect(FormatName.detect(path: "-", firstBytes: Array("{\n \"a\": 1}".utf8)) == .json)
        #expect(FormatName.detect(path: "-", firstBytes: Array("a\tb\n".utf8)) == .tsv)
        #expect(FormatName.detect(path: "-", firstBytes: Array("a,b\n".utf8)) == .csv)
    }
}
