import FirnKit
import Foundation
import Testing

/// Encodings and sparse rows in files that the command reads and writes.
@Suite struct FormatsTests {
    private let text = "name,ort\r\nJosé,\"Köln, Süd\"\r\nZoë,\r\n\"\",Ærø"

    private func bytes(_ encoding: String.Encoding, mark: [UInt8] = []) -> Data { Data(mark) + text.data(using: encoding)! }

    @Test func `--lossless input is written back with the same bytes and in its encoding`() throws {
        let scratch = try Scratch()
        let inputs: [(String, Data, [String])] = [
            ("latin.csv", bytes(.isoLatin1), ["--encoding", "latin-1"]), ("little.csv", bytes(.utf16LittleEndian, mark: [0xFF, 0xFE]), []),
            ("big.csv", bytes(.utf16BigEndian, mark: [0xFE, 0xFF]), []), ("marked.csv", bytes(.utf8, mark: [0xEF, 0xBB, 0xBF]), []),
            ("plain.csv", bytes(.utf8), []),
        ]
        for (name, data, flags) in inputs {
            try data.write(to: scratch.file(name))
            let run = try FirnRun(["convert", name, "t.firn", "--lossless", "--force"] + flags, in: scratch.folder)
            #expect(run.code == 0, "\(name): \(run.errors)")
            #expect(try scratch.firn("convert", "t.firn", "back.csv", "--force").code == 0)
            #expect(try Data(contentsOf: scratch.file("back.csv")) == data, "\(name)")
            // Without --lossless, or if --encoding asks for it, CSV is written as UTF-8.
            #expect(try scratch.firn("convert", "t.firn", "back.csv", "--force", "--encoding", "utf-8").code == 0)
            #expect(try scratch.read("back.csv").replacing("\u{FEFF}", with: "") == text, "\(name)")
            #expect(try FirnRun(["convert", name, "u.firn", "--force"] + flags, in: scratch.folder).code == 0)
            #expect(try scratch.firn("convert", "u.firn", "back.csv", "--force").code == 0)
            #expect(try scratch.read("back.csv").replacing("\u{FEFF}", with: "") == text, "\(name)")
            // Compressed input: the uncompressed bytes are kept.
            let zip = try Process.run(
                URL(filePath: "/bin/sh"), arguments: ["-c", "gzip -c '\(scratch.file(name).path)' > '\(scratch.file("z.csv.gz").path)'"])
            zip.wait()
            #expect(try FirnRun(["convert", "z.csv.gz", "z.firn", "--lossless", "--force"] + flags, in: scratch.folder).code == 0)
            #expect(try scratch.firn("convert", "z.firn", "back.csv", "--force").code == 0)
            #expect(try Data(contentsOf: scratch.file("back.csv")) == data, "\(name).gz")
        }
        // Input that cannot be kept exactly is refused.
        try (bytes(.utf16LittleEndian, mark: [0xFF, 0xFE]) + "\n1,\"x\"\n\n".data(using: .utf16LittleEndian)!).write(
            to: scratch.file("mixed.csv"))
        let mixed = try scratch.firn("convert", "mixed.csv", "mixed.firn", "--lossless")
        #expect(mixed.code == 3 && !scratch.has("mixed.firn"), "\(mixed.errors)")
        try Data([0xFF, 0xFE] + "[{\"a\":1}]".utf16.flatMap { [UInt8($0), 0] }).write(to: scratch.file("j.json"))
        #expect(try scratch.firn("convert", "j.json", "j.firn", "--lossless").code == 0)
        #expect(try scratch.firn("query", "j.firn", "--format", "ndjson").out == "{\"a\":1}\n")
        #expect(try scratch.firn("convert", "t.firn", "out.json", "--encoding", "latin-1").code == 2)
    }

    @Test func `rows that each have their own key are converted, written back, queried and verified`() throws {
        let scratch = try Scratch(), count = 3000
        let lines = (0..<count).map { "{\"k\($0)\":\($0 % 2 == 0 ? "\($0)" : "\"t\($0)\"")}\n" }.joined()
        try scratch.write("a.ndjson", lines)
        let run = try scratch.firn("convert", "a.ndjson", "a.firn")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try scratch.firn("convert", "a.firn", "-", "--to", "ndjson").out == lines)
        #expect(try scratch.firn("query", "a.firn", "k7 == \"t7\"", "--agg", "count", "--format", "csv").out.hasSuffix("1\n"))
        #expect(try scratch.firn("verify", "--full", "a.firn").code == 0)
    }

    @Test func `input beyond the memory limit ends with an error and advice, not with a crash`() throws {
        let scratch = try Scratch()
        try Data(repeating: 44, count: 4 << 20).write(to: scratch.file("commas.csv"))
        // At most a third of the address space is used.
        let process = Process(), errors = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "ulimit -v 2000000; exec '\(FirnRun.binary.path)' convert commas.csv out.firn"]
        process.currentDirectoryURL = scratch.folder
        process.standardError = errors
        try process.run()
        let told = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.wait()
        #expect(process.terminationReason == .exit && process.terminationStatus != 0, "\(process.terminationStatus)")
        #expect(told.contains("commas.csv:1") && told.contains("4194305 cells") && told.contains("--memory"), "\(told)")
        #expect(!scratch.has("out.firn"))
    }

    @Test func `convert and schema print one remark for a column that a single text keeps from being numeric`() throws {
        let scratch = try Scratch()
        try scratch.write("p.csv", "age,x\n" + (0..<20).map { "\($0 == 3 ? "XX" : "\($0)"),a\($0)\n" }.joined())
        let line = "column \"age\" is text because of \"XX\" in 1 row; --null XX makes it int"
        for words in [["convert", "p.csv", "p.firn"], ["schema", "p.csv"]] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 0 && run.errors.components(separatedBy: line).count == 2, "\(run.errors)")
        }
        #expect(try !scratch.firn("schema", "p.csv", "--null", "XX").errors.contains("--null"))
    }

    @Test func `integers in a column or list with fractions keep all their digits`() throws {
        let scratch = try Scratch()
        for number in [
            "1152921504606846976", "-9223372036854775808", "9007199254740992", "9007199254740994", "1000000000000000000",
            "9223372036854775807",
        ] {
            for text in ["[{\"v\":0.5},{\"v\":\(number)}]", "[{\"v\":[0.5,\(number)]}]"] {
                try scratch.write("i.json", text)
                #expect(try scratch.firn("convert", "i.json", "i.firn", "--lossless", "--force", "-q").code == 0)
                #expect(try scratch.firn("convert", "i.firn", "-", "--to", "json").out.contains(number), "\(text)")
            }
        }
    }

    @Test func `an interrupt removes the progress line from the terminal`() throws {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/python3") else { return }
        let scratch = try Scratch()
        // Standard error is a terminal. Standard input is a pipe that stays open, so the command waits for more input and shows its
        // progress.
        let script = """
            import os, pty, select, signal, subprocess, sys, time
            master, slave = pty.openpty()
            # Shells without job control start commands with the interrupt ignored, threads of tests with it blocked.
            def receive():
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_SETMASK, [])
            process = subprocess.Popen([sys.argv[1], "convert", "-", "out.firn", "--from", "ndjson"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=slave,
                                       env=dict(os.environ, TERM="xterm"), preexec_fn=receive)
            os.close(slave)
            process.stdin.write(b'{"a":1}\\n' * 100); process.stdin.flush()
            seen, sent, end = b"", False, time.time() + 60
            while time.time() < end:
                if select.select([master], [], [], 0.1)[0]:
                    try: more = os.read(master, 4096)
                    except OSError: break
                    if not more: break
                    seen += more
                if not sent and b" row" in seen:
                    process.send_signal(signal.SIGINT); sent = True
            if sent:
                try: process.wait(60)
                except subprocess.TimeoutExpired: pass
            if process.poll() is None: process.kill()
            sys.stdout.write("%d %s" % (process.wait(), seen.hex()))
            """
        try scratch.write("interrupt.py", script)
        let process = Process(), out = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [scratch.file("interrupt.py").path, FirnRun.binary.path]
        process.currentDirectoryURL = scratch.folder
        process.standardOutput = out
        try process.run()
        let words = String(decoding: out.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).split(separator: " ").map(String.init)
        process.wait()
        #expect(words.first == "130", "\(words)")
        let hex = words.last ?? ""
        // The last bytes written are "\\r\\e[K".
        #expect(hex.contains("20726f77") && hex.hasSuffix("0d1b5b4b"), "\(hex.suffix(200))")
        #expect(!scratch.has("out.firn"))
    }

    @Test func `queries of several inputs report why a column is text`() throws {
        let scratch = try Scratch()
        let rows = (0..<40).map { "\($0),\($0)\n" }.joined()
        for (name, odd) in [("a", "XX"), ("b", ""), ("c", "YY")] { try scratch.write("\(name).csv", "id,age\n" + rows + "99,\(odd)\n") }
        let reason = "a.csv: column \"age\" is text because of \"XX\" in 1 row; --null XX makes it int; and in 1 more input"
        for words in [["query", "*.csv", "--agg", "max(age)"], ["sql", "*.csv", "select max(age) from a"]] {
            let run = try scratch.firn(words)
            #expect(run.errors.contains(reason), "\(words): \(run.errors)")
        }
        #expect(!(try scratch.firn("query", "*.csv", "--agg", "max(id)").errors.contains("is text because")))
    }

    @Test func `what a format does not keep of JSON and CSV is reported`() throws {
        let scratch = try Scratch()
        try scratch.write("d.json", #"{"version":"1","rows":[{"a":1},{"a":2}]}"#)
        try scratch.write("m.csv", "month,n\n2024-01,1\n2024-02,2\n")
        for format in ["csv", "parquet", "arrow", "sqlite"] {
            let run = try scratch.firn("convert", "d.json", "d.\(format)")
            #expect(run.code == 0 && run.errors.contains("the JSON around the rows in their document was left out"), "\(run.errors)")
        }
        for format in ["json", "ndjson", "firn"] {
            // NDJSON contains only rows, and reports it itself.
            let errors = try scratch.firn("convert", "d.json", "e.\(format)").errors
            #expect(errors.components(separatedBy: "around the rows").count == (format == "ndjson" ? 2 : 1), "\(errors)")
        }
        for format in ["parquet", "arrow", "sqlite"] {
            let run = try scratch.firn("convert", "m.csv", "m.\(format)")
            #expect(run.code == 0 && run.errors.contains("column \"month\": months are written as their first day"), "\(run.errors)")
        }
        for format in ["csv", "json", "firn"] {
            #expect(!(try scratch.firn("convert", "m.csv", "n.\(format)").errors.contains("first day")))
        }
    }

    @Test func `a null of JSON is an empty cell of CSV in a column of any type`() throws {
        let scratch = try Scratch()
        try scratch.write("n.json", "[{\"a\":1},{\"a\":2,\"b\":null,\"c\":1},{\"a\":3,\"c\":[true]},{\"a\":4,\"c\":null}]")
        #expect(try scratch.firn("convert", "n.json", "n.csv").code == 0)
        #expect(try scratch.read("n.csv") == "a,b,c\n1,,\n2,,1\n3,,[true]\n4,,\n")
        #expect(try scratch.firn("query", "n.csv", "b != nil", "-a", "count", "--format", "csv").out == "count\n0\n")
    }
}
