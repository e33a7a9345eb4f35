import FirnBytes
import FirnStore
import FirnTable

package typealias VersionTag = Tag
package typealias VersionRetention = Retention

/// Versions: which exist, their tags, and which are kept.
extension Database {
    /// The versions that are kept because they are recent, newest first. Tagged versions can be older: see `tags`.
    package func versions() throws(FirnError) -> [VersionInfo] { try store.history() }

    /// The tags, in the order of their names.
    package func tags() throws(FirnError) -> [Tag] { try store.tags() }

    /// The retention that the file stores; nil if it stores none, and writers keep the default number of versions.
    package func retention() throws(FirnError) -> Retention? { try store.retention() }

    /// Pins the version of a tag. Throws `.notFound` if there is no such tag.
    package func snapshot(tag name: String) throws(FirnError) -> DatabaseSnapshot {
        let pinned = try store.snapshot(tag: name)
        do throws(Damage) { return DatabaseSnapshot(pinned, try core(of: pinned), path: path, key: key, keys: keys) } catch {
            throw failure(error)
        }
    }

    /// Pins a version by its number (`5`), by a tag (`release`), or as the newest that was committed by a time (`2026-11-29T12:00`) or by the
    /// end of a day in UTC (`2026-11-29`). A tag has precedence over a time. Throws `.notFound` if there is no such version.
    package func snapshot(at word: String) throws(FirnError) -> DatabaseSnapshot {
        if let version = UInt64(word) { return try snapshot(version: version) }
        guard let time = CommitTime(word), try !tags().contains(where: { $0.name == word }) else { return try snapshot(tag: word) }
        // Tags keep older versions.
        let kept = try versions().map { ($0.version, $0.time) } + tags().map { ($0.version, $0.time) }
        if let found = kept.filter({ $0.1 <= time.last }).max(by: { $0.0 < $1.0 }) { return try snapshot(version: found.0) }
        throw FirnError(
            .notFound, "no version that is kept was committed by \(word)", at: .init(file: path),
            advice: kept.map(\.0).min().map { "the oldest version that is kept is \($0)" })
    }

    /// Tags a version, durably. The version is kept until the tag is deleted. If another version has the tag, the tag moves.
    /// - Throws: `.usage` if the name is not valid, `.notFound` if `snapshot` is version 0.
    package func tag(_ name: String, _ snapshot: DatabaseSnapshot, wait: WriterPatience = .always) throws(FirnError) {
        try tag([(name, snapshot)], wait: wait)
    }

    /// Adds several tags in one commit.
    package func tag(_ wanted: [(name: String, snapshot: DatabaseSnapshot)], wait: WriterPatience = .always) throws(FirnError) {
        var pinned: [(name: String, snapshot: StoreSnapshot)] = []
        for (name, snapshot) in wanted {
            if let refusal = Tag.refusal(of: name) { throw FirnError(.usage, "\"\(name)\": \(refusal)", at: .init(file: path)) }
            guard snapshot.version > 0 else {
                throw FirnError(.notFound, "there is no version to tag: nothing was committed yet", at: .init(file: path))
            }
            pinned.append((name, try snapshot.pinned(in: store)))
        }
        let known = try tags()
        guard wanted.contains(where: { each in !known.contains { $0.name == each.name && $0.version == each.snapshot.version } }) else {
            return
        }
        try changeHistory(wait: wait) { transaction in for (name, snapshot) in pinned { transaction.tag(name, snapshot) } }
    }

    /// Deletes a tag, durably. Returns false if there is no such tag.
    package func untag(_ name: String, wait: WriterPatience = .always) throws(FirnError) -> Bool { try untag([name], wait: wait).isEmpty }

    /// Deletes tags in one commit. Returns the names that are not tags.
    package func untag(_ names: [String], wait: WriterPatience = .always) throws(FirnError) -> [String] {
        let known = Set(try tags().map(\.name)), gone = names.filter(known.contains)
        guard !gone.isEmpty else { return names }
        try changeHistory(wait: wait) { transaction in for name in gone { _ = transaction.untag(name) } }
        return names.filter { !known.contains($0) }
    }

    /// Stores, durably, which versions writers keep; nil restores the default.
    package func retain(_ retention: Retention?, wait: WriterPatience = .always) throws(FirnError) {
        try changeHistory(wait: wait) { $0.retain(retention) }
    }

    /// Commits a version with the same rows. The commit drops no version, so that tags do not shorten the history.
    private func changeHistory(wait: WriterPatience, _ body: (StoreTransaction) -> Void) throws(FirnError) {
        let transaction = try begin(wait: wait)
        transaction.retention = .everything
        body(transaction.store)
        try transaction.commit()
    }
}

extension DatabaseSnapshot {
    /// The wall-clock time of the version's commit, in nanoseconds since 1970-01-01 UTC.
    package var time: Int64 { pinned.time }

    /// The pin of this snapshot if it belongs to `store`; otherwise a new pin of the version in `store`.
    fileprivate func pinned(in store: Store) throws(FirnError) -> StoreSnapshot {
        pinned.store === store ? pinned : try store.snapshot(version: version)
    }
}

extension DatabaseTransaction {
    /// Whether only tags or the retention were changed, so that the new version has the same catalogue.
    var isHistoryOnly: Bool {
        store.changesHistory && structures == 0 && !schemaIsNew && tables.isEmpty && bulkWriters.isEmpty && !store.base.catalogue.isNone
    }
}
