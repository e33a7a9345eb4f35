@testable import FirnCodecs
import FirnBytes
import FirnKit
import Testing

@Suite struct TextHostileTests {
    /// Reads everything that can be read. For any bytes, this ends with a value or with `Damage`. Returns whether nothing was damaged.
    private func readAll(_ stream: [UInt8], count: Int, shared: [SharedBlob]) -> Bool {
        stream.withUnsafeBytes { bytes in
            do throws(Damage) {
                var opened: [SharedText] = []
                for blob in shared { opened.append(try SharedText(kind: blob.kind, bytes: EncodedGroup.keep(blob.bytes))) }
                let reader = try TextReader(bytes, count: count, shared: opened)
                let pattern = TextPattern(pieces: [Array("a".utf8), Array("e".utf8)], isAtStart: false, isAtEnd: false)!
                var bits = [UInt64](repeating: 0, count: 16)
                var text = Text(), codes = [Int64](repeating: 0, count: 1024), damaged = false
                func attempt(_ body: () throws(Damage) -> Void) { do throws(Damage) { try body() } catch { damaged = true } }
                for vector in 0..<((count + 1023) / 1024) {
                    attempt { () throws(Damage) in
                        try reader.decode(vector: vector, into: &text)
                        if text.count != min(1024, count - vector * 1024) || text.offsets.last != text.bytes.count {
                            Issue.record("a vector has a wrong count or wrong offsets")
                        }
                    }
                    attempt { () throws(Damage) in
                        try bits.withUnsafeMutableBufferPointer { (b) throws(Damage) in
                            _ = try reader.search(pattern, vector: vector, into: b.baseAddress!)
                        }
                    }
                    attempt { () throws(Damage) in
                        guard let values = try reader.values else { return }
                        try codes.withUnsafeMutableBufferPointer { (b) throws(Damage) in
                            try reader.decodeCodes(vector: vector, into: b.baseAddress!)
                        }
                        if codes.prefix(text.count).contains(where: { $0 < 0 || $0 >= values.count }) {
                            Issue.record("a code is out of the range of the values")
                        }
                    }
                }
                for row in stride(from: 0, to: count, by: max(1, count / 7)) {
                    attempt { () throws(Damage) in _ = try reader.withValue(at: row) { $0.reduce(0) { $0 &+ Int($1) } } }
                }
                return !damaged
            } catch { return false }
        }
    }

    private func encodingName(_ stream: [UInt8], count: Int, shared: [SharedBlob]) -> String {
        let opened = shared.compactMap { try? SharedText(kind: $0.kind, bytes: EncodedGroup.keep($0.bytes)) }
        return (try? TextReader(EncodedGroup.keep(stream), count: count, shared: opened).encodingName) ?? ""
    }

    private func groups() -> [(name: String, group: EncodedGroup, counts: [Int])] {
        var all: [(String, EncodedGroup, [Int])] = []
        func add(_ name: String, _ segments: [Text], _ profile: Profile = .standard) {
            all.append((name, EncodedGroup(segments, profile: profile), segments.map(\.count)))
        }
        add("constant", [TextSample.constant.text(50, seed: 1)])
        add("few", [TextSample.few.text(1500, seed: 1)])
        add("front-coded", [TextSample.many.text(3000, seed: 1)])
        var remapped: [Text] = []
        for s in 0..<3 {
            var dice = Random(seed: UInt64(s)), text = Text()
            for _ in 0..<2500 { text.append("name \(s * 700 + Int(dice.next() % 600))") }
            remapped.append(text)
        }
        add("remapped", remapped)
        add("one page", [TextSample.mixed.text(300, seed: 1)])
        add("pages", [TextSample.mixed.text(6000, seed: 1)])
        add("large pages", [TextSample.mixed.text(5000, seed: 1)], .small)
        add("fast pages", [TextSample.zeros.text(3000, seed: 1), TextSample.zeros.text(2000, seed: 2)], .fast)
        add("raw", [TextSample.random.text(300, seed: 1)])
        add("modelled", [TextSample.sentences.text(150, seed: 1)], .modelled)
        add("ids", [TextSample.distinctIds.text(6000, seed: 1), TextSample.distinctIds.text(1200, seed: 2)])
        add("sentences", [TextSample.sentences.text(6000, seed: 1), TextSample.sentences.text(1200, seed: 2)])
        add("contexts", [ContextSample.text(10_000, seed: 1), ContextSample.text(1200, seed: 2)], .small)
        var outlying = TextSample.mixed.text(500, seed: 4)
        outlying.append(String(repeating: "outlier ", count: 20_000))
        outlying.append("end")
        add("outlier", [outlying])
        return all
    }

    @Test func `truncated text streams and shared blobs are damage`() {
        for (name, group, counts) in groups() {
            for (s, stream) in group.streams.enumerated().prefix(1) {
                // Behind the end of a tANS page, a reader reads zeros.
                let isChecked = name != "constant" && !encodingName(stream, count: counts[s], shared: group.shared).contains("tANS")
                for length in stride(from: 0, to: stream.count, by: max(1, stream.count / 60)) {
                    let whole = readAll(Array(stream[..<length]), count: counts[s], shared: group.shared)
                    // The last byte may be padding.
                    if whole, isChecked, length + 1 < stream.count {
                        Issue.record("\(name) cut at \(length) of \(stream.count) is read without damage")
                    }
                }
                for (b, blob) in group.shared.enumerated() {
                    for length in stride(from: 0, to: blob.bytes.count, by: max(1, blob.bytes.count / 40)) {
                        var cut = group.shared
                        cut[b].bytes = Array(blob.bytes[..<length])
                        if readAll(stream, count: counts[s], shared: cut) {
                            Issue.record("\(name): a blob cut at \(length) is read without damage")
                        }
                    }
                }
                if !group.shared.isEmpty { #expect(!readAll(stream, count: counts[s], shared: [])) }
            }
        }
    }

    @Test(arguments: Seed.some(1, 2, 3)) func `flipped bits never trap`(_ seed: Seed) {
        var dice = Random(seed)
        var damaged = 0, read = 0
        for (_, group, counts) in groups() {
            let s = Int(dice.next() % UInt64(group.streams.count))
            for round in 0..<Tier.cases(50, of: 150) {
                var stream = group.streams[s]
                // Headers have the most effect: half of the changes are in the first bytes.
                let reach = round % 2 == 0 ? min(stream.count, 40) : stream.count
                for _ in 0...(dice.next() % 3) { stream[Int(dice.next() % UInt64(reach))] ^= 1 << UInt8(dice.next() % 8) }
                if readAll(stream, count: counts[s], shared: group.shared) { read += 1 } else { damaged += 1 }
            }
            guard !group.shared.isEmpty else { continue }
            for round in 0..<Tier.cases(20, of: 60) {
                var shared = group.shared
                let reach = round % 2 == 0 ? min(shared[0].bytes.count, 24) : shared[0].bytes.count
                for _ in 0...(dice.next() % 3) { shared[0].bytes[Int(dice.next() % UInt64(reach))] ^= 1 << UInt8(dice.next() % 8) }
                if readAll(group.streams[s], count: counts[s], shared: shared) { read += 1 } else { damaged += 1 }
            }
        }
        #expect(damaged > Tier.cases(100, of: 300) && read > Tier.cases(100, of: 300), "\(damaged) damaged, \(read) read")
    }

    @Test func `text streams that are read with another count never trap`() {
        var damaged = 0
        for (name, group, counts) in groups() {
            #expect(readAll(group.streams[0], count: counts[0], shared: group.shared), "\(name)")
            for count in [0, 1, counts[0] - 1, counts[0] + 1, counts[0] * 3, 1 << 20]
            where !readAll(group.streams[0], count: count, shared: group.shared) { damaged += 1 }
        }
        #expect(damaged > 20, "\(damaged)")
    }

    @Test func `random bytes with the id of a text encoding are damage or values, and never trap`() {
        let seed = Seed.one(99)
        var dice = Random(seed), damaged: [UInt8: Int] = [:], read: [UInt8: Int] = [:]
        for _ in 0..<3000 {
            var bytes = (0..<1 + dice.below(80)).map { _ in UInt8(truncatingIfNeeded: dice.next() & dice.next()) }
            let id = 0x60 + UInt8(dice.below(6)), count = dice.below(2000)
            bytes[0] = id
            if readAll(bytes, count: count, shared: []) { read[id, default: 0] += 1 } else { damaged[id, default: 0] += 1 }
        }
        // Any bytes are a constant; the other encodings check theirs.
        #expect(read[0x60] ?? 0 > 100 && damaged.count >= 4, "seed \(seed): \(read) read, \(damaged) damaged")
        #expect(damaged.values.reduce(0, +) > 1500, "seed \(seed): \(damaged)")
    }
}
