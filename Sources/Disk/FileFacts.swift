import FirnBytes
#if canImport(Glibc)
    import Glibc

    // The Glibc module hides it (it wants _GNU_SOURCE); the C and Swift conventions agree for these types.
    @_silgen_name("statx")
    private func statx(_ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32, _ mask: UInt32, _ result: UnsafeMutableRawPointer)
        -> Int32
#else
    import Darwin
#endif

/// The identity of a file, whatever its names, and its length. The times of the file are never read: where a system keeps fine-grained
/// times (Linux 6.13 and later), reading them makes the next write record new ones and the next sync write them, which makes that sync half
/// as long again.
package struct FileFacts: Equatable, Sendable {
    /// Device and inode.
    package struct Identity: Hashable, Sendable {
        var device: UInt64
        var inode: UInt64
    }

    /// The identity of the file.
    package var identity: Identity
    /// The length in bytes.
    package var size: UInt64

    /// Reads the facts of the file that a path leads to. Returns nil if there is none.
    package init?(path: String) {
        self.init()
        guard FileFacts.ask(-1, path, &self) == 0 else { return nil }
    }

    /// Reads the facts of an open file. `code` is the system's error, or 0.
    init(descriptor: Int32, code: inout Int32) {
        self.init()
        code = FileFacts.ask(descriptor, "", &self)
    }

    private init() {
        identity = Identity(device: 0, inode: 0)
        size = 0
    }

    /// Returns 0, or the system's error.
    private static func ask(_ descriptor: Int32, _ path: String, _ facts: inout FileFacts) -> Int32 {
        #if canImport(Glibc)
            // Flag 0x1000 is AT_EMPTY_PATH. The mask requests inode and size.
            let mask: UInt32 = 0x100 | 0x200
            let isKnown = withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { room in
                room.initializeMemory(as: UInt8.self, repeating: 0)
                if statx(descriptor < 0 ? AT_FDCWD : descriptor, path, descriptor < 0 ? 0 : 0x1000, mask, room.baseAddress!) != 0 {
                    return false
                }
                // struct statx: mask 4 · … · inode 8 at 32 · size 8 at 40 · … · device's major and minor, 4 each, at 136
                guard room.load(as: UInt32.self) & mask == mask else { return false }
                facts.identity = Identity(
                    device: UInt64(room.load(fromByteOffset: 136, as: UInt32.self)) << 32
                        | UInt64(room.load(fromByteOffset: 140, as: UInt32.self)),
                    inode: room.load(fromByteOffset: 32, as: UInt64.self))
                facts.size = room.load(fromByteOffset: 40, as: UInt64.self)
                return true
            }
            if isKnown { return 0 }
        // The file does not exist, or the system does not know or allow the call.
        #endif
        var status = stat()
        if (descriptor < 0 ? stat(path, &status) : fstat(descriptor, &status)) != 0 { return errno }
        #if canImport(Glibc)
            // The same encoding as that of statx.
            let device = UInt64(status.st_dev)
            facts.identity.device = (device >> 8 & 0xFFF | device >> 32 & 0xFFFF_F000) << 32 | (device & 0xFF | device >> 12 & 0xFFFF_FF00)
        #else
            facts.identity.device = UInt64(truncatingIfNeeded: status.st_dev)
        #endif
        facts.identity.inode = UInt64(truncatingIfNeeded: status.st_ino)
        facts.size = UInt64(clamping: status.st_size)
        return 0
    }
}

extension File {
    /// Returns the identity and the length of the file.
    package func facts() throws(FirnError) -> FileFacts {
        try consult(.status, "cannot read the status")
        var code: Int32 = 0
        let facts = FileFacts(descriptor: descriptor, code: &code)
        if code != 0 { throw systemError(code, "cannot read the status", path) }
        return facts
    }

    /// Returns the length in bytes.
    package func size() throws(FirnError) -> UInt64 { try facts().size }

    /// Returns the identity of the file, whatever its names.
    package func identity() throws(FirnError) -> FileFacts.Identity { try facts().identity }
}
