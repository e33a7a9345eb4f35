import FirnBytes
import FirnDisk

/// The extents of a file as far as it reached when a version was pinned. Holds the mapping, and no pin: an extent is there as long as some version
/// that holds it is pinned, by whomever.
package final class MappedExtents: ExtentSource, Sendable {
    package let store: Store
    private let mapping: Mapping
    private let limit: UInt64

    init(store: Store, mapping: Mapping, limit: UInt64) {
        self.store = store
        self.mapping = mapping
        self.limit = min(limit, UInt64(mapping.reach))
    }

    package func read(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        guard ref.offset >= Root.aloneOffset, ref.length <= limit, ref.offset <= limit &- ref.length else {
            throw Damage("reference to bytes outside the file", at: Int(clamping: ref.offset))
        }
        let bytes = UnsafeRawBufferPointer(start: mapping.base + Int(truncatingIfNeeded: ref.offset), count: Int(truncatingIfNeeded: ref.length))
        if !store.verified.contains(ref) {
            guard Hash128(of: bytes) == ref.hash else { throw Damage("stored bytes differ from their hash", at: Int(clamping: ref.offset)) }
            store.verified.insert(ref)
        }
        try checkIntact()
        return bytes
    }

    /// `Damage` if another program cut the file short while it was read; what was read since the last check may be zeros then.
    func checkIntact() throws(Damage) {
        if mapping.isBroken { throw Damage("the file was cut short while it was open", at: Int(clamping: limit)) }
    }
}
