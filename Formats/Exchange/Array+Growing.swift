extension Array {
    /// Reserves the memory of `count` elements more, and of more than these if it must grow often.
    package mutating func makeRoom(_ count: Int) {
        if capacity - self.count < count { reserveCapacity(Swift.max(self.count + count, self.count > 0 ? 2 * capacity : 0)) }
    }
}

extension Array where Element: BitwiseCopyable {
    /// Appends `count` elements, which `fill` writes.
    @inlinable @inline(__always)
    package mutating func grow<E: Error>(_ count: Int, zero: Element, _ fill: (UnsafeMutablePointer<Element>) throws(E) -> Void) throws(E) {
        guard count > 0 else { return }
        let start = self.count
        // Not `append(contentsOf: repeatElement(…))`, which takes a hundred times as long where it is compiled without optimisation.
        append(addingCapacity: count) { $0.append(repeating: zero, count: count) }
        try withUnsafeMutableBufferPointer { (all) throws(E) in
            if let base = all.baseAddress { try fill(base + start) }
        }
    }
}
