import FirnBytes
import FirnKit
import Foundation
import Testing

@testable import FirnCodecs

/// Ends the process of an exit test if a condition does not hold, because later results would be meaningless.
private func demand(_ holds: Bool, _ what: @autoclosure () -> String = "a condition does not hold") {
    if holds { return }
    Issue.record("\(what())")
    exit(EXIT_FAILURE)
}

/// Frames that are written without zstd because it has no memory. `FirnDatabaseTests.LibraryFaultTests` causes this for whole files.
@Suite struct UncompressedFrameTests {
    @Test func `data that zstd fails to compress is stored in an uncompressed frame, and the failure is counted [T4]`() async {
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
            // If a dictionary cannot be loaded, the frames do not need it.
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
                preconditionFailure("the dictionary was digested without memory")
            } catch let damage as Damage { demand(damage.isUnread) }
        }
    }
}
