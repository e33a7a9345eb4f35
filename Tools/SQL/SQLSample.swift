import FirnBytes

/// The values of a group or window, for quantiles. A single quantile takes time proportional to the number of values. From the second one
/// on the values are kept in order, for windows.
struct SQLSample<Element: Comparable> {
    private var values: [Element] = []
    private var isSorted = false
    private var room = 0

    var count: Int { values.count }

    /// The number of values for which memory must be charged before another one is added; nil if there is room.
    var growth: Int? { values.count < room ? nil : max(64, room * 2) }

    mutating func grow(to room: Int) {
        values.reserveCapacity(room)
        self.room = room
    }

    mutating func add(_ value: Element) {
        if isSorted { values.insert(value, at: place(value)) } else { values.append(value) }
    }

    mutating func remove(_ value: Element) {
        sort()
        let at = place(value)
        if at < values.count, values[at] == value { values.remove(at: at) }
    }

    mutating func sort() {
        guard !isSorted else { return }
        values.sort()
        isSorted = true
    }

    /// The number of values that are less.
    private func place(_ value: Element) -> Int {
        var low = 0, high = values.count
        while low < high {
            let middle = (low + high) / 2
            if values[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the value at an index in ascending order, and the next one.
    mutating func values(at index: Int) -> (Element, next: Element?) {
        if !isSorted { select(index) }
        let next = isSorted ? (index + 1 < values.count ? values[index + 1] : nil) : values[(index + 1)...].min()
        return (values[index], next)
    }

    /// Moves the value at an index in ascending order to its place, and no greater one before it.
    private mutating func select(_ index: Int) {
        var low = 0, high = values.count - 1, rounds = 0
        while high - low > 32 {
            rounds += 1
            // Values that split badly in each round are sorted.
            guard rounds < 100 else { break }
            let a = values[low], b = values[(low + high) / 2], c = values[high], pivot = max(min(a, b), min(max(a, b), c))
            var i = low, j = high
            while i <= j {
                while values[i] < pivot { i += 1 }
                while pivot < values[j] { j -= 1 }
                if i <= j {
                    values.swapAt(i, j)
                    i += 1
                    j -= 1
                }
            }
            if index <= j { high = j } else if index >= i { low = i } else { return }
        }
        values[low...high].sort()
    }
}

/// `median` and `quantile_cont`: the number below which a share of the numbers is, interpolated linearly, as Query computes
/// it.
final class SQLQuantile: SQLAggregate {
    private let isMedian: Bool
    private var share: Double?, calls = 0
    private var numbers = SQLSample<Double>()
    private let charge = MemoryCharge(.process)

    init(isMedian: Bool) {
        self.isMedian = isMedian
        share = isMedian ? 0.5 : nil
    }

    func add(_ call: SQLCall) throws(FirnError) {
        if !isMedian { share = try call.share(share) }
        guard let number = try call.number(0) else { return }
        if let room = numbers.growth {
            // While an array grows, the old one exists too.
            try call.hold(room * 12, in: charge)
            numbers.grow(to: room)
        }
        numbers.add(number)
    }

    func remove(_ call: SQLCall) throws(FirnError) { if let number = try call.number(0) { numbers.remove(number) } }

    func value(_ call: SQLCall) throws(FirnError) -> SQLValue {
        guard let share, numbers.count > 0 else { return .null }
        calls += 1
        if calls > 1 { numbers.sort() }
        let rank = share * Double(numbers.count - 1), index = min(Int(rank), numbers.count - 1), part = rank - Double(index)
        let (low, next) = numbers.values(at: index)
        guard part > 0, let next else { return .real(low) }
        let span = next - low
        return .real(span.isFinite ? low + span * part : low * (1 - part) + next * part)
    }
}

/// `quantile_disc`: the first value, in the order of SQL, up to which a share of the values is.
final class SQLDiscreteQuantile: SQLAggregate {
    private var share: Double?, calls = 0, bytes = 0
    private var values = SQLSample<SQLKey>()
    private let charge = MemoryCharge(.process)

    func add(_ call: SQLCall) throws(FirnError) {
        share = try call.share(share)
        let key = SQLKey(call.value(0))
        if case .null = key.value { return }
        bytes += key.bytes
        if bytes > charge.bytes { try call.hold(bytes + bytes / 2, in: charge) }
        values.add(key)
    }

    func remove(_ call: SQLCall) throws(FirnError) {
        let key = SQLKey(call.value(0))
        if case .null = key.value { return }
        bytes -= key.bytes
        values.remove(key)
    }

    func value(_ call: SQLCall) throws(FirnError) -> SQLValue {
        guard let share, values.count > 0 else { return .null }
        calls += 1
        if calls > 1 { values.sort() }
        let index = max(0, Int((share * Double(values.count)).rounded(.up)) - 1)
        return values.values(at: min(index, values.count - 1)).0.value
    }
}

extension SQLCall {
    /// Returns the share of a quantile, the second argument; `known` is that of the rows before.
    fileprivate func share(_ known: Double?) throws(FirnError) -> Double? {
        guard let share = try number(1) else { return nil }
        guard share >= 0, share <= 1 else { throw error("takes a share from 0 to 1, not \(share)", advice: "write \(function.usage)") }
        guard known == nil || known == share else { throw error("takes one share for all rows of a group") }
        return share
    }
}
