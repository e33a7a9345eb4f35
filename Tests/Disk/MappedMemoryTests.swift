import FirnBytes
import FirnKit
import Testing

@testable import FirnDisk

/// Each test runs in a separate process, because the limit is that of a process.
@Suite(.enabled(if: MappedBytes.areKnown)) struct MappedMemoryTests {
    /// Makes a file of `size` bytes, whose byte at each position follows from the position.
    private static func file(_ scratch: Scratch, _ size: Int) throws -> File {
        let file = try File(path: scratch("a"), .createNew)
        for start in stride(from: 0, to: size, by: 4096) {
            try file.write([UInt8](repeating: UInt8(truncatingIfNeeded: start >> 12), count: 4096), at: UInt64(start))
        }
        return file
    }

    private static let piece = 512 << 10
    /// The system can map this many bytes around one that is read.
    private static let around = 2 << 20

    /// Reads the mapping from its first byte to its last. Returns the largest number of resident bytes.
    private static func readAll(_ mapping: Mapping, _ file: File, _ size: Int) -> Int {
        var most = 0
        for start in stride(from: 0, to: size, by: piece) {
            MappedMemory.willRead(piece)
            for at in stride(from: start, to: start + piece, by: 4096) {
                precondition(mapping.bytes(at: at, count: 1)[0] == UInt8(truncatingIfNeeded: at >> 12), "another byte")
            }
            most = max(most, MappedBytes.resident(file.path))
        }
        return most
    }

    @Test func `a limit bounds the resident bytes of a mapping, and its bytes stay readable at their address`() async {
        await #expect(processExitsWith: .success) {
            let size = 32 << 20, scratch = Scratch(), file = try Self.file(scratch, size), mapping = try Mapping(file)
            precondition(Self.readAll(mapping, file, size) == size, "without a limit, the mapping is not kept")
            MappedMemory.limit(to: 8 << 20, of: .mappings)
            let held = mapping.bytes(at: 0, count: size)
            for _ in 0..<3 {
                // The limit, and the bytes between two questions.
                precondition(Self.readAll(mapping, file, size) <= 10 << 20 + 2 * Self.around, "more than the limit is resident")
            }
            for at in stride(from: 0, to: size, by: 4096) {
                precondition(held[at] == UInt8(truncatingIfNeeded: at >> 12), "a byte that was held has changed")
            }
        }
    }

    @Test func `a mapping that is smaller than the limit is kept through any number of reads`() async {
        await #expect(processExitsWith: .success) {
            let size = 1 << 20, scratch = Scratch()
            MappedMemory.limit(to: 32 << 20, of: .mappings)
            let file = try Self.file(scratch, size), mapping = try Mapping(file)
            _ = Self.readAll(mapping, file, size)
            for _ in 0..<50 {
                _ = Self.readAll(mapping, file, size)
                precondition(MappedBytes.resident(file.path) == size, "the mapping was taken out of memory")
            }
        }
    }

    @Test func `the limit of a whole process includes its program`() async {
        await #expect(processExitsWith: .success) {
            let size = 1 << 20, scratch = Scratch(), file = try Self.file(scratch, size), mapping = try Mapping(file)
            _ = Self.readAll(mapping, file, size)
            MappedMemory.limit(to: 1 << 20, of: .process)
            MappedMemory.willRead(1 << 20)
            precondition(MappedBytes.resident(file.path) == 0, "the mapping was kept")
        }
    }
}
