// A root slot: 512 bytes at offset 0 (even versions) or 4096 (odd ones); in files that began as inline files, 176 bytes at 0 (odd versions)
// or 4096 · second slot (even ones). See docs/format/store.md.
//
//   magic 8 · format 4 · length 4 · reader bits 8 · writer bits 8 · version 8 · end 8 · oldest kept 8 · time 8 · flags 8
//   · identity 16 · record 32 · catalogue 32 · second slot 8 · hash 16
//
// Roots of encrypted files have more fields: Root+Sealing.swift.

import FirnBytes

struct Root: Equatable {
    static let magic: [UInt8] = [0x89, 0x46, 0x69, 0x72, 0x6E, 0x0D, 0x0A, 0x1A]
    static let slotBytes = 512
    static let length = 176
    static let format: UInt32 = 1
    /// The minimum `end` of an ordinary file: lower units are in root slots or between them.
    static let firstEnd: UInt64 = 72
    /// The offset of the one extent of an inline file, after the root.
    static let inlineOffset: UInt64 = 192
    static let maximumSlotDistance: UInt64 = 32

    var readerFeatures: UInt64 = 0
    var writerFeatures: UInt64 = 0
    var version: UInt64
    var end: UInt64
    var oldestKept: UInt64
    var time: Int64
    var listsExtents: Bool
    var identity: Hash128
    var record: ExtentRef
    var catalogue: ExtentRef
    /// 0 in ordinary files; in files that began as inline files, the offset of the second slot in units of 4 KiB.
    var secondSlot: UInt64 = 0
    var formatVersion = Root.format
    /// The sealed part of a root of an encrypted file that is not opened yet.
    var seal: RootSeal?

    /// Whether this is the first commit of an inline file: there is no record and no second slot yet.
    var isInlineFile: Bool { secondSlot > 0 && version == 1 }
    /// The offset of the slot that is not at 0.
    var secondOffset: UInt64 { max(1, secondSlot) * 4096 }
    /// The length of the file in bytes after this commit.
    var fileLength: UInt64 { version == 0 ? UInt64(Root.slotBytes) : isInlineFile ? catalogue.offset + catalogue.length : end * 64 }
    func offset(of version: UInt64) -> UInt64 { (version & 1 == 0) == (secondSlot == 0) ? 0 : secondOffset }

    func encoded() -> [UInt8] {
        var writer = ByteWriter(reserving: Root.slotBytes)
        encodeFields(length: Root.length, to: &writer)
        writer.append(Hash128(of: writer.bytes))
        // In a file that began as an inline file, the root is followed by the data of version 1. Later roots do not overwrite it.
        if secondSlot == 0 { writer.bytes += repeatElement(0, count: Root.slotBytes - writer.count) }
        return writer.bytes
    }

    func encodeFields(length: Int, to writer: inout ByteWriter) {
        writer.append(contentsOf: Root.magic)
        writer.append(formatVersion)
        writer.append(UInt32(length))
        writer.append(readerFeatures)
        writer.append(writerFeatures)
        writer.append(version)
        writer.append(end)
        writer.append(oldestKept)
        writer.append(time)
        writer.append(UInt64(listsExtents ? 1 : 0))
        writer.append(identity)
        record.encode(to: &writer)
        catalogue.encode(to: &writer)
        writer.append(secondSlot)
    }

    /// The slot of a version that no reader has ever seen: a file that got its name with its first commit has no version to fall back to.
    /// In files that began inline, its first `length` bytes: see `isVacant`.
    static let vacantSlot = magic + [UInt8](repeating: 0, count: slotBytes - magic.count)

    /// The bytes of a vacant slot of this file.
    var vacantSlot: [UInt8] { secondSlot == 0 ? Root.vacantSlot : Array(Root.vacantSlot[..<Root.length]) }

    /// Whether a slot of this file is vacant: it never held a root, or a writer removed a rejected one.
    func isVacant(_ slot: some Collection<UInt8>) -> Bool {
        slot.prefix(secondSlot == 0 ? Root.slotBytes : Root.length).elementsEqual(vacantSlot)
    }

    /// Reads the slot at `offset`. Throws `Damage` if it is not whole.
    init(slot: UnsafeRawBufferPointer, at offset: UInt64) throws(Damage) {
        var reader = ByteReader(slot)
        let magic = try reader.read(count: 8)
        guard magic.elementsEqual(Root.magic) else { throw Damage("not a root") }
        formatVersion = try reader.read()
        let length = Int(try reader.read(UInt32.self))
        guard length >= Root.length, length <= Root.slotBytes, length <= slot.count else {
            throw Damage("the length field is invalid, or the file is truncated", at: 12)
        }
        var tail = ByteReader(slot, at: length - 16)
        guard try tail.readHash().vouches(for: UnsafeRawBufferPointer(rebasing: slot[..<(length - 16)])) else {
            throw Damage("the bytes do not match the hash of the root")
        }
        readerFeatures = try reader.read()
        writerFeatures = try reader.read()
        version = try reader.read()
        end = try reader.read()
        oldestKept = try reader.read()
        time = try reader.read()
        listsExtents = try reader.read(UInt64.self) & 1 == 1
        identity = try reader.readHash()
        record = try ExtentRef(from: &reader)
        catalogue = try ExtentRef(from: &reader)
        secondSlot = try reader.read()
        if isEncrypted, formatVersion == Root.format {
            guard length >= RootSeal.rootLength, secondSlot == 0 else { throw Damage("the root of an encrypted file is too short", at: 12) }
            seal = try RootSeal(slot: slot)
        }
        guard secondSlot <= Root.maximumSlotDistance, self.offset(of: version) == offset else {
            throw Damage("the root is not in the slot of its version", at: 32)
        }
        guard version <= ExtentRef.maximumVersion, oldestKept <= version, end <= ExtentRef.maximumUnit else {
            throw Damage("fields of the root contradict each other", at: 32)
        }
        if isInlineFile {
            guard record.isNone, catalogue.offset == Root.inlineOffset, catalogue.length <= secondOffset - Root.inlineOffset,
                end == catalogue.units.upperBound
            else { throw Damage("fields of the root contradict each other", at: 32) }
        } else {
            guard end >= secondOffset / 64 + 8, record.isNone == (version == 0), version > 0 || secondSlot == 0 else {
                throw Damage("fields of the root contradict each other", at: 32)
            }
        }
    }

    init(
        version: UInt64, end: UInt64, oldestKept: UInt64, time: Int64, listsExtents: Bool, identity: Hash128, record: ExtentRef,
        catalogue: ExtentRef
    ) {
        self.version = version
        self.end = end
        self.oldestKept = oldestKept
        self.time = time
        self.listsExtents = listsExtents
        self.identity = identity
        self.record = record
        self.catalogue = catalogue
    }
}
