import FirnBytes
import FirnStore

/// What lets a search through a file believe a segment header that no directory leads to (`docs/format/model.md`, "Proof"): the last part of the header's extent.
///
///     "sgp1" · length u32 = 52 · type id u32 · schema ref 32 · XXH3-128 of all bytes of the header before it, then of the file's identity
struct SegmentProof {
    static let tag: [UInt8] = [0x73, 0x67, 0x70, 0x31]
    static let size = 52

    var typeID: UInt32
    var schema: ExtentRef

    /// A header's bytes with the proof after them.
    func appended(to header: [UInt8], identity: Hash128) -> [UInt8] {
        var out = ByteWriter(reserving: header.count + 8 + SegmentProof.size)
        out.append(contentsOf: header)
        out.append(contentsOf: SegmentProof.tag)
        out.append(UInt32(SegmentProof.size))
        out.append(typeID)
        schema.encode(to: &out)
        var hashed = out
        hashed.append(identity)
        out.append(Hash128(of: hashed.bytes))
        return out.bytes
    }
}

/// A header that was found by a search.
struct FoundHeader {
    var proof: SegmentProof
    var rowCount: Int
    var firstRowID: Int64
    var length: Int

    /// The four bytes that a header begins with, as a number: the magic, version 1, and flags that are known.
    static func isHeader(_ magic: UInt32) -> Bool { magic & 0xFF_FFFF == 0x01_67_73 && magic >> 24 < 8 }

    /// Nil if no header with a proof begins here. `bytes`: from its first byte to the end of the file. `hashed`: how many bytes it may hash, and has left then; below 0: it was not enough.
    init?(_ bytes: UnsafeRawBufferPointer, identities: [Hash128], hashed: inout Int) {
        guard let end = FoundHeader.contentEnd(bytes), let proof = FoundHeader.proof(bytes, after: end) else { return nil }
        let before = UnsafeRawBufferPointer(rebasing: bytes[..<(proof + 8 + SegmentProof.size - 16)])
        guard before.count <= hashed else {
            hashed = -1
            return nil
        }
        hashed -= before.count
        var reader = ByteReader(bytes, at: proof + 8)
        guard let typeID = try? reader.read(UInt32.self), let schema = try? ExtentRef(from: &reader), let hash = try? reader.readHash() else { return nil }
        guard identities.contains(where: { identity in
            var all = ByteWriter(reserving: before.count + 16)
            all.append(contentsOf: before)
            all.append(identity)
            return Hash128(of: all.bytes) == hash
        }) else { return nil }
        self.proof = SegmentProof(typeID: typeID, schema: schema)
        var start = ByteReader(bytes, at: 4)
        guard let rows = try? start.read(UInt32.self), (try? start.read(UInt32.self)) != nil, let first = try? start.read(Int64.self) else { return nil }
        rowCount = Int(rows)
        firstRowID = first
        length = proof + 8 + SegmentProof.size
    }

    /// Where what `SegmentHeader` reads ends, by lengths alone.
    private static func contentEnd(_ bytes: UnsafeRawBufferPointer) -> Int? {
        func end() throws(Damage) -> Int {
            var reader = ByteReader(bytes, at: 3)
            let flags = try reader.read(UInt8.self), rows = try reader.read(UInt32.self)
            guard rows > 0, rows <= UInt32(segmentSize) else { throw Damage("row count out of range") }
            let columns = Int(try reader.read(UInt32.self))
            _ = try reader.read(Int64.self)
            for flag: UInt8 in [2, 4] where flags & flag != 0 { _ = try reader.read(count: Int(try reader.read(UInt32.self))) }
            if flags & 1 == 0 {
                _ = try reader.read(count: columns &* SegmentHeader.entrySize)
                _ = try reader.read(count: Int(try reader.read(UInt32.self)) &* SegmentHeader.sharedSize)
                return reader.position
            }
            // A packed header has 64 KiB of chunks at most, and a column has a byte at least.
            guard columns <= min(bytes.count, SegmentHeader.packedLimit) else { throw Damage("more columns than bytes") }
            var total = 0
            for _ in 0..<columns {
                _ = try reader.readCount(limit: Int(UInt32.max))
                total += try reader.readCount(limit: bytes.count)
                if try reader.read(UInt8.self) >> 4 != 0 { _ = try reader.read(count: 16) }
            }
            guard total <= SegmentHeader.packedLimit else { throw Damage("longer than a packed header") }
            _ = try reader.read(count: total)
            return reader.position
        }
        return try? end()
    }

    /// Where the proof begins among the parts after the header.
    private static func proof(_ bytes: UnsafeRawBufferPointer, after end: Int) -> Int? {
        var place = end
        // There are few kinds of parts, each once.
        for _ in 0..<8 {
            var reader = ByteReader(bytes, at: place)
            guard let tag = try? reader.read(count: 4), let length = try? reader.read(UInt32.self) else { return nil }
            if tag.elementsEqual(SegmentProof.tag) { return length == UInt32(SegmentProof.size) && reader.remaining >= SegmentProof.size ? place : nil }
            guard (try? reader.read(count: Int(length))) != nil else { return nil }
            place = reader.position
        }
        return nil
    }
}

extension DatabaseTransaction {
    /// Writes a segment header; of a file's first commit with a proof.
    func write(_ header: SegmentHeader, ofType id: UInt32) throws(FirnError) -> ExtentRef {
        guard let identity = store.identityOfNewFile else { return try write(header.encoded) }
        try writeSchemaEarly()
        return try store.writeFindable(SegmentProof(typeID: id, schema: earlySchema!.ref).appended(to: header.encoded, identity: identity))
    }

    /// Writes the schema, if it is not in the file as it is now: in a file's first commit before the rows, so that it is there when the file's end is lost. `always`: in other commits, too.
    func writeSchemaEarly(always: Bool = false) throws(FirnError) {
        guard always || store.identityOfNewFile != nil else { return }
        if let earlySchema {
            if earlySchema.schema == schema { return }
            store.free(earlySchema.ref)
        }
        earlySchema = (schema, try write(schema.encoded))
    }
}
