@testable import FirnCodecs
import FirnBytes
import Testing

/// The bytes of small streams never change: readers can read what earlier builds wrote.
@Suite struct TextGoldenTests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map {
            let text = String($0, radix: 16); return text.count == 1 ? "0" + text : text
        }.joined()
    }

    private func expect(_ text: Text, _ wanted: String, _ profile: Profile = .standard, _ source: SourceLocation = #_sourceLocation) throws
    {
        let group = EncodedGroup([text], profile: profile)
        #expect(hex(group.streams[0]) == wanted, sourceLocation: source)
        try group.expect([text])
    }

    @Test func `text encodings keep their ids`() {
        #expect(TextEncoding.constant.rawValue == 0x60)
        #expect(TextEncoding.dictionary.rawValue == 0x61)
        #expect(TextEncoding.pages.rawValue == 0x62)
        #expect(TextEncoding.symbols.rawValue == 0x63)
        #expect(TextEncoding.raw.rawValue == 0x64)
        #expect(TextEncoding.modelled.rawValue == 0x65)
        #expect(TextEncoding.contexts.rawValue == 0x66)
        #expect(SharedBlob.Kind.values.rawValue == 1)
        #expect(SharedBlob.Kind.trained.rawValue == 2)
    }

    @Test func `a constant column keeps its bytes`() throws {
        try expect(Text(["ice", "ice", "ice"]), "60696365")
        try expect(Text(["", ""]), "60")
    }

    @Test func `a values blob keeps its bytes`() throws {
        let values = Text(["fern", "firn", "firnspiegel", "névé"])
        let blob = values.bytes.withUnsafeBytes { bytes in
            DictionaryValues.encode(count: values.count, level: 1) { UnsafeRawBufferPointer(rebasing: bytes[values.range($0)]) }
        }
        #expect(hex(blob) == "000419000404040b0600196665726e6669726e6669726e7370696567656c6ec3a976c3a9")
        #expect(try blob.withUnsafeBufferPointer { (b) throws(Damage) in try DictionaryValues.decode(UnsafeRawBufferPointer(b)) } == values)
    }

    @Test func `page offsets keep their bytes`() throws {
        var out = ByteWriter()
        PageOffsets.append([100, 90, 120, 80, 5], to: &out)
        #expect(hex(out.bytes) == "8b032a06c042d7")
        out.append(contentsOf: [UInt8](repeating: 0, count: 395))
        try out.bytes.withUnsafeBufferPointer { (b) throws(Damage) in
            var reader = ByteReader(UnsafeRawBufferPointer(b))
            let offsets = try PageOffsets(&reader, pages: 5)
            #expect(try offsets.range(0) == 0..<100)
            #expect(try offsets.range(2) == 190..<310)
            #expect(try offsets.range(4) == 390..<395)
        }
    }

    /// Streams written manually after docs/format/codecs-text.md, without the encoder.
    @Test func `streams that are written manually after the specification can be read`() throws {
        func read(_ bytes: [UInt8], count: Int) throws -> [String] {
            let reader = try TextReader(EncodedGroup.keep(bytes), count: count, shared: [])
            var text = Text()
            try reader.decode(vector: 0, into: &text)
            for row in 0..<count { #expect(try reader.withValue(at: row) { Array($0) } == text.array(row)) }
            return (0..<count).map { text.string($0) }
        }
        // One page of raw blocks: the frame header 00 00 (no content size, window 1 KiB), then the block header of a last raw block of n
        // bytes: n << 3 | 1.
        let terminated = Array("a\0bc\0\0".utf8), lengths = [1, 2, 0] + Array("abc".utf8)
        for (flags, raw) in [(UInt8(1), terminated), (0, lengths)] {
            let page = [0, 0, UInt8(raw.count << 3 | 1), 0, 0] + raw
            #expect(try read([0x62, flags, 2, UInt8(raw.count), UInt8(page.count)] + page, count: 3) == ["a", "bc", ""])
        }
        // Symbols "ab" = 0 and "c" = 1. Strings: 0 1; 1; 0 0 0.
        let table: [UInt8] = [2, 0, 2, 1] + Array("abc".utf8)
        let blob: [UInt8] = [1, 0, UInt8(table.count)] + table
        let lengthsStream = [0, 2, 3, 6].withUnsafeBufferPointer { LengthsEncoder.encode($0, profile: .fast) }
        let codes: [UInt8] = [0x00, 0x10, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00]
        #expect(
            try read([0x63, 2, UInt8(blob.count)] + blob + [UInt8(lengthsStream.count)] + lengthsStream + codes, count: 3) == [
                "abc", "c", "ababab",
            ])
        // Raw.
        let rawLengths = [0, 1, 1, 3].withUnsafeBufferPointer { LengthsEncoder.encode($0, profile: .fast) }
        #expect(try read([0x64, UInt8(rawLengths.count)] + rawLengths + Array("xyz".utf8), count: 3) == ["x", "", "yz"])
    }
}
