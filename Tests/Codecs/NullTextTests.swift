import FirnBytes
import FirnCodecs
import FirnKit
import Testing

@Suite struct NullTextTests {
    @Test(arguments: [1, 2, 5, 300, 1024, 3000])
    func `text columns with only null, one value or many values round trip`(count: Int) throws {
        for hole in 0..<3 {
            var text = Text(), present = Bits(repeating: false, count: count)
            for i in 0..<count {
                if hole == 1, i == count / 2 {
                    text.append("x"); present[i] = true
                } else if hole == 2, i % 2 == 0 {
                    text.append("v\(i % 7)"); present[i] = true
                } else {
                    text.appendEmpty()
                }
            }
            for profile in [Profile.fast, .standard, .small] {
                let encoder = TextGroupEncoder(profile: profile)
                encoder.add(text, present: present)
                var parts = encoder.takeReady()
                parts += encoder.finish().rest
                #expect(parts.count == 1)
                try parts[0].1.withUnsafeBytes { bytes in
                    let reader = try TextReader(bytes, count: count, shared: [])
                    var back = Text()
                    for vector in 0..<(count + 1023) / 1024 {
                        try reader.decode(vector: vector, into: &back)
                        for i in 0..<back.count where present[vector * 1024 + i] {
                            #expect(back.string(i) == text.string(vector * 1024 + i))
                        }
                        if let values = try reader.values {
                            var codes = [Int64](repeating: 0, count: 1024)
                            try codes.withUnsafeMutableBufferPointer { try reader.decodeCodes(vector: vector, into: $0.baseAddress!) }
                            #expect(codes[..<back.count].allSatisfy { $0 >= 0 && $0 < max(values.count, 1) })
                        }
                    }
                    for i in 0..<count { _ = try reader.withValue(at: i) { $0.count } }
                }
            }
        }
    }
}

extension NullTextTests {
    @Test func `short text columns with nulls round trip`() throws {
        var random = Random(seed: 1)
        func next(_ n: Int) -> Int { random.below(n) }
        for round in 0..<20000 {
            let count = 1 + next(30), kinds = 1 + next(6), density = next(100)
            var text = Text(), present = Bits(repeating: false, count: count)
            for i in 0..<count {
                if next(100) < density {
                    text.append(String(repeating: "va", count: next(kinds)) + "\(next(kinds))"); present[i] = true
                } else {
                    text.appendEmpty()
                }
            }
            let encoder = TextGroupEncoder(profile: .standard)
            encoder.add(text, present: present)
            var parts = encoder.takeReady()
            parts += encoder.finish().rest
            do {
                try parts[0].1.withUnsafeBytes { bytes in
                    let reader = try TextReader(bytes, count: count, shared: [])
                    var back = Text()
                    try reader.decode(vector: 0, into: &back)
                    for i in 0..<count where present[i] { #expect(back.string(i) == text.string(i)) }
                }
            } catch { Issue.record("round \(round) \((0..<count).map { present[$0] ? text.string($0) : "-" }) \(error)"); return }
        }
    }
}

extension NullTextTests {
    /// zstd trained a dictionary with samples that had fewer bytes than it hashes at a time, and read outside of them.
    @Test(arguments: [Profile.fast, .standard, .small])
    func `a few long strings after empty ones round trip`(profile: Profile) throws {
        var random = Random(seed: 3)
        for (empty, long, length) in [(7, 2, 20_000), (5, 4, 200_000), (6, 2, 200_000), (7, 3, 200_000), (30, 10, 5_000), (48, 16, 2_000)] {
            let strings =
                [String](repeating: "", count: empty)
                + (0..<long).map { _ in (0..<length / 8).map { _ in "\(random.below(9_000_000))" }.joined(separator: " ") }
            var text = Text()
            for string in strings { text.append(string) }
            let encoder = TextGroupEncoder(profile: profile)
            encoder.add(text, present: nil)
            let parts = encoder.takeReady() + encoder.finish().rest
            try parts[0].1.withUnsafeBytes { bytes in
                let reader = try TextReader(bytes, count: strings.count, shared: [])
                var back = Text()
                try reader.decode(vector: 0, into: &back)
                #expect(back.count == strings.count && strings.indices.allSatisfy { back.string($0) == strings[$0] })
            }
        }
    }
}
