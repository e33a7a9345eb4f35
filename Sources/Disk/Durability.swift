/// When a commit returns, and what a crash can discard.
package enum Durability: String, Sendable, CaseIterable {
    /// The version is durable when the commit returns.
    case full
    /// Like `full`, but commits of several threads share a sync, and each waits for those that were under way.
    case grouped
    /// The commit returns immediately. The version becomes durable with a later one, when the store is released, or after a second; until
    /// then, other processes and a crash leave the file at the version before.
    case none
}
