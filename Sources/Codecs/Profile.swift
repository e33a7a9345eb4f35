/// How much work an encoder may do, and how much a reader must do in turn.
package enum Profile: UInt8, Sendable {
    /// First tier only: streams that scan at several billion values a second.
    case fast = 0
    /// Entropy coding where it saves at least 15 %.
    case standard = 1
    /// Entropy coding wherever it saves anything that matters.
    case small = 2
}
