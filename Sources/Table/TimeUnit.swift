/// The unit in which an outside format counts time.
package enum TimeUnit: String, Hashable, Sendable, CaseIterable {
    case second = "s"
    case millisecond = "ms"
    case microsecond = "us"
    case nanosecond = "ns"

    /// The number of units in one second.
    package var perSecond: Int64 {
        switch self {
        case .second: 1
        case .millisecond: 1000
        case .microsecond: 1_000_000
        case .nanosecond: 1_000_000_000
        }
    }

    /// The number of decimal digits of the fraction of a second that the unit can express.
    package var digits: Int {
        switch self {
        case .second: 0
        case .millisecond: 3
        case .microsecond: 6
        case .nanosecond: 9
        }
    }
}

extension TimeUnit {
    /// Returns a time of day such as `9:30` or `10:00:00.5` in the form in which columns of times in this unit are stored: `HH:MM:SS` with
    /// the digits of the unit. Digits beyond them are kept unless they are zeros: the order of the texts is then still that of the times.
    /// Returns nil if the text is not a time of day.
    package func stored(timeOfDay text: String) -> String? {
        let halves = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let parts = halves[0].split(separator: ":", omittingEmptySubsequences: false)
        guard 2...3 ~= parts.count, halves.count == 1 || parts.count == 3 else { return nil }
        func isNumber(_ text: Substring, _ lengths: ClosedRange<Int>) -> Bool {
            lengths ~= text.utf8.count && text.utf8.allSatisfy { 48...57 ~= $0 }
        }
        guard isNumber(parts[0], 1...2), parts.dropFirst().allSatisfy({ isNumber($0, 2...2) }), let hour = Int(parts[0]), hour < 24,
            parts.dropFirst().allSatisfy({ (Int($0) ?? 60) < 60 })
        else { return nil }
        var fraction = ""
        if halves.count == 2 {
            guard isNumber(halves[1], 1...9) else { return nil }
            fraction = String(halves[1])
        }
        while fraction.utf8.count < digits { fraction += "0" }
        while fraction.utf8.count > digits, fraction.last == "0" { fraction.removeLast() }
        return (parts[0].utf8.count == 1 ? "0" : "") + parts[0] + ":" + parts[1] + ":" + (parts.count == 3 ? String(parts[2]) : "00")
            + (fraction.isEmpty ? "" : "." + fraction)
    }
}
