import FirnBytes
import FirnTable

/// The memory of the values that are being decoded. It is charged in steps that grow with it, so that many small columns need little.
package final class DecodingRoom {
    package let charge = MemoryCharge(.process)
    private var needed = 0
    private static let largestStep = 1 << 20
    /// What is not charged.
    private let free: Int

    package init(free: Int = 0) { self.free = free }

    /// Charges `more` bytes that are about to be added.
    package func reserve(_ more: Int) throws(FormatFault) {
        let (sum, overflow) = needed.addingReportingOverflow(max(more, 0))
        guard !overflow else { throw FormatFault.beyondMemory("a batch", more, charge.budget) }
        needed = sum
        guard sum > charge.bytes, sum > free else { return }
        let add = max(min(DecodingRoom.largestStep, max(charge.bytes, 1 << 12)), sum - charge.bytes)
        guard charge.take(add) else { throw FormatFault.beyondMemory("a batch", add, charge.budget) }
    }

    /// Charges `count` times `width` bytes.
    package func reserve(_ count: Int, times width: Int) throws(FormatFault) {
        let (product, overflow) = count.multipliedReportingOverflow(by: width)
        guard !overflow else { throw FormatFault.beyondMemory("a batch", .max, charge.budget) }
        try reserve(product)
    }
}
