import FirnBytes
import FirnKit
import Testing
@testable import FirnCodecs

@Suite struct BooleansTests {
    @Test func `booleans of every density and length round trip`() throws {
        for count in sampleLengths {
            for density in [0, 1, 20, 300, 500, 995, 1000] {
                for clump in [1, 50] {
                    var dice = Random(seed: UInt64(density + count + clump)), on = false
                    var bits = Bits(repeating: false, count: count)
                    for i in 0..<count {
                        if i % clump == 0 { on = dice.below(1000) < density }
                        bits[i] = on
                    }
                    for profile in [Profile.fast, .standard] {
                        try check(BooleansEncoder.encode(bits, profile: profile), bits, note: "\(density) of 1000 in clumps of \(clump)")
                    }
                }
            }
        }
    }

    func check(_ bytes: [UInt8], _ bits: Bits, note: String) throws {
        try withExactBytes(bytes) { raw in
            let reader = try BooleansReader(raw, count: bits.count)
            var words = [UInt64](repeating: 1, count: 16), got = Bits(repeating: false, count: 0)
            for vector in 0..<((bits.count + 1023) / 1024) {
                try words.withUnsafeMutableBufferPointer { try reader.decode(vector: vector, into: $0.baseAddress!) }
                #expect(reader.ones(ofVector: vector) == words.reduce(0) { $0 + $1.nonzeroBitCount })
                got.append(contentsOf: Bits(words: words, count: 1024).slice(0..<min(1024, bits.count - vector * 1024)))
            }
            #expect(got == bits, "\(bits.count) bits, \(note), \(reader.encodingName)")
            for i in stride(from: 0, to: bits.count, by: 77) { #expect(try reader.value(at: i) == bits[i]) }
        }
    }
}

@Suite struct LengthsTests {
    @Test func `list offsets round trip`() throws {
        for count in sampleLengths {
            for longest in [0, 1, 4, 1000] {
                var dice = Random(seed: UInt64(count + longest)), offsets = [0]
                for _ in 0..<count { offsets.append(offsets.last! + (longest == 1 ? 1 : dice.below(longest + 1))) }
                let bytes = offsets.withUnsafeBufferPointer { LengthsEncoder.encode($0, profile: .standard) }
                try withExactBytes(bytes) { raw in
                    let reader = try LengthsReader(raw, count: count)
                    #expect(reader.total == offsets.last)
                    var out = [Int](repeating: -1, count: 1025)
                    for vector in 0..<((count + 1023) / 1024) {
                        try out.withUnsafeMutableBufferPointer { try reader.decode(vector: vector, into: $0.baseAddress!) }
                        let n = min(1024, count - vector * 1024)
                        #expect(Array(out[0...n]) == Array(offsets[(vector * 1024)...(vector * 1024 + n)]))
                    }
                    for i in stride(from: 0, to: count, by: 53) { #expect(try reader.range(at: i) == offsets[i]..<offsets[i + 1]) }
                }
            }
        }
    }
}
