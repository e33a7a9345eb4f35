import FirnBytes
import FirnDisk

/// A commit in four steps: plan, encode, write, adopt. The lock is held.
extension StoreTransaction {
    // MARK: Plan

    func plan(
        _ catalogue: ExtentRef, _ retention: Retention?, _ ownTime: Int64?, _ forcingCheckpoint: Bool, _ durability: Durability
    ) throws(FirnError) -> CommitPlan {
        let time = ownTime ?? max(Machine.wallNanoseconds, base.time), checkpoint = store.writer.checkpoint
        let oldestKept = oldestKept(retention ?? history?.retention ?? store.writer.history.retention ?? .standard, now: time)
        let (historyRef, newHistory) = try writeHistory(catalogue, time)
        let writesCheckpoint = forcingCheckpoint || store.writer.logBytes > max(checkpoint.ref.length, CommitPlan.minimumLog)
        let checkpointVersion = writesCheckpoint ? version : checkpoint.version

        // Records that neither kept versions nor the next writer need are dead, and so is the checkpoint before.
        let oldestRecord = min(max(oldestKept, 1), max(checkpointVersion, 1), version)
        let recordOfFirst =
            base.root.isInlineFile ? (version: UInt64(1), ref: try recordFirstVersion(replacedBy: catalogue), time: base.time) : nil
        let dropped = store.writer.records.prefix { $0.version < oldestRecord }.map(\.ref)
        var dead = freed + dropped
        if writesCheckpoint, !checkpoint.ref.isNone { dead.append(checkpoint.ref) }
        let freedRanges = try checkedFrees(dead)
        if writesCheckpoint, let overlap = store.writer.space!.overlap(with: freedRanges) {
            throw FirnError.damaged(store.path, what: "dead space overlaps other dead space", byte: overlap)
        }
        // The first commit of a file, and the second one of an inline file, never join a group.
        let joins =
            version > 1 && store.writer.replacement == nil && !base.root.isInlineFile && store.joinsGroup(durability, version: version)
        return CommitPlan(
            catalogue: catalogue, time: time, oldestKept: oldestKept, history: newHistory, historyRef: historyRef,
            writesCheckpoint: writesCheckpoint, droppedRecords: dropped.count, recordOfFirst: recordOfFirst,
            previous: recordOfFirst?.ref ?? base.root.record, oldestRecord: oldestRecord, dead: dead,
            freed: freedRanges, joinsGroup: joins, listed: joins ? nil : listedExtents(dead: dead))
    }

    /// Returns the extents that the record lists; nil if they are too many, or too long.
    private func listedExtents(dead: [ExtentRef]) -> [ExtentRef]? {
        // There is no version before the first commit: if its extents were listed, later damage would look like an empty store.
        guard version > 1 else { return nil }
        var listed = written.values.map(\.ref)
        if let group = store.group.pending?.listed {
            // Extents that died within the group are not listed: their space may be reused while this version is the newest.
            let gone = Set(dead.map(\.offset))
            listed += group.values.filter { !gone.contains($0.offset) }
        }
        let bytes = listed.reduce(0) { $0 + $1.length }
        guard listed.count < CommitPlan.maximumListedExtents, bytes <= CommitPlan.maximumListedBytes else { return nil }
        return listed.sorted { $0.offset < $1.offset }
    }

    /// Returns the dead extents as sorted ranges. Throws an error if references from the file contradict the state of space.
    private func checkedFrees(_ dead: [ExtentRef]) throws(FirnError) -> [DeadRange] {
        var ranges: [DeadRange] = []
        ranges.reserveCapacity(dead.count)
        let second = base.root.secondOffset / 64
        for ref in dead {
            var units = ref.units
            if base.root.isInlineFile, ref == base.catalogue {
                if units.upperBound <= 8 { continue }
                units = 8..<units.upperBound  // these units belong to the first slot
            }
            guard ref.birth <= base.version, units.lowerBound >= 8, units.upperBound <= second || units.lowerBound >= second + 8,
                units.upperBound <= baseEnd,
                store.writer.space!.pending[units.lowerBound] == nil,
                !store.writer.space!.free.map.overlaps(UnitRange(start: units.lowerBound, end: units.upperBound))
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
        trap(unless: catalogue.birth == version, "the second commit of an inline file must write a new catalogue")
        if !freed.contains(base.catalogue) { freed.append(base.catalogue) }
        let used = base.root.end
        let record = CommitRecord(
            version: 1, time: base.time, oldestKept: base.root.oldestKept, oldestRecord: 1, end: base.root.secondOffset / 64 + 8,
            checkpointVersion: 0,
            previous: .none, catalogue: base.catalogue, checkpoint: .none, taken: used > 8 ? [UnitRange(start: 8, end: used)] : [])
        let bytes = record.encoded()
        return try put(bytes, at: reserve(bytes.count))
    }

    // MARK: Encode

    /// Encodes the checkpoint, the record and the root, and gives the first two their positions.
    func encode(_ plan: CommitPlan) throws(FirnError) -> EncodedVersion {
        // The checkpoint and the record describe their own positions: their space is reserved with a margin before they are encoded.
        let checkpointSpace =
            plan.writesCheckpoint ? reserve(store.writer.space!.encoded(version: version, freed: plan.freed).count + 128) : nil
        var checkpoint = store.writer.checkpoint
        var record = CommitRecord(
            isWithoutRoot: plan.joinsGroup, version: version, time: plan.time, oldestKept: plan.oldestKept,
            oldestRecord: plan.oldestRecord, end: 0, checkpointVersion: plan.writesCheckpoint ? version : checkpoint.version,
            previous: plan.previous, catalogue: plan.catalogue, checkpoint: checkpoint.ref, listed: plan.listed ?? [],
            released: store.writer.space!.releasedUnsaved.sorted { $0.start < $1.start }, taken: taken.ranges, holes: holes.ranges,
            freed: plan.freed, history: plan.historyRef)
        let recordSpace = reserve(record.encoded().count + (plan.writesCheckpoint ? 32 : 0) + 48)
        record.end = store.writer.space!.end
        guard record.end <= ExtentRef.maximumUnit else {
            throw FirnError(.unsupported, "the file has reached its maximum length", at: .init(file: store.path))
        }
        record.taken = taken.ranges
        record.holes = holes.ranges
        if let checkpointSpace {
            record.checkpoint = try put(store.writer.space!.encoded(version: version, freed: plan.freed), at: checkpointSpace)
            if plan.listed != nil { record.listed.append(record.checkpoint) }
            checkpoint = (version, record.checkpoint)
        }
        let recordRef = try put(record.encoded(), at: recordSpace)
        var root = Root(
            version: version, end: record.end, oldestKept: plan.oldestKept, time: plan.time, listsExtents: plan.listed != nil,
            identity: store.identity, record: recordRef, catalogue: plan.catalogue)
        root.readerFeatures = base.root.readerFeatures | neededFeatures
        root.writerFeatures =
            base.root.writerFeatures | neededWriterFeatures | (plan.historyRef.isNone ? 0 : WriterFeature.history.bit)
        root.secondSlot = base.root.secondSlot
        return EncodedVersion(root: root, checkpoint: checkpoint)
    }

    /// Allocates space for so many bytes, and for the overhead of encryption.
    func reserve(_ bytes: Int) -> (range: UnitRange, bytes: Int) {
        (allocate(ExtentRef.units(of: UInt64(bytes + (store.isEncrypted ? ExtentCipher.overhead : 0)))), bytes)
    }

    func put(_ bytes: [UInt8], at space: (range: UnitRange, bytes: Int)) throws(FirnError) -> ExtentRef {
        trap(unless: bytes.count <= space.bytes, "a record is longer than the space that was reserved for it")
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: space.bytes, alignment: 16)
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        buffer.copyBytes(from: bytes)
        let entry = try written(UnsafeRawBufferPointer(buffer), at: space.range, buffer)
        written[space.range.start] = entry
        return entry.ref
    }

    // MARK: Write

    /// Writes the version: with its root, or as a part of a group.
    func write(_ encoded: EncodedVersion, _ plan: CommitPlan, _ durability: Durability) throws(FirnError) {
        if plan.joinsGroup {
            try writeWithoutRoot(encoded.root)
            store.add(encoded.root, after: base.root, durability, written: written.values.map(\.ref), dead: plan.dead)
        } else {
            try writeDurably(encoded.root)
            store.published(version)
        }
    }

    /// Writes extents without a root, for readers of this process.
    private func writeWithoutRoot(_ root: Root) throws(FirnError) {
        try flush()
        do throws(FirnError) {
            if store.writer.length < root.end * 64 { try store.cut(to: root.end * 64) }
        } catch {
            fail(error)
            throw error
        }
    }

    /// Writes the extents, then the root, then syncs both.
    private func writeDurably(_ root: Root) throws(FirnError) {
        let slot = try root.encoded(sealing: store.cipher)
        try flush()
        do throws(FirnError) {
            // An extent that was written directly does not fill its last unit.
            if store.writer.length < root.end * 64 { try store.cut(to: root.end * 64) }
            if root.listsExtents, store.writer.length > startLength {
                try store.preallocate(after: givenUnits * 64 + UInt64(Root.slotBytes))
            }
            // The root that is overwritten must not be the last durable one: the version before this one is made durable first.
            let before = store.group.pending?.durable ?? base.root
            if store.writer.replacement == nil, !(try store.isKnownDurable(before)) {
                try store.makeDurable()
            } else if !root.listsExtents {
                try store.file.sync()
            }
            try store.file.write(slot, at: root.offset(of: root.version))
            if let replacement = store.writer.replacement {
                // No process has seen the file without this commit. With an empty version to fall back to, damage would look like an empty
                // file.
                try store.file.write(Root.vacantSlot, at: root.offset(of: root.version &- 1))
                try replacement.finish()
                store.writer.replacement = nil
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

    // MARK: Adopt

    /// Makes the version the one that the next transaction begins from.
    func adopt(_ encoded: EncodedVersion, _ plan: CommitPlan) {
        store.writer.space!.committed(version, freed: plan.freed)
        store.writer.records.removeFirst(plan.droppedRecords)
        if let first = plan.recordOfFirst { store.writer.records = [first] }
        store.writer.records.append((version, encoded.root.record, plan.time))
        (store.writer.history, store.writer.historyRef) = (plan.history, plan.historyRef)
        if !plan.joinsGroup { store.writer.durableTags = plan.history.tags }
        store.writer.checkpoint = encoded.checkpoint
        store.writer.logBytes = plan.writesCheckpoint ? 0 : store.writer.logBytes + encoded.root.record.length
        // Remove slack of a failed writer, or an end that became free: no readable version reaches it.
        let end = encoded.root.end * 64, length = store.writer.length
        if !plan.joinsGroup, length > end + max(1 << 20, length / 8) { try? store.cut(to: end) }
        // A few units more, because what grows does so slowly.
        if !isLast, !plan.writesCheckpoint {
            store.writer.usualUnits = givenUnits <= WriterState.maximumUsualUnits ? givenUnits + 2 : 0
        }
    }
}
