import Synchronization

/// How much memory may be held for what files contain: decoded pages, dictionaries, batches, results, text that is being parsed. Memory
/// whose size is decided by outside bytes is charged here first, and released when it is freed. Beyond the limit a charge throws: Swift cannot
/// catch a failed allocation, so nothing is allocated before it is charged.
///
/// All files that a process opens share `MemoryBudget.process` (in Disk, where the machine's memory is known; `--memory` sets its limit). A realm with
/// `Configuration.memoryLimit` has a budget of its own. Charge per page, vector or buffer, never per value. Any thread may use it.
///
/// - `charge` and `release` are the primitives; `take` is a charge that returns false.
/// - `holding` returns a `MemoryCharge`, which releases at its end and can grow: for caches and buffers.
/// - `scoped` charges for the duration of a call.
///
/// Rooms that throw `FirnError` rather than `Damage` use `take`, and throw `FirnError.beyondMemory`.
package final class MemoryBudget: Sendable {
    private let most: Atomic<Int>, held = Atomic<Int>(0), highest = Atomic<Int>(0), unmeasured = Atomic<Int>(0)
    /// Whether the system has this many bytes more for the process, when `limit` bytes may be held.
    private let hasRoom: (@Sendable (_ more: Int, _ limit: Int) -> Bool)?

    /// `hasRoom` is asked for each charge of 1 MiB and more, and for each 4 MiB of smaller ones.
    package init(limit: Int, hasRoom: (@Sendable (_ more: Int, _ limit: Int) -> Bool)? = nil) {
        most = Atomic(max(0, limit))
        self.hasRoom = hasRoom
    }

    /// A budget that no charge exceeds, for tests and for what is not read from a file.
    package static let unlimited = MemoryBudget(limit: .max)

    /// Bytes that may be charged at a time. A lower limit than what is held stops further charges only.
    package var limit: Int {
        get { most.load(ordering: .relaxed) }
        set { most.store(max(0, newValue), ordering: .relaxed) }
    }

    /// Bytes charged now.
    package var used: Int { held.load(ordering: .relaxed) }
    /// Caches release what they can make again.
    package var isHalfUsed: Bool { used > limit / 2 }
    /// The maximum of `used` since the beginning, or since `resetPeak`.
    package var peak: Int { highest.load(ordering: .relaxed) }
    package func resetPeak() { highest.store(used, ordering: .relaxed) }

    /// Charges `bytes`, which are not negative, unless that would exceed the limit: false, and nothing is charged.
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

    /// Notes that `bytes` were allocated which nothing charges; false where the process holds too much by now.
    package func note(_ bytes: Int) -> Bool { isThereRoom(bytes) }

    package func release(_ bytes: Int) {
        if bytes > 0 { held.wrappingSubtract(bytes, ordering: .relaxed) }
    }

    /// Charges `bytes` or throws. `what` names what needs them, as the subject of a sentence: `column "people.name"`.
    package func charge(_ bytes: Int, for what: @autoclosure () -> String) throws(Damage) {
        if !take(bytes) { throw exceeded(bytes, what()) }
    }

    /// The same, released when the result is.
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

    /// The error of a charge that was refused.
    package func exceeded(_ bytes: Int, _ what: String) -> Damage {
        Damage(sentence(bytes, what), beyondMemory: true)
    }

    fileprivate func sentence(_ bytes: Int, _ what: String) -> String {
        let used = used, limit = limit
        if limit - min(limit, used) >= bytes { return "\(what) needs \(Self.words(bytes)) of memory, which the system does not have" }
        return "\(what) needs \(Self.words(bytes)) of memory, beyond the limit of \(Self.words(limit))" + (used > 0 ? " (\(Self.words(used)) in use)" : "")
    }

    /// A number of bytes for people: "61.2 MB".
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

/// A charge that ends with the object that holds it. Grows and shrinks with a buffer; for one thread at a time.
@usableFromInline
package final class MemoryCharge: @unchecked Sendable {
    package let budget: MemoryBudget
    package private(set) var bytes: Int

    /// `bytes` are charged already.
    package init(_ budget: MemoryBudget, _ bytes: Int = 0) {
        self.budget = budget
        self.bytes = bytes
    }

    deinit { budget.release(bytes) }

    /// Charges what is missing to `total`, or releases what is beyond it.
    package func set(_ total: Int, for what: @autoclosure () -> String) throws(Damage) {
        if total > bytes { try budget.charge(total - bytes, for: what()) } else { budget.release(bytes - total) }
        bytes = total
    }

    /// Charges what is missing to `total`; does not shrink.
    package func grow(to total: Int, for what: @autoclosure () -> String) throws(Damage) {
        if total > bytes { try set(total, for: what()) }
    }

    /// Charges `more` bytes in addition.
    package func add(_ more: Int, for what: @autoclosure () -> String) throws(Damage) {
        try budget.charge(more, for: what())
        bytes += more
    }

    /// `add` that returns false beyond the limit.
    package func take(_ more: Int) -> Bool {
        guard budget.take(more) else { return false }
        bytes += more
        return true
    }
}

extension FirnError {
    /// What users can do beyond the limit.
    package static let memoryAdvice = "raise the limit with --memory SIZE (in a program: memoryLimit) if you trust the data"

    /// `bytes` more for `what` (the subject of a sentence) were refused by `budget`.
    package static func beyondMemory(_ what: String, _ bytes: Int, _ budget: MemoryBudget, at place: Place? = nil) -> FirnError {
        FirnError(.outOfMemory, budget.sentence(bytes, what), at: place, advice: memoryAdvice)
    }
}

/// A budget, and the column that its errors name: what a reader of one column charges.
package struct MemoryScope: Sendable {
    package let budget: MemoryBudget
    private let type: String, column: String

    package init(_ budget: MemoryBudget, type: String = "", column: String = "") {
        self.budget = budget
        self.type = type
        self.column = column
    }

    package static let unlimited = MemoryScope(.unlimited)

    /// `column "people.name"`
    package var name: String { column.isEmpty ? "the file" : "column \"\(type.isEmpty ? "" : type + ".")\(column)\"" }

    package func charge(_ bytes: Int) throws(Damage) { try budget.charge(bytes, for: name) }
    package func release(_ bytes: Int) { budget.release(bytes) }
    package func holding(_ bytes: Int) throws(Damage) -> MemoryCharge { try budget.holding(bytes, for: name) }
    package func scoped<R>(_ bytes: Int, _ body: () throws(Damage) -> R) throws(Damage) -> R { try budget.scoped(bytes, for: name, body) }

    /// Notes that `bytes` were allocated which nothing charges, because many small values hold them: where the process holds too much, it throws.
    package func note(_ bytes: Int) throws(Damage) {
        if !budget.note(bytes) { throw budget.exceeded(bytes, name) }
    }
}

extension MemoryCharge {
    /// The charge that `held` is, or a new one where there is none or a copy shares it, grown to `total` bytes.
    package static func grow(_ held: inout MemoryCharge?, to total: Int, _ scope: MemoryScope) throws(Damage) {
        if held != nil, isKnownUniquelyReferenced(&held!) {
            if total > held!.bytes { try held!.set(total, for: scope.name) }
        } else {
            held = try scope.holding(total)
        }
    }
}
