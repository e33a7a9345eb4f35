import FirnBytes
import Testing

@Suite struct ByteReaderTests {
    @Test func `ByteReader reads the values that ByteWriter writes`() throws {
        var writer = ByteWriter()
        writer.append(7 as UInt8)
        writer.append(0x1234_5678 as UInt32)
        writer.append(-1.5)
        let varints: [UInt64] = [0, 1, 127, 128, 300, 1 << 35, .max - 1, .max]
        for value in varints { writer.appendVarint(value) }
        let signed: [Int64] = [0, -1, 1, .min, .max, -300]
        for value in signed { writer.appendSignedVarint(value) }
        writer.append(string: "fïrn")
        writer.append(Hash128(low: 1, high: 2))
        try writer.bytes.withUnsafeBytes { (bytes) throws in
            var reader = ByteReader(bytes)
            let byte = try reader.read(UInt8.self), word = try reader.read(UInt32.self), double = try reader.readDouble()
            #expect(byte == 7 && word == 0x1234_5678 && double == -1.5)
            for value in varints {
                let read = try reader.readVarint()
                #expect(read == value)
            }
            for value in signed {
                let read = try reader.readSignedVarint()
                #expect(read == value)
            }
            let text = try reader.readString(), hash = try reader.readHash()
            #expect(text == "fïrn" && hash == Hash128(low: 1, high: 2))
            #expect(reader.isAtEnd)
        }
    }

    @Test func `reading past the end is damage with its offset`() {
        ([1, 2, 3] as [UInt8]).withUnsafeBytes { bytes in
            var reader = ByteReader(bytes, at: 1)
            func fails(_ body: (inout ByteReader) throws -> Void) -> Damage? {
                do { try body(&reader) } catch { return error as? Damage }
                return nil
            }
            #expect(fails { _ = try $0.read(UInt32.self) } == Damage("cut short", at: 1))
            #expect(fails { _ = try $0.read(count: 3) } != nil)
            #expect(fails { _ = try $0.read(count: -1) } != nil)
            #expect(reader.position == 1)
        }
    }

    @Test func `a varint of too many bits, a count beyond its limit and text that is not UTF-8 are damage`() {
        func failure(_ bytes: [UInt8], _ body: (inout ByteReader) throws(Damage) -> Void) -> Bool {
            bytes.withUnsafeBytes { raw in
                var reader = ByteReader(raw)
                do throws(Damage) { try body(&reader) } catch { return true }
                return false
            }
        }
        #expect(failure(Array(repeating: 0xFF, count: 11)) { (r) throws(Damage) in _ = try r.readVarint() })
        #expect(failure(Array(repeating: 0xFF, count: 9) + [0x02]) { (r) throws(Damage) in _ = try r.readVarint() })
        #expect(!failure(Array(repeating: 0xFF, count: 9) + [0x01]) { (r) throws(Damage) in _ = try r.readVarint() })
        #expect(failure([100]) { (r) throws(Damage) in _ = try r.readCount(limit: 99) })
        #expect(failure([2, 0xC3, 0x28]) { (r) throws(Damage) in _ = try r.readString() })
        #expect(failure([200]) { (r) throws(Damage) in _ = try r.readLengthPrefixed() })
    }

    @Test func `XXH3-128 of no bytes is the published value`() {
        #expect(Hash128(of: []).description == "99aa06d3014798d86001c324468d497f")
    }
}
