import FirnBytes
import FirnExchange
import FirnKit
import Foundation
import Testing

@Suite struct CompressionTests {
    private let scratch = TemporaryFolder()
    private var folder: String { scratch.path + "/" }
    private let tools: [(compression: Compression, tool: String)] = [(.gzip, "gzip"), (.zstd, "zstd"), (.xz, "xz"), (.bzip2, "bzip2")]

    /// Runs a command and returns its exit code.
    @discardableResult private func shell(_ command: String) throws -> Int32 {
        let process = try Process.run(URL(filePath: "/bin/sh"), arguments: ["-c", command])
        process.waitUntilExit()
        return process.terminationStatus
    }

    private func has(_ tool: String) throws -> Bool {
        if try shell("command -v \(tool) >/dev/null") == 0 { return true }
        print("skipped: no \(tool) command")
        return false
    }

    private func pack(_ bytes: [UInt8], _ compression: Compression, effort: Compression.Effort = .standard, threads: Int = 1) throws -> Data
    {
        let path = folder + "packed"
        let output = try Output(path: path, force: true, packing: .init(compression, effort: effort, threads: threads))
        var rest = bytes[...], size = 1
        while !rest.isEmpty {
            try output.write(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
            size = min(size * 3, 100_000)
        }
        try output.finish()
        return try Data(contentsOf: URL(filePath: path))
    }

    private func unpack(_ bytes: Data) throws -> [UInt8] {
        try bytes.write(to: URL(filePath: folder + "bytes"))
        return try Input(path: folder + "bytes").readToEnd()
    }

    private let texts: [[UInt8]] = [
        [], Array("a".utf8), Array((0..<40_000).map { "\($0),\($0 &* $0)\n" }.joined().utf8),
        (0..<700_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) },
    ]

    @Test func `what is written compressed is read back, by Firn and by the tool of the format`() throws {
        for (compression, tool) in tools {
            for (i, text) in texts.enumerated() {
                for effort in [Compression.Effort.fast, .standard, .small] where effort != .small || i == 2 {
                    let packed = try pack(text, compression, effort: effort, threads: i % 2 + 1)
                    #expect(try unpack(packed) == text, "\(compression) \(i) \(effort)")
                    if try has(tool) {
                        #expect(try shell("\(tool) -d -c < '\(folder)packed' > '\(folder)plain'") == 0)
                        #expect(try Data(contentsOf: URL(filePath: folder + "plain")) == Data(text), "\(compression) \(i)")
                    }
                }
            }
        }
    }

    @Test func `what the tools write is recognised by its content and read, also as several streams with padding`() throws {
        try Data(texts[2]).write(to: URL(filePath: folder + "plain"))
        for (compression, tool) in tools where try has(tool) {
            try shell("\(tool) -c '\(folder)plain' > '\(folder)one'")
            let one = try Data(contentsOf: URL(filePath: folder + "one"))
            try one.write(to: URL(filePath: folder + "bytes"))
            let input = try Input(path: folder + "bytes")
            #expect(input.compression == compression)
            #expect(try input.peek(3) == Array(texts[2].prefix(3)))
            #expect(try input.readToEnd() == texts[2])
            try input.rewind()
            #expect(try input.readToEnd() == texts[2])
            #expect(input.bytesRead == UInt64(one.count))
            #expect(try unpack(one + one + one) == texts[2] + texts[2] + texts[2])
            if compression != .zstd { #expect(try unpack(one + Data(count: 8)) == texts[2]) }
        }
    }

    @Test func `bytes after the last stream of xz and bzip2 are an error with their position`() throws {
        for compression in [Compression.xz, .bzip2] {
            let packed = try pack(Array("a\n1\n".utf8), compression)
            for (garbage, byte) in [(Data("garbage".utf8), 0), (Data(count: 4) + Data("x".utf8), 4)] {
                let error = #expect(throws: FirnError.self) { try unpack(packed + garbage) }
                #expect(
                    error?.message.contains("followed by bytes that are not \(compression.name)") == true, "\(String(describing: error))")
                #expect(error?.location?.byte == UInt64(packed.count + byte), "\(String(describing: error))")
            }
        }
    }

    @Test func `truncated and damaged data is an error with its position, and never other bytes`() throws {
        var random = Random(seed: 11)
        let text = Array(texts[2].prefix(120_000))
        for (compression, _) in tools {
            let packed = try pack(text, compression)
            for cut in [11, 20, packed.count / 3, packed.count - 9, packed.count - 1] {
                let error = #expect(throws: FirnError.self, "\(compression) \(cut)") { try unpack(packed.prefix(cut)) }
                #expect(error?.location?.byte != nil, "\(String(describing: error))")
            }
            for _ in 0..<60 {
                var bytes = packed
                let at = 10 + random.below(packed.count - 10)
                bytes[at] ^= UInt8(1 << random.below(8))
                // A flag of the gzip header or a reserved bit can change nothing.
                do { #expect(try unpack(bytes) == text, "\(compression) \(at)") } catch is FirnError {}
            }
        }
    }

    @Test func `a file cut within its first bytes is compressed if its name says so`() throws {
        for (compression, _) in tools {
            let packed = try pack(texts[2], compression), path = folder + "cut.csv." + compression.rawValue
            for count in 1...10 {
                try packed.prefix(count).write(to: URL(filePath: path))
                let error = #expect(throws: FirnError.self, "\(compression) \(count)") { try Input(path: path).readToEnd() }
                #expect(error?.code == .damaged, "\(compression) \(count): \(String(describing: error))")
            }
            try Data("BZ,a\n1,2\n".utf8).write(to: URL(filePath: path))
            #expect(try Input(path: path).readToEnd() == Array("BZ,a\n1,2\n".utf8), "\(compression)")
        }
        try Data("BZh9".utf8).write(to: URL(filePath: folder + "text.csv"))
        #expect(try Input(path: folder + "text.csv").readToEnd() == Array("BZh9".utf8))
    }

    @Test func `the memory for xz data is limited`() throws {
        guard try has("xz") else { return }
        try Data(texts[2]).write(to: URL(filePath: folder + "plain"))
        try shell("xz -9 -c '\(folder)plain' > '\(folder)nine'")
        let input = try Input(path: folder + "nine")
        input.budget = MemoryBudget(limit: 32 << 20)
        try input.rewind()
        let error = #expect(throws: FirnError.self) { try input.readToEnd() }
        #expect(error?.code == .outOfMemory && error?.advice?.contains("--memory") == true, "\(String(describing: error))")
    }

    @Test func `names are split into format and compression`() {
        #expect(Compression(extensionOf: "a.csv.GZ") == .gzip && Compression(extensionOf: "csv.bz2") == .bzip2)
        #expect(
            Compression(extensionOf: "a.csv") == nil && Compression(extensionOf: ".gz") == nil && Compression(extensionOf: "a.none") == nil)
        #expect(Compression.strip("a.csv.xz") == "a.csv" && Compression.strip("a.csv") == "a.csv")
        for ending in ["gz", "zst", "xz", "bz2"] { #expect(FormatName(extensionOf: "x.ndjson.\(ending)") == .ndjson) }
    }
}
