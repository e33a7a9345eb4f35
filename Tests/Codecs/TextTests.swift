@testable import FirnCodecs
import FirnBytes
import FirnKit
import Testing

/// An encoded group: all streams and the blobs that they share.
struct EncodedGroup {
    var streams: [[UInt8]]
    var shared: [SharedBlob]

    init(_ segments: [Text], present: [Bits?] = [], profile: Profile = .standard, releasesContexts: Bool = false, trialRows: Int = 4096) {
        let encoder = TextGroupEncoder(profile: profile, trialRows: trialRows)
        var all: [(Int, [UInt8])] = []
        for (i, segment) in segments.enumerated() {
            encoder.add(segment, present: present.isEmpty ? nil : present[i])
            if releasesContexts { encoder.releaseContexts() }
            all += encoder.takeReady()
        }
        #expect(encoder.segmentCount == segments.count)
        let end = encoder.finish()
        all += end.rest
        shared = end.shared
        streams = all.sorted { $0.0 < $1.0 }.map(\.1)
        #expect(all.map(\.0).sorted() == Array(0..<segments.count), "not every segment was returned once")
        if segments.count < 2 { #expect(shared.isEmpty) }
    }

    var bytes: Int { streams.reduce(0) { $0 + $1.count } + shared.reduce(0) { $0 + $1.bytes.count } }

    /// Reads everything by vector, and some rows one by one, and compares.
    func expect(_ segments: [Text], present: [Bits?] = [], _ note: String = "") throws {
        let opened = try shared.map { blob in try SharedText(kind: blob.kind, bytes: UnsafeRawBufferPointer(Self.keep(blob.bytes))) }
        for (s, segment) in segments.enumerated() {
            let reader = try TextReader(UnsafeRawBufferPointer(Self.keep(streams[s])), count: segment.count, shared: opened)
            let mask = present.isEmpty ? nil : present[s]
            var text = Text()
            for vector in 0..<((segment.count + 1023) / 1024) {
                let rows = vector * 1024..<min(segment.count, vector * 1024 + 1024)
                if let mask {
                    let bits = mask.slice(rows)
                    try bits.words.withUnsafeBufferPointer { (b) throws(Damage) in
                        try reader.decode(vector: vector, present: b.baseAddress, into: &text)
                    }
                } else {
                    try reader.decode(vector: vector, into: &text)
                }
                var wanted = Text()
                wanted.append(contentsOf: segment, range: rows)
                if text != wanted { Issue.record("\(note): segment \(s) vector \(vector) differs (\(reader.encodingName))"); return }
                if let values = try reader.values {
                    var codes = [Int64](repeating: -1, count: 1024)
                    try codes.withUnsafeMutableBufferPointer { (b) throws(Damage) in
                        try reader.decodeCodes(vector: vector, into: b.baseAddress!)
                    }
                    for (i, row) in rows.enumerated() where mask?[row] ?? true {
                        guard values.array(Int(codes[i])) == segment.array(row) else {
                            Issue.record("\(note): wrong code of row \(row)"); return
                        }
                    }
                    for i in 1..<max(values.count, 1) {
                        guard values.array(i - 1).lexicographicallyPrecedes(values.array(i)) else {
                            Issue.record("\(note): the values do not ascend"); return
                        }
                    }
                }
            }
            for row in stride(from: 0, to: segment.count, by: max(1, segment.count / 97)) where mask?[row] ?? true {
                let value = try reader.withValue(at: row) { Array($0) }
                guard value == segment.array(row) else { Issue.record("\(note): row \(row) differs (\(reader.encodingName))"); return }
            }
        }
    }

    /// Returns bytes that are never freed, like those of a mapped file.
    static func keep(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(copy)
    }

    func name(_ segment: Int, count: Int) throws -> String {
        try TextReader(
            Self.keep(streams[segment]), count: count,
            shared: try shared.map { try SharedText(kind: $0.kind, bytes: Self.keep($0.bytes)) }
        ).encodingName
    }
}

/// Columns of different kinds.
enum TextSample: String, CaseIterable {
    case empty, constant, emptyStrings, few, many, distinctIds, sentences, random, zeros, mixed, long

    func text(_ n: Int, seed: UInt64) -> Text {
        var dice = Random(seed: seed), text = Text()
        let words = ["snow", "ice", "quickly", "final", "deposits", "carefully", "the", "across", "slept", "furious"]
        for i in 0..<n {
            switch self {
            case .empty: return text
            case .constant: text.append("always the same")
            case .emptyStrings: text.appendEmpty()
            case .few: text.append(words[Int(dice.next() % 10)])
            case .many: text.append("name \(dice.next() % UInt64(max(n / 4, 1)))")
            case .distinctIds: text.append("Customer#\(String(1_000_000 + i).dropFirst())")
            case .sentences:
                let count = Int(2 + dice.next() % 9), sentence = (0..<count).map { _ -> String in words[Int(dice.next() % 10)] }
                text.append(sentence.joined(separator: " ") + String(dice.next() % 1000))
            case .random:
                let count = Int(dice.next() % 30)
                text.append((0..<count).map { _ -> UInt8 in UInt8(truncatingIfNeeded: dice.next()) })
            case .zeros:
                let middle = Array("v\(dice.next() % UInt64(n + 1))".utf8)
                text.append([0, 1, 0] as [UInt8] + middle + [0])
            case .mixed:
                switch dice.next() % 4 {
                case 0: text.appendEmpty()
                case 1: text.append([0xFF, 0xFE, UInt8(truncatingIfNeeded: i)])
                default: text.append("row \(i) of \(dice.next())")
                }
            case .long: text.append(String(repeating: "long line \(dice.next() % 100) ", count: Int(dice.next() % 400)))
            }
        }
        return text
    }
}

@Suite struct TextTests {
    @Test func `long strings that repeat after a few thousand rows get a dictionary in shorter segments too, if the trial is longer`() {
        var random = Random(seed: 72)
        let values = (0..<4096).map { "text \($0 &* 7919) of column" }
        let segments = (0..<8).map { _ in Text((0..<4096).map { _ in values[random.below(values.count)] }) }
        let early = EncodedGroup(segments), late = EncodedGroup(segments, trialRows: 8192)
        #expect(late.shared.map { $0.kind } == [.values] && late.bytes * 5 < early.bytes * 4, "\(early.bytes), \(late.bytes)")
    }

    @Test func `contexts that are released after each segment change no byte`() {
        for profile in [Profile.fast, .standard, .small] {
            var random = Random(seed: 71)
            let segments = (0..<4).map { part in
                Text((0..<6000).map { _ in "order \(part) of customer \(random.below(1 << 40)) in street \(random.below(900))" })
            }
            let kept = EncodedGroup(segments, profile: profile)
            let released = EncodedGroup(segments, profile: profile, releasesContexts: true)
            #expect(kept.streams == released.streams && kept.shared.map { $0.bytes } == released.shared.map { $0.bytes })
        }
    }

    @Test(arguments: TextSample.allCases)
    func `a column of one segment round trips`(_ sample: TextSample) throws {
        for n in [0, 1, 2, 3, 100, 249, 1023, 1024, 1025, 5000] {
            for profile in [Profile.fast, .standard, .small] {
                let text = sample.text(n, seed: 7)
                try EncodedGroup([text], profile: profile).expect([text], "\(sample) \(n) \(profile)")
            }
        }
    }

    @Test(arguments: TextSample.allCases)
    func `a group of segments round trips`(_ sample: TextSample) throws {
        let segments = (0..<3).map { sample.text($0 == 2 ? 1500 : 9000, seed: UInt64($0)) }
        for profile in [Profile.fast, .standard] {
            try EncodedGroup(segments, profile: profile).expect(segments, "\(sample) \(profile)")
        }
    }

    @Test func `rows without a value are decoded as empty text if the validity is given`() throws {
        for sample in [TextSample.few, .many, .sentences, .distinctIds] {
            var dice = Random(seed: 3)
            let full = sample.text(9000, seed: 1)
            var text = Text(), bits = Bits(count: 0)
            for i in 0..<full.count {
                let isPresent = dice.next() % 3 != 0
                bits.append(isPresent)
                if isPresent { text.append(full.array(i)) } else { text.appendEmpty() }
            }
            try EncodedGroup([text, text], present: [bits, bits]).expect([text, text], present: [bits, bits], "\(sample)")
        }
    }

    @Test func `equal segments give equal bytes`() {
        for sample in TextSample.allCases {
            let segments = (0..<2).map { sample.text(6000, seed: UInt64($0)) }
            let one = EncodedGroup(segments), two = EncodedGroup(segments)
            #expect(one.streams == two.streams)
            #expect(one.shared.map(\.bytes) == two.shared.map(\.bytes))
        }
    }

    @Test func `a value of 100 MB round trips`() throws {
        var dice = Random(seed: 5)
        var text = Text(["before"])
        let block = (0..<4096).map { _ in UInt8(truncatingIfNeeded: dice.next() & 15) }
        var value: [UInt8] = []
        while value.count < 100_000_000 { value += block }
        text.append(value)
        text.append("after")
        let group = EncodedGroup([text], profile: .fast)
        try group.expect([text])
    }

    /// `trimmed`: the table is trimmed between texts.
    @Test(arguments: [false, true])
    func `a value table numbers strings of every length in the order of their first appearance`(trimmed: Bool) {
        let table = ValueTable()
        var dice = Random(seed: 11), text = Text(), numbers: [[UInt8]: UInt32] = [:]
        for _ in 0..<30_000 { text.append((0..<Int(dice.next() % 40)).map { _ in UInt8(truncatingIfNeeded: dice.next() % 3) }) }
        var codes = [UInt32](repeating: 0, count: text.count)
        var part = Text(), start = 0, length = 1
        for i in 0..<text.count {
            part.append(text.array(i))
            guard part.count == length || i == text.count - 1 else { continue }
            codes.withUnsafeMutableBufferPointer { table.insert(part, present: nil, codes: $0.baseAddress! + start) }
            (part, start, length) = (Text(), i + 1, length * 2)
            if trimmed {
                let before = table.bufferedBytes
                table.trim()
                #expect(table.bufferedBytes < before)
            }
        }
        for i in 0..<text.count {
            let value = text.array(i)
            let number = numbers[value] ?? UInt32(numbers.count)
            numbers[value] = number
            if codes[i] != number { Issue.record("string \(i) has number \(codes[i]), not \(number)"); return }
        }
        #expect(table.count == numbers.count)
        let sorted = table.sortedOrder().map { Array(table.value(Int($0))) }
        #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
    }
}
