import FirnBytes

/// Memory that is allocated after it was charged, and freed with the object. Up to `slack` bytes after its end may be read.
package final class ChargedMemory: @unchecked Sendable {
    package static let slack = 32
    package let bytes: UnsafeMutableRawBufferPointer
    private let charge = MemoryCharge(.process)

    package init(_ count: Int, _ what: String) throws(FormatFault) {
        guard count >= 0, count < Int.max / 2, charge.take(count) else {
            throw FormatFault.beyondMemory(what, max(count, 0), charge.budget)
        }
        bytes = .init(start: .allocate(byteCount: count + ChargedMemory.slack, alignment: 64), count: count)
    }

    deinit { bytes.baseAddress?.deallocate() }
}
