import FirnBytes
import FirnKit
import Testing
@testable import FirnCodecs

@Suite struct NestedBooleansTests {
    private func bits(_ count: Int, per thousand: Int, clump: Int, within outer: Bits? = nil, _ dice: inout Random) -> Bits {
        var out = Bits(repeating: false, count: count), on = false
        for i in 0..<count {
            if i % clump == 0 { on = dice.below(1000) < thousand }
            out[i] = on && (outer?[i] ?? true)
        }
        return out
    }

    @Test func `nested booleans round trip, as whole vectors and one by one`() throws {
        for count in sampleLengths where count > 0 {
            for (outerPart, innerPart, clump) in [
                (500, 500, 1), (990, 10, 1), (10, 990, 50), (1000, 300, 7), (300, 1000, 1), (300, 0, 1), (0, 500, 1), (700, 999, 1),
            ] {
                var dice = Random(seed: UInt64(count &* 31 &+ outerPart &* 7 &+ innerPart))
                let outer = bits(count, per: outerPart, clump: clump, &dice)
                let inner = bits(count, per: innerPart, clump: 1, within: outer, &dice)
                for profile in [Profile.fast, .standard] {
                    let outerBytes = BooleansEncoder.encode(outer, profile: profile),
                        innerBytes = BooleansEncoder.encode(inner, within: outer, profile: profile)
                    try withExactBytes(outerBytes) { outerRaw in
                        try withExactBytes(innerBytes) { innerRaw in
                            let reader = try BooleansReader(innerRaw, within: try BooleansReader(outerRaw, count: count))
                            var words = [UInt64](repeating: 1, count: 16)
                            for vector in 0..<((count + 1023) / 1024) {
                                try words.withUnsafeMutableBufferPointer { try reader.decode(vector: vector, into: $0.baseAddress!) }
                                let range = vector * 1024..<min(count, (vector + 1) * 1024)
                                #expect(
                                    Bits(words: words, count: 1024).slice(0..<range.count) == inner.slice(range),
                                    "\(count) bits, \(outerPart), \(innerPart)")
                                #expect(reader.ones(ofVector: vector) == inner.slice(range).ones)
                            }
                            for i in stride(from: 0, to: count, by: 77) { #expect(try reader.value(at: i) == inner[i]) }
                        }
                    }
                }
            }
        }
    }

    @Test func `small nested streams have the bytes of the specification`() {
        let outer = Bits(words: [0b1101_1011], count: 9), inner = Bits(words: [0b1001_0010], count: 9)
        // Six outer bits are set; of these the second, the fourth and the sixth.
        #expect(BooleansEncoder.encode(inner, within: outer, profile: .fast) == [6, 2, 0b10_1010])
        // The ranks of three vectors, then as many bits as the outer stream has ones: the last is set.
        var wide = Bits(repeating: false, count: 2100), last = wide
        for i in 0..<2100 where i % 2 == 0 || i == 7 || (i >= 1024 && i < 1046) { wide[i] = true }
        last[2098] = true
        let ranks = [Int64(0), 513, 513 + 512 + 11].withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: .fast) }
        let ones = wide.ones
        #expect(
            BooleansEncoder.encode(last, within: wide, profile: .fast)
                == [UInt8(ones & 127 | 128), UInt8(ones >> 7), UInt8(ranks.count)] + ranks
                + BooleansEncoder.encode(
                    {
                        var one = Bits(repeating: false, count: ones)
                        one[ones - 1] = true
                        return one
                    }(), profile: .fast))
    }

    @Test func `an outer stream with another number of set bits is damage`() throws {
        for count in [70, 1024, 1025, 3000] {
            var dice = Random(seed: UInt64(count))
            let outer = bits(count, per: 600, clump: 1, &dice), inner = bits(count, per: 500, clump: 1, within: outer, &dice)
            let bytes = BooleansEncoder.encode(inner, within: outer, profile: .fast)
            for change in [-1, 1] {
                var other = outer
                let place = (0..<count).last { other[$0] == (change < 0) }!
                other[place].toggle()
                try withExactBytes(BooleansEncoder.encode(other, profile: .fast)) { outerRaw in
                    try withExactBytes(bytes) { raw in
                        let reader = try BooleansReader(raw, within: try BooleansReader(outerRaw, count: count))
                        var words = [UInt64](repeating: 0, count: 16)
                        #expect(throws: Damage.self) {
                            try words.withUnsafeMutableBufferPointer { try reader.decode(vector: place / 1024, into: $0.baseAddress!) }
                        }
                        #expect(reader.ones(ofVector: place / 1024) == nil)
                    }
                }
            }
        }
    }

    @Test(arguments: Seed.first(8))
    func `truncated and modified nested streams are an error or bits within the outer stream`(seed: Seed) throws {
        var dice = Random(seed)
        let count = [1, 70, 1024, 3000, 65_536][Int(seed.number % 5)]
        let outer = bits(count, per: 600, clump: 1, &dice), inner = bits(count, per: 500, clump: 3, within: outer, &dice)
        let outerBytes = BooleansEncoder.encode(outer, profile: .standard),
            bytes = BooleansEncoder.encode(inner, within: outer, profile: .standard)
        func read(_ outerBytes: [UInt8], _ bytes: [UInt8], outerHolds: Bool) {
            withExactBytes(outerBytes) { outerRaw in
                withExactBytes(bytes) { raw in
                    guard let before = try? BooleansReader(outerRaw, count: count), let reader = try? BooleansReader(raw, within: before)
                    else {
                        return
                    }
                    var words = [UInt64](repeating: 0, count: 16)
                    for vector in 0..<((count + 1023) / 1024) {
                        guard words.withUnsafeMutableBufferPointer({ try? reader.decode(vector: vector, into: $0.baseAddress!) }) != nil,
                            outerHolds
                        else { continue }
                        for w in 0..<16 {
                            let mask = vector * 16 + w < outer.words.count ? outer.words[vector * 16 + w] : 0
                            #expect(words[w] & ~mask == 0, "seed \(seed)")
                        }
                    }
                    for i in stride(from: 0, to: count, by: count / 7 + 1) { _ = try? reader.value(at: i) }
                }
            }
        }
        for cut in 0..<min(bytes.count, 300) { read(outerBytes, Array(bytes[..<cut]), outerHolds: true) }
        for step in 0..<600 {
            var changed = bytes, outerChanged = outerBytes
            for _ in 0...dice.below(3) {
                // The counts are at the beginning.
                let place = dice.below(2) == 0 ? dice.below(min(bytes.count, 24)) : dice.below(bytes.count)
                changed[place] = [0, 0xFF, 0x80, UInt8(dice.below(256))][dice.below(4)]
            }
            if step % 5 == 0 { outerChanged[dice.below(outerBytes.count)] ^= 1 << UInt8(dice.below(8)) }
            read(outerChanged, changed, outerHolds: step % 5 != 0)
        }
    }
}
