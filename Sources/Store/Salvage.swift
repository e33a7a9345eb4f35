import FirnBytes
import FirnDisk
import Synchronization

/// A file of which nothing is believed but what hashes right: for getting out what damage has left. Needs no root, no record, no length that holds;
/// never writes, takes no locks.
package final class Salvage: ExtentSource, Sendable {
    /// A catalogue that something in the file leads to.
    package struct Lead: Hashable, Sendable {
        package enum Origin: Hashable, Sendable {
            /// A root that is whole, or what is left of one.
            case root(isWhole: Bool)
            /// A commit record (or a tag), reached from a root or found lying about.
            case record(isReached: Bool)
            /// Where a file of one commit has its catalogue: no hash is known of it.
            case place
            /// No catalogue: segments were found by a search through the file.
            case search
        }
        /// 0 if the number is not known: it is taken from roots and records alone whose hash holds.
        package var version: UInt64
        package var time: Int64
        package var catalogue: ExtentRef
        package var origin: Origin
    }

    package let path: String
    /// Bytes that the file has.
    package let length: UInt64
    let file: File
    let mapping: Mapping
    private let verified: VerifiedExtents
    /// Of an encrypted file: its cipher, and what was opened with it.
    let cipher: ExtentCipher?
    private let held: HeldExtents?
    /// Extents that the file does not have: `Salvage+Scan`.
    let added: Mutex<[ExtentRef: FixedBytes]> = Mutex([:])

    /// Errors `.encrypted`, `.wrongKey` and `.notEncrypted` as when a store is opened.
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
        do throws(FirnError) { cipher = try Salvage.cipher(of: slots, key) } catch {
            throw FirnError(error.code, error.message, at: .init(file: path), advice: error.advice)
        }
        held = cipher.map { HeldExtents(OpenedExtents($0), .process) }
    }

    /// The cipher of an encrypted file; nil: it is not encrypted. One root that the key opens is enough, whole or not: what opens is vouched for by its tag.
    private static func cipher(of slots: [Slot], _ key: EncryptionKey?) throws(FirnError) -> ExtentCipher? {
        let whole = slots.compactMap(\.whole), isSealed = whole.contains { $0.seal != nil }
        // What is left of a root that is not whole may say anything: it is asked only where no other is there.
        guard isSealed || (whole.isEmpty && key != nil && slots.contains { $0.torn?.seal != nil }) else {
            guard key == nil || whole.isEmpty else { throw FirnError(.notEncrypted, "the file is not encrypted, and a key was given", advice: "recover it without the key") }
            return nil
        }
        guard let key else { throw FirnError(.encrypted, "the file is encrypted", advice: "give the key that it was written with") }
        for root in whole + slots.compactMap({ $0.whole == nil ? $0.torn : nil }) {
            guard let seal = root.seal else { continue }
            let cipher = try ExtentCipher(key, salt: seal.salt, identity: root.identity)
            if (try? root.unsealed(cipher)) != nil { return cipher }
        }
        guard isSealed else { throw FirnError(.damaged, "nothing can be recovered: no root is left of the encrypted file, or the key is not its own") }
        throw FirnError(.wrongKey, "the key is not the one that the file was encrypted with")
    }

    /// The bytes, if they hash right.
    package func read(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        if let added = added.withLock({ $0[ref] }) { return added.bytes }
        var bytes = try place(ref)
        if let held {
            bytes = try held.read(ref, bytes)
        } else if !verified.contains(ref) {
            guard ref.hash.vouches(for: bytes) else { throw Damage("stored bytes differ from their hash", inFileAt: ref.offset) }
            verified.insert(ref)
        }
        try checkIntact()
        return bytes
    }

    /// The bytes at that place, without a check of their hash: it may lead to bytes that have a hash of their own, and is never handed out itself. Of an encrypted file only what its tag vouches for.
    package func readUnverified(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer { cipher == nil ? try place(ref) : try read(ref) }

    private func place(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        let limit = min(length, UInt64(mapping.reach))
        guard ref.offset >= Root.aloneOffset, ref.length <= limit, ref.offset <= limit - ref.length else {
            throw Damage("reference to bytes outside the file", inFileAt: ref.offset)
        }
        return mapping.bytes(at: Int(ref.offset), count: Int(ref.length))
    }

    /// As much of it as the file has left.
    package func readBeginning(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        guard ref.offset < length else { throw Damage("reference to bytes outside the file", inFileAt: ref.offset) }
        var part = ref
        part.length = min(ref.length, length - ref.offset)
        return try readUnverified(part)
    }

    // MARK: Leads

    /// A place where a root may be.
    struct Slot {
        /// Its hash holds: as it is, or after one bit of it was corrected.
        var whole: Root?
        var isCorrected = false
        /// What it says, as far as that can be read.
        var torn: Root?
    }

    static func slots(_ mapping: Mapping, _ length: UInt64) -> [Slot] {
        ([UInt64(0)] + (1...Root.mostSecondSlot).map { $0 * 4096 }).filter { $0 + UInt64(Root.length) <= length }.map { offset in
            let bytes = mapping.bytes(at: Int(offset), count: Int(min(UInt64(Root.slotBytes), length - offset)))
            if let whole = try? Root(slot: bytes, at: offset) { return Slot(whole: whole) }
            let corrected = Root(correcting: bytes, at: offset)
            return Slot(whole: corrected, isCorrected: corrected != nil, torn: Root(torn: bytes, at: offset))
        }
    }

    /// What the roots lead to, newest first, whether they are whole or not; then what the records lead to that these name, and tags. And the versions of the tags.
    package func leads() -> (leads: [Lead], tags: [String: UInt64]) {
        var leads: [Lead] = [], records: [ExtentRef] = [], histories: Set<ExtentRef> = [], tags: [String: UInt64] = [:], claimed: [(Int, UInt64)] = []
        for slot in Salvage.slots(mapping, length) {
            guard var root = slot.whole ?? slot.torn else { continue }
            if let cipher {
                guard let opened = try? root.unsealed(cipher) else { continue }
                root = opened
            }
            guard root.version > 0, !root.catalogue.isNone else { continue }
            // What is left of a root may have another number than it had: its record knows, and where there is none it is the first. The tag of a sealed root stands for its number.
            if slot.whole == nil, cipher == nil {
                if root.record.isNone {
                    root.version = root.catalogue.offset == Root.aloneOffset ? 1 : 0
                } else if let bytes = try? read(root.record), let record = try? CommitRecord(bytes), record.catalogue == root.catalogue {
                    root.version = record.version
                    root.time = record.time
                } else { claimed.append((leads.count, root.version)) }
            }
            leads.append(Lead(version: root.version, time: root.time, catalogue: root.catalogue, origin: .root(isWhole: slot.whole != nil && !slot.isCorrected)))
            records.append(root.record)
        }
        // Where neither the root nor its record holds, the number counts if it follows that of the other root.
        for (index, version) in claimed where !leads.enumerated().contains(where: { $0 != index && $1.origin == .root(isWhole: true) && $1.version &+ 1 == version }) {
            (leads[index].version, leads[index].time) = (0, 0)
        }
        for start in records {
            var ref = start, left = 4096, unread = length
            while left > 0, !ref.isNone, ref.length <= unread, let bytes = try? read(ref), let record = try? CommitRecord(bytes) {
                leads.append(Lead(version: record.version, time: record.time, catalogue: record.catalogue, origin: .record(isReached: true)))
                if !record.history.isNone, histories.insert(record.history).inserted, let bytes = try? read(record.history), let kept = try? KeptHistory(bytes, version: record.version) {
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

    /// `Damage` if the file was cut short while it was read.
    package func checkIntact() throws(Damage) { if mapping.isBroken { throw Damage("the file was cut short while it was open", inFileAt: length) } }

    /// What commit records lead to that lie anywhere in the file, newest first; last, the position of the catalogue of a file of one commit. A record found by scan has a number
    /// if it is the first one, or if the record before it, whose hash it has, has the number before.
    package func strayLeads() -> [Lead] {
        // What is sealed looks like nothing.
        guard cipher == nil else { return [] }
        var leads: [Lead] = []
        // What proves numbers is hashed within the time that the file takes, however many records of a hostile file name long ones.
        var left = length
        scanRecords { _, record in
            let isNumbered = follows(record, &left)
            leads.append(Lead(version: isNumbered ? record.version : 0, time: isNumbered ? record.time : 0, catalogue: record.catalogue, origin: .record(isReached: false)))
        }
        leads = Salvage.sorted(leads)
        if length > Root.aloneOffset {
            let alone = ExtentRef(offset: Root.aloneOffset, length: length - Root.aloneOffset, birth: 1, hash: Hash128(low: 0, high: 0))
            leads.append(Lead(version: 1, time: 0, catalogue: alone, origin: .place))
        }
        return leads
    }

    /// Calls `body` with the beginning of everything in the file that looks like a commit record, without its lists: nothing proves it yet.
    func scanRecords(_ body: (_ offset: UInt64, CommitRecord) -> Void) {
        forEachUnit(beginningWith: { $0 == CommitRecord.tag }) { offset, bytes in
            if offset >= UInt64(Root.slotBytes), let record = try? CommitRecord(beginning: bytes), record.version <= ExtentRef.maximumVersion { body(offset, record) }
            return 0
        }
    }

    /// The bytes of the file from `offset`, at most `count`, whatever they are.
    func bytes(at offset: UInt64, atMost count: UInt64) -> UnsafeRawBufferPointer {
        let end = min(length, UInt64(mapping.reach))
        return offset < end ? mapping.bytes(at: Int(offset), count: Int(min(count, end - offset))) : UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// Whether the record before proves the number of this one; `left`: bytes that may be hashed for that.
    private func follows(_ record: CommitRecord, _ left: inout UInt64) -> Bool {
        if record.previous.isNone { return record.version == 1 }
        guard record.previous.length <= left else { return false }
        left -= record.previous.length
        guard let bytes = try? read(record.previous), let previous = try? CommitRecord(beginning: bytes) else { return false }
        return previous.version + 1 == record.version
    }

    /// Newest first; each once. Versions may have a catalogue in common.
    private static func sorted(_ leads: [Lead]) -> [Lead] {
        var seen: [UInt64: Set<ExtentRef>] = [:]
        return leads.filter { !$0.catalogue.isNone }.sorted { $0.version > $1.version }.filter { seen[$0.version, default: []].insert($0.catalogue).inserted }
    }
}

extension Root {
    /// What a slot says whose hash does not hold: to be believed as far as what it leads to does, and of an encrypted file as far as its tag does.
    init?(torn slot: UnsafeRawBufferPointer, at offset: UInt64) {
        var reader = ByteReader(slot, at: 12)
        guard let length: UInt32 = try? reader.read(), let readers: UInt64 = try? reader.read(), let writers: UInt64 = try? reader.read(),
              let version: UInt64 = try? reader.read(), version > 0, version <= ExtentRef.maximumVersion, let end: UInt64 = try? reader.read(),
              let oldest: UInt64 = try? reader.read(), let time: Int64 = try? reader.read(), let flags: UInt64 = try? reader.read(), let identity = try? reader.readHash(),
              let record = try? ExtentRef(from: &reader), let catalogue = try? ExtentRef(from: &reader) else { return nil }
        self.init(version: version, end: end, oldestKept: oldest, time: time, listsExtents: flags & 1 == 1, identity: identity, record: record, catalogue: catalogue)
        if catalogue.isNone || length >= UInt32(RootSeal.rootLength) { seal = try? RootSeal(slot: slot) }
        readerFeatures = readers
        writerFeatures = writers
        if catalogue.isNone, seal == nil { return nil }
    }
}
