import FirnBytes
import FirnDisk

/// Returns whether everything that the catalogue of a version refers to is whole. The layer above implements it, because it knows the
/// references.
package typealias VersionCheck = @Sendable (_ source: any ExtentSource & Sendable, _ catalogue: ExtentRef) -> Bool

/// Searches for the version after `base` whose root is damaged: its commit record may still be in the file. See docs/format/store.md,
/// "A root that is damaged".
struct LostVersion {
    let salvage: Salvage
    /// The root of the newest version that has a whole root.
    let base: Root
    let isWhole: VersionCheck?
    /// A complete check of a version without a list of extents is slow.
    private static let maximumChecks = 4
    /// A hostile file may be full of bytes that look like records.
    private static let maximumCandidates = 256
    private static let maximumRecord: UInt64 = 64 << 20
    /// Few commits need features that the version before did not. For a hundred possible lengths of a record, not all combinations are tried.
    private static let maximumAdded = 2

    /// Returns a later version of which only the catalogue is known to be whole, or nil. Its root and its commit record are damaged, so no
    /// root can be made for it, but recovery finds it. An interrupted commit can leave the same bytes.
    func unrestorable() throws(FirnError) -> UInt64? {
        guard !base.isEncrypted, !base.isVacant(salvage.bytes(at: slotOffset, atMost: UInt64(Root.slotBytes))) else { return nil }
        let newer = (salvage.strayLeads() + salvage.leads().leads).filter { $0.version > base.version && $0.origin != .inlineFile }
        // A hostile file may be full of bytes that look like records.
        let found = newer.prefix(LostVersion.maximumCandidates).first { (try? salvage.read($0.catalogue)) != nil }
        do throws(Damage) { try salvage.checkIntact() } catch { throw FirnError(error, in: salvage.path) }
        return found?.version
    }

    private var slotOffset: UInt64 { base.offset(of: base.version &+ 1) }

    /// Returns the root of the lost version, as it was or equivalent to it; nil if no version after `base` is whole.
    func find() throws(FirnError) -> Root? {
        guard !base.isEncrypted, base.version < ExtentRef.maximumVersion else { return nil }
        let slot = Array(salvage.bytes(at: slotOffset, atMost: UInt64(Root.slotBytes)))
        // A root that was removed on purpose is not searched for. A torn root whose record is not newer than `base` belongs to an older
        // version.
        if base.isVacant(slot) { return nil }
        let torn = slot.withUnsafeBytes { Root(torn: $0, at: slotOffset) }
        var candidates: [(offset: UInt64, version: UInt64, time: Int64)] = []
        if let torn, let record = try? salvage.read(torn.record), let found = try? CommitRecord(record) {
            if found.version <= base.version { return nil }
            candidates.append((torn.record.offset, found.version, .max))
        }
        if candidates.isEmpty {
            salvage.scanRecords { offset, record in
                if record.version == base.version + 1, !base.isInlineFile, record.previous != base.record { return }
                if record.version > base.version, (record.version - base.version) & 1 == 1, record.version - base.version < 1 << 20 {
                    candidates.append((offset, record.version, record.time))
                }
            }
        }
        // Of two commits with the same number, the later one was acknowledged last.
        candidates.sort { ($0.version, $0.time) > ($1.version, $1.time) }
        var checks = 0
        for candidate in candidates.prefix(LostVersion.maximumCandidates) {
            guard let (record, ref) = record(at: candidate.offset, named: torn?.record), follows(record) else { continue }
            var root = Root(
                version: record.version, end: record.end, oldestKept: record.oldestKept, time: record.time,
                listsExtents: !record.listed.isEmpty,
                identity: base.identity, record: ref, catalogue: record.catalogue)
            root.secondSlot = base.secondSlot
            guard holds(root, record) else { continue }
            let isNamed = torn?.record == ref
            // Only the last version of a group has a root: the others were never durable by themselves.
            if !isNamed, record.isWithoutRoot { continue }
            // If the record lists nothing, its root was written after everything that it refers to was durable.
            if !isNamed, record.listed.isEmpty {
                checks += 1
                guard checks <= LostVersion.maximumChecks, let isWhole, isWhole(salvage, record.catalogue) else { continue }
            }
            return completed(root, record, slot, isNamed: isNamed)
        }
        do throws(Damage) { try salvage.checkIntact() } catch { throw FirnError(error, in: salvage.path) }
        return nil
    }

    /// Returns the record at `offset` with a reference to it: the reference in the root, if its hash is valid, or one that is computed from
    /// the bytes.
    private func record(at offset: UInt64, named: ExtentRef?) -> (CommitRecord, ExtentRef)? {
        if let named, named.offset == offset, let bytes = try? salvage.read(named), let record = try? CommitRecord(bytes) {
            return (record, named)
        }
        var reader = ByteReader(salvage.bytes(at: offset, atMost: LostVersion.maximumRecord))
        guard var record = try? CommitRecord(from: &reader) else { return nil }
        if !record.history.isNone, (try? salvage.read(record.history)) == nil {
            // A record without a history may be followed by any bytes.
            record.history = .none
        }
        // The record owns its units, at most up to the next extent of the commit. The space that was reserved after its lists is zero.
        let first = offset / 64
        // Space after the end of the version before is not listed as taken.
        let grown = first >= base.end && first < record.end ? UnitRange(start: base.end, end: record.end) : nil
        guard let own = grown ?? record.taken.first(where: { $0.start <= first && first < $0.end }) else { return nil }
        let next = record.listed.map { $0.offset / 64 }.filter { $0 > first }.min() ?? .max
        // If everything that the commit wrote is listed, the rest of the range belongs to the record.
        let room = record.listed.isEmpty ? (offset + UInt64(reader.position) + 80 + 63) / 64 : .max
        let end = min(own.end, next, room, salvage.length / 64)
        let bytes = salvage.bytes(at: offset, atMost: end * 64 - min(offset, end * 64))
        guard let again = try? CommitRecord(bytes), again.history == record.history else { return nil }
        return (record, ExtentRef(offset: offset, length: UInt64(bytes.count), birth: record.version, hash: Hash128(of: bytes)))
    }

    /// Returns whether the chain of records leads from this one back to the base, each proven by the hash in the next.
    private func follows(_ record: CommitRecord) -> Bool {
        var last = record, left = salvage.length
        while last.version > base.version + 1 {
            guard last.previous.length <= left, let bytes = try? salvage.read(last.previous), let previous = try? CommitRecord(bytes),
                previous.version + 1 == last.version
            else { return false }
            left -= last.previous.length
            last = previous
        }
        if base.version == 0 { return last.previous.isNone }
        guard base.isInlineFile else { return last.previous == base.record }
        guard let bytes = try? salvage.read(last.previous), let first = try? CommitRecord(bytes) else { return false }
        return first.version == 1 && first.catalogue == base.catalogue
    }

    /// Returns whether the file has everything that the root of a newest version must refer to.
    private func holds(_ root: Root, _ record: CommitRecord) -> Bool {
        guard root.end >= root.secondOffset / 64 + 8, salvage.length >= root.end * 64, root.oldestKept <= root.version,
            (try? record.checkListed(within: salvage.length)) != nil
        else { return false }
        return ([root.catalogue, record.checkpoint, record.history].filter { !$0.isNone } + record.listed).allSatisfy {
            (try? salvage.read($0)) != nil
        }
    }

    /// Returns the root with its original feature bits, if the hash of the damaged root still proves them; otherwise with all bits that the
    /// file may need.
    private func completed(_ root: Root, _ record: CommitRecord, _ slot: [UInt8], isNamed: Bool) -> Root {
        let readers = Store.knownReaderFeatures & ~ReaderFeature.encryption.bit, writers = Store.knownWriterFeatures
        let needed = base.writerFeatures | (record.history.isNone ? 0 : WriterFeature.history.bit)
        let hash = Array(slot.dropFirst(Root.length - 16).prefix(16))
        if hash.contains(where: { $0 != 0 }) {
            if let exact = withFeatures(root, needed, hash, adding: .max) { return exact }
            // A record that was found by the search may be shorter than the space reserved for it.
            for length in stride(from: root.record.length, through: max(root.record.length, 296) - 144, by: -1) where !isNamed {
                var exact = root
                exact.record.length = length
                exact.record.hash = Hash128(of: salvage.bytes(at: root.record.offset, atMost: length))
                if let exact = withFeatures(exact, needed, hash, adding: LostVersion.maximumAdded) { return exact }
            }
        }
        var safe = root
        safe.readerFeatures = base.readerFeatures | readers
        safe.writerFeatures = needed | writers
        return safe
    }

    /// Returns the root with the feature bits that produce this hash; nil if there are none with up to `added` more bits for readers than the
    /// base has. Thousands of combinations are tried, so only the bytes of the bits change between two hashes.
    private func withFeatures(_ root: Root, _ needed: UInt64, _ hash: [UInt8], adding added: Int) -> Root? {
        let more = Store.knownReaderFeatures & ~ReaderFeature.encryption.bit & ~base.readerFeatures
        let readers = subsets(of: more).filter { $0.nonzeroBitCount <= added }.map { $0 | base.readerFeatures }
        let writers = subsets(of: Store.knownWriterFeatures).filter { needed & ~$0 == 0 }
        func word(_ at: Int) -> UInt64 { (0..<8).reduce(0) { $0 | UInt64(hash[at + $1]) << UInt64(8 * $1) } }
        let wanted = Hash128(low: word(0), high: word(8))
        for lists in root.listsExtents ? [true] : [false, true] {
            var exact = root
            exact.listsExtents = lists
            var bytes = Array(exact.encoded()[..<(Root.length - 16)])
            for reader in readers {
                for writer in writers {
                    for i in 0..<8 {
                        bytes[16 + i] = UInt8(truncatingIfNeeded: reader >> UInt64(8 * i))
                        bytes[24 + i] = UInt8(truncatingIfNeeded: writer >> UInt64(8 * i))
                    }
                    guard Hash128(of: bytes) == wanted else { continue }
                    (exact.readerFeatures, exact.writerFeatures) = (reader, writer)
                    return exact
                }
            }
        }
        return nil
    }
}

/// Returns all subsets of a few bits, ascending.
private func subsets(of bits: UInt64) -> [UInt64] {
    var subsets: [UInt64] = [0]
    while let last = subsets.last, last != bits { subsets.append((last &- bits) & bits) }
    return subsets
}
