import FirnBytes
import FirnKit
import Testing
@testable import FirnCodecs

/// Truncated and modified streams of every encoding are an error or are decoded, without a trap, a hang or a read out of bounds.
@Suite struct HostileNumbersTests {
    static let lengths = [1, 70, 1024, 3000]

    /// How many streams could be opened, and how many were refused. Of damaged streams there must be both.
    private struct Tally {
        var opened = 0, refused = 0

        func expectBoth() { #expect(opened > 100 && refused > 100, "\(opened) opened, \(refused) refused") }
    }

    private func read(words bytes: [UInt8], count: Int, _ tally: inout Tally) {
        withExactBytes(bytes) { raw in
            guard let reader = try? IntegersReader(raw, count: count) else {
                tally.refused += 1
                return
            }
            tally.opened += 1
            _ = reader.encodingName
            _ = reader.bounds()
            var out = [Int64](repeating: 0, count: 1024)
            for vector in 0..<((count + 1023) / 1024) {
                _ = reader.bounds(ofVector: vector)
                out.withUnsafeMutableBufferPointer { try? reader.decode(vector: vector, into: $0.baseAddress!) }
            }
            for i in stride(from: 0, to: count, by: count / 7 + 1) { _ = try? reader.value(at: i) }
        }
    }

    private func read(reals bytes: [UInt8], count: Int, _ tally: inout Tally) {
        withExactBytes(bytes) { raw in
            guard let reader = try? FloatsReader(raw, count: count) else {
                tally.refused += 1
                return
            }
            tally.opened += 1
            _ = reader.bounds()
            var out = [Double](repeating: 0, count: 1024)
            for vector in 0..<((count + 1023) / 1024) {
                _ = reader.bounds(ofVector: vector)
                out.withUnsafeMutableBufferPointer { try? reader.decode(vector: vector, into: $0.baseAddress!) }
            }
            for i in stride(from: 0, to: count, by: count / 7 + 1) { _ = try? reader.value(at: i) }
        }
    }

    private func read(bits bytes: [UInt8], count: Int, _ tally: inout Tally) {
        withExactBytes(bytes) { raw in
            guard let reader = try? BooleansReader(raw, count: count) else {
                tally.refused += 1
                return
            }
            tally.opened += 1
            var out = [UInt64](repeating: 0, count: 16)
            for vector in 0..<((count + 1023) / 1024) {
                _ = reader.ones(ofVector: vector)
                guard out.withUnsafeMutableBufferPointer({ try? reader.decode(vector: vector, into: $0.baseAddress!) }) != nil else {
                    continue
                }
                let n = min(1024, count - vector * 1024)
                for i in n..<max(n, 1024) { #expect(out[i / 64] >> UInt64(i % 64) & 1 == 0) }
            }
            for i in stride(from: 0, to: count, by: count / 7 + 1) { _ = try? reader.value(at: i) }
        }
    }

    private func read(lengths bytes: [UInt8], count: Int, _ tally: inout Tally) {
        withExactBytes(bytes) { raw in
            guard let reader = try? LengthsReader(raw, count: count) else {
                tally.refused += 1
                return
            }
            tally.opened += 1
            var out = [Int](repeating: 0, count: 1025)
            for vector in 0..<((count + 1023) / 1024) {
                guard out.withUnsafeMutableBufferPointer({ try? reader.decode(vector: vector, into: $0.baseAddress!) }) != nil else {
                    continue
                }
                let n = min(1024, count - vector * 1024)
                for i in 0..<n { #expect(out[i] <= out[i + 1]) }
                #expect(out[0] >= 0 && out[n] <= reader.total)
            }
            for i in stride(from: 0, to: count, by: count / 7 + 1) {
                if let range = try? reader.range(at: i) { #expect(range.upperBound <= reader.total) }
            }
        }
    }

    /// Reads prefixes, and copies with a few changed bytes. Most changes are at the beginning, where the headers are.
    private func torment(_ bytes: [UInt8], seed: UInt64, _ read: ([UInt8]) -> Void) {
        var dice = Random(seed: seed)
        let step = max(1, bytes.count / 60)
        for length in stride(from: 0, to: bytes.count, by: step) { read(Array(bytes[0..<length])) }
        for length in 0..<min(24, bytes.count) { read(Array(bytes[0..<length])) }
        for round in 0..<80 {
            var copy = bytes
            for _ in 0...(round % 3) {
                let at = dice.below(round % 2 == 0 ? min(48, copy.count) : copy.count)
                copy[at] = round % 5 == 0 ? [0, 0xFF, 0x7F, 0x80][dice.below(4)] : copy[at] ^ UInt8(1 << dice.below(8))
            }
            read(copy)
        }
    }

    @Test func `damaged integer streams are an error or are decoded`() {
        var tally = Tally()
        for count in Self.lengths {
            for (i, (_, values)) in sampleIntegers(count: count, seed: 77).enumerated() {
                for profile in [Profile.fast, .standard, .small] {
                    let bytes = values.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: profile) }
                    torment(bytes, seed: UInt64(i * 10 + count)) { read(words: $0, count: count, &tally) }
                    for wrong in [0, 1, count + 1, count * 3, 100_000] { read(words: bytes, count: wrong, &tally) }
                }
            }
        }
        tally.expectBoth()
    }

    @Test func `damaged float streams are an error or are decoded`() {
        var tally = Tally()
        for count in Self.lengths {
            for (i, (_, values, single)) in sampleFloats(count: count, seed: 78).enumerated() {
                for profile in [Profile.standard, .small] {
                    let bytes = values.withUnsafeBufferPointer { FloatsEncoder.encode($0, present: nil, single: single, profile: profile) }
                    torment(bytes, seed: UInt64(i * 10 + count)) { read(reals: $0, count: count, &tally) }
                    for wrong in [0, 1, count + 1, count * 3, 100_000] { read(reals: bytes, count: wrong, &tally) }
                }
            }
        }
        tally.expectBoth()
    }

    @Test func `pages of integers that claim too many values are refused`() throws {
        let frame: [UInt8] = [0, 7 << 3, 3 << 3 | 1, 0, 0, 0, 3, 1]
        for count in [1, 2, 4, 64, 65, 100_000, 1 << 40] {
            try withExactBytes([9, 0, 1, 6, 20, 3, 8] + frame) { raw in
                guard let reader = try? IntegersReader(raw, count: count) else { return }
                #expect(throws: Damage.self) { try reader.value(at: 0) }
            }
        }
        // The width and the size of pages are bounded, and unknown flags are refused.
        for header in [[8, 1, 6], [0, 0, 6], [0, 9, 6], [0, 1, 5], [0, 1, 17], [0xFF, 1, 6]] as [[UInt8]] {
            withExactBytes([9] + header + [20, 3, 8] + frame) { raw in #expect(throws: Damage.self) { try IntegersReader(raw, count: 3) } }
        }
    }

    @Test func `dictionaries of doubles with wrong values or codes are refused`() throws {
        func opens(_ bytes: [UInt8], _ count: Int) -> Bool { withExactBytes(bytes) { (try? FloatsReader($0, count: count)) != nil } }
        // Two decimals of one digit, 0.5 and 0.7, and the codes 1, 0, 1.
        let values: [UInt8] = [6, 2, 1, 0, 2, 10, 4], codes: [UInt8] = [3, 0, 0, 1, 0, 1, 0b101]
        #expect(opens([7, 2] + values + codes, 3))
        #expect(!opens([7, 4] + values + codes, 3), "more values than rows")
        #expect(!opens([7] + varint(65_537) + values + codes, 100_000), "too many values")
        #expect(!opens([7, 2, 7, 7] + values.dropFirst() + codes, 3), "a dictionary within a dictionary")
        #expect(!opens([7, 2, 200] + values.dropFirst() + codes, 3), "the values are cut off")
        // A dictionary without values, and a code outside it.
        for bytes in [[7, 0, 1, 0] + codes, [7, 1, 2, 1, 0] + codes, [7, 2] + values + [1, 4], [7, 2] + values + [1, 1]] as [[UInt8]] {
            withExactBytes(bytes) { raw in
                guard let reader = try? FloatsReader(raw, count: 3) else { return }
                var out = [Double](repeating: 0, count: 1024)
                #expect(throws: Damage.self) {
                    try out.withUnsafeMutableBufferPointer { try reader.decode(vector: 0, into: $0.baseAddress!) }
                }
                #expect(throws: Damage.self) { try reader.value(at: 0) }
                _ = (reader.bounds(), reader.bounds(ofVector: 0))
            }
        }
    }

    @Test func `corrected doubles with wrong forms or streams are refused, and corrections may be any integers`() throws {
        func opens(_ bytes: [UInt8], _ count: Int = 3) -> Bool { withExactBytes(bytes) { (try? FloatsReader($0, count: count)) != nil } }
        let two = withUnsafeBytes(of: (2.0).bitPattern.littleEndian) { Array($0) }, streams: [UInt8] = [2, 1, 14, 1, 0]
        for form in [[2, 1], [3, 1], [4] + two, [5] + two] as [[UInt8]] {
            #expect(opens([8] + form + streams), "\(form)")
            for length in 0..<(form.count + 4) { #expect(!opens(Array(([8] + form + streams).prefix(length))), "\(form), \(length) bytes") }
        }
        let zero = [UInt8](repeating: 0, count: 8)
        for form in [[0], [1], [2, 19], [3, 19], [4] + zero, [5] + zero, [6] + two + [15], [7] + two + [15], [8, 15], [9, 1, 15], [10]]
            as [[UInt8]]
        {
            #expect(!opens([8] + form + streams), "\(form)")
        }
        // The least, the greatest and other corrections of the greatest and other numbers.
        let ends: [Int64] = [.min, .min + 1, -1, 0, 1, .max]
        for number in ends {
            for correction in ends {
                for form in [[2, 0], [3, 0], [2, 18], [4] + two, [5] + two] as [[UInt8]] {
                    var bytes = [8] + form
                    let k = [number, number].withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: .fast) }
                    bytes += varint(k.count) + k
                    bytes += [correction, correction].withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: .fast) }
                    try withExactBytes(bytes) { raw in
                        let reader = try FloatsReader(raw, count: 2), value = try reader.value(at: 1)
                        var out = [Double](repeating: 0, count: 1024)
                        try out.withUnsafeMutableBufferPointer { try reader.decode(vector: 0, into: $0.baseAddress!) }
                        #expect(out[0].bitPattern == value.bitPattern || out[0].isNaN && value.isNaN)
                        for bounds in [reader.bounds(), reader.bounds(ofVector: 0)] {
                            if let bounds { #expect(bounds.0 <= value && value <= bounds.1) }
                        }
                    }
                }
            }
        }
    }

    @Test func `mixed doubles with wrong forms, counts or ranks are refused`() throws {
        func opens(_ bytes: [UInt8], _ count: Int) -> Bool { withExactBytes(bytes) { (try? FloatsReader($0, count: count)) != nil } }
        // One decimal form with the constant 7.
        #expect(opens([6, 1, 2, 1, 3, 2, 1, 14], 3))
        #expect(!opens([6, 1, 2, 1, 3, 2, 1, 14], 4), "values are missing")
        #expect(!opens([6, 0], 3), "no form")
        #expect(!opens([6, 17] + [UInt8](repeating: 0, count: 17), 3), "too many forms")
        #expect(!opens([6, 1, 6, 3, 2, 1, 14], 3), "unknown form")
        #expect(!opens([6, 1, 2, 19, 3, 2, 1, 14], 3), "too many digits")
        for base in [0.0, -1, .infinity, .nan, 5e-324] {
            let bytes = withUnsafeBytes(of: base.bitPattern.littleEndian) { Array($0) }
            #expect(!opens([6, 1, 4] + bytes + [3, 2, 1, 14], 3), "base \(base)")
        }
        let two = withUnsafeBytes(of: (2.0).bitPattern.littleEndian) { Array($0) }
        #expect(opens([6, 1, 7] + two + [15, 3, 2, 1, 14], 3))
        for digits in [0, 18, 255] as [UInt8] {
            #expect(!opens([6, 1, 7] + two + [digits, 3, 2, 1, 14], 3), "\(digits) digits")
            #expect(!opens([6, 1, 8, digits, 3, 2, 1, 14], 3), "\(digits) digits of a printed Float")
            #expect(!opens([6, 1, 9, 2, digits, 3, 2, 1, 14], 3), "\(digits) digits of a printed decimal")
        }
        #expect(!opens([6, 1, 9, 19, 15, 3, 2, 1, 14], 3), "too many decimals of a printed Float")
        // All values of form 0, of which there is only one; and values of form 2, which does not exist.
        for form in [0, 2] as [UInt8] {
            try withExactBytes([6, 2, 0, 0, 2, 1, form * 2, 1, 2, 1, 14, 1, 2, 1, 14]) { raw in
                let reader = try FloatsReader(raw, count: 3)
                var out = [Double](repeating: 0, count: 1024)
                #expect(throws: Damage.self) {
                    try out.withUnsafeMutableBufferPointer { try reader.decode(vector: 0, into: $0.baseAddress!) }
                }
                #expect(throws: Damage.self) { try reader.value(at: 2) }
            }
        }
    }

    @Test func `damaged boolean streams are an error or are decoded, without bits past the count`() {
        var tally = Tally()
        for count in Self.lengths {
            for density in [1, 30, 500] {
                for clump in [1, 40] {
                    var bits = Bits(repeating: false, count: count), dice = Random(seed: UInt64(density)), on = false
                    for i in 0..<count {
                        if i % clump == 0 { on = dice.below(1000) < density }
                        bits[i] = on
                    }
                    let bytes = BooleansEncoder.encode(bits, profile: .standard)
                    torment(bytes, seed: UInt64(density + count)) { read(bits: $0, count: count, &tally) }
                    for wrong in [0, 1, count + 1, 100_000] { read(bits: bytes, count: wrong, &tally) }
                }
            }
        }
        tally.expectBoth()
    }

    @Test func `damaged list offsets are an error or ascend up to their total`() {
        var tally = Tally()
        for count in Self.lengths {
            for longest in [1, 4, 300] {
                var dice = Random(seed: UInt64(longest)), offsets = [0]
                for _ in 0..<count { offsets.append(offsets.last! + dice.below(longest + 1)) }
                let bytes = offsets.withUnsafeBufferPointer { LengthsEncoder.encode($0, profile: .standard) }
                torment(bytes, seed: UInt64(longest + count)) { read(lengths: $0, count: count, &tally) }
                for wrong in [0, 1, count + 1, 100_000] { read(lengths: bytes, count: wrong, &tally) }
            }
        }
        tally.expectBoth()
    }

    @Test func `random bytes are an error or are decoded`() {
        var tally = Tally()
        var dice = Random(seed: 5)
        for id in 0..<10 {
            for _ in 0..<1000 {
                var bytes = [UInt8(id)]
                for _ in 0..<dice.below(60) { bytes.append(dice.below(3) == 0 ? UInt8(dice.below(10)) : UInt8(dice.below(256))) }
                let count = [0, 1, 65, 1024, 2500][dice.below(5)]
                read(words: bytes, count: count, &tally)
                read(reals: bytes, count: count, &tally)
                read(bits: bytes, count: count, &tally)
                read(lengths: bytes, count: count, &tally)
            }
        }
        tally.expectBoth()
    }
}
