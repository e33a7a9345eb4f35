/// Commits that become durable together. The blocks of a group run in sequence within one transaction of the file. The part of each block
/// is kept or rolled back separately; the parts that are kept become one version.
struct CommitGroup {
    /// The number of blocks that were committed to the group.
    private(set) var count = 0
    /// The completion closures of these blocks, which are called when the group is durable or has failed.
    private(set) var completions: [(Realm.Error?) -> Void] = []

    /// The maximum number of blocks in a group. It bounds how long the first commit waits.
    static let maximumCount = 100

    var isFull: Bool { count >= CommitGroup.maximumCount }

    /// Adds a block whose part was kept.
    mutating func add(_ onComplete: ((Realm.Error?) -> Void)?) {
        count += 1
        if let onComplete { completions.append(onComplete) }
    }
}
