import FirnBytes
import FirnKit
import Foundation
import Testing

@testable import FirnCodecs

/// What does not hold ends the process of an exit test: what comes after is worth nothing.
private func demand(_ holds: Bool, _ what: @autoclosure () -> String = "it does not hold") {
    if holds { return }
    Issue.record("\(what())")
    exit(EXIT_FAILURE)
}

/// Frames that are made without zstd, where it has no memory (`FirnDatabaseTests.LibraryFaultTests` makes it so).
@Suite struct UncompressedFrameTests {
    @Test func `T4: what zstd refuses to compress is there uncompressed, for any zstd to unpack, and noted`() async {
        await #expect(processExitsWith: .success) {
            let refused: [LibraryCall] = [.compressionContext, .compress]
            for call in refused {
                for count in [0, 1, 100, (128 << 10) - 1, 128 << 10, (128 << 10) + 1, 700_000] {
                    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) }, noted = CompressionFailures.count
                    LibraryFaults.begin { $0 == call }
                    let frame = Frame.compress(bytes, level: 3)
                    LibraryFaults.begin(nil)
                    demand(
                        CompressionFailures.count == noted + (call == .compressionContext ? 2 : 1), "\(CompressionFailures.count - noted)")
                    demand(frame.count == count + 2 + 3 * max(1, (count + (128 << 10) - 1) / (128 << 10)), "\(frame.count)")
                    let back = try frame.withUnsafeBytes { try Frame.expand($0, size: count) }
                    demand(back == bytes, "\(call), \(count) bytes")
                }
            }
            // A dictionary that cannot be loaded: its frames need none.
            let dictionary = [UInt8]("the quick brown fox jumps over the lazy dog".utf8), text = [UInt8]("the quick brown fox jumps".utf8)
            LibraryFaults.begin { $0 == .compressionDictionary }
            var frame: [UInt8] = []
            let compressor = dictionary.withUnsafeBytes { PageCompressor(level: 3, dictionary: $0) }
            LibraryFaults.begin(nil)
            text.withUnsafeBytes { _ = compressor.compress($0, into: &frame) }
            let digested = try dictionary.withUnsafeBytes { try PageDictionary($0) }
            try demand(frame.withUnsafeBytes { try PageDecompressor.inflate($0, size: text.count, dictionary: digested) } == text)
            LibraryFaults.begin { $0 == .decompressionDictionary }
            do {
                _ = try dictionary.withUnsafeBytes { try PageDictionary($0) }
                preconditionFailure("it was digested")
            } catch let damage as Damage { demand(damage.isUnread) }
        }
    }
}
