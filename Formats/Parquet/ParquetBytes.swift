import FirnBytes
import FirnDisk
import FirnExchange

/// The bytes of a file, mapped, or in memory if it cannot be mapped.
final class ParquetBytes: @unchecked Sendable {
    /// The name in errors.
    let name: String
    let bytes: UnsafeRawBufferPointer
    private let mapping: Mapping?
    private let memory: UnsafeMutableRawBufferPointer?
    private let charge: MemoryCharge?

    var count: Int { bytes.count }

    /// Whether the file was truncated while it was read, so that what was read is wrong.
    var isBroken: Bool { mapping?.isBroken ?? false }

    /// Takes the bytes out of resident memory, if they are mapped.
    func release() { mapping?.release(count: bytes.count) }

    /// Opens the file of an input. A pipe or compressed bytes are first copied into a temporary file without a name, or into memory if
    /// `staysOffDisk` is set.
    convenience init(_ input: Input, staysOffDisk: Bool) throws(FirnError) {
        if input.path != "-", input.compression == .none, Paths.kind(input.path) == .file {
            try self.init(file: try File(path: input.path, .read), name: input.name)
            return
        }
        if staysOffDisk {
            self.init(array: try input.readToEnd(), name: input.name)
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

    private convenience init(file: File, name: String) throws(FirnError) {
        let size = Int(clamping: try file.size())
        if let mapping = Mapping.watched(file) {
            self.init(name, mapping.bytes(at: 0, count: size), mapping, nil, nil)
            return
        }
        let charge = MemoryCharge(.process)
        guard charge.take(size) else { throw FirnError.beyondMemory("the file", size, .process, at: .init(file: name)) }
        self.init(name, try file.readAll(), charge)
    }

    convenience init(array: [UInt8], name: String) { self.init(name, array, nil) }

    private convenience init(_ name: String, _ array: [UInt8], _ charge: MemoryCharge?) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(array.count, 1), alignment: 16)
        memory.copyBytes(from: array)
        self.init(name, UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[..<array.count]), nil, memory, charge)
    }

    private init(
        _ name: String, _ bytes: UnsafeRawBufferPointer, _ mapping: Mapping?, _ memory: UnsafeMutableRawBufferPointer?,
        _ charge: MemoryCharge?
    ) {
        self.name = name
        self.bytes = bytes
        self.mapping = mapping
        self.memory = memory
        self.charge = charge
    }

    deinit { memory?.deallocate() }

    /// Returns a range of the file.
    func slice(_ start: Int, _ count: Int, _ what: @autoclosure () -> String) throws(ParquetFault) -> UnsafeRawBufferPointer {
        guard start >= 0, count >= 0, start <= bytes.count, count <= bytes.count - start else {
            throw ParquetFault("\(what()) is outside the file", at: max(0, min(start, bytes.count)))
        }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
    }
}
