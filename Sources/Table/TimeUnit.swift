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
