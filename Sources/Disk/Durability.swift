/// When a commit returns, and what a crash may take.
package enum Durability: String, Sendable, CaseIterable {
    /// The version is durable when the commit returns.
    case full
    /// The same; commits of several threads share a sync, and each waits for those that were under way.
    case grouped
    /// The commit returns at once. The version is made durable with a later one, when the store is let go of, or a second later; until then the file is
    /// at the version before, for other processes and after a crash.
    case none
}
