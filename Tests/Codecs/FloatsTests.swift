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
        ("printed floats", make { _ in printed(Float(Double(dice.below(90_000) - 9000) / 1e4), digits: 15) }, false),
        ("printed small floats", make { _ in printed(Float(exp(-Double(dice.below(9000)) / 500)), digits: 15) }, false),
        ("printed floats that repeat", make { _ in printed(log(Float(dice.below(dice.below(900) + 1) + 2)), digits: 16) }, false),
        ("incomes", make { _ in exp(Double(dice.below(dice.below(1200) + 1)) / 97) }, false),
        ("sums of decimals", make { _ in Double(dice.below(9000)) / 100 + Double(dice.below(900)) / 1000 - 4 }, false),
        ("sums of floats", make { _ in Double(Float(dice.below(9000)) / 100 + Float(dice.below(900)) / 1000 - 4) }, true),
        ("sums of thirds", make { _ in dice.below(99) == 0 ? .nan : Double(dice.below(9000)) / 3 + Double(dice.below(900)) / 30 }, false),
    ]
}

func varint(_ n: Int) -> [UInt8] {
    var out = ByteWriter()
    out.appendVarint(n)
    return out.bytes
}

/// Returns a float as a reader gets it from the text of a program that has written it as a double with some significant digits.
func printed(_ value: Float, digits: Int) -> Double { Double(String(format: "%.\(digits)g", Double(value)))! }

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

    private func encode(_ values: [Double], present: Bits? = nil, profile: Profile = .standard) -> [UInt8] {
        values.withUnsafeBufferPointer { FloatsEncoder.encode($0, present: present, single: false, profile: profile) }
    }

    private func name(_ bytes: [UInt8], count: Int) throws -> String {
        try withExactBytes(bytes) { try FloatsReader($0, count: count).encodingName }
    }

    @Test func `doubles with many digits that repeat are codes into their distinct values`() throws {
        var dice = Dice(4)
        // Every third value is a new one, and no value is a decimal.
        let values = (0..<12_000).map { _ in exp(Double(dice.below(4000)) / 97) }
        let bytes = encode(values)
        #expect(try name(bytes, count: values.count).contains("dictionary("))
        #expect(bytes.count < 4000 * 7 + 12_000 * 12 / 8 + 100)
        // With gaps, the dictionary has no value that only an absent row has.
        var present = Bits(repeating: true, count: values.count), gaps = values
        for i in stride(from: 1, to: values.count, by: 3) {
            present[i] = false
            gaps[i] = -Double(i) / 7
        }
        let sparse = encode(gaps, present: present)
        #expect(try name(sparse, count: values.count).contains("dictionary("))
        try withExactBytes(sparse) { raw in
            let reader = try FloatsReader(raw, count: values.count)
            for i in values.indices where present[i] { #expect(try reader.value(at: i) == values[i]) }
            #expect(try #require(reader.bounds()).0 >= 1)
        }
    }

    @Test(arguments: [14, 15, 16])
    func `floats that were printed as doubles take the bytes of floats`(digits: Int) throws {
        var dice = Dice(5)
        for scale in [1e4, 1e7] {
            let values = (0..<5000).map { _ in printed(Float(Double(dice.below(1 << 22)) / scale), digits: digits) }
            let bytes = encode(values)
            #expect(bytes.count <= 5000 * 32 / 8 + 200, "\(digits) digits, \(scale)")
            #expect(try name(bytes, count: values.count).contains("rounded single"), "\(digits) digits, \(scale)")
        }
    }

    @Test(arguments: [Profile.standard, .small])
    func `results of computations with decimals, thirds and floats take the bytes of these and of small corrections`(profile: Profile)
        throws
    {
        var dice = Dice(8)
        func six<T: BinaryFloatingPoint>(_ zero: T) -> T { (0..<6).reduce(zero) { sum, _ in sum + T(dice.below(90_000)) / 1000 } }
        let sums = (0..<8000).map { _ in six(0.0) }, means = (0..<8000).map { _ in six(0.0) / 6 }
        let floats = (0..<8000).map { _ in Double(six(Float(0))) }
        for (name, values, single) in [("sums", sums, false), ("means", means, false), ("floats", floats, true)] {
            let bytes = values.withUnsafeBufferPointer { FloatsEncoder.encode($0, present: nil, single: single, profile: profile) }
            let encoding = try self.name(bytes, count: values.count)
            #expect(encoding.contains("corrected("), "\(name): \(encoding)")
            #expect(bytes.count < 8000 * 26 / 8, "\(name): \(bytes.count)")
            try expect(bytes, holds: values, nil, name)
        }
        // A tenth of the values are far from decimals, are not finite, or are absent.
        var present = Bits(repeating: true, count: 8000), odd = sums
        for i in stride(from: 5, to: 8000, by: 10) { odd[i] = [.nan, -.infinity, 1e300, 1 / 3.0, -0.0][i / 10 % 5] }
        for i in stride(from: 0, to: 8000, by: 7) { present[i] = false }
        let bytes = encode(odd, present: present, profile: profile)
        let encoding = try name(bytes, count: 8000)
        #expect(encoding.contains("corrected("), "odd values: \(encoding)")
        try expect(bytes, holds: odd, present, "odd values")
        // One row in forty has a value, so that a sample of all rows has few.
        var rare = Bits(repeating: false, count: 8000)
        for i in stride(from: 9, to: 8000, by: 40) { rare[i] = true }
        let sparse = encode(sums, present: rare, profile: profile)
        #expect(try name(sparse, count: 8000).contains("corrected("))
        try expect(sparse, holds: sums, rare, "few values")
    }

    /// Expects these values, decoded as vectors, one by one and gathered, within the bounds of their vector.
    private func expect(_ bytes: [UInt8], holds values: [Double], _ present: Bits?, _ note: String) throws {
        try withExactBytes(bytes) { raw in
            let reader = try FloatsReader(raw, count: values.count)
            var out = [Double](repeating: 0, count: 1024)
            for first in stride(from: 0, to: values.count, by: 1024) {
                let n = min(1024, values.count - first), bounds = reader.bounds(ofVector: first / 1024)
                try out.withUnsafeMutableBufferPointer { try reader.decode(vector: first / 1024, into: $0.baseAddress!) }
                for i in 0..<n where present?[first + i] ?? true {
                    let value = values[first + i]
                    guard out[i].bitPattern == value.bitPattern, try reader.value(at: first + i).bitPattern == value.bitPattern else {
                        Issue.record("\(note), value \(first + i): \(out[i]) for \(value)")
                        return
                    }
                    if let bounds { #expect(bounds.0 <= value && value <= bounds.1, "\(note), value \(first + i)") }
                }
                let rows = stride(from: 3, to: n, by: 37).map { Int32($0) }
                try rows.withUnsafeBufferPointer { rows in
                    try out.withUnsafeMutableBufferPointer {
                        try reader.body.gather(rows, vector: first / 1024, count: n, into: $0.baseAddress!)
                    }
                }
                for (k, row) in rows.enumerated() where present?[first + Int(row)] ?? true {
                    #expect(out[k].bitPattern == values[first + Int(row)].bitPattern, "\(note), gathered \(row)")
                }
            }
        }
    }

    @Test func `integers with few distinct values far apart are a dictionary, neighbours are not`() throws {
        var dice = Dice(6)
        func encodingOf(_ values: [Int64]) throws -> String {
            let bytes = values.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: .standard) }
            return try withExactBytes(bytes) { try IntegersReader($0, count: values.count).encodingName }
        }
        let far: [Int64] = (0..<5000).map { Int64(bitPattern: mix(UInt64($0), 7)) }
        let codes: [Int64] = (0..<30_000).map { _ in Int64(dice.below(5000)) }
        #expect(try encodingOf(codes.map { far[Int($0)] }).hasPrefix("dictionary("))
        #expect(try !encodingOf(codes).hasPrefix("dictionary("))
    }

    @Test func `a stream reports the features of its id, of its forms and of the streams in it`() throws {
        func features(_ bytes: [UInt8], _ count: Int) throws -> EncodingFeatures {
            try withExactBytes(bytes) { try FloatsReader($0, count: count).features }
        }
        // One form, decimals of one digit or printed Floats: the constant 7.
        #expect(try features([6, 1, 2, 1, 3, 2, 1, 14], 3) == .numbers)
        #expect(try features([6, 1, 8, 15, 3, 2, 1, 14], 3) == [.numbers, .doubles])
        #expect(try features([6, 1, 9, 1, 15, 3, 2, 1, 14], 3) == [.numbers, .doubles])
        #expect(try features([7, 1, 2, 1, 0, 1, 0], 3) == .doubles)
        // Modelled integers within decimals, mixed doubles and a dictionary.
        let ends: [Int64] = [5, 250, 499, 999]
        let digits: [Int64] = (0..<4000).map { i in
            let end = ends[Int(mix(UInt64(i), 7) % 4)]
            return (Int64(i % 7) * 1000 + end) * 1_000_000_007
        }
        let coded = digits.withUnsafeBufferPointer { encodeModelled($0, low: digits.min()!, high: digits.max()!, goal: 1 << 20) }
        let modelled = try #require(coded)
        let size = varint(modelled.count)
        var mixed: [UInt8] = [6, 1, 2, 1], dictionary: [UInt8] = [7, 1, 2, 1, 0]
        mixed += varint(4000) + size + modelled
        dictionary += modelled
        var corrected: [UInt8] = [8, 2, 1]
        corrected += size + modelled + [1, 0]
        #expect(try features(corrected, 4000) == [.corrections, .models])
        #expect(try features(mixed, 4000) == [.numbers, .models])
        #expect(try features(dictionary, 4000) == [.doubles, .models])
    }
}
