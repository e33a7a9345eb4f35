import FirnBytes
import FirnDisk
import Synchronization

/// Reads a damaged file for recovery. Only bytes with a valid hash are trusted. It needs no valid root, record or length, never writes, and
/// takes no locks.
package final class Salvage: ExtentSource, Sendable {
    /// A catalogue that a reference in the file leads to.
    package struct Lead: Hashable, Sendable {
        package enum Origin: Hashable, Sendable {
            /// The reference is in a root, whole or damaged.
            case root(isWhole: Bool)
            /// The reference is in a commit record or a tag, reached from a root or found by a search.
            case record(isReached: Bool)
            /// The position of the catalogue in an inline file. No hash of it is known.
            case inlineFile
            /// There is no catalogue: segments were found by a search through the file.
            case search
        }
        /// The version, or 0 if it is not known. It is taken only from roots and records with a valid hash.
        package var version: UInt64
        /// The wall time of the commit, in nanoseconds since 1970-01-01 UTC; 0 if it is not known.
        package var time: Int64
        /// The reference of the catalogue.
        package var catalogue: ExtentRef
        /// The kind of evidence for the catalogue.
        package var origin: Origin
    }

    package let path: String
    /// The length of the file in bytes.
    package let length: UInt64
    package let hasUnknownEncodings: Bool
    let file: File
    let mapping: Mapping
    private let verified: VerifiedExtents
    /// In an encrypted file: its cipher, and the extents that were decrypted with it.
    let cipher: ExtentCipher?
    private let held: HeldExtents?
    /// Extents that are not in the file: `Salvage+Scan`.
    let added: Mutex<[ExtentRef: FixedBytes]> = Mutex([:])

    /// Opens a file for recovery.
    /// - Throws: `.encrypted`, `.wrongKey` and `.notEncrypted` as when a store is opened.
    package convenience init(path: String, key: EncryptionKey? = nil) throws(FirnError) {
        let file = try File(path: path, .read)
        guard !file.isDirectory else { throw FirnError(.notThisFormat, "it is a directory", at: .init(file: path)) }
        try self.init(file, path: path, key: key)
    }

    init(_ file: File, path: String, key: EncryptionKey? = nil) throws(FirnError) {
        self.path = path
        self.file = file
        length = try file.size()
        mapping = try Mapping(file)
        verified = try VerifiedExtents(for: file)
        let slots = Salvage.slots(mapping, length)
        hasUnknownEncodings = slots.contains { ($0.whole ?? $0.torn)?.unknownEncodings ?? 0 != 0 }
        do throws(FirnError) { cipher = try Salvage.cipher(of: slots, key) } catch {
            throw FirnError(error.code, error.message, at: .init(file: path), advice: error.advice)
        }
        held = cipher.map { HeldExtents(OpenedExtents($0), .process) }
    }

    /// Returns the cipher of an encrypted file, or nil if the file is not encrypted. One root that the key opens is enough, whole or not:
    /// its tag proves it.
    private static func cipher(of slots: [Slot], _ key: EncryptionKey?) throws(FirnError) -> ExtentCipher? {
        let whole = slots.compactMap(\.whole), isSealed = whole.contains { $0.seal != nil }
        // A root that is not whole is untrusted; it is used only if there is no whole root.
        guard isSealed || (whole.isEmpty && key != nil && slots.contains { $0.torn?.seal != nil }) else {
            guard key == nil || whole.isEmpty else {
                throw FirnError(.notEncrypted, "the file is not encrypted, and a key was given", advice: "recover it without the key")
            }
            return nil
        }
        guard let key else {
            throw FirnError(.encrypted, "the file is encrypted", advice: "recover it with the key that it was written with")
        }
        for root in whole + slots.compactMap({ $0.whole == nil ? $0.torn : nil }) {
            guard let seal = root.seal else { continue }
            let cipher = try ExtentCipher(key, salt: seal.salt, identity: root.identity)
            if (try? root.unsealed(cipher)) != nil { return cipher }
        }
        guard isSealed else {
            throw FirnError(.damaged, "nothing can be recovered: no root of the encrypted file is left, or the key is wrong")
        }
        throw FirnError(.wrongKey, "the key is not the one that the file was encrypted with")
    }

    /// Returns the bytes of an extent if their hash is valid.
    package func read(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        if let added = added.withLock({ $0[ref] }) { return added.bytes }
        var bytes = try storedBytes(ref)
        if let held {
            bytes = try held.read(ref, bytes)
        } else if !verified.contains(ref) {
            guard ref.hash.vouches(for: bytes) else { throw Damage("stored bytes differ from their hash", inFileAt: ref.offset) }
            verified.insert(ref)
        }
        try checkIntact()
        return bytes
    }

    /// Returns the bytes of an extent without checking their hash, to find references to bytes that have a hash of their own; they must not
    /// be output themselves. In an encrypted file only bytes with a valid tag are returned.
    package func readUnverified(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        cipher == nil ? try storedBytes(ref) : try read(ref)
    }

    private func storedBytes(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        let limit = min(length, UInt64(mapping.reach))
        guard ref.offset >= Root.inlineOffset, ref.length <= limit, ref.offset <= limit - ref.length else {
            throw Damage("reference to bytes outside the file", inFileAt: ref.offset)
        }
        return mapping.bytes(at: Int(ref.offset), count: Int(ref.length))
    }

    /// Returns the part of an extent that is in the file, without checking its hash.
    package func readBeginning(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        guard ref.offset < length else { throw Damage("reference to bytes outside the file", inFileAt: ref.offset) }
        var part = ref
        part.length = min(ref.length, length - ref.offset)
        return try readUnverified(part)
    }

    // MARK: Leads

    /// A position where a root may be.
    struct Slot {
        /// The root, if its hash is valid as stored or after one bit was corrected.
        var whole: Root?
        var isCorrected = false
        /// The fields of a root with an invalid hash, as far as they can be read.
        var torn: Root?
    }

    static func slots(_ mapping: Mapping, _ length: UInt64) -> [Slot] {
        let distances = [UInt64(0)] + (1...Root.maximumSlotDistance).map { UInt64($0) * 4096 }
        return distances.filter { (offset: UInt64) -> Bool in offset + UInt64(Root.length) <= length }.map { offset in
            let bytes = mapping.bytes(at: Int(offset), count: Int(min(UInt64(Root.slotBytes), length - offset)))
            if let whole = try? Root(slot: bytes, at: offset) { return Slot(whole: whole) }
            let corrected = Root(correcting: bytes, at: offset)
            return Slot(whole: corrected, isCorrected: corrected != nil, torn: Root(torn: bytes, at: offset))
        }
    }

    /// Returns the catalogues that roots refer to, whole or not, newest first, and those that the records and tags reached from them refer
    /// to; and the versions of the tags.
    package func leads() -> (leads: [Lead], tags: [String: UInt64]) {
        var leads: [Lead] = [], records: [ExtentRef] = [], histories: Set<ExtentRef> = [], tags: [String: UInt64] = [:],
            claimed: [(Int, UInt64)] = []
        for slot in Salvage.slots(mapping, length) {
            guard var root = slot.whole ?? slot.torn else { continue }
            if let cipher {
                guard let opened = try? root.unsealed(cipher) else { continue }
                root = opened
            }
            guard root.version > 0, !root.catalogue.isNone else { continue }
            // The version in a damaged root may be wrong. Its record has the right one, and a root without a record is that of version 1. A
            // sealed root's tag covers its version.
            if slot.whole == nil, cipher == nil {
                if root.record.isNone {
                    root.version = root.catalogue.offset == Root.inlineOffset ? 1 : 0
                } else if let bytes = try? read(root.record), let record = try? CommitRecord(bytes), record.catalogue == root.catalogue {
                    root.version = record.version
                    root.time = record.time
                } else {
                    claimed.append((leads.count, root.version))
                }
            }
            leads.append(
                Lead(
                    version: root.version, time: root.time, catalogue: root.catalogue,
                    origin: .root(isWhole: slot.whole != nil && !slot.isCorrected)))
            records.append(root.record)
        }
        // If neither the root nor its record is valid, the version counts if it follows that of the other root.
        for (index, version) in claimed
        where !leads.enumerated().contains(where: { $0 != index && $1.origin == .root(isWhole: true) && $1.version &+ 1 == version }) {
            (leads[index].version, leads[index].time) = (0, 0)
        }
        for start in records {
            var ref = start, left = 4096, unread = length
            while left > 0, !ref.isNone, ref.length <= unread, let bytes = try? read(ref), let record = try? CommitRecord(bytes) {
                leads.append(
                    Lead(version: record.version, time: record.time, catalogue: record.catalogue, origin: .record(isReached: true)))
                if !record.history.isNone, histories.insert(record.history).inserted, let bytes = try? read(record.history),
                    let kept = try? KeptHistory(bytes, version: record.version)
                {
                    for tag in kept.tags {
                        leads.append(Lead(version: tag.version, time: tag.time, catalogue: tag.catalogue, origin: .record(isReached: true)))
                        if tags[tag.name] == nil { tags[tag.name] = tag.version }
                    }
                }
                unread -= ref.length
                ref = record.previous
                left -= 1
            }
        }
        return (Salvage.sorted(leads), tags)
    }

    /// Throws `Damage` if the file was truncated while it was mapped.
    package func checkIntact() throws(Damage) {
        if mapping.isBroken { throw Damage("the file was cut short while it was open", inFileAt: length) }
    }

    /// Returns the catalogues that commit records anywhere in the file refer to, newest first, and finally the position of the catalogue of
    /// an inline file. A record found by the search has a version if it is the first, or if the record before it, proven by its hash, has
    /// the version before.
    package func strayLeads() -> [Lead] {
        // Sealed bytes cannot be recognised.
        guard cipher == nil else { return [] }
        var leads: [Lead] = []
        // The records that prove versions are hashed at most once the length of the file, however many long ones a hostile file names.
        var left = length
        scanRecords { _, record in
            let isNumbered = follows(record, &left)
            leads.append(
                Lead(
                    version: isNumbered ? record.version : 0, time: isNumbered ? record.time : 0, catalogue: record.catalogue,
                    origin: .record(isReached: false)))
        }
        leads = Salvage.sorted(leads)
        if length > Root.inlineOffset {
            let inline = ExtentRef(offset: Root.inlineOffset, length: length - Root.inlineOffset, birth: 1, hash: Hash128(low: 0, high: 0))
            leads.append(Lead(version: 1, time: 0, catalogue: inline, origin: .inlineFile))
        }
        return leads
    }

    /// Calls `body` with every commit record in the file, without its lists. Nothing proves these records yet.
    func scanRecords(_ body: (_ offset: UInt64, CommitRecord) -> Void) {
        forEachUnit(beginningWith: { $0 == CommitRecord.tag }) { offset, bytes in
            if offset >= UInt64(Root.slotBytes), let record = try? CommitRecord(beginning: bytes),
                record.version <= ExtentRef.maximumVersion
            {
                body(offset, record)
            }
            return 0
        }
    }

    /// Returns at most `count` bytes of the file from `offset`, unchecked.
    func bytes(at offset: UInt64, atMost count: UInt64) -> UnsafeRawBufferPointer {
        let end = min(length, UInt64(mapping.reach))
        return offset < end
            ? mapping.bytes(at: Int(offset), count: Int(min(count, end - offset))) : UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// Returns whether the record before proves the version of this one. `left` is the number of bytes that may still be hashed for that.
    private func follows(_ record: CommitRecord, _ left: inout UInt64) -> Bool {
        if record.previous.isNone { return record.version == 1 }
        guard record.previous.length <= left else { return false }
        left -= record.previous.length
        guard let bytes = try? read(record.previous), let previous = try? CommitRecord(beginning: bytes) else { return false }
        return previous.version + 1 == record.version
    }

    /// Sorts by version, newest first, without duplicates. Versions may share a catalogue.
    private static func sorted(_ leads: [Lead]) -> [Lead] {
        var seen: [UInt64: Set<ExtentRef>] = [:]
        return leads.filter { !$0.catalogue.isNone }.sorted { $0.version > $1.version }.filter {
            seen[$0.version, default: []].insert($0.catalogue).inserted
        }
    }
}

extension Root {
    /// Reads the fields of a slot whose hash is invalid. They are trusted only as far as hashes of what they refer to, or a sealed root's
    /// tag, prove them.
    init?(torn slot: UnsafeRawBufferPointer, at offset: UInt64) {
        var reader = ByteReader(slot, at: 12)
        guard let length: UInt32 = try? reader.read(), let readers: UInt64 = try? reader.read(), let writers: UInt64 = try? reader.read(),
            let version: UInt64 = try? reader.read(), version > 0, version <= ExtentRef.maximumVersion,
            let end: UInt64 = try? reader.read(),
            let oldest: UInt64 = try? reader.read(), let time: Int64 = try? reader.read(), let flags: UInt64 = try? reader.read(),
            let identity = try? reader.readHash(),
            let record = try? ExtentRef(from: &reader), let catalogue = try? ExtentRef(from: &reader)
        else { return nil }
        self.init(
            version: version, end: end, oldestKept: oldest, time: time, listsExtents: flags & 1 == 1, identity: identity, record: record,
            catalogue: catalogue)
        if catalogue.isNone || length >= UInt32(RootSeal.rootLength) { seal = try? RootSeal(slot: slot) }
        readerFeatures = readers
        writerFeatures = writers
        if catalogue.isNone, seal == nil { return nil }
    }
}
