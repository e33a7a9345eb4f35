@testable import FirnCodecs
import FirnBytes
import FirnKit
import Testing

struct DictionaryTrainingTests {
    private static func sentences(_ count: Int, seed: UInt64) -> [[UInt8]] {
        var random = Random(seed: seed)
        let words = (0..<600).map { _ in
            String((0..<Int.random(in: 3...9, using: &random)).map { _ in "abcdefghiklmnoprstu".randomElement(using: &random)! })
        }
        return (0..<count).map { _ in
            Array((0..<80).map { _ in words.randomElement(using: &random)! }.joined(separator: " ").utf8)
        }
    }

    private static func trained(_ samples: [[UInt8]], size: Int) -> [UInt8] {
        var training = DictionaryTraining(samples.flatMap(\.self), sizes: samples.map(\.count))
        return training.dictionary(size: size)
    }

    private static func size(_ samples: [[UInt8]], _ dictionary: [UInt8]) -> Int {
        let compressor = dictionary.withUnsafeBytes { PageCompressor(level: 3, dictionary: $0) }
        var out: [UInt8] = []
        for sample in samples { sample.withUnsafeBytes { _ = compressor.compress($0, into: &out) } }
        return out.count
    }

    @Test func `a trained dictionary makes other samples of the same kind smaller`() {
        let samples = Self.sentences(700, seed: 11), dictionary = Self.trained(Array(samples.prefix(500)), size: 32 << 10)
        #expect(dictionary.count > 1024 && dictionary.count <= 32 << 10)
        let others = Array(samples.suffix(200)), plain = Self.size(others, [])
        #expect(Self.size(others, dictionary) * 10 < plain * 8)
    }

    @Test func `training the same samples twice gives the same dictionary`() {
        let samples = Self.sentences(100, seed: 12)
        #expect(Self.trained(samples, size: 8 << 10) == Self.trained(samples, size: 8 << 10))
    }

    @Test(arguments: [0, 1, 7, 8, 100, 5000])
    func `samples of any size and content are trained without a trap`(count: Int) {
        var random = Random(seed: UInt64(count))
        for size in [0, 1, 5, 6, 199, 200, 1000] {
            let noise = (0..<count).map { _ in
                (0..<min(size, 400_000 / max(count, 1))).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
            let same = (0..<count).map { _ in [UInt8](repeating: 7, count: min(size, 400_000 / max(count, 1))) }
            for samples in [noise, same] {
                for limit in [0, 1023, 1024, 100_000] { #expect(Self.trained(samples, size: limit).count <= limit) }
            }
        }
    }
}
