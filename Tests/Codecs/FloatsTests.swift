import FirnBytes
import Foundation
import Testing
@testable import FirnCodecs

func sampleFloats(count: Int, seed: UInt64) -> [(String, [Double], Bool)] {
    var dice = Dice(seed)
    func make(_ body: (Int) -> Double) -> [Double] { (0..<count).map(body) }
    return [
        ("prices", make { _ in Double(dice.below(10_000_000)) / 100 }, false),
        ("whole", make { _ in Double(dice.below(1000)) }, true),
        ("uniform", make { _ in Double(dice.next() >> 11) / 9007199254740992.0 }, false),
        ("signed", make { _ in Double(Int(dice.next() >> 11) - (1 << 52)) / 1e13 * 3.1 }, false),
        ("any bits", make { _ in Double(bitPattern: dice.next()) }, false),
        (
            "some odd",
            make { _ in
                dice.below(50) == 0
                    ? [Double.nan, -0.0, .infinity, -.infinity, 1.0 / 3, .greatestFiniteMagnitude][dice.below(6)]
                    : Double(dice.below(1000)) / 10
            }, false
        ),
        ("floats", make { _ in Double(Float(dice.below(1 << 24)) / 77) }, true),
        ("float decimals", make { _ in Double(Float(dice.below(10_000)) / 100) }, true),
        ("sensor", make { 20 + Double($0 % 1000) * 0.001 + Double(dice.below(100)) * 1e-7 }, false),
        ("negative zero", make { _ in -0.0 }, true),
        (
            "coordinates",
            make { _ in
                let value = Double(dice.below(180_000_000)) - 90_000_000
                return switch dice.below(4) {
                case 0: Double(Float((value / 1e2).rounded() / 1e4))
                case 1: value / 1e6
                case 2: (value * 77).rounded() / 1e8
                default: (value / 1e4).rounded() / 1e2
                }
            }, false
        ),
        (
            "mixed digits and others",
            make { _ in [0.1, -0.0, 12.3456, .nan, 1.0 / 3, 1e-300, 0, 7][dice.below(8)] * Double(dice.below(90)) }, false
        ),
        ("years of days", make { _ in Double(dice.below(30_000)) / 365.25 }, false),
        ("years of days with 15 digits", make { _ in Double(String(format: "%.15g", Double(dice.below(30_000)) / 365.25))! }, false),
        ("multiples of a tenth", make { _ in Double(dice.below(30_000) - 9000) * 0.1 }, false),
        ("many digits that repeat", make { 1 / Double($0 % 150 + 3) }, false),
    ]
}

@Suite struct FloatsTests {
    @Test(arguments: [Profile.fast, .standard, .small])
    func `doubles of every kind round trip to the bit`(profile: Profile) throws {
        for count in sampleLengths {
            for (name, values, single) in sampleFloats(count: count, seed: UInt64(count) + 5) {
                let bytes = values.withUnsafeBufferPointer { FloatsEncoder.encode($0, present: nil, single: single, profile: profile) }
                try withExactBytes(bytes) { raw in
                    let reader = try FloatsReader(raw, count: count)
                    var out = [Double](repeating: -1, count: 1024), wrong = 0
                    for vector in 0..<((count + 1023) / 1024) {
                        try out.withUnsafeMutableBufferPointer { try reader.decode(vector: vector, into: $0.baseAddress!) }
                        let bounds = reader.bounds(ofVector: vector), all = reader.bounds()
                        for i in 0..<min(1024, count - vector * 1024) {
                            let value = values[vector * 1024 + i]
                            if out[i].bitPattern != value.bitPattern { wrong += 1 }
                            if i % 41 == 0, try reader.value(at: vector * 1024 + i).bitPattern != value.bitPattern { wrong += 1 }
                            for bounds in [bounds, all] { if let bounds, !(value >= bounds.0 && value <= bounds.1) { wrong += 1 } }
                        }
                    }
                    #expect(wrong == 0, "\(name) × \(count), \(reader.encodingName)")
                }
            }
        }
    }
}
