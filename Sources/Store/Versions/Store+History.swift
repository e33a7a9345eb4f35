import FirnBytes
import FirnDisk

/// A version that can be read.
package struct VersionInfo: Hashable, Sendable {
    /// The number of the version.
    package var version: UInt64
    /// The wall time of its commit, in nanoseconds since 1970-01-01 UTC.
    package var time: Int64
    /// The reference of its catalogue.
    package var catalogue: ExtentRef
}

extension Store {
    /// Returns the kept versions, newest first. Version 0, the empty store, is not included.
    package func history() throws(FirnError) -> [VersionInfo] {
        let newest = try snapshot()
        defer { newest.release() }
        if newest.root.isInlineFile { return [VersionInfo(version: newest.version, time: newest.time, catalogue: newest.catalogue)] }
        var list: [VersionInfo] = []
        try walkRecords(from: newest) { record, _ in
            guard record.version >= newest.root.oldestKept else { return false }
            list.append(VersionInfo(version: record.version, time: record.time, catalogue: record.catalogue))
            return true
        }
        return list
    }

    /// Calls `body` with the records of `snapshot` and of the versions before it, newest first, down to the oldest one that exists or until
    /// `body` returns false. An inline file has no record.
    func walkRecords(from snapshot: StoreSnapshot, _ body: (CommitRecord, ExtentRef) throws(FirnError) -> Bool) throws(FirnError) {
        var ref = snapshot.root.record, expected = snapshot.version, oldest: UInt64?, left = snapshot.extents.limit
        while !ref.isNone, expected > 0 {
            let record: CommitRecord
            do throws(Damage) {
                // Records do not overlap. Without this limit, a hostile file could list records that are each as long as the file, and
                // reading would not end.
                guard ref.length <= left else { throw Damage("commit records are longer than the file", inFileAt: ref.offset) }
                left -= ref.length
                let bytes = try snapshot.read(ref)
                do throws(Damage) { record = try CommitRecord(bytes) } catch { throw error.shifted(by: ref.offset) }
                guard record.version == expected else { throw Damage("commit records out of order", inFileAt: ref.offset) }
            } catch {
                throw FirnError(error.naming("the commit record of version \(expected)"), in: path)
            }
            let bound = oldest ?? record.oldestRecord
            oldest = bound
            if !(try body(record, ref)) || expected == bound { return }
            ref = record.previous
            expected -= 1
        }
    }

    func record(of version: UInt64, from snapshot: StoreSnapshot) throws(FirnError) -> CommitRecord {
        var found: CommitRecord?
        try walkRecords(from: snapshot) { (record, _) throws(FirnError) in
            if record.version == version { found = record }
            return found == nil
        }
        guard let found else { throw FirnError.damaged(path, what: "the record of version \(version) is missing", byte: 0) }
        return found
    }

    /// Returns the state of free space of a version, from its checkpoint and the records since.
    func loadSpace(_ snapshot: StoreSnapshot) throws(FirnError)
        -> (space: SpaceState, records: [WriterState.Record], checkpoint: WriterState.Checkpoint, logBytes: UInt64, history: ExtentRef)
    {
        var history = ExtentRef.none
        var records: [WriterState.Record] = [], log: [CommitRecord] = []
        var checkpoint: WriterState.Checkpoint = (0, .none), logBytes: UInt64 = 0
        try walkRecords(from: snapshot) { (record, ref) throws(FirnError) in
            if records.isEmpty {
                checkpoint = (record.checkpointVersion, record.checkpoint)
                if snapshot.root.writerFeatures & WriterFeature.history.bit != 0 { history = record.history }
            }
            records.append((record.version, ref, record.time))
            if record.version > checkpoint.version {
                log.append(record)
                logBytes += ref.length
            }
            return true
        }
        do throws(Damage) {
            var space =
                checkpoint.version == 0
                ? SpaceState(secondOffset: snapshot.root.secondOffset)
                : try SpaceState(
                    checkpoint: try snapshot.read(checkpoint.ref), version: checkpoint.version, secondOffset: snapshot.root.secondOffset)
            if snapshot.root.isInlineFile { space.beginInline(end: snapshot.root.end) }
            for record in log.reversed() { try space.apply(record) }
            guard space.version == snapshot.version else { throw Damage("commit records are missing") }
            space.settleQueue()
            return (space, records.reversed(), checkpoint, logBytes, history)
        } catch {
            throw FirnError(error.naming("the state of space"), in: path)
        }
    }
}
