import FirnBytes
import FirnCodecs
import FirnDisk
import FirnStore

/// How a copy of a file is encrypted.
package enum CopyEncryption: Sendable {
    /// As the file is: with its key, or not at all.
    case same
    case plain
    case key(EncryptionKey)

    package func key(of source: EncryptionKey?) -> EncryptionKey? {
        switch self {
        case .same: source
        case .plain: nil
        case .key(let key): key
        }
    }
}

extension DatabaseSnapshot {
    /// Writes this version, and no other, into a new file: every value encoded anew, deleted rows and the delta gone, row ids kept.
    /// Throws if the file exists, unless `overwrite`.
    package func compact(to path: String, overwrite: Bool = false, encryption: CopyEncryption = .same, profile: Profile = .standard, threads: Int = Machine.cores,
                         progress: (_ rows: Int) -> Void = { _ in }) throws(FirnError) {
        let counts = tables.map(\.segmentCount)
        try core.compact(counts, from: self.path, to: path, overwrite: overwrite, key: encryption.key(of: key), profile: profile, threads: threads, progress: progress)
    }
}

extension DatabaseTransaction {
    /// Writes the transaction's state, uncommitted changes too, into a new file.
    package func compact(to path: String, overwrite: Bool = false, encryption: CopyEncryption = .same, profile: Profile = .standard) throws(FirnError) {
        try flushAll()
        let core = current()
        try core.compact(states.map(\.segmentCount), from: database.path, to: path, overwrite: overwrite, key: encryption.key(of: database.key), profile: profile, threads: Machine.cores) { _ in }
    }
}

extension SnapshotCore {
    /// `segments`: how many there are of each type, the one of rows in the delta alone included.
    fileprivate func compact(_ segments: [Int], from source: String, to path: String, overwrite: Bool, key: EncryptionKey?, profile: Profile, threads: Int,
                             progress: (_ rows: Int) -> Void) throws(FirnError) {
        let target = try Database.create(path: path, overwrite: overwrite, atFirstCommit: true, key: key)
        let transaction = try target.begin(threads: threads)
        transaction.profile = profile
        try transaction.adopt(schema)
        for (type, count) in segments.enumerated() {
            let writer = try transaction.bulkWriter(schema.types[type].name)
            for index in 0..<count {
                let rows: (columns: [Column], rowIDs: [Int64])
                do throws(Damage) { rows = try storedRows(type: type, segment: index) } catch { throw .damaged(source, what: error.what, byte: error.offset) }
                try writer.append(stored: rows.columns, rowIDs: rows.rowIDs)
                progress(rows.rowIDs.count)
            }
            writer.skip(to: catalogue.types[type].nextRowID)
        }
        try transaction.commit()
    }
}

extension SnapshotCore {
    /// The live rows of a segment as stored, with their row ids.
    func storedRows(type: Int, segment index: Int) throws(Damage) -> (columns: [Column], rowIDs: [Int64]) {
        if index >= catalogue.types[type].segmentCount, try tail(type: type) == nil { return ([], []) }
        return try rows(type: type, index: index).liveRows(columns: schema.types[type].columns.count)
    }
}
