import FirnBytes
import FirnStore

package typealias VersionTag = Tag
package typealias VersionRetention = Retention

/// Versions: which there are, names for them, and which of them stay.
extension Database {
    /// The versions that are kept because they are recent, newest first. Tagged ones may be older: `tags`.
    package func versions() throws(FirnError) -> [VersionInfo] { try store.history() }

    /// The versions that have a name, in the order of the names.
    package func tags() throws(FirnError) -> [Tag] { try store.tags() }

    /// What the file says of the versions to keep; nil: nothing, and writers keep what is customary.
    package func retention() throws(FirnError) -> Retention? { try store.retention() }

    /// Pins the version of a tag. `.notFound` if there is none.
    package func snapshot(tag name: String) throws(FirnError) -> DatabaseSnapshot {
        let pinned = try store.snapshot(tag: name)
        do throws(Damage) { return DatabaseSnapshot(pinned, try core(of: pinned), path: path, key: key, keys: keys) } catch { throw failure(error) }
    }

    /// Pins a version by number (`5`) or by tag (`release`).
    package func snapshot(at word: String) throws(FirnError) -> DatabaseSnapshot {
        if let version = UInt64(word) { return try snapshot(version: version) }
        return try snapshot(tag: word)
    }

    /// Gives a version a name, durably; it stays until the name is taken away. A version that had the name loses it. `.usage` if the name cannot be one.
    package func tag(_ name: String, _ snapshot: DatabaseSnapshot, wait: WriterPatience = .always) throws(FirnError) { try tag([(name, snapshot)], wait: wait) }

    /// Several at once.
    package func tag(_ wanted: [(name: String, snapshot: DatabaseSnapshot)], wait: WriterPatience = .always) throws(FirnError) {
        var pinned: [(name: String, snapshot: StoreSnapshot)] = []
        for (name, snapshot) in wanted {
            if let refusal = Tag.refusal(of: name) { throw FirnError(.usage, "\"\(name)\": \(refusal)", at: .init(file: path)) }
            guard snapshot.version > 0 else { throw FirnError(.notFound, "there is no version to tag: nothing was committed yet", at: .init(file: path)) }
            pinned.append((name, try snapshot.pinned(in: store)))
        }
        let known = try tags()
        guard wanted.contains(where: { each in !known.contains { $0.name == each.name && $0.version == each.snapshot.version } }) else { return }
        try changeHistory(wait: wait) { transaction in for (name, snapshot) in pinned { transaction.tag(name, snapshot) } }
    }

    /// Takes a name away, durably; false if no version has it.
    package func untag(_ name: String, wait: WriterPatience = .always) throws(FirnError) -> Bool { try untag([name], wait: wait).isEmpty }

    /// Takes names away; returns those that no version has.
    package func untag(_ names: [String], wait: WriterPatience = .always) throws(FirnError) -> [String] {
        let known = Set(try tags().map(\.name)), gone = names.filter(known.contains)
        guard !gone.isEmpty else { return names }
        try changeHistory(wait: wait) { transaction in for name in gone { _ = transaction.untag(name) } }
        return names.filter { !known.contains($0) }
    }

    /// Says, durably, which versions writers are to keep; nil: what is customary.
    package func retain(_ retention: Retention?, wait: WriterPatience = .always) throws(FirnError) {
        try changeHistory(wait: wait) { $0.retain(retention) }
    }

    /// A commit with the rows of the version before. It drops no version: names are not paid for with history.
    private func changeHistory(wait: WriterPatience, _ body: (StoreTransaction) -> Void) throws(FirnError) {
        let transaction = try begin(wait: wait)
        transaction.retention = .everything
        body(transaction.store)
        try transaction.commit()
    }
}

extension DatabaseSnapshot {
    /// Wall time of the version's commit, nanoseconds since 1970 UTC.
    package var time: Int64 { pinned.time }

    /// The pin, if it is one of this file as it is open there; else one of its own.
    fileprivate func pinned(in store: Store) throws(FirnError) -> StoreSnapshot { pinned.store === store ? pinned : try store.snapshot(version: version) }
}

extension DatabaseTransaction {
    /// Nothing was changed but names of versions and what is kept: the catalogue stays.
    var isHistoryOnly: Bool { store.changesHistory && structures == 0 && !schemaIsNew && tables.isEmpty && bulkWriters.isEmpty && !store.base.catalogue.isNone }
}
