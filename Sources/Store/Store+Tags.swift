import FirnBytes

extension Store {
    /// The versions that have a name, in the order of the names.
    package func tags() throws(FirnError) -> [Tag] { try keptHistory().tags }

    /// What the file says of the versions to keep; nil if it says nothing, and writers keep what is customary.
    package func retention() throws(FirnError) -> Retention? { try keptHistory().retention }

    /// The version that has this name. `.notFound` if there is no such tag.
    package func snapshot(tag name: String) throws(FirnError) -> StoreSnapshot {
        while true {
            guard let tag = try tags().first(where: { $0.name == name }) else { throw FirnError(.notFound, "there is no tag '\(name)'", at: .init(file: path)) }
            let found: StoreSnapshot
            do throws(FirnError) { found = try snapshot(version: tag.version) } catch {
                // Moved or taken away meanwhile: look again. Else the error is true.
                if error.code == .notFound, try tags().first(where: { $0.name == name })?.version != tag.version { continue }
                throw error
            }
            return found
        }
    }

    private func keptHistory() throws(FirnError) -> KeptHistory {
        let newest = try snapshot()
        defer { newest.release() }
        return try keptHistory(of: newest)
    }

    /// What stood in the file when the snapshot's version was the newest.
    func keptHistory(of snapshot: StoreSnapshot) throws(FirnError) -> KeptHistory {
        guard snapshot.root.writerFeatures & WriterFeature.history.bit != 0, !snapshot.root.record.isNone else { return KeptHistory() }
        var ref = ExtentRef.none
        try walkRecords(from: snapshot) { record, _ in
            ref = record.history
            return false
        }
        return try readHistory(ref, snapshot)
    }

    func readHistory(_ ref: ExtentRef, _ snapshot: StoreSnapshot) throws(FirnError) -> KeptHistory {
        if ref.isNone { return KeptHistory() }
        do throws(Damage) {
            let bytes = try snapshot.read(ref)
            do throws(Damage) { return try KeptHistory(bytes, version: snapshot.version) } catch { throw error.shifted(by: ref.offset) }
        } catch { throw FirnError(error.naming("the list of tags"), in: path) }
    }
}

extension StoreTransaction {
    /// The tags as they will be.
    package var tags: [Tag] { lock.withLock { (history ?? store.kept).tags } }

    /// What the file will say of the versions to keep.
    package var retention: Retention? { lock.withLock { (history ?? store.kept).retention } }

    /// Gives a version a name from this commit on; a version that had it loses it. The snapshot is held until then.
    package func tag(_ name: String, _ snapshot: StoreSnapshot) {
        precondition(Tag.refusal(of: name) == nil, "\(Tag.refusal(of: name) ?? "")")
        precondition(snapshot.store === store && snapshot.version > 0 && snapshot.version <= base.version, "a tag names a version of its own file, and not the empty one")
        lock.withLock {
            var changed = history ?? store.kept
            changed.set(Tag(name: name, version: snapshot.version, time: snapshot.time, catalogue: snapshot.catalogue, end: snapshot.root.end))
            history = changed
            tagged.append(snapshot)
        }
    }

    /// Gives the version that the transaction will become a name.
    package func tagItself(_ name: String) {
        precondition(Tag.refusal(of: name) == nil, "\(Tag.refusal(of: name) ?? "")")
        lock.withLock { ownTags.append(name) }
    }

    /// Whether the commit will change tags or what is kept.
    package var changesHistory: Bool { lock.withLock { !ownTags.isEmpty || history.map { $0 != store.kept } ?? false } }

    /// Takes a name away; false if no version has it.
    package func untag(_ name: String) -> Bool {
        lock.withLock {
            var changed = history ?? store.kept
            guard let place = changed.tags.firstIndex(where: { $0.name == name }) else { return false }
            changed.tags.remove(at: place)
            history = changed
            return true
        }
    }

    /// What writers keep from this commit on that do not choose for themselves; nil: what is customary.
    package func retain(_ retention: Retention?) {
        lock.withLock {
            var changed = history ?? store.kept
            changed.retention = retention
            history = changed
        }
    }

    /// Before the record is written: the extent that it refers to. (The lock is held.)
    func writeHistory(_ catalogue: ExtentRef, _ time: Int64) throws(FirnError) -> (ref: ExtentRef, history: KeptHistory) {
        if !ownTags.isEmpty {
            var changed = history ?? store.kept
            // All that the catalogue leads to lies below the present end.
            for name in ownTags { changed.set(Tag(name: name, version: version, time: time, catalogue: catalogue, end: store.space!.end)) }
            history = changed
        }
        let history = history ?? store.kept
        guard history != store.kept || movesHistory && !store.keptRef.isNone else { return (store.keptRef, store.kept) }
        if !store.keptRef.isNone { freed.append(store.keptRef) }
        guard !history.isEmpty else { return (.none, history) }
        let bytes = history.encoded()
        return (try put(bytes, at: reserve(bytes.count)), history)
    }

    /// The oldest version that stays readable. (The lock is held.)
    func oldestKept(_ retention: Retention, now: Int64) -> UInt64 {
        let count = UInt64(retention.versions)
        var oldest = version >= count ? version + 1 - count : 0
        if let seconds = retention.seconds {
            let (span, overflow) = Int64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
            let since = overflow ? Int64.min : now.subtractingReportingOverflow(span).partialValue
            // The first version that came since then replaced one that was the newest until then.
            var low = 0, high = store.records.count
            while low < high {
                let middle = (low + high) / 2
                if store.records[middle].time < since { low = middle + 1 } else { high = middle }
            }
            let first = low < store.records.count ? store.records[low].version : version
            oldest = min(oldest, first - 1)
        }
        return max(base.root.oldestKept, oldest)
    }
}
