import FirnBytes

extension Root {
    /// Reads the root that a slot held before one of its bits changed. The hash of the root proves it: at most one flipped bit makes the
    /// hash valid. Returns nil if more than one bit differs, or if the slot held no root.
    init?(correcting slot: UnsafeRawBufferPointer, at offset: UInt64) {
        // Extents may be stored where a second slot is possible, so only bytes that resemble a root are tried.
        guard slot.count >= Root.length, zip(slot, Root.magic).count(where: { $0 != $1 }) <= 1 else { return nil }
        // A vacant slot, which every file with one version has, is no root: trying each of its bits would take longer than opening the file.
        guard slot[Root.magic.count..<Root.length].contains(where: { $0 != 0 }) else { return nil }
        for length in [Root.length, RootSeal.rootLength] where length <= slot.count {
            var bytes = Array(slot)
            guard Root.correct(&bytes, length: length) else { continue }
            guard let root = try? bytes.withBytes({ (bytes) throws(Damage) in try Root(slot: bytes, at: offset) }) else {
                continue
            }
            self = root
            return
        }
        return nil
    }

    /// Flips the one bit that makes the hash of the first `length` bytes valid. Returns false if there is none.
    private static func correct(_ bytes: inout [UInt8], length: Int) -> Bool {
        let body = length - 16
        let stored = bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes, at: body)
            return try? reader.readHash()
        }
        guard let stored else { return false }
        func hash(_ bytes: [UInt8]) -> Hash128 { bytes.withUnsafeBytes { Hash128(of: UnsafeRawBufferPointer(rebasing: $0[..<body])) } }
        let found = hash(bytes)
        if (found.low ^ stored.low).nonzeroBitCount + (found.high ^ stored.high).nonzeroBitCount <= 1 {
            var writer = ByteWriter(reserving: 16)
            writer.append(found)
            bytes.replaceSubrange(body..<length, with: writer.bytes)
            return true
        }
        for bit in 0..<body * 8 {
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            if hash(bytes) == stored { return true }
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        }
        return false
    }
}
