import FirnBytes
import FirnKit
import Testing
@testable import FirnCodecs

@Suite struct ModelledTests {
    private func modelled(_ text: Text, terminator: UInt8 = 0) -> (raw: [UInt8], coded: [UInt8])? {
        var raw: [UInt8] = []
        for row in 0..<text.count { raw += text.array(row) + [terminator] }
        guard raw.count <= ModelledBytes.maximumBytes else { return nil }
        return ModelledBytes.encode(raw, terminator: terminator, limit: .max).map { (raw, $0) }
    }

    private func decode(_ coded: [UInt8], count: Int, terminator: UInt8 = 0) throws(Damage) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: count + 1)
        try out.withMutableBytes { (room) throws(Damage) in
            let copy = Array(coded)
            try copy.withBytes { (bytes) throws(Damage) in
                try ModelledBytes.decode(
                    bytes, count: count, terminator: terminator, into: room.baseAddress!.assumingMemoryBound(to: UInt8.self))
            }
        }
        return Array(out.dropLast())
    }

    @Test(arguments: TextSample.allCases) func `modelled bytes are those that the specification decodes`(sample: TextSample) throws {
        let text = sample.text(Tier.cases(16, of: 40), seed: 7)
        guard let (raw, coded) = modelled(text, terminator: 10), raw.count < 4000 else { return }
        #expect(try decode(coded, count: raw.count, terminator: 10) == raw)
        #expect(try ReferenceModel.decode(coded, size: raw.count, terminator: 10) == raw)
    }

    @Test func `a text that was modelled keeps its bytes`() throws {
        let text = Text((0..<200).map { "row \($0), \($0 % 7 == 0 ? "Névé" : "ice") \($0 * $0 % 101)" })
        let (raw, coded) = try #require(modelled(text))
        #expect("\(coded.count) \(Hash128(of: coded))" == "566 09b9854179ba161054f04c8a29cbe2dc")
        #expect(try decode(coded, count: raw.count) == raw)
        #expect(ModelledBytes.encode([], terminator: 0, limit: .max) == [])
        #expect(try decode([], count: 0) == [])
    }

    @Test(arguments: TextSample.allCases) func `texts of every kind round trip in the profile for types of one segment`(sample: TextSample)
        throws
    {
        for count in Tier.isLong ? [1, 63, 1024, 3000] : [1, 63, 1100] {
            let text = sample.text(count, seed: 5), group = EncodedGroup([text], profile: .modelled)
            try group.expect([text], "\(sample) \(count)")
            #expect(group.bytes <= EncodedGroup([text], profile: .small).bytes)
        }
        // Two segments share what they can, and are not modelled.
        let two = [sample.text(900, seed: 5), sample.text(400, seed: 6)], group = EncodedGroup(two, profile: .modelled)
        try group.expect(two)
        #expect(!group.streams.contains { $0.first == TextEncoding.modelled.rawValue })
    }

    @Test func `sentences and names take less than as zstd pages`() {
        for sample in [TextSample.sentences, .mixed] {
            let text = sample.text(2000, seed: 9)
            let modelled = EncodedGroup([text], profile: .modelled).bytes, small = EncodedGroup([text], profile: .small).bytes
            #expect(modelled * 100 < small * 97, "\(sample): \(modelled) \(small)")
        }
    }

    @Test func `a text that contains every byte, or more than 1 MiB, is not modelled`() {
        var all = Text()
        for byte in 0...255 { all.append([UInt8(byte), 65, 66]) }
        #expect(ModelledTextReader.encode(all, below: .max) == nil)
        var long = Text()
        for i in 0..<600 { long.append(String(repeating: "long \(i) ", count: 240)) }
        #expect(ModelledTextReader.encode(long, below: .max) == nil)
    }

    @Test func `integers of every kind round trip in the profile for types of one segment`() throws {
        var used = 0, dice = Dice(21)
        for count in [63, 64, 1025, 3000] {
            // Many prices whose last digits have something in common.
            let prices = (0..<count).map { _ in Int64(dice.below(90_000) * 1000 + [5, 250, 499, 999][dice.below(4)]) }
            for (name, values) in sampleIntegers(count: count, seed: 21) + [("prices", prices)] {
                let bytes = values.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: .modelled) }
                if bytes.first == IntegersEncoding.modelled.rawValue { used += 1 }
                try withExactBytes(bytes) { raw in
                    let reader = try IntegersReader(raw, count: count)
                    var out = [Int64](repeating: 0, count: 1024), all: [Int64] = []
                    for vector in 0..<((count + 1023) / 1024) {
                        try out.withUnsafeMutableBufferPointer { try reader.decode(vector: vector, into: $0.baseAddress!) }
                        all += out.prefix(min(1024, count - vector * 1024))
                    }
                    #expect(all == values, "\(name)")
                    for i in stride(from: 0, to: count, by: 61) { #expect(try reader.value(at: i) == values[i]) }
                    if let bounds = reader.bounds(), let low = values.min(), let high = values.max() {
                        #expect(bounds.0 <= low && bounds.1 >= high, "\(name)")
                    }
                }
            }
        }
        #expect(used > 0)
    }

    /// The digits of a text, as a stream of modelled integers with the bounds 0 and 9.
    private func stream(_ text: String) throws -> [UInt8] {
        let raw = Array(text.utf8).map { $0 == UInt8(ascii: "|") ? 0 : $0 }
        let coded = try #require(ModelledBytes.encode(raw, terminator: 0, limit: .max))
        return [10, 0, 9, UInt8(raw.count)] + coded
    }

    @Test func `integers are digits, and an empty field is the value before it`() throws {
        try withExactBytes(try stream("7||-12|-9223372036854775808|9223372036854775807|0|")) { raw in
            let reader = try IntegersReader(raw, count: 6)
            #expect(try (0..<6).map { try reader.value(at: $0) } == [7, 7, -12, .min, .max, 0])
        }
        for wrong in ["|7|8|", "7|8", "7|8|9|9|", "7|x|9|", "7|-|9|", "7|9223372036854775808|9|", "-9223372036854775809|1|2|", "7|1 |3|"] {
            try withExactBytes(try stream(wrong)) { raw in
                let reader = try IntegersReader(raw, count: 3)
                #expect(throws: Damage.self, "\(wrong)") { try reader.value(at: 0) }
            }
        }
    }

    @Test func `streams that claim impossible sizes are refused, and short ones do not decode`() throws {
        #expect(throws: Damage.self) { try decode([], count: 4000) }
        #expect(throws: Damage.self) { try decode([1, 2, 3], count: ModelledBytes.maximumBytes) }
        // More than 1 MiB, and fewer bytes than values.
        for header in [[10, 0, 9, 0x81, 0x80, 0x40], [10, 0, 9, 2]] as [[UInt8]] {
            withExactBytes(header + [1, 2, 3]) { raw in #expect(throws: Damage.self) { try IntegersReader(raw, count: 3) } }
        }
        for header in [[0x65, 0, 0x81, 0x80, 0x40], [0x65, 0, 2], [0x65]] as [[UInt8]] {
            withExactBytes(header + (header.count > 1 ? [1, 2, 3] : [])) { raw in
                #expect(throws: Damage.self) { try TextReader(raw, count: 3, shared: []) }
            }
        }
    }

    @Test(arguments: Seed.first(3)) func `random bytes decode to a text or are damage`(seed: Seed) throws {
        var dice = Random(seed), read = 0, refused = 0
        for _ in 0..<60 {
            let bytes = (0..<Int(dice.next() % 40)).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
            for count in [1, 30, 200] {
                do throws(Damage) {
                    _ = try decode(bytes, count: count, terminator: UInt8(truncatingIfNeeded: dice.next()))
                    read += 1
                } catch { refused += 1 }
            }
        }
        #expect(read > 0 && refused > 0)
    }
}
