import FirnKit
import Testing

@testable import FirnArrow

@Suite struct BufferPoolTests {
    private func address(_ buffer: PooledBuffer) -> Int { buffer.withValues(UInt8.self) { Int(bitPattern: $0.baseAddress) } }

    @Test func `a buffer takes over the memory of a released one of about its size, and never that of one in use`() {
        let pool = BufferPool()
        var first: PooledBuffer? = pool.buffer(500_000)
        let known = first.map(address)
        let second = pool.buffer(500_000)
        #expect(address(second) != known)
        first = nil
        let small = pool.buffer(5000), third = pool.buffer(495_000), fourth = pool.buffer(495_000)
        #expect(address(third) == known)
        #expect(Set([small, second, third, fourth].map(address)).count == 4)
    }

    @Test func `a buffer has room for as many bytes as were asked for, and stays valid without its pool`() {
        for count in [0, 1, 4095, 4096, 4097, 1 << 20, 1 << 20 + 1] {
            let buffer = BufferPool().buffer(count)
            buffer.withValues(UInt8.self) { bytes in
                #expect(bytes.count >= count && Int(bitPattern: bytes.baseAddress) % 64 == 0)
                for i in bytes.indices { bytes[i] = UInt8(truncatingIfNeeded: i) }
            }
            buffer.withValues(UInt8.self) { bytes in #expect(bytes.indices.allSatisfy { bytes[$0] == UInt8(truncatingIfNeeded: $0) }) }
        }
    }

    @Test func `a pool keeps a bounded number of bytes, whatever is released`() {
        let pool = BufferPool()
        var buffers = (0..<48).map { _ in pool.buffer(1 << 20) }
        let known = Set(buffers.map(address))
        #expect(known.count == 48)
        buffers = []
        #expect(pool.keptBytes == 32 << 20)
        buffers = (0..<32).map { _ in pool.buffer(1 << 20) }
        #expect(pool.keptBytes == 0 && Set(buffers.map(address)).isSubset(of: known))
    }

    @Test func `threads that take and release buffers never share one that is in use`() throws {
        let pool = BufferPool()
        try parallelEach(threads: 4) { thread in
            var held: [PooledBuffer] = [], random = Random(seed: UInt64(thread))
            for round in 0..<2000 {
                let buffer = pool.buffer(random.number(1...100_000)), mark = UInt64(thread) << 32 | UInt64(round)
                buffer.withValues(UInt64.self) { $0[0] = mark }
                held.append(buffer)
                if held.count > 8 { held.remove(at: random.below(held.count)) }
                for buffer in held { #expect(buffer.withValues(UInt64.self) { $0[0] >> 32 } == UInt64(thread)) }
            }
        }
    }
}
