import Synchronization

/// Limits the memory that the contents of files need: decoded pages, dictionaries, batches, results, text that is being parsed. Memory
/// whose size depends on outside bytes is charged here first, and released when it is freed. A charge beyond the limit throws: Swift cannot
/// catch a failed allocation, so nothing is allocated before it is charged.
///
/// All files that a process opens share `MemoryBudget.process` (in Disk, which knows the memory of the machine; `--memory` sets its limit).
/// A realm with `Configuration.memoryLimit` has its own budget. Charge per page, vector or buffer, never per value. Any thread may use it.
///
/// - `charge` and `release` are the primitives; `take` is a charge that returns false instead of throwing.
/// - `holding` returns a `MemoryCharge`, which releases the charge when it is deallocated, and can grow: for caches and buffers.
/// - `scoped` charges for the duration of a call.
///
/// Modules that throw `FirnError` rather than `Damage` use `take`, and throw `FirnError.beyondMemory`.
package final class MemoryBudget: Sendable {
    private let most: Atomic<Int>, held = Atomic<Int>(0), highest = Atomic<Int>(0), unmeasured = Atomic<Int>(0)
    /// Whether the system has `more` bytes for the process, when `limit` bytes may be charged.
    private let hasRoom: (@Sendable (_ more: Int, _ limit: Int) -> Bool)?

    /// `hasRoom` is called for each charge of 1 MiB or more, and for each 4 MiB of smaller ones.
    package init(limit: Int, hasRoom: (@Sendable (_ more: Int, _ limit: Int) -> Bool)? = nil) {
        most = Atomic(max(0, limit))
        self.hasRoom = hasRoom
    }

    /// A budget without a limit, for tests and for memory that does not depend on a file.
    package static let unlimited = MemoryBudget(limit: .max)

    /// The maximum of bytes that may be charged. A limit below `used` only stops further charges.
    package var limit: Int {
        get { most.load(ordering: .relaxed) }
        set { most.store(max(0, newValue), ordering: .relaxed) }
    }

    /// The number of bytes that are charged now.
    package var used: Int { held.load(ordering: .relaxed) }
    /// Whether caches should release what they can compute again.
    package var isHalfUsed: Bool { used > limit / 2 }
    /// The maximum of `used` since the process began.
    package var peak: Int { highest.load(ordering: .relaxed) }

    /// Charges `bytes`, which must not be negative. Returns false and charges nothing if that would exceed the limit.
    package func take(_ bytes: Int) -> Bool {
        guard bytes > 0 else { return true }
        var before = held.load(ordering: .relaxed)
        while true {
            let (sum, overflow) = before.addingReportingOverflow(bytes)
            if overflow || sum > limit { return false }
            let (done, now) = held.weakCompareExchange(expected: before, desired: sum, ordering: .relaxed)
            if done {
                guard isThereRoom(bytes) else { break }
                if sum > peak { highest.max(sum, ordering: .relaxed) }
                return true
            }
            before = now
        }
        held.wrappingSubtract(bytes, ordering: .relaxed)
        return false
    }

    private func isThereRoom(_ bytes: Int) -> Bool {
        guard let hasRoom else { return true }
        if bytes < 1 << 20 {
            guard unmeasured.wrappingAdd(bytes, ordering: .relaxed).newValue >= 4 << 20 else { return true }
        }
        unmeasured.store(0, ordering: .relaxed)
        return hasRoom(bytes, limit)
    }

    /// Records that `bytes` were allocated without a charge. Returns false if the process now uses too much memory.
    package func note(_ bytes: Int) -> Bool { isThereRoom(bytes) }

    package func release(_ bytes: Int) {
        if bytes > 0 { held.wrappingSubtract(bytes, ordering: .relaxed) }
    }

    /// Charges `bytes`, or throws. `what` names what needs the memory, as the subject of a sentence: `column "people.name"`.
    package func charge(_ bytes: Int, for what: @autoclosure () -> String) throws(Damage) {
        if !take(bytes) { throw exceeded(bytes, what()) }
    }

    /// Charges `bytes`, or throws. The charge is released when the result is deallocated.
    package func holding(_ bytes: Int, for what: @autoclosure () -> String) throws(Damage) -> MemoryCharge {
        try charge(bytes, for: what())
        return MemoryCharge(self, bytes)
    }

    /// Charges `bytes` while `body` runs.
    package func scoped<R>(_ bytes: Int, for what: @autoclosure () -> String, _ body: () throws(Damage) -> R) throws(Damage) -> R {
        try charge(bytes, for: what())
        defer { release(bytes) }
        return try body()
    }

    /// The error for a charge of `bytes` that was refused.
    package func exceeded(_ bytes: Int, _ what: String) -> Damage {
        Damage(sentence(bytes, what), beyondMemory: true)
    }

    fileprivate func sentence(_ bytes: Int, _ what: String) -> String {
        let used = used, limit = limit
        if limit - min(limit, used) >= bytes {
            return
                "\(what) needs \(Self.words(bytes)) of memory, and the process holds too much already for the limit of \(Self.words(limit))"
        }
        return "\(what) needs \(Self.words(bytes)) of memory, beyond the limit of \(Self.words(limit))"
            + (used > 0 ? " (\(Self.words(used)) in use)" : "")
    }

    /// A number of bytes in readable form: "61.2 MB".
    package static func words(_ bytes: Int) -> String {
        let units = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"]
        var unit = 0, rest = Double(max(0, bytes))
        while rest >= 999.5, unit < units.count - 1 {
            rest /= 1000
            unit += 1
        }
        let tenths = Int((rest * 10).rounded())
        return tenths % 10 == 0 || rest >= 100 ? "\(Int(rest.rounded())) \(units[unit])" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}

/// A charge that is released when this object is deallocated. It grows and shrinks with a buffer. Only one thread at a time may use it.
@usableFromInline
package final class MemoryCharge: @unchecked Sendable {
    package let budget: MemoryBudget
    package private(set) var bytes: Int

    /// `bytes` must already be charged.
    package init(_ budget: MemoryBudget, _ bytes: Int = 0) {
        self.budget = budget
        self.bytes = bytes
    }

    deinit { budget.release(bytes) }

    /// Changes the charge to `total` bytes.
    package func set(_ total: Int, for what: @autoclosure () -> String) throws(Damage) {
        if total > bytes { try budget.charge(total - bytes, for: what()) } else { budget.release(bytes - total) }
        bytes = total
    }

    /// Increases the charge to `total` bytes; does not decrease it.
    package func grow(to total: Int, for what: @autoclosure () -> String) throws(Damage) {
        if total > bytes { try set(total, for: what()) }
    }

    /// Charges `more` bytes in addition.
    package func add(_ more: Int, for what: @autoclosure () -> String) throws(Damage) {
        try budget.charge(more, for: what())
        bytes += more
    }

    /// Charges `more` bytes in addition. Returns false beyond the limit.
    package func take(_ more: Int) -> Bool {
        guard budget.take(more) else { return false }
        bytes += more
        return true
    }
}

extension FirnError {
    /// Advice for errors of the memory limit.
    package static let memoryAdvice = "raise the limit with --memory SIZE (in a program: memoryLimit) if you trust the data"

    /// The error for `bytes` more that `budget` refused; `what` needs them and is the subject of the sentence.
    package static func beyondMemory(_ what: String, _ bytes: Int, _ budget: MemoryBudget, at location: Location? = nil) -> FirnError {
        FirnError(.outOfMemory, budget.sentence(bytes, what), at: location, advice: memoryAdvice)
    }
}

/// A budget together with the column that its errors name; readers of one column charge to it.
package struct MemoryScope: Sendable {
    package let budget: MemoryBudget
    private let type: String, column: String

    package init(_ budget: MemoryBudget, type: String = "", column: String = "") {
        self.budget = budget
        self.type = type
        self.column = column
    }

    package static let unlimited = MemoryScope(.unlimited)

    /// The name for errors, such as `column "people.name"`.
    package var name: String { column.isEmpty ? "the file" : "column \"\(type.isEmpty ? "" : type + ".")\(column)\"" }

    package func charge(_ bytes: Int) throws(Damage) { try budget.charge(bytes, for: name) }
    package func release(_ bytes: Int) { budget.release(bytes) }
    package func holding(_ bytes: Int) throws(Damage) -> MemoryCharge { try budget.holding(bytes, for: name) }
    package func scoped<R>(_ bytes: Int, _ body: () throws(Damage) -> R) throws(Damage) -> R { try budget.scoped(bytes, for: name, body) }

    /// Records that `bytes` were allocated without a charge, because many small values hold them. Throws if the process now uses too much
    /// memory.
    package func note(_ bytes: Int) throws(Damage) {
        if !budget.note(bytes) { throw budget.exceeded(bytes, name) }
    }
}

extension MemoryCharge {
    /// Grows the charge in `held` to `total` bytes. If `held` is nil or shared by a copy, a new charge replaces it.
    package static func grow(_ held: inout MemoryCharge?, to total: Int, _ scope: MemoryScope) throws(Damage) {
        if held != nil, isKnownUniquelyReferenced(&held!) {
            if total > held!.bytes { try held!.set(total, for: scope.name) }
        } else {
            held = try scope.holding(total)
        }
    }
}
