/// A copy of bytes that keeps its address as long as the object exists.
package final class FixedBytes: @unchecked Sendable {
    package let bytes: UnsafeRawBufferPointer

    package init(_ source: [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(source.count, 1), alignment: 16)
        copy.copyBytes(from: source)
        bytes = UnsafeRawBufferPointer(rebasing: copy[..<source.count])
    }

    deinit { bytes.deallocate() }
}
