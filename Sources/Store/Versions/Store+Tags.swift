import FirnBytes

extension Store {
    /// Returns the tags, sorted by name.
    package func tags() throws(FirnError) -> [Tag] { try keptHistory().tags }

    /// Returns the rule for kept versions that is stored in the file; nil if there is none and writers use the default.
    package func retention() throws(FirnError) -> Retention? { try keptHistory().retention }

    /// Returns a snapshot of the version with this tag.
    /// - Throws: `.notFound` if there is no such tag.
    package func snapshot(tag name: String) throws(FirnError) -> StoreSnapshot {
        while true {
            guard let tag = try tags().first(where: { $0.name == name }) else {
                throw FirnError(.notFound, "there is no tag \"\(name)\"", at: .init(file: path))
            }
            let found: StoreSnapshot
            do throws(FirnError) { found = try snapshot(version: tag.version) } catch {
                // If the tag was moved or deleted meanwhile, look again. Otherwise the error is correct.
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

    /// Returns the history that applied when the version of `snapshot` was the newest.
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
    /// The tags after this commit.
    package var tags: [Tag] { lock.withLock { (history ?? store.writer.history).tags } }

    /// The rule for kept versions after this commit.
    package var retention: Retention? { lock.withLock { (history ?? store.writer.history).retention } }

    /// Tags a version from this commit on. If another version has the tag, it is moved. The snapshot is held until the commit.
    package func tag(_ name: String, _ snapshot: StoreSnapshot) {
        trap(unless: Tag.refusal(of: name) == nil, "\(Tag.refusal(of: name) ?? "")")
        trap(
            unless: snapshot.store === store && snapshot.version > 0 && snapshot.version <= base.version,
            "a tag must refer to a version of its own file, and not to the empty version")
        lock.withLock {
            var changed = history ?? store.writer.history
            changed.set(
                Tag(name: name, version: snapshot.version, time: snapshot.time, catalogue: snapshot.catalogue, end: snapshot.root.end))
            history = changed
            tagged.append(snapshot)
        }
    }

    /// Tags the version that this transaction will commit.
    package func tagItself(_ name: String) {
        trap(unless: Tag.refusal(of: name) == nil, "\(Tag.refusal(of: name) ?? "")")
        lock.withLock { ownTags.append(name) }
    }

    /// Whether the commit will change tags or the rule for kept versions.
    package var changesHistory: Bool { lock.withLock { !ownTags.isEmpty || history.map { $0 != store.writer.history } ?? false } }

    /// Deletes a tag. Returns false if there is no such tag.
    package func untag(_ name: String) -> Bool {
        lock.withLock {
            var changed = history ?? store.writer.history
            guard let index = changed.tags.firstIndex(where: { $0.name == name }) else { return false }
            changed.tags.remove(at: index)
            history = changed
            return true
        }
    }

    /// Sets the rule for kept versions that writers use from this commit on if their caller gives them no other; nil means the default.
    package func retain(_ retention: Retention?) {
        lock.withLock {
            var changed = history ?? store.writer.history
            changed.retention = retention
            history = changed
        }
    }

    /// Writes the history extent before the record that refers to it. The lock must be held.
    func writeHistory(_ catalogue: ExtentRef, _ time: Int64) throws(FirnError) -> (ref: ExtentRef, history: KeptHistory) {
        if !ownTags.isEmpty {
            var changed = history ?? store.writer.history
            // Everything that the catalogue refers to is below the current end.
            for name in ownTags {
                changed.set(Tag(name: name, version: version, time: time, catalogue: catalogue, end: store.writer.space!.end))
            }
            history = changed
        }
        let history = history ?? store.writer.history
        guard history != store.writer.history || movesHistory && !store.writer.historyRef.isNone else {
            return (store.writer.historyRef, store.writer.history)
        }
        if !store.writer.historyRef.isNone { freed.append(store.writer.historyRef) }
        guard !history.isEmpty else { return (.none, history) }
        let bytes = history.encoded()
        return (try put(bytes, at: reserve(bytes.count)), history)
    }

    /// Returns the oldest version that stays readable. The lock must be held.
    func oldestKept(_ retention: Retention, now: Int64) -> UInt64 {
        let count = UInt64(retention.versions)
        var oldest = version >= count ? version + 1 - count : 0
        if let seconds = retention.seconds {
            let (span, overflow) = Int64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
            let since = overflow ? Int64.min : now.subtractingReportingOverflow(span).partialValue
            // The first version since then replaced the one that was the newest at that time.
            var low = 0, high = store.writer.records.count
            while low < high {
                let middle = (low + high) / 2
                if store.writer.records[middle].time < since { low = middle + 1 } else { high = middle }
            }
            let first = low < store.writer.records.count ? store.writer.records[low].version : version
            oldest = min(oldest, first - 1)
        }
        return max(base.root.oldestKept, oldest)
    }
}
