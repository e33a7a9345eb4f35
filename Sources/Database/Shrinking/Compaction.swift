import FirnBytes
import FirnCodecs
import FirnDisk
import FirnStore
import FirnTable
import FirnThreads

/// How a copy of a file is encrypted.
package enum CopyEncryption: Sendable {
    /// With the key of the source file, or not at all if that is not encrypted.
    case same
    case plain
    case key(EncryptionKey)

    /// The key of a copy of a file with the key `source`; nil if the copy is not encrypted.
    package func key(of source: EncryptionKey?) -> EncryptionKey? {
        switch self {
        case .same: source
        case .plain: nil
        case .key(let key): key
        }
    }
}

extension DatabaseSnapshot {
    /// Writes this version, and no other, into a new file. All values are encoded again, row ids are kept, and the new file has no deleted
    /// rows and an empty delta store. Throws if the file exists, unless `overwrite`. An error of `progress` ends the compaction.
    package func compact(
        to path: String, overwrite: Bool = false, encryption: CopyEncryption = .same, profile: Profile = .standard,
        threads: Int = Processors.count,
        progress: (_ rows: Int) throws(FirnError) -> Void = { _ in }
    ) throws(FirnError) {
        let counts = tables.map(\.segmentCount)
        try core.compact(
            counts, from: self.path, to: path, overwrite: overwrite, key: encryption.key(of: key), profile: profile, threads: threads,
            progress: progress)
    }
}

extension Database {
    /// Returns the versions that compaction keeps, ascending: the tagged ones that `keeps` accepts, those in `besides`, and `newest`.
    package func versions(upTo newest: DatabaseSnapshot, tagged keeps: (Tag) -> Bool = { _ in true }, besides: [UInt64] = [])
        throws(FirnError) -> [(snapshot: DatabaseSnapshot, names: [String])]
    {
        var names: [UInt64: [String]] = [newest.version: []]
        for version in besides where version < newest.version { names[version] = [] }
        for tag in try tags() where tag.version <= newest.version && keeps(tag) { names[tag.version, default: []].append(tag.name) }
        var versions: [(snapshot: DatabaseSnapshot, names: [String])] = []
        for (version, names) in names.sorted(by: { $0.key < $1.key }) {
            versions.append((version == newest.version ? newest : try snapshot(version: version), names))
        }
        return versions
    }

    /// Writes versions of one file, in ascending order, into a new file, each with its time and its tags. The last one becomes the newest
    /// version. Values are encoded again, as by `DatabaseSnapshot.compact`; rows that versions share are stored once (`reuse`).
    /// Until the function returns, the file at `path` is incomplete.
    package static func compact(
        _ versions: [(snapshot: DatabaseSnapshot, names: [String])], retention: Retention?, to path: String,
        encryption: CopyEncryption = .same,
        profile: Profile = .standard, threads: Int = Processors.count, progress: (_ rows: Int) throws(FirnError) -> Void = { _ in }
    ) throws(FirnError) {
        guard let first = versions.first else { trap("compact at least one version") }
        func settle(_ transaction: DatabaseTransaction, _ version: (snapshot: DatabaseSnapshot, names: [String])) {
            for name in version.names { transaction.store.tagItself(name) }
            transaction.time = version.snapshot.time
            transaction.retention = .everything
        }
        let target = try first.snapshot.core.compact(
            first.snapshot.tables.map(\.segmentCount), from: first.snapshot.path, to: path, overwrite: true,
            key: encryption.key(of: first.snapshot.key), profile: profile, threads: threads, progress: progress
        ) { transaction in
            transaction.mayBeInline = versions.count == 1
            if let retention { transaction.store.retain(retention) }
            settle(transaction, first)
        }
        let spares = SpareSegments()
        for (before, version) in zip(versions, versions.dropFirst()) {
            let transaction = try target.begin(threads: threads)
            transaction.profile = profile
            transaction.spares = spares
            try transaction.follow(before.snapshot.core, to: version.snapshot.core)
            if version.snapshot.version == versions.last?.snapshot.version { try transaction.freeSpares() }
            settle(transaction, version)
            try transaction.commit()
        }
    }
}

extension DatabaseTransaction {
    /// Writes the state of the transaction, including uncommitted changes, into a new file.
    package func compact(to path: String, overwrite: Bool = false, encryption: CopyEncryption = .same, profile: Profile = .standard)
        throws(FirnError)
    {
        try flushAll()
        let core = current()
        try core.compact(
            states.map(\.segmentCount), from: database.path, to: path, overwrite: overwrite, key: encryption.key(of: database.key),
            profile: profile, threads: Processors.count
        ) { _ in }
    }
}

extension SnapshotCore {
    /// `segments` is the number of segments of each type, including the one of rows that exist only in the delta store. `settle` is called
    /// before the commit.
    @discardableResult
    fileprivate func compact(
        _ segments: [Int], from source: String, to path: String, overwrite: Bool, key: EncryptionKey?, profile: Profile, threads: Int,
        progress: (_ rows: Int) throws(FirnError) -> Void, settle: (DatabaseTransaction) -> Void = { _ in }
    ) throws(FirnError) -> Database {
        let target = try Database.create(path: path, overwrite: overwrite, atFirstCommit: true, key: key, sources: SourceModes([source]))
        let transaction = try target.begin(threads: threads)
        transaction.profile = profile
        try transaction.adopt(schema)
        for (type, count) in segments.enumerated() {
            let writer = try transaction.bulkWriter(schema.types[type].name)
            for index in 0..<count {
                let rows: (columns: [Column], rowIDs: [Int64])
                do throws(Damage) { rows = try storedRows(type: type, segment: index, threads: threads) } catch {
                    throw FirnError(error, in: source)
                }
                try writer.append(stored: rows.columns, rowIDs: rows.rowIDs)
                try progress(rows.rowIDs.count)
            }
            writer.skip(to: catalogue.types[type].nextRowID)
        }
        settle(transaction)
        try transaction.commit()
        return target
    }
}

extension SnapshotCore {
    /// Returns the live rows of a segment in stored form, with their row ids. Columns are read by several threads. The segment is not kept
    /// open: callers read each segment once, and the readers of many columns take more memory than its rows.
    func storedRows(type: Int, segment index: Int, threads: Int = Processors.count) throws(Damage) -> (columns: [Column], rowIDs: [Int64]) {
        if index >= catalogue.types[type].segmentCount, try tail(type: type) == nil { return ([], []) }
        let columns = schema.types[type].columns.count
        return try rows(type: type, index: index, isReadOnce: true).liveRows(columns: columns, threads: threads)
    }
}
