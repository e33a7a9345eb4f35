// A root slot: 512 bytes at offset 0 (even versions) or 4096 (odd ones). See docs/format/store.md.
//
//   magic 8 · format 4 · length 4 · reader bits 8 · writer bits 8 · version 8 · end 8 · oldest kept 8 · time 8 · flags 8
//   · identity 16 · record 32 · catalogue 32 · zero 8 · hash 16

import FirnBytes

struct Root: Equatable {
    static let magic: [UInt8] = [0x89, 0x46, 0x69, 0x72, 0x6E, 0x0D, 0x0A, 0x1A]
    static let slotBytes = 512
    static let length = 176
    static let format: UInt32 = 1
    /// Units below this are root slots or lie between them; the first extent past the slots begins here.
    static let firstEnd: UInt64 = 72

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
    var formatVersion = Root.format

    static func offset(of version: UInt64) -> UInt64 { version & 1 == 0 ? 0 : 4096 }

    func encoded() -> [UInt8] {
        var writer = ByteWriter(reserving: Root.slotBytes)
        writer.append(contentsOf: Root.magic)
        writer.append(formatVersion)
        writer.append(UInt32(Root.length))
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
        writer.append(UInt64(0))
        writer.append(Hash128(of: writer.bytes))
        writer.pad(to: Root.slotBytes)
        return writer.bytes
    }

    /// The slot of a version that no reader has ever seen: a file that took its name with its first commit has none to fall back to.
    static let vacantSlot = magic + [UInt8](repeating: 0, count: slotBytes - magic.count)

    /// What the slot at `parity` holds. `Damage` if it is not whole.
    init(slot: UnsafeRawBufferPointer, parity: UInt64) throws(Damage) {
        var reader = ByteReader(slot)
        let magic = try reader.read(count: 8)
        guard magic.elementsEqual(Root.magic) else { throw Damage("not a root") }
        formatVersion = try reader.read()
        let length = Int(try reader.read(UInt32.self))
        guard length >= Root.length, length <= Root.slotBytes, length <= slot.count else { throw Damage("root length out of bounds", at: 12) }
        var tail = ByteReader(slot, at: length - 16)
        guard try tail.readHash() == Hash128(of: UnsafeRawBufferPointer(rebasing: slot[..<(length - 16)])) else { throw Damage("root hash differs") }
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
        guard version & 1 == parity else { throw Damage("root in the other slot's place", at: 32) }
        guard version <= ExtentRef.maximumVersion, oldestKept <= version, end >= Root.firstEnd, end <= ExtentRef.maximumUnit,
              record.isNone == (version == 0) else { throw Damage("root contradicts itself", at: 32) }
    }

    init(version: UInt64, end: UInt64, oldestKept: UInt64, time: Int64, listsExtents: Bool, identity: Hash128, record: ExtentRef, catalogue: ExtentRef) {
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
