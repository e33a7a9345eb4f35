import FirnBytes
import FirnKit
import Testing

@testable import FirnCodecs

/// Phrases in which each word says much about the next one, as in comments.
enum ContextSample {
    static func phrase(_ random: inout Random) -> String {
        let kinds = [
            ["ironic", "final", "pending", "bold", "even"], ["deposits", "requests", "accounts", "pinto beans"],
            ["sleep", "haggle", "nag"],
        ]
        var words: [String] = []
        for i in 0..<3 + random.below(5) { words.append(kinds[i % 3][random.below(kinds[i % 3].count)]) }
        return words.joined(separator: " ") + " \(random.below(1000))"
    }

    static func text(_ rows: Int, seed: UInt64) -> Text {
        var random = Random(seed: seed), text = Text()
        for _ in 0..<rows { text.append(phrase(&random)) }
        return text
    }
}

@Suite struct ContextTests {
    private func plan(_ text: Text, contexts: Int, profile: Profile = .small) -> (encoder: ContextEncoder, trained: [UInt8]) {
        let training = ContextTraining(text, symbolRows: [0..<text.count], rows: [0..<text.count])
        let plan = training.plan(contexts: contexts)
        return (ContextEncoder(plan, parser: training.parser, profile: profile), TrainedText.encode(contexts: plan, level: 19))
    }

    private func group(_ segments: [Text], _ sample: Text, contexts: Int, profile: Profile = .small) throws -> EncodedGroup {
        var group = EncodedGroup([Text()])
        let (encoder, trained) = plan(sample, contexts: contexts, profile: profile)
        group.streams = try segments.map { try #require(encoder.encode($0, training: .shared(0))) }
        group.shared = [SharedBlob(kind: .trained, bytes: trained)]
        return group
    }

    @Test func `comments take a quarter less than as symbols of twelve bits, and say which encoding they have`() throws {
        let segments = (0..<3).map { ContextSample.text(12_000, seed: $0 + 1) }
        let trial = try #require(SymbolTrial(segments[0], segments: 3, limit: .infinity)), encoder = SymbolEncoder(trial.table)
        let symbols = segments.reduce(trial.trained.count) { $0 + encoder.encode($1, training: .shared(0), profile: .standard).count }
        for profile in [Profile.small, .standard] {
            let group = EncodedGroup(segments, profile: profile)
            #expect(group.streams.allSatisfy { $0[0] == TextEncoding.contexts.rawValue })
            #expect(group.bytes * 4 < symbols * 3, "\(group.bytes) \(symbols)")
            try group.expect(segments)
        }
        let small = EncodedGroup(segments, profile: .small), fast = EncodedGroup(segments, profile: .fast)
        #expect(!fast.streams.contains { $0[0] == TextEncoding.contexts.rawValue })
        let stream = small.streams[0]
        let name = try stream.withUnsafeBytes { try TextReader($0, count: 12_000, shared: TextReader.unread).encodingName }
        #expect(name == "symbols in contexts")
        #expect(try stream.withUnsafeBytes { try TextReader.features(of: $0, count: 12_000) } == .contexts)
    }

    @Test(arguments: Seed.some(1, 2, 3)) func `texts of every kind round trip in any number of contexts`(_ seed: Seed) throws {
        var random = Random(seed)
        for sample in TextSample.allCases {
            let most = sample == .long ? 30 : 1500
            let segments = [sample.text(1 + random.below(most), seed: 5), sample.text(random.below(most), seed: 6)]
            for contexts in [1, 5, 255] {
                // Vectors of one page, and of several.
                for profile in [Profile.small, .standard] {
                    try group(segments, segments[0], contexts: contexts, profile: profile)
                        .expect(segments, "\(sample), \(contexts) contexts, \(profile)")
                }
            }
            // Symbols that were learned from another text: nearly everything is escaped.
            try group(segments, ContextSample.text(300, seed: 1), contexts: 8).expect(segments, "\(sample), escaped")
            // No symbols at all.
            try group(segments, Text(), contexts: 4).expect(segments, "\(sample), bytes")
        }
    }

    @Test func `every byte, empty strings and strings of many pages round trip`() throws {
        var text = Text()
        for i in 0..<2100 { text.append((0..<i % 40).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ i) }) }
        text.append([UInt8](repeating: 7, count: 200_000))
        text.append((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) })
        for _ in 0..<3000 { text.appendEmpty() }
        for contexts in [1, 16] {
            for profile in [Profile.small, .standard] { try group([text], text, contexts: contexts, profile: profile).expect([text]) }
        }
    }

    @Test func `a segment unlike the first one is not larger than without contexts`() throws {
        let first = ContextSample.text(12_000, seed: 1), other = TextSample.random.text(4000, seed: 2)
        let group = EncodedGroup([first, other, first], profile: .small), without = EncodedGroup([other], profile: .small)
        try group.expect([first, other, first])
        #expect(group.streams[0][0] == TextEncoding.contexts.rawValue)
        #expect(group.streams[1].count <= without.bytes + without.bytes / 20)
    }

    @Test func `the same text has the same bytes`() {
        let segments = [ContextSample.text(12_000, seed: 1), ContextSample.text(2000, seed: 2)]
        let once = EncodedGroup(segments, profile: .small), again = EncodedGroup(segments, profile: .small)
        #expect(once.streams == again.streams && once.shared.map(\.bytes) == again.shared.map(\.bytes))
    }

    /// The blob of a model that is written after the specification: symbols "ab" and "c", two contexts, tables of 64 slots.
    private func handwritten(
        after: [UInt8] = [0, 1, 0, 0], frequencies: [[(Int, Int)]] = [[(0, 1), (1, 31), (2, 32)], [(0, 1), (3, 63)], [(0, 32), (1, 32)]]
    ) -> [UInt8] {
        var out = ByteWriter(), model = ByteWriter()
        model.append(lengthPrefixed: [2, 0, 2, 1] + Array("abc".utf8))
        model.append(UInt8(6))
        model.append(UInt8(frequencies.count - 1))
        model.append(contentsOf: after)
        for table in frequencies {
            model.append(lengthPrefixed: encodeBins(table.map { EntropyBin(lower: UInt64($0.0), extra: 0, frequency: $0.1) }))
        }
        out.append(UInt8(2))
        out.append(UInt8(0))
        out.appendVarint(model.bytes.count)
        out.append(contentsOf: model.bytes)
        return out.bytes
    }

    private func read(_ blob: [UInt8], page: [UInt8], largest: Int, count: Int = 1) throws -> [[UInt8]] {
        var stream = ByteWriter()
        stream.append(contentsOf: [0x66, 2])
        stream.append(lengthPrefixed: blob)
        stream.append(UInt8(10))
        stream.appendVarint(largest)
        stream.append(lengthPrefixed: page)
        let reader = try TextReader(EncodedGroup.keep(stream.bytes), count: count, shared: [])
        var text = Text()
        try reader.decode(vector: 0, into: &text)
        return (0..<count).map { text.array($0) }
    }

    @Test func `a model that is written after the specification is read, and what does not fit it is damage`() throws {
        // Each state and number follows from the tables; the encoder writes the same pages that this model reads.
        let tables: [[(Int, Int)]] = [[(0, 1), (1, 31), (2, 32)], [(0, 1), (3, 63)], [(0, 32), (1, 32)]]
        let plan = ContextPlan(
            symbols: SymbolTable([Array("ab".utf8), Array("c".utf8)]), contexts: [0, 0, 0, 0],
            tables: tables.map { $0.map { EntropyBin(lower: UInt64($0.0), extra: 0, frequency: $0.1 * 64) } })
        let parser = ContextParser(
            SymbolTable((0...255).map { [UInt8($0)] } + [Array("ab".utf8)]),
            numbers: (0..<257).map { $0 == 256 ? 2 : $0 == Int(UInt8(ascii: "c")) ? 3 : 0 })
        let text = Text(["abab", "", "ab?", "?"])
        let training = PageEncoder.Training.inline(TrainedText.encode(contexts: plan, level: 1))
        let stream = try #require(ContextEncoder(plan, parser: parser, profile: .small).encode(text, training: training))
        let reader = try TextReader(EncodedGroup.keep(stream), count: text.count, shared: [])
        var out = Text()
        try reader.decode(vector: 0, into: &out)
        #expect(out == text)
        // Wrong contexts, numbers and sums.
        for blob in [
            handwritten(after: [0, 2, 0, 0]), handwritten(frequencies: [[(0, 1), (4, 63)], [(0, 64)]]),
            handwritten(frequencies: [[(0, 1), (1, 62)], [(0, 64)]]), handwritten(frequencies: [[(0, 64)]]),
        ] {
            #expect(throws: Damage.self) { _ = try read(blob, page: [0, 0, 0, 0], largest: 100) }
        }
    }

    @Test func `symbols that take no bits do not fill the memory`() throws {
        // After the beginning, "ab" for ever.
        let blob = handwritten(after: [0, 0, 0, 0], frequencies: [[(2, 64)], [(1, 64)]])
        for largest in [0, 1, 2, 1000, 1 << 20] {
            #expect(throws: Damage.self) { _ = try read(blob, page: [0], largest: largest) }
        }
        #expect(throws: Damage.self) { _ = try read(blob, page: [0], largest: 1 << 30) }
        // Strings that end at once take no bits either, as many as there are.
        let empty = handwritten(after: [0, 0, 0, 0], frequencies: [[(1, 64)], [(1, 64)]])
        #expect(try read(empty, page: [0], largest: 0, count: 1000).allSatisfy(\.isEmpty))
        #expect(throws: Damage.self) { _ = try read(empty, page: [0, 0], largest: 0, count: 1000) }
    }

    @Test(arguments: Seed.some(1, 2)) func `changed models and pages never trap`(_ seed: Seed) throws {
        var random = Random(seed)
        let text = ContextSample.text(900, seed: 3)
        // One page, or three.
        let (encoder, trained) = plan(text, contexts: 4, profile: seed.number % 2 == 0 ? .small : .standard)
        let stream = try #require(encoder.encode(text, training: .shared(0)))
        // The model as it is, so that changes reach its tables.
        var plain = try trained.withUnsafeBytes { (bytes) throws -> [UInt8] in
            var reader = ByteReader(bytes)
            _ = try reader.read(UInt8.self)
            let charge = try MemoryScope.unlimited.holding(0)
            return try PageBlock.read(&reader, limit: 1 << 20, charge, .unlimited)
        }
        plain = {
            var out = ByteWriter()
            out.append(UInt8(2))
            out.append(UInt8(0))
            out.appendVarint(plain.count)
            out.append(contentsOf: plain)
            return out.bytes
        }()
        func read(_ blob: [UInt8], _ stream: [UInt8]) -> Bool {
            do throws(Damage) {
                let shared = try SharedText(kind: .trained, bytes: EncodedGroup.keep(blob))
                let reader = try TextReader(EncodedGroup.keep(stream), count: text.count, shared: [shared])
                var out = Text()
                try reader.decode(vector: 0, into: &out)
                return out == text
            } catch { return false }
        }
        #expect(read(plain, stream))
        var wrong = 0
        for _ in 0..<Tier.cases(300, of: 3000) {
            var blob = plain, bytes = stream
            if random.chance(50) {
                blob[random.below(blob.count)] ^= 1 << UInt8(random.below(8))
            } else {
                bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
            }
            if !read(blob, bytes) { wrong += 1 }
        }
        #expect(wrong > 100)
    }
}
