import FirnBytes
import FirnDisk

extension Store {
    /// Commits that wrote more than this are synced before their root is written, and list nothing.
    static let listedExtents = 64
    static let listedBytes: UInt64 = 256 << 10
    static let minimumLog: UInt64 = 16 << 10

    /// Begins a transaction and takes the write lock.
    /// - Throws: `.locked` if another transaction, of this process or another one, runs for longer than `wait` allows.
    package func begin(wait: WriterPatience = .always) throws(FirnError) -> StoreTransaction {
        guard !isInherited else { throw file.inherited }
        if isBeyondWriting { throw beyondWriting }
        guard isWritable else { throw FirnError(.inputOutput, "the file is open for reading only", at: .init(file: path)) }
        let end = wait.end
        guard try takeTurn(wait, until: end) else { throw FirnError(.locked, "the file is being written", at: .init(file: path)) }
        do throws(FirnError) {
            if pending?.isFull(waiting: 0) ?? false {
                try lookAtFile()
                try publishPending()
                // Other processes have been waiting since the first of these versions.
                file.unlock(at: Store.writerLock)
            }
            // While versions are pending, the lock is still held.
            if pending == nil, !(try takeWriterLock(wait, until: end)) {
                throw FirnError(
                    .locked, "the file is being written by another process", at: .init(file: path),
                    advice: "try again when that process has finished")
            }
            // A compaction holds the lock until the new file has the name: whatever is written to the old file after that would be lost.
            try lookAtFile()
            try restoreNewest()
            let base = try writersSnapshot()
            // Another process may have begun to use an unknown feature after this process opened the file.
            guard base.root.writerFeatures & ~Store.knownWriterFeatures == 0 else {
                throw beyondWriting
            }
            if pending == nil, replacement == nil, length < base.root.fileLength {
                throw FirnError.damaged(path, what: "the file was cut short while it was open", byte: length)
            }
            guard base.version < ExtentRef.maximumVersion else {
                throw FirnError(.unsupported, "no version numbers are left", at: .init(file: path))
            }
            if space?.version != base.version {
                space = nil
                let loaded = try loadSpace(base)
                kept = try readHistory(loaded.history, base)
                if pending == nil { durableTags = kept.tags }
                (space, records, checkpoint, logBytes, keptRef) = loaded
            }
            // The durable version stays whole until a later one is durable.
            let durable = pending?.durable.version ?? base.version
            let protected = min(base.root.oldestKept, durable == 0 ? 0 : durable - 1)
            space!.release(protected: protected, pins: try pins(newest: base.version) + (kept.tags + durableTags).map(\.version))
            if let fault = space!.contradiction { throw FirnError(fault, in: path) }
            try clearRefused()
            return StoreTransaction(store: self, base: base)
        } catch {
            endWriting()
            throw error
        }
    }

    private var beyondWriting: FirnError {
        FirnError(
            .unsupported, "the file uses a feature that this program cannot maintain when it writes", at: .init(file: path),
            advice: "use a newer version of Firn to write it; this version can read it")
    }

    func endWriting() {
        lock.withLock {
            if pending == nil { file.unlock(at: Store.writerLock) }
            isWriting = false
            lock.wakeAll()
        }
    }
}

extension StoreTransaction {
    /// Commits the transaction's extents and `catalogue` as the newest version, and ends the transaction. `durability` determines when it
    /// returns; `retention` determines which versions stay readable, by default the rule in the file.
    ///
    /// After an error the store is unchanged. If a write or a sync failed, it rejects further commits until it is opened again.
    /// - Returns: the version.
    @discardableResult
    package func commit(catalogue: ExtentRef, retention: Retention? = nil, time: Int64? = nil, durability: Durability = .full)
        throws(FirnError) -> UInt64
    {
        try commit(catalogue: catalogue, retention, time: time, forcingCheckpoint: false, durability)
    }

    /// Commits like `commit(catalogue:retention:time:durability:)`; the newest `keep` versions (at least two) stay readable.
    @discardableResult
    package func commit(catalogue: ExtentRef, keep: Int, durability: Durability = .full) throws(FirnError) -> UInt64 {
        try commit(catalogue: catalogue, Retention(versions: keep), forcingCheckpoint: false, durability)
    }

    func commit(
        catalogue: ExtentRef, _ retention: Retention?, time: Int64? = nil, forcingCheckpoint: Bool, _ durability: Durability = .full
    ) throws(FirnError) -> UInt64 {
        guard !store.isInherited else { throw store.file.inherited }
        let joined: Bool
        do throws(FirnError) {
            joined = try lock.withLock { () throws(FirnError) in
                precondition(isOpen, "commit a transaction once")
                try checkUnbroken()
                let joined = try publish(catalogue: catalogue, retention, time, forcingCheckpoint, durability)
                close()
                return joined
            }
        } catch {
            cancel()
            throw error
        }
        if joined, durability != .none, !isLast { try store.awaitDurable(version) }
        return version
    }

    /// Writes the version. Returns true if the root is left to a later commit.
    private func publish(
        catalogue: ExtentRef, _ retention: Retention?, _ ownTime: Int64?, _ forcingCheckpoint: Bool, _ durability: Durability
    ) throws(FirnError) -> Bool {
        // If the file was truncated while it was mapped, zeros may have been read; nothing based on them may be committed.
        do throws(Damage) { try base.checkIntact() } catch { throw FirnError(error, in: store.path) }
        let time = ownTime ?? max(Machine.wallNanoseconds, base.time)
        let oldestKept = oldestKept(retention ?? history?.retention ?? store.kept.retention ?? .standard, now: time)
        let (historyRef, newHistory) = try writeHistory(catalogue, time)
        let writesCheckpoint = forcingCheckpoint || store.logBytes > max(store.checkpoint.ref.length, Store.minimumLog)
        let checkpointVersion = writesCheckpoint ? version : store.checkpoint.version

        // Records that neither kept versions nor the next writer need are dead, and so is the checkpoint before.
        let oldestRecord = min(max(oldestKept, 1), max(checkpointVersion, 1), version)
        var records = store.records, previous = base.root.record
        if base.root.isAlone {
            previous = try recordFirstVersion(replacedBy: catalogue)
            records = [(1, previous, base.time)]
        }
        let keptFrom = records.firstIndex { $0.version >= oldestRecord } ?? records.count
        var dead = freed + records[..<keptFrom].map(\.ref)
        if writesCheckpoint, !store.checkpoint.ref.isNone { dead.append(store.checkpoint.ref) }
        let freedRanges = try checkedFrees(dead)

        if writesCheckpoint, let place = store.space!.overlap(with: freedRanges) {
            throw FirnError.damaged(store.path, what: "dead space overlaps other dead space", byte: place)
        }

        // The first commit of a file, and the second one of an inline file, never join a group.
        let joins = version > 1 && store.replacement == nil && !base.root.isAlone && store.joins(durability, version: version)
        var listed = written.values.map(\.ref)
        if let group = store.pending?.listed {
            // Extents that died within the group are not listed: their space may be reused while this version is the newest.
            let gone = Set(dead.map(\.offset))
            listed += group.values.filter { !gone.contains($0.offset) }
        }
        listed.sort { $0.offset < $1.offset }
        let bytes = listed.reduce(0) { $0 + $1.length }
        // There is no version before the first commit: if its extents were listed, later damage would look like an empty store.
        let singleBarrier = !joins && version > 1 && listed.count < Store.listedExtents && bytes <= Store.listedBytes

        // The checkpoint and the record describe their own positions: their space is reserved with a margin before they are encoded.
        let checkpointPlace = writesCheckpoint ? reserve(store.space!.encoded(version: version, freed: freedRanges).count + 128) : nil
        var record = CommitRecord(
            isWithoutRoot: joins, version: version, time: time, oldestKept: oldestKept, oldestRecord: oldestRecord, end: 0,
            checkpointVersion: checkpointVersion,
            previous: previous, catalogue: catalogue, checkpoint: store.checkpoint.ref, listed: singleBarrier ? listed : [],
            released: store.space!.releasedUnsaved.sorted { $0.start < $1.start }, taken: taken.ranges, holes: holes.ranges,
            freed: freedRanges, history: historyRef)
        let recordPlace = reserve(record.encoded().count + (writesCheckpoint ? 32 : 0) + 48)
        record.end = store.space!.end
        guard record.end <= ExtentRef.maximumUnit else {
            throw FirnError(.unsupported, "the file has reached its maximum length", at: .init(file: store.path))
        }
        record.taken = taken.ranges
        record.holes = holes.ranges

        if let checkpointPlace {
            record.checkpoint = try put(store.space!.encoded(version: version, freed: freedRanges), at: checkpointPlace)
            if singleBarrier { record.listed.append(record.checkpoint) }
        }
        let recordRef = try put(record.encoded(), at: recordPlace)
        var root = Root(
            version: version, end: record.end, oldestKept: oldestKept, time: time, listsExtents: singleBarrier,
            identity: store.identity, record: recordRef, catalogue: catalogue)
        root.readerFeatures = base.root.readerFeatures | neededFeatures
        root.writerFeatures = base.root.writerFeatures | neededWriterFeatures | (historyRef.isNone ? 0 : WriterFeature.history.bit)
        root.secondSlot = base.root.secondSlot
        if joins {
            try extend(to: root)
            store.add(root, after: base.root, durability, written: written.values.map(\.ref), dead: dead)
        } else {
            try writeOut(root)
            store.published(version)
        }

        store.space!.committed(version, freed: freedRanges)
        records.removeFirst(keptFrom)
        records.append((version, recordRef, time))
        store.records = records
        (store.kept, store.keptRef) = (newHistory, historyRef)
        if !joins { store.durableTags = newHistory.tags }
        if writesCheckpoint {
            store.checkpoint = (version, record.checkpoint)
            store.logBytes = 0
        } else {
            store.logBytes += recordRef.length
        }
        // Remove slack of a failed writer, or an end that became free: no readable version reaches it.
        if !joins, store.length > root.end * 64 + max(1 << 20, store.length / 8) { try? store.cut(to: root.end * 64) }
        // A few units more, because what grows does so slowly.
        if !isLast, !writesCheckpoint { store.usualUnits = givenUnits <= Store.mostUsualUnits ? givenUnits + 2 : 0 }
        return joins
    }

    /// Writes extents without a root, for readers of this process.
    private func extend(to root: Root) throws(FirnError) {
        try flush()
        do throws(FirnError) {
            if store.length < root.end * 64 { try store.cut(to: root.end * 64) }
        } catch {
            fail(error)
            throw error
        }
    }

    /// Returns the dead extents as sorted ranges. Throws an error if references from the file contradict the state of space.
    private func checkedFrees(_ dead: [ExtentRef]) throws(FirnError) -> [DeadRange] {
        var ranges: [DeadRange] = []
        ranges.reserveCapacity(dead.count)
        let second = base.root.secondOffset / 64
        for ref in dead {
            var units = ref.units
            if base.root.isAlone, ref == base.catalogue {
                if units.upperBound <= 8 { continue }
                units = 8..<units.upperBound  // these units belong to the first slot
            }
            guard ref.birth <= base.version, units.lowerBound >= 8, units.upperBound <= second || units.lowerBound >= second + 8,
                units.upperBound <= baseEnd,
                store.space!.pending[units.lowerBound] == nil,
                !store.space!.free.map.overlaps(UnitRange(start: units.lowerBound, end: units.upperBound))
            else {
                throw FirnError.damaged(store.path, what: "freed space was not in use", byte: ref.offset)
            }
            ranges.append(DeadRange(start: units.lowerBound, end: units.upperBound, birth: ref.birth, death: version))
        }
        ranges.sort { $0.start < $1.start }
        for (one, next) in zip(ranges, ranges.dropFirst()) where one.end > next.start {
            throw FirnError.damaged(store.path, what: "freed space overlaps", byte: next.start * 64)
        }
        return ranges
    }

    /// Writes the commit record that version 1 of an inline file does not have. The one extent of version 1 is dead from now on, because
    /// the commit after this one overwrites the slot before it.
    private func recordFirstVersion(replacedBy catalogue: ExtentRef) throws(FirnError) -> ExtentRef {
        precondition(catalogue.birth == version, "the second commit of an inline file must write a new catalogue")
        if !freed.contains(base.catalogue) { freed.append(base.catalogue) }
        let used = base.root.end
        let record = CommitRecord(
            version: 1, time: base.time, oldestKept: base.root.oldestKept, oldestRecord: 1, end: base.root.secondOffset / 64 + 8,
            checkpointVersion: 0,
            previous: .none, catalogue: base.catalogue, checkpoint: .none, taken: used > 8 ? [UnitRange(start: 8, end: used)] : [])
        let bytes = record.encoded()
        return try put(bytes, at: reserve(bytes.count))
    }

    /// Allocates space for so many bytes, and for the overhead of encryption.
    func reserve(_ bytes: Int) -> (range: UnitRange, bytes: Int) {
        (allocate(ExtentRef.units(of: UInt64(bytes + (store.isEncrypted ? ExtentCipher.overhead : 0)))), bytes)
    }

    func put(_ bytes: [UInt8], at place: (range: UnitRange, bytes: Int)) throws(FirnError) -> ExtentRef {
        precondition(bytes.count <= place.bytes, "a record is longer than the space that was reserved for it")
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: place.bytes, alignment: 16)
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        buffer.copyBytes(from: bytes)
        let entry = try written(UnsafeRawBufferPointer(buffer), at: place.range, buffer)
        written[place.range.start] = entry
        return entry.ref
    }

    /// Writes the extents, then the root, then syncs both.
    private func writeOut(_ root: Root) throws(FirnError) {
        let slot = try root.encoded(sealing: store.cipher)
        try flush()
        do throws(FirnError) {
            // An extent that was written directly does not fill its last unit.
            if store.length < root.end * 64 { try store.cut(to: root.end * 64) }
            if root.listsExtents, store.length > startLength { try store.spare(besides: givenUnits * 64 + UInt64(Root.slotBytes)) }
            // The root that is overwritten must not be the last durable one: the version before this one is made durable first.
            let before = store.pending?.durable ?? base.root
            if store.replacement == nil, !(try store.isKnownDurable(before)) {
                try store.makeDurable()
            } else if !root.listsExtents {
                try store.file.sync()
            }
            try store.file.write(slot, at: root.offset(of: root.version))
            if let replacement = store.replacement {
                // No process has seen the file without this commit. With an empty version to fall back to, damage would look like an empty
                // file.
                try store.file.write(Root.vacantSlot, at: root.offset(of: root.version &- 1))
                try replacement.finish()
                store.replacement = nil
            } else {
                do throws(FirnError) { try store.file.sync() } catch {
                    store.renew(root)
                    throw error
                }
            }
        } catch {
            fail(error)
            throw error
        }
    }
}
