import Synchronization

/// Memory for the buffers of a scan. A consumer releases most batches before the scan ends, and the next ones take over their memory: the
/// system fills new memory with zeros page by page, which takes longer than decoding numbers into it.
package final class BufferPool: Sendable {
    private struct Free: @unchecked Sendable {
        /// Blocks by their size.
        var blocks: [Int: [UnsafeMutableRawPointer]] = [:]
        var bytes = 0
    }
    private let free = Mutex(Free())

    /// The maximum number of bytes that are kept for later buffers.
    private static let maximum = 32 << 20
    private static let alignment = 64

    package init() {}

    /// The number of bytes that are kept for later buffers.
    var keptBytes: Int { free.withLock { $0.bytes } }

    deinit { free.withLock { for block in $0.blocks.values.joined() { block.deallocate() } } }

    /// Returns a buffer with room for `count` bytes, of any content.
    package func buffer(_ count: Int) -> PooledBuffer {
        let size = BufferPool.size(count)
        let known = free.withLock { free in
            let block = free.blocks[size]?.popLast()
            if block != nil { free.bytes -= size }
            return Block(start: block)
        }
        return PooledBuffer(known.start ?? .allocate(byteCount: size, alignment: BufferPool.alignment), size: size, self)
    }

    /// Returns the size of the memory of a buffer: an eighth more than its bytes at most, so that buffers of about the same size can take over
    /// each other's memory.
    private static func size(_ count: Int) -> Int {
        let count = max(count, 1), step = max(4096, (1 << (Int.bitWidth - 1 - count.leadingZeroBitCount)) / 8)
        return (count + step - 1) / step * step
    }

    private struct Block: @unchecked Sendable { let start: UnsafeMutableRawPointer? }

    /// Takes over the memory of a buffer. In a forked child, another thread may have held the lock forever.
    fileprivate func take(_ start: UnsafeMutableRawPointer, size: Int) {
        let block = Block(start: start)
        let isKept = free.withLockIfAvailable { free in
            guard free.bytes + size <= BufferPool.maximum, let start = block.start else { return false }
            free.blocks[size, default: []].append(start)
            free.bytes += size
            return true
        }
        if isKept != true { start.deallocate() }
    }
}

/// Memory that the pool of a scan takes back with the last reference.
package final class PooledBuffer: @unchecked Sendable {
    private let start: UnsafeMutableRawPointer
    private let size: Int
    private let pool: BufferPool

    fileprivate init(_ start: UnsafeMutableRawPointer, size: Int, _ pool: BufferPool) {
        self.start = start
        self.size = size
        self.pool = pool
    }

    deinit { pool.take(start, size: size) }

    /// Calls `body` with the memory, which stays at its address as long as this object exists. Only the code that asked the pool for the
    /// buffer may write to it, before others can read it.
    package func withValues<T: BitwiseCopyable, R, E: Error>(_ type: T.Type, _ body: (UnsafeMutableBufferPointer<T>) throws(E) -> R)
        throws(E)
        -> R
    {
        defer { withExtendedLifetime(self) {} }
        let count = size / MemoryLayout<T>.stride
        return try body(UnsafeMutableBufferPointer(start: start.bindMemory(to: T.self, capacity: count), count: count))
    }
}
