import FirnBytes
import FirnKit
import Testing
@testable import FirnCodecs

/// Gathered values of a vector, and decoding that is used for whole vectors only, agree with decoding single values.
@Suite struct GatherTests {
    static let lengths = [1, 63, 1023, 1024, 1025, 5000]

    private func rows(_ count: Int, _ dice: inout Random) -> [Int32] {
        let share = [1, 2, 10, 200][dice.below(4)]
        return (0..<count).filter { _ in dice.below(share) == 0 }.map { Int32($0) }
    }

    @Test(arguments: [Profile.fast, .standard, .small])
    func `gathered integers equal those of the vector in every encoding`(profile: Profile) throws {
        var encodings: Set<String> = []
        for count in Self.lengths {
            for (name, values) in sampleIntegers(count: count, seed: UInt64(count) &+ 5) {
                var dice = Random(seed: UInt64(count) &+ 8)
                let bytes = values.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: profile) }
                try withExactBytes(bytes) { raw in
                    let reader = try IntegersReader(raw, count: count)
                    encodings.insert(reader.encodingName)
                    for vector in 0..<((count + 1023) / 1024) {
                        let rows = rows(min(1024, count - vector * 1024), &dice)
                        var out = [Int64](repeating: 99, count: rows.count + 1)
                        try out.withUnsafeMutableBufferPointer { out in
                            try rows.withUnsafeBufferPointer { try reader.gather($0, vector: vector, into: out.baseAddress!) }
                        }
                        #expect(
                            out == rows.map { values[vector * 1024 + Int($0)] } + [99],
                            "\(name) × \(count), \(reader.encodingName), vector \(vector)")
                    }
                }
            }
        }
        #expect(encodings.count > 6, "\(encodings)")
    }

    @Test(arguments: [Profile.fast, .standard, .small])
    func `gathered doubles equal those of the vector in every encoding`(profile: Profile) throws {
        for count in Self.lengths {
            for (name, values, single) in sampleFloats(count: count, seed: UInt64(count) &+ 21) {
                var dice = Random(seed: UInt64(count) &+ 4)
                let bytes = values.withUnsafeBufferPointer { FloatsEncoder.encode($0, present: nil, single: single, profile: profile) }
                try withExactBytes(bytes) { raw in
                    let reader = try FloatsReader(raw, count: count)
                    for vector in 0..<((count + 1023) / 1024) {
                        let rows = rows(min(1024, count - vector * 1024), &dice)
                        var out = [Double](repeating: 99, count: rows.count + 1)
                        try out.withUnsafeMutableBufferPointer { out in
                            try rows.withUnsafeBufferPointer { try reader.gather($0, vector: vector, into: out.baseAddress!) }
                        }
                        #expect(
                            out.map(\.bitPattern) == (rows.map { values[vector * 1024 + Int($0)] } + [99]).map(\.bitPattern),
                            "\(name) × \(count), \(reader.encodingName), vector \(vector)")
                    }
                }
            }
        }
    }

    /// Values with few bits, with many, and with more than one load reads; values without and with extra bits after their code.
    @Test(arguments: [1, 4, 9, 12, 20, 40, 62])
    func `entropy-coded values that are decoded two pages at a time equal the source and single values`(bits: Int) throws {
        var dice = Random(seed: UInt64(bits)), encodings: Set<String> = []
        for zigzagged in [false, true] {
            // Small numbers are frequent, so that entropy coding pays.
            let values: [Int64] = (0..<7000).map { _ in
                let value = Int64(dice.next() >> 1) >> Int64(63 - dice.below(dice.below(bits) + 1) - 1)
                return zigzagged && dice.below(2) == 0 ? -value * 3 : value * 3 + (value & 1)
            }
            let bytes = values.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: .standard) }
            try withExactBytes(bytes) { raw in
                let reader = try IntegersReader(raw, count: values.count)
                encodings.insert(reader.encodingName)
                var out = [Int64](repeating: 0, count: 1024)
                for vector in 0..<7 {
                    let count = min(1024, values.count - vector * 1024)
                    try out.withUnsafeMutableBufferPointer { try reader.decode(vector: vector, into: $0.baseAddress!) }
                    #expect(out[..<count] == values[(vector * 1024)..<(vector * 1024 + count)], "vector \(vector), \(reader.encodingName)")
                    for i in stride(from: 0, to: count, by: 97) {
                        #expect(try reader.value(at: vector * 1024 + i) == values[vector * 1024 + i])
                    }
                }
            }
        }
        #expect(encodings.contains { $0.contains("tANS") }, "\(encodings)")
    }

    @Test func `division by powers of ten with two products equals a division, and numbers out of range are refused unchanged`() {
        var dice = Random(seed: 17)
        for d in 0...4 {
            let power = [1, 10, 100, 1000, 10_000.0][d], scale = DecimalScale(power)
            var words: [Int64] = [0, 1, -1, 1 << 32 - 1, -(1 << 32)] + (0..<200_000).map { Int64($0) }
            while words.count < 1_000_003 { words.append((Int64(dice.next() >> 31) - 1 << 32) >> Int64(dice.below(33))) }
            let wanted = words.map { (Double($0) / power).bitPattern }
            let isDone = words.withUnsafeMutableBytes { scale.divide($0.baseAddress!, $0.count / 8) }
            #expect(isDone)
            #expect(words.map { UInt64(bitPattern: $0) } == wanted, "10^\(d)")
            for far in [Int64(1) << 32, -(1 << 32) - 1, .max, .min] {
                var words = [far, 5]
                #expect(!words.withUnsafeMutableBytes { scale.divide($0.baseAddress!, 2) })
                #expect(words == [far, 5])
            }
        }
    }
}
