extension Array where Element: BitwiseCopyable {
    /// Appends `count` elements, which `fill` writes.
    @inlinable @inline(__always)
    package mutating func grow<E: Error>(_ count: Int, zero: Element, _ fill: (UnsafeMutablePointer<Element>) throws(E) -> Void) throws(E) {
        guard count > 0 else { return }
        let start = self.count
        append(contentsOf: repeatElement(zero, count: count))
        try withUnsafeMutableBufferPointer { (all) throws(E) in
            if let base = all.baseAddress { try fill(base + start) }
        }
    }
}
