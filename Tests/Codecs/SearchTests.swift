import FirnBytes
import FirnKit
import Testing
@testable import FirnCodecs

/// Searching encoded values for a range returns the same rows as decoding and comparing.
@Suite struct SearchTests {
    static let lengths = [1, 63, 64, 65, 1023, 1024, 1025, 5000]

    /// Returns ends of ranges: values of the column, their neighbours, and the extremes.
    private func ends(_ values: [Int64], _ dice: inout Random) -> Int64 {
        switch dice.below(8) {
        case 0: .min
        case 1: .max
        case 2: Int64(bitPattern: dice.next())
        case 3: values[dice.below(values.count)] &+ Int64(dice.below(3)) &- 1
        default: values[dice.below(values.count)]
        }
    }

    @Test(arguments: [Profile.fast, .standard, .small])
    func `integers in a range are found in every encoding`(profile: Profile) throws {
        var encodings: Set<String> = []
        for count in Self.lengths {
            for (name, values) in sampleIntegers(count: count, seed: UInt64(count) &+ 77) {
                var dice = Random(seed: UInt64(count) &+ 3)
                let bytes = values.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: profile) }
                try withExactBytes(bytes) { raw in
                    let reader = try IntegersReader(raw, count: count)
                    encodings.insert(reader.encodingName)
                    var out = [UInt64](repeating: 0, count: 16)
                    for _ in 0..<12 {
                        let low = ends(values, &dice), high = ends(values, &dice)
                        for vector in 0..<((count + 1023) / 1024) {
                            for w in 0..<16 { out[w] = dice.next() }
                            try out.withUnsafeMutableBufferPointer { try reader.search(vector: vector, low, high, into: $0.baseAddress!) }
                            var wanted = [UInt64](repeating: 0, count: 16)
                            for i in 0..<min(1024, count - vector * 1024)
                            where values[vector * 1024 + i] >= low && values[vector * 1024 + i] <= high {
                                wanted[i >> 6] |= 1 << UInt64(i & 63)
                            }
                            #expect(out == wanted, "\(name) × \(count), \(reader.encodingName), \(low) … \(high), vector \(vector)")
                        }
                    }
                }
            }
        }
        #expect(encodings.count > 6, "\(encodings)")
    }

    @Test(arguments: [Profile.fast, .standard, .small])
    func `doubles in a range are found in every encoding`(profile: Profile) throws {
        for count in Self.lengths {
            for (name, values, single) in sampleFloats(count: count, seed: UInt64(count) &+ 9) {
                var dice = Random(seed: UInt64(count) &+ 31)
                func end() -> Double {
                    let value = values[dice.below(values.count)]
                    switch dice.below(9) {
                    case 0: return -.infinity
                    case 1: return .infinity
                    case 2: return 0
                    case 3: return -0.0
                    case 4: return value.isNaN ? 1e300 : value.nextUp
                    case 5: return value.isNaN ? -1e300 : value.nextDown
                    default: return value.isNaN ? 0.1 : value
                    }
                }
                let bytes = values.withUnsafeBufferPointer { FloatsEncoder.encode($0, present: nil, single: single, profile: profile) }
                try withExactBytes(bytes) { raw in
                    let reader = try FloatsReader(raw, count: count)
                    var out = [UInt64](repeating: 0, count: 16)
                    for _ in 0..<14 {
                        let low = end(), high = end()
                        for vector in 0..<((count + 1023) / 1024) {
                            for w in 0..<16 { out[w] = dice.next() }
                            try out.withUnsafeMutableBufferPointer { try reader.search(vector: vector, low, high, into: $0.baseAddress!) }
                            var wanted = [UInt64](repeating: 0, count: 16)
                            for i in 0..<min(1024, count - vector * 1024)
                            where values[vector * 1024 + i] >= low && values[vector * 1024 + i] <= high {
                                wanted[i >> 6] |= 1 << UInt64(i & 63)
                            }
                            #expect(out == wanted, "\(name) × \(count), \(reader.encodingName), \(low) … \(high), vector \(vector)")
                        }
                    }
                }
            }
        }
    }

    @Test func `searching damaged streams never traps`() throws {
        var dice = Random(seed: 41), opened = 0, refused = 0
        for (_, values) in sampleIntegers(count: 3000, seed: 8) {
            let bytes = values.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: .standard) }
            for _ in 0..<60 {
                var spoilt = bytes
                for _ in 0..<(1 + dice.below(3)) { spoilt[dice.below(min(spoilt.count, 64))] = UInt8(truncatingIfNeeded: dice.next()) }
                withExactBytes(spoilt) { raw in
                    guard let reader = try? IntegersReader(raw, count: 3000) else {
                        refused += 1
                        return
                    }
                    opened += 1
                    var out = [UInt64](repeating: 0, count: 16)
                    for vector in 0..<3 {
                        out.withUnsafeMutableBufferPointer { out in
                            for (low, high) in [(Int64.min, Int64.max), (0, 10), (-5, 1 << 40), (.max, .max), (1, 0)] {
                                try? reader.search(vector: vector, low, high, into: out.baseAddress!)
                            }
                        }
                    }
                }
            }
        }
        #expect(opened > 50 && refused > 50, "\(opened) opened, \(refused) refused")
    }
}
