import FirnBytes
import Synchronization
import Testing

struct MemoryBudgetTests {
    @Test func `a charge beyond the limit throws, names what needs the memory, and charges nothing`() throws {
        let budget = MemoryBudget(limit: 1_000_000)
        try budget.charge(600_000, for: "the schema")
        let damage = #expect(throws: Damage.self) { try budget.charge(400_001, for: "column \"people.name\"") }
        #expect(damage?.isBeyondMemory == true)
        #expect(damage?.isUnread == true)
        #expect(damage?.what == "column \"people.name\" needs 400 kB of memory, beyond the limit of 1 MB (600 kB in use)")
        #expect(budget.used == 600_000)
        try budget.charge(400_000, for: "the schema")
        budget.release(1_000_000)
        #expect(budget.used == 0 && budget.peak == 1_000_000)
    }

    @Test func `a refused charge becomes an out-of-memory error with advice, which keeps the name of the charge`() {
        let budget = MemoryBudget(limit: 10)
        let error = FirnError(budget.exceeded(62_500_000, "column \"a.b\"").naming("the catalogue"), in: "x.firn")
        #expect(error.code == .outOfMemory)
        #expect(error.description == "x.firn: column \"a.b\" needs 62.5 MB of memory, beyond the limit of 10 bytes")
        #expect(error.advice?.contains("--memory") == true)
    }

    @Test func `a charge whose sum would overflow is refused`() {
        let budget = MemoryBudget(limit: .max)
        #expect(budget.take(.max - 5))
        #expect(!budget.take(.max - 5))
        #expect(budget.used == .max - 5)
    }

    @Test func `a held charge follows the size of its buffer and is released with its object`() throws {
        let budget = MemoryBudget(limit: 100)
        var charge: MemoryCharge? = try budget.holding(40, for: "a")
        try charge!.grow(to: 30, for: "a")
        #expect(budget.used == 40)
        try charge!.set(70, for: "a")
        #expect(budget.used == 70)
        #expect(!charge!.take(31))
        try charge!.add(30, for: "a")
        try charge!.set(10, for: "a")
        #expect(budget.used == 10 && budget.peak == 100)
        charge = nil
        #expect(budget.used == 0)
        #expect(throws: Damage.self) { try budget.scoped(60, for: "b") { () throws(Damage) in try budget.scoped(41, for: "c") {} } }
        #expect(budget.used == 0)
    }

    @Test func `the system is asked for each large charge, but not for each small one`() {
        let asked = Mutex(0), hasRoom = Mutex(true)
        let budget = MemoryBudget(limit: 1 << 40) { _, _ in
            asked.withLock { $0 += 1 }
            return hasRoom.withLock { $0 }
        }
        for _ in 0..<64 { #expect(budget.take(1 << 16)) }
        #expect(asked.withLock { $0 } == 1)
        #expect(budget.take(1 << 20))
        #expect(asked.withLock { $0 } == 2)
        hasRoom.withLock { $0 = false }
        #expect(!budget.take(1 << 20))
        #expect(budget.used == 5 << 20)
    }

    @Test func `concurrent charges never exceed the limit`() async {
        let budget = MemoryBudget(limit: 1000)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<2000 where budget.take(300) {
                        budget.release(300)
                    }
                }
            }
        }
        #expect(budget.used == 0 && budget.peak <= 1000)
    }
}
