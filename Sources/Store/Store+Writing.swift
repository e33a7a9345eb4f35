import FirnBytes
import FirnDisk

/// What the writer of the moment knows without asking the system again: nobody else changes the file while he holds its lock.
extension Store {
    /// Notes how long the file is; an error if its name leads to another by now.
    func lookAtFile() throws(FirnError) {
        guard replacement == nil else { return length = try file.size() }
        if ownIdentity == nil { ownIdentity = try? file.identity() }
        guard let there = FileFacts(path: place), there.identity == ownIdentity else {
            throw FirnError(.inputOutput, "the file was replaced or removed while it was open", at: .init(file: path), advice: "open the file again")
        }
        length = there.size
    }

    /// Something is about to be written that ends there.
    func reaches(_ end: UInt64) { length = max(length, end) }

    func cut(to length: UInt64) throws(FirnError) {
        try file.truncate(to: length)
        self.length = length
    }

    /// Makes the file longer than it need be, if this is not the first small commit: those that follow find room that the medium has given already,
    /// in one piece, and their syncs have no new place to make last. Whoever closes the file gives it back.
    func spare(besides bytes: UInt64) throws(FirnError) {
        guard usualUnits > 0 else { return }
        // Whole pages, and no small commit shall write more than 24 KiB.
        let room = bytes > Store.smallBytes ? Store.spareBytes : min(Store.spareBytes, (Store.smallBytes - bytes) & ~4095)
        if room == 0 { return }
        let start = length
        reaches(start + room)
        try file.write([UInt8](repeating: 0, count: Int(room)), at: start)
    }

    /// Takes the root away that was refused at opening, durably, before anything is written. Its commit lost extents in a crash; the next one may write the very same
    /// bytes to the same places, and cut short in its turn, would make whole what was given up.
    func clearRefused() throws(FirnError) {
        guard let refused, !hasCleared else { return }
        let offset = refused.offset(of: refused.version), slot = try file.read(count: Root.slotBytes, at: offset)
        let there = slot.withUnsafeBytes { try? Root(slot: $0, at: offset).unsealed(cipher) }
        if there == refused {
            do throws(FirnError) {
                // The vacant slot says that it was taken away, not damaged: no version is looked for that would belong there.
                try file.write(refused.vacantSlot, at: offset)
                try file.sync()
            } catch {
                fail(error)
                throw error
            }
        }
        hasCleared = true
    }

    /// The newest version, for the writer: nobody else commits, and so nobody releases it, until he is done. No lock says that it is read.
    func writersSnapshot() throws(FirnError) -> StoreSnapshot {
        let newest: Root
        if let known = pending?.newest { newest = known } else { newest = try newestRoot() }
        try pin(newest.version, isWriters: true)
        return StoreSnapshot(store: self, root: newest, mapping: mapping(covering: length), limit: min(length, newest.end * 64))
    }
}
