import FirnBytes
import FirnDisk

/// How the bytes of a store are used. All values are in bytes.
package struct SpaceReport: Hashable, Sendable {
    /// The length of the file.
    package var fileLength: UInt64
    /// Extents of the newest version, and everything that no other property counts.
    package var live: UInt64
    /// Dead in the newest version, but kept or pinned, or not released by a writer yet.
    package var pending: UInt64
    /// Free for reuse.
    package var free: UInt64
    /// Roots, commit records and the space checkpoint.
    package var bookkeeping: UInt64
    /// Bytes after the end of the used space.
    package var slack: UInt64
}

extension Store {
    /// Returns a notice about a damaged root that causes no loss: the other root refers to the newest version, or the contents of the
    /// damaged one are certain.
    package func rootNotice() throws(FirnError) -> Damage? {
        guard refused == nil else { return nil }
        let root = try newestRoot()
        if let standIn, root == standIn {
            let offset = root.offset(of: root.version)
            return Damage(
                "the root at \(offset) is damaged; version \(root.version), which it referred to, is whole, and the next commit restores the root",
                inFileAt: offset)
        }
        guard root.version > 0, let (damage, lost) = try damagedRoot(root), lost == nil else { return nil }
        return damage.explained("no version newer than \(root.version) was found: at most an interrupted commit is lost")
    }

    /// Returns what is wrong with the slot that does not hold the newest root, and the version that it referred to, if that was a newer
    /// one.
    private func damagedRoot(_ newest: Root) throws(FirnError) -> (Damage, lost: UInt64?)? {
        if newest.isInlineFile { return try fellBack.map { (damage) throws(FirnError) in (damage, try lostVersion(newest)) } }
        let other = newest.offset(of: newest.version &+ 1), slot = try file.read(count: Root.slotBytes, at: other)
        // The slot never held a root, or its root was removed.
        if newest.isVacant(slot) { return nil }
        do throws(Damage) {
            _ = try slot.withBytes { (bytes) throws(Damage) in try Root(slot: bytes, at: other).unsealed(cipher) }
            return nil
        } catch { return (error.shifted(by: other).naming("the root at \(other)"), try lostVersion(newest)) }
    }

    private func lostVersion(_ newest: Root) throws(FirnError) -> UInt64? {
        guard !newest.isEncrypted else { return nil }
        let lost = try LostVersion(salvage: Salvage(file, path: path), base: newest, isWhole: nil)
        if let root = try lost.find() { return root.version }
        return try lost.unrestorable()
    }

    /// Returns a snapshot of the rejected newest version while the one before it is read; its contents must not be trusted. Returns nil if
    /// no version was rejected, or if a later one has been committed.
    package func passedOver() throws(FirnError) -> StoreSnapshot? {
        guard let refused, try newestRoot().version < refused.version else { return nil }
        return try snapshot(pinning: refused)
    }

    /// Returns how the bytes of the newest version and of the file are used.
    package func spaceReport() throws(FirnError) -> SpaceReport {
        let newest = try snapshot()
        defer { newest.release() }
        let size = try file.size()
        guard newest.version > 0 else {
            return SpaceReport(fileLength: size, live: 0, pending: 0, free: 0, bookkeeping: min(size, 512), slack: size - min(size, 512))
        }
        if newest.root.isInlineFile {
            return SpaceReport(
                fileLength: size, live: newest.catalogue.length, pending: 0, free: 0, bookkeeping: Root.inlineOffset,
                slack: size &- Root.inlineOffset &- newest.catalogue.length)
        }
        let (space, records, checkpoint, _, history) = try loadSpace(newest)
        let own = (records.map(\.ref) + [checkpoint.ref, history].filter { !$0.isNone }).reduce(1024) {
            $0 + ExtentRef.units(of: $1.length) * 64
        }
        let used = space.end * 64, free = space.free.units * 64, pending = space.pendingUnits * 64
        return SpaceReport(
            fileLength: size, live: used &- free &- pending &- own, pending: pending, free: free, bookkeeping: own,
            slack: size > used ? size - used : 0)
    }

    /// Reports everything that is wrong with roots, commit records and the state of free space. If `live` has the extents that the newest
    /// catalogue refers to (including the catalogue itself), it also reports those that overlap each other or free space. It does not read
    /// these extents; the caller does, with
    /// `readVerifying`. Returns how many bytes nothing accounts for, if `live` is given and nothing else is wrong.
    @discardableResult
    package func verify(live: [ExtentRef]? = nil, _ report: (Damage) -> Void) throws(FirnError) -> UInt64? {
        var found = false
        func note(_ damage: Damage) {
            found = true
            report(damage)
        }
        // `rootNotice` reports a damaged root that causes no loss.
        if let fellBack, refused != nil || seen.load(ordering: .relaxed) == 0 { note(fellBack) }
        if isWritable { try settle(wait: false) }
        let newest = try snapshot()
        defer { newest.release() }
        if newest.version > 0, !newest.root.isInlineFile {
            if let (damage, lost) = try damagedRoot(newest.root), let lost {
                note(damage.naming("version \(lost) is not read; the next commit restores it if it is intact, or may overwrite it"))
            }
            let size = try file.size(), length = newest.root.end * 64
            if size < length { note(.cut(size, of: length)) }
        }
        do throws(FirnError) {
            var isNewest = true
            var damages: [Damage] = []
            try walkRecords(from: newest) { (record, ref) throws(FirnError) in
                do throws(Damage) { _ = try newest.readVerifying(ref) } catch {
                    damages.append(error.naming("the commit record of version \(record.version)"))
                }
                // Extents that older records list may be dead, and the file may have become shorter.
                guard isNewest else { return true }
                isNewest = false
                do throws(Damage) { try record.checkListed(within: newest.extents.limit) } catch {
                    damages.append(error.shifted(by: ref.offset).naming("the commit record of version \(record.version)"))
                    return true
                }
                for each in record.listed {
                    do throws(Damage) { _ = try newest.readVerifying(each) } catch {
                        damages.append(error.naming("an extent that version \(record.version) wrote"))
                    }
                }
                return true
            }
            damages.forEach(note)
            let state = try loadSpace(newest)
            try verifyTags(state.history, newest, state.space, note)
            guard let live else { return nil }
            return account(
                live, newest.root, state.space, state.records.map(\.ref) + [state.checkpoint.ref, state.history].filter { !$0.isNone },
                note, found: { found })
        } catch {
            guard error.code == .damaged else { throw error }
            note(Damage(error.message, at: Int(clamping: error.location?.byte ?? 0)))
            return nil
        }
    }

    /// Checks the list of tags and the catalogue of each tagged version.
    private func verifyTags(_ ref: ExtentRef, _ newest: StoreSnapshot, _ space: SpaceState, _ note: (Damage) -> Void) throws(FirnError) {
        guard !ref.isNone else { return }
        do throws(Damage) { _ = try newest.readVerifying(ref) } catch { return note(error.naming("the list of tags")) }
        var seen: Set<ExtentRef> = [], left = newest.extents.limit
        for tag in try readHistory(ref, newest).tags {
            if seen.insert(tag.catalogue).inserted {
                // Catalogues of tags do not overlap either.
                guard tag.catalogue.length <= left else {
                    return note(Damage("the catalogues of tags are longer than the file", inFileAt: ref.offset))
                }
                left -= tag.catalogue.length
                do throws(Damage) { _ = try newest.readVerifying(tag.catalogue) } catch {
                    note(error.naming("the catalogue of tag \"\(tag.name)\""))
                }
            }
            if space.free.map.overlaps(UnitRange(start: tag.catalogue.units.lowerBound, end: tag.catalogue.units.upperBound)) {
                note(Damage("the space of the version of tag \"\(tag.name)\" is free", inFileAt: tag.catalogue.offset))
            }
        }
    }

    private func account(
        _ live: [ExtentRef], _ root: Root, _ space: SpaceState, _ own: [ExtentRef], _ note: (Damage) -> Void, found: () -> Bool
    ) -> UInt64? {
        var used = RangeMap()
        for range in space.free.ranges { used.insert(range) }
        for dead in space.pending.values where used.insert(UnitRange(start: dead.start, end: dead.end)) == nil {
            note(Damage("dead space overlaps other space", at: Int(clamping: dead.start * 64)))
        }
        for ref in Set(live + own) where !ref.isNone {
            var units = UnitRange(start: ref.units.lowerBound, end: ref.units.upperBound)
            if root.isInlineFile, ref == root.catalogue {
                units.start = 8  // the units before belong to the first slot
                if units.end <= 8 { continue }
            }
            let second = root.secondOffset / 64
            if units.start < 8 || (units.start < second + 8 && units.end > second) || units.end > space.end || used.insert(units) == nil {
                note(Damage("an extent overlaps another extent or free space", inFileAt: ref.offset))
            }
        }
        return found() ? nil : (space.end - 16 - used.total) * 64
    }
}
