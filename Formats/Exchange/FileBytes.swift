import FirnBytes
import FirnDisk

/// The bytes of a file, mapped, or in memory if it cannot be mapped.
package final class FileBytes: @unchecked Sendable {
    /// The name in errors.
    package let name: String
    package let bytes: UnsafeRawBufferPointer
    private let mapping: Mapping?
    private let memory: ChargedMemory?

    package var count: Int { bytes.count }

    /// Whether the file was truncated while it was read, so that what was read is wrong.
    package var isBroken: Bool { mapping?.isBroken ?? false }

    /// Takes the bytes out of resident memory, if they are mapped.
    package func release() { mapping?.release(count: bytes.count) }

    /// Opens the file of an input. Other inputs are first copied into a temporary file without a name, or into memory if `staysOffDisk` is
    /// set.
    package convenience init(_ input: Input, staysOffDisk: Bool) throws(FirnError) {
        if FileBytes.isPlainFile(input) {
            try self.init(file: try File(path: input.path, .read), name: input.name)
            return
        }
        if staysOffDisk {
            try self.init(array: try input.readToEnd(), name: input.name)
            return
        }
        let spool = try File.spool()
        var position: UInt64 = 0
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { piece.deallocate() }
        while true {
            let count = try input.read(into: piece)
            try spool.write(UnsafeRawBufferPointer(rebasing: piece[..<count]), at: position)
            position += UInt64(count)
            if count < piece.count { break }
        }
        try self.init(file: spool, name: input.name)
    }

    /// Whether an input is a file that can be mapped as it is.
    package static func isPlainFile(_ input: Input) -> Bool {
        input.path != "-" && input.compression == .none && Paths.kind(input.path) == .file
    }

    private convenience init(file: File, name: String) throws(FirnError) {
        let size = Int(clamping: try file.size())
        if let mapping = Mapping.watched(file) {
            self.init(name, mapping.bytes(at: 0, count: size), mapping, nil)
            return
        }
        let memory: ChargedMemory
        do throws(FormatFault) { memory = try ChargedMemory(size, "the file") } catch { throw error.error(in: name) }
        let read = try file.read(into: memory.bytes, at: 0)
        self.init(name, UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory.bytes)[..<read]), nil, memory)
    }

    package convenience init(array: [UInt8], name: String) throws(FirnError) {
        let memory: ChargedMemory
        do throws(FormatFault) { memory = try ChargedMemory(array.count, "the file") } catch { throw error.error(in: name) }
        memory.bytes.copyBytes(from: array)
        self.init(name, UnsafeRawBufferPointer(memory.bytes), nil, memory)
    }

    private init(_ name: String, _ bytes: UnsafeRawBufferPointer, _ mapping: Mapping?, _ memory: ChargedMemory?) {
        self.name = name
        self.bytes = bytes
        self.mapping = mapping
        self.memory = memory
    }

    /// Returns a range of the file.
    package func slice(_ start: Int, _ count: Int, _ what: @autoclosure () -> String) throws(FormatFault) -> UnsafeRawBufferPointer {
        guard start >= 0, count >= 0, start <= bytes.count, count <= bytes.count - start else {
            throw FormatFault("\(what()) is outside the file", at: max(0, min(start, bytes.count)))
        }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
    }
}
