import FirnBytes
import FirnDisk

/// The roots of a file that is open.
extension Store {
    /// Returns the newest root that is whole now: that of the newest version when the call began, or of a later one. It usually costs one
    /// or two small reads.
    func newestRoot() throws(FirnError) -> Root {
        if !isInherited, let visible = lock.withLock({ group.pending?.visible }) { return visible }
        var before: RootSlots?
        for _ in 0..<100 {
            let slots = try RootSlots(of: file, second: secondOffset.load(ordering: .relaxed))
            var newest: Root?, areWhole = true
            for slot in slots.all {
                do throws(Damage) {
                    guard let root = try slots.root(in: slot, cipher), root.identity == identity, root != refused else { continue }
                    if newest == nil || root.version > newest!.version { newest = root }
                } catch {
                    if error.isUnread { throw FirnError(error, in: path) }
                    areWhole = false
                }
            }
            // A slot that is not whole is being written, or damaged. If it is being written, the other slot may have been read before a
            // version that was committed since. So it counts as damaged only if both slots are unchanged.
            if !areWhole {
                defer { before = slots }
                guard let before, slots.areSame(before) else { continue }
            }
            if let standIn, newest?.version ?? 0 < standIn.version { newest = standIn }
            if let newest, newest.version >= seen.load(ordering: .relaxed) {
                try Store.checkFeatures(newest, path)
                seen.max(newest.version, ordering: .relaxed)
                return newest
            }
        }
        let last = seen.load(ordering: .relaxed)
        throw FirnError.damaged(
            path, what: last == 0 ? "both roots are damaged" : "the root of version \(last) was read before, and is now damaged", byte: 0)
    }

    static func checkFeatures(_ root: Root, _ path: String) throws(FirnError) {
        if root.formatVersion != Root.format {
            throw FirnError(
                .unsupported, "the file has format version \(root.formatVersion), this program supports version \(Root.format)",
                at: .init(file: path),
                advice: "use a newer version of Firn")
        }
        let unknown = root.readerFeatures & ~knownReaderFeatures & ~ReaderFeature.encodings
        if unknown != 0 {
            let bits = (0..<UInt64.bitWidth).filter { unknown >> $0 & 1 != 0 }.map(String.init).joined(separator: ", ")
            throw FirnError(
                .unsupported, "the file has the reader feature bits \(bits), which this program does not know",
                at: .init(file: path),
                advice: "use a newer version of Firn")
        }
    }

    /// Returns the newest version, including commits of other processes.
    package func latestVersion() throws(FirnError) -> UInt64 { try newestRoot().version }
}

/// The bytes of both root slots, read from the lower offset to the higher one.
private struct RootSlots {
    private let bytes: [UInt8]
    let all: [(offset: UInt64, range: Range<Int>)]

    init(of file: File, second: UInt64) throws(FirnError) {
        // One read is enough for both slots if they are near each other.
        if second == 4096 {
            bytes = try file.read(count: Int(second) + Root.slotBytes, at: 0)
        } else {
            bytes = try file.read(count: Root.slotBytes, at: 0) + file.read(count: Root.slotBytes, at: second)
        }
        let start = min(second == 4096 ? Int(second) : Root.slotBytes, bytes.count)
        all = [(0, 0..<min(Root.slotBytes, start)), (second, start..<bytes.count)]
    }

    /// Returns the root in a slot, or nil if the slot is vacant. Throws `Damage` if the slot is not whole.
    func root(in slot: (offset: UInt64, range: Range<Int>), _ cipher: ExtentCipher?) throws(Damage) -> Root? {
        do throws(Damage) {
            return try bytes.withBytes { (bytes) throws(Damage) in
                try Root(slot: UnsafeRawBufferPointer(rebasing: bytes[slot.range]), at: slot.offset).unsealed(cipher)
            }
        } catch {
            let there = bytes[slot.range].prefix(Root.length)
            if there.elementsEqual(Root.vacantSlot.prefix(there.count)) || there.allSatisfy({ $0 == 0 }) { return nil }
            throw error
        }
    }

    func areSame(_ other: RootSlots) -> Bool {
        all.count == other.all.count && zip(all, other.all).allSatisfy { bytes[$0.range].elementsEqual(other.bytes[$1.range]) }
    }
}
