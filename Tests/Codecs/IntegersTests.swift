import FirnBytes
import FirnKit
import Testing
@testable import FirnCodecs

@Suite struct IntegersTests {
    @Test(arguments: [Profile.fast, .standard, .small])
    func `integers of every kind and length round trip`(profile: Profile) throws {
        for count in sampleLengths {
            for (name, values) in sampleIntegers(count: count, seed: UInt64(count) + 1) {
                let bytes = values.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: profile) }
                try check(bytes, values, present: nil, note: "\(name) × \(count), \(profile)")
            }
        }
    }

    @Test func `present integers round trip next to absent ones and are within the bounds`() throws {
        for (name, values) in sampleIntegers(count: 5000, seed: 3) {
            for density in [0, 1, 500, 990] {
                var dice = Random(seed: UInt64(density) + 9)
                var present = Bits(repeating: false, count: 5000)
                for i in 0..<5000 { present[i] = dice.below(1000) < density }
                let bytes = values.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: present, profile: .standard) }
                try check(bytes, values, present: present, note: "\(name), \(density) of 1000 present")
            }
        }
    }

    func check(_ bytes: [UInt8], _ values: [Int64], present: Bits?, note: String) throws {
        try withExactBytes(bytes) { raw in
            let reader = try IntegersReader(raw, count: values.count)
            let all = reader.bounds()
            var out = [Int64](repeating: -1, count: 1024)
            for vector in 0..<((values.count + 1023) / 1024) {
                try out.withUnsafeMutableBufferPointer { try reader.decode(vector: vector, into: $0.baseAddress!) }
                let bounds = reader.bounds(ofVector: vector)
                var wrong = 0
                for i in 0..<min(1024, values.count - vector * 1024) {
                    let value = values[vector * 1024 + i]
                    if present?[vector * 1024 + i] ?? true {
                        if out[i] != value { wrong += 1 }
                        if let bounds, value < bounds.0 || value > bounds.1 { wrong += 1 }
                        if let all, value < all.0 || value > all.1 { wrong += 1 }
                    }
                    if i % 37 == 0 || i < 3, try reader.value(at: vector * 1024 + i) != out[i] { wrong += 1 }
                }
                #expect(wrong == 0, "\(note), vector \(vector), \(reader.encodingName)")
                if wrong > 0 { return }
            }
        }
    }
}
