import FirnBytes
import FirnDisk

/// The extents of a file as far as it reached when a version was pinned. Holds the mapping, and no pin: an extent is there as long as some version
/// that holds it is pinned, by whomever.
package final class MappedExtents: ExtentSource, Sendable {
    package let store: Store
    private let mapping: Mapping
    private let limit: UInt64
    /// Of an encrypted file: what was opened through this source.
    private let held: HeldExtents?

    init(store: Store, mapping: Mapping, limit: UInt64) {
        self.store = store
        self.mapping = mapping
        held = store.opened.map(HeldExtents.init)
        self.limit = min(limit, UInt64(mapping.reach))
    }

    /// The bytes as they are in the file.
    private func stored(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        guard ref.offset >= Root.aloneOffset, ref.length <= limit, ref.offset <= limit &- ref.length else {
            throw Damage("reference to bytes outside the file", at: Int(clamping: ref.offset))
        }
        return UnsafeRawBufferPointer(start: mapping.base + Int(truncatingIfNeeded: ref.offset), count: Int(truncatingIfNeeded: ref.length))
    }

    package func read(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        var bytes = try stored(ref)
        if let held {
            bytes = try held.read(ref, bytes)
        } else if !store.verified.contains(ref) {
            guard Hash128(of: bytes) == ref.hash else { throw Damage("stored bytes differ from their hash", at: Int(clamping: ref.offset)) }
            store.verified.insert(ref)
        }
        try checkIntact()
        return bytes
    }

    /// As `read`, but always looks at what is in the file.
    func readVerifying(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        let bytes = try read(ref)
        if let held {
            try held.check(ref, try stored(ref))
        } else {
            guard Hash128(of: bytes) == ref.hash else { throw Damage("stored bytes differ from their hash", at: Int(clamping: ref.offset)) }
        }
        return bytes
    }

    /// `Damage` if another program cut the file short while it was read; what was read since the last check may be zeros then.
    func checkIntact() throws(Damage) {
        if mapping.isBroken { throw Damage("the file was cut short while it was open", at: Int(clamping: limit)) }
    }
}
