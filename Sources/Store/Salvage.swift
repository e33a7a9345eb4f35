import FirnBytes
import FirnDisk

/// A file of which nothing is believed but what hashes right: for getting out what damage has left. Needs no root, no record, no length that holds;
/// never writes, takes no locks.
package final class Salvage: ExtentSource, Sendable {
    /// A catalogue that something in the file leads to.
    package struct Lead: Hashable, Sendable {
        package enum Origin: Hashable, Sendable {
            /// A root that is whole, or what is left of one.
            case root(isWhole: Bool)
            /// A commit record, reached from a root or found lying about.
            case record(isReached: Bool)
            /// Where a file of one commit has its catalogue: no hash is known of it.
            case place
        }
        package var version: UInt64
        package var time: Int64
        package var catalogue: ExtentRef
        package var origin: Origin
    }

    package let path: String
    /// Bytes that the file has.
    package let length: UInt64
    private let mapping: Mapping
    private let verified: VerifiedExtents

    package init(path: String) throws(FirnError) {
        let file = try File(path: path, .read)
        guard !file.isDirectory else { throw FirnError(.notThisFormat, "it is a directory", at: .init(file: path)) }
        self.path = path
        length = try file.size()
        mapping = try Mapping(file)
        verified = try VerifiedExtents(for: file)
        let first = (try? file.read(count: Root.slotBytes, at: 0)) ?? []
        for offset in [UInt64(0), 4096] {
            let slot = offset == 0 ? first : (try? file.read(count: Root.slotBytes, at: offset)) ?? []
            if let root = slot.withUnsafeBytes({ try? Root(slot: $0, at: offset) }), root.seal != nil {
                throw FirnError(.encrypted, "the file is encrypted, and only plain ones can be recovered", at: .init(file: path), advice: "keep a copy, and open it with its key")
            }
        }
    }

    /// The bytes, if they hash right.
    package func read(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        let bytes = try readUnverified(ref)
        if !verified.contains(ref) {
            guard ref.hash.vouches(for: bytes) else { throw Damage("stored bytes differ from their hash", at: Int(clamping: ref.offset)) }
            verified.insert(ref)
        }
        if mapping.isBroken { throw Damage("the file was cut short while it was open", at: Int(clamping: length)) }
        return bytes
    }

    /// What lies there, whatever it hashes to.
    package func readUnverified(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        let limit = min(length, UInt64(mapping.reach))
        guard ref.offset >= Root.aloneOffset, ref.length <= limit, ref.offset <= limit - ref.length else {
            throw Damage("reference to bytes outside the file", at: Int(clamping: ref.offset))
        }
        return mapping.bytes(at: Int(ref.offset), count: Int(ref.length))
    }

    /// As much of it as the file has left.
    package func readBeginning(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        guard ref.offset < length else { throw Damage("reference to bytes outside the file", at: Int(clamping: ref.offset)) }
        var part = ref
        part.length = min(ref.length, length - ref.offset)
        return try readUnverified(part)
    }

    // MARK: Leads

    /// What the roots lead to, newest first, whether they are whole or not; then what the records lead to that these name.
    package func leads() -> [Lead] {
        var leads: [Lead] = [], records: [ExtentRef] = []
        for offset in [UInt64(0)] + (1...Root.mostSecondSlot).map({ $0 * 4096 }) where offset + UInt64(Root.length) <= length {
            let slot = mapping.bytes(at: Int(offset), count: Int(min(UInt64(Root.slotBytes), length - offset)))
            let whole = try? Root(slot: slot, at: offset)
            if let root = whole ?? Root(torn: slot, at: offset), root.version > 0 {
                leads.append(Lead(version: root.version, time: root.time, catalogue: root.catalogue, origin: .root(isWhole: whole != nil)))
                records.append(root.record)
            }
        }
        for start in records {
            var ref = start, left = 4096
            while left > 0, !ref.isNone, let bytes = try? read(ref), let record = try? CommitRecord(bytes) {
                leads.append(Lead(version: record.version, time: record.time, catalogue: record.catalogue, origin: .record(isReached: true)))
                ref = record.previous
                left -= 1
            }
        }
        return Salvage.sorted(leads)
    }

    /// What commit records lead to that lie anywhere in the file, newest first; at last the place of a lone catalogue.
    package func strayLeads() -> [Lead] {
        var leads: [Lead] = []
        var offset = UInt64(Root.slotBytes)
        while offset + 152 <= length {
            let head = mapping.bytes(at: Int(offset), count: 4)
            if head.loadUnaligned(as: UInt32.self).littleEndian == CommitRecord.tag {
                let rest = mapping.bytes(at: Int(offset), count: Int(length - offset))
                if let record = try? CommitRecord(rest), record.version <= ExtentRef.maximumVersion {
                    leads.append(Lead(version: record.version, time: record.time, catalogue: record.catalogue, origin: .record(isReached: false)))
                }
            }
            offset += 64
        }
        leads = Salvage.sorted(leads)
        if length > Root.aloneOffset {
            let alone = ExtentRef(offset: Root.aloneOffset, length: length - Root.aloneOffset, birth: 1, hash: Hash128(low: 0, high: 0))
            leads.append(Lead(version: 1, time: 0, catalogue: alone, origin: .place))
        }
        return leads
    }

    /// Newest first; each once.
    private static func sorted(_ leads: [Lead]) -> [Lead] {
        var seen: Set<ExtentRef> = []
        return leads.filter { !$0.catalogue.isNone }.sorted { $0.version > $1.version }.filter { seen.insert($0.catalogue).inserted }
    }
}

extension Root {
    /// What a slot says whose hash does not hold: to be believed as far as what it leads to does.
    init?(torn slot: UnsafeRawBufferPointer, at offset: UInt64) {
        var reader = ByteReader(slot, at: 32)
        guard let version: UInt64 = try? reader.read(), version > 0, version <= ExtentRef.maximumVersion, let end: UInt64 = try? reader.read(),
              let oldest: UInt64 = try? reader.read(), let time: Int64 = try? reader.read(), let flags: UInt64 = try? reader.read(), let identity = try? reader.readHash(),
              let record = try? ExtentRef(from: &reader), let catalogue = try? ExtentRef(from: &reader), !catalogue.isNone else { return nil }
        self.init(version: version, end: end, oldestKept: oldest, time: time, listsExtents: flags & 1 == 1, identity: identity, record: record, catalogue: catalogue)
    }
}
