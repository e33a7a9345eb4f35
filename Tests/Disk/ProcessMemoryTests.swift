import FirnBytes
import FirnDisk
import Testing

struct ProcessMemoryTests {
    @Test func `the default limit is a share of the machine's memory and of the address space`() {
        #expect(ProcessMemory.standardLimit >= 1 << 20)
        #expect(ProcessMemory.standardLimit <= Machine.memory / 2)
        if let space = ProcessMemory.addressSpace { #expect(ProcessMemory.standardLimit <= max(1 << 20, space / 3)) }
    }

    @Test func `uncharged memory of the process counts against its budget`() throws {
        #if os(Linux)
            let held = UnsafeMutableRawPointer.allocate(byteCount: 256 << 20, alignment: 4096)
            defer { held.deallocate() }
            held.initializeMemory(as: UInt8.self, repeating: 1, count: 256 << 20)
            #expect(!MemoryBudget(limit: 100 << 20) { ProcessMemory.hasRoom($0, $1) }.take(2 << 20))
            #expect(MemoryBudget(limit: 4 << 30) { ProcessMemory.hasRoom($0, $1) }.take(2 << 20))
        #endif
    }
}
