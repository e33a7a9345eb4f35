import FirnBytes
import FirnKit
import Testing

@testable import FirnCodecs

/// What a text encoding is expected to take decides which one is used, so it must be near what it takes.
@Suite struct TextEstimateTests {
    private static let kinds = ["sentences", "documents", "addresses", "names"]

    private func text(_ kind: String, rows: Int, _ random: inout Random) -> Text {
        let letters = Array("etaoinshrdlucm")
        let words = (0..<2000).map { i -> String in
            String((0..<2 + i * 7 % 8).map { k in letters[(i &* 2_654_435_761 >> (k * 3) & 0xFFFF) % letters.count] })
        }
        var text = Text()
        for _ in 0..<rows {
            switch kind {
            case "sentences":
                // A few hundred words, and phrases of them that occur again and again.
                let phrases = (0..<2 + random.below(4)).map { _ in "\(words[random.below(12)])ly \(words[random.below(40)])" }
                text.append(phrases.joined(separator: " "))
            case "documents":
                text.append("{\"id\":\(random.below(1_000_000)),\"tag\":\"\(words[random.below(100)])\",\"ok\":\(random.chance(2))}")
            case "addresses": text.append("\(words[random.below(2000)]).\(words[random.below(2000)])@\(words[random.below(20)]).com")
            default: text.append("\(words[random.below(300)]) \(words[random.below(2000)])")
            }
        }
        return text
    }

    @Test(arguments: kinds)
    func `later segments take about the bytes that are expected from the first one`(kind: String) throws {
        var random = Random(seed: 11)
        let sample = text(kind, rows: 30_000, &random), later = text(kind, rows: 30_000, &random)
        let coder = TextCoder(sample: sample, segments: 20, profile: .standard)
        let stream = coder.encode(later, inline: false)
        let expected = coder.ratio * Double(later.bytes.count)
        #expect(abs(Double(stream.count) - expected) < expected * 0.07, "\(stream.count) bytes for \(Int(expected))")
    }

    @Test func `text of phrases is encoded with symbols, which are smaller than pages with a dictionary`() throws {
        var random = Random(seed: 12)
        let sample = text("sentences", rows: 60_000, &random)
        let encoder = TextGroupEncoder(profile: .standard)
        for _ in 0..<3 { encoder.add(text("sentences", rows: 60_000, &random), present: nil) }
        encoder.add(sample, present: nil)
        let finished = encoder.finish(), streams = encoder.takeReady() + finished.rest
        let bytes = streams.reduce(0) { $0 + $1.1.count } + finished.shared.reduce(0) { $0 + $1.bytes.count }
        let pages = PageTrial(sample, segments: 4, profile: .standard)
        #expect(Double(bytes) < pages.bytes * 4 * 0.8, "\(bytes) bytes, \(Int(pages.bytes * 4)) as pages without a dictionary")
    }
}
