import FirnBytes
import FirnStore
import FirnTable

/// A proof, which lets a search through a file trust a segment header that no directory refers to (`docs/format/model.md`, "Proof"). It is
/// the last part of the header's extent.
///
///     "sgp1" · length u32 = 52 · type id u32 · schema ref 32 · XXH3-128 of all bytes of the header before it, then of the file's identity
struct SegmentProof {
    static let tag: [UInt8] = [0x73, 0x67, 0x70, 0x31]
    static let size = 52

    var typeID: UInt32
    var schema: ExtentRef

    /// Returns the bytes of a header with the proof appended.
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

    /// Returns whether this number is the first four bytes of a header: the magic, version 1, and known flags.
    static func isHeader(_ magic: UInt32) -> Bool { magic & 0xFF_FFFF == 0x01_67_73 && magic >> 24 < 8 }

    /// Fails if no header with a valid proof begins here. `bytes` extend from its first byte to the end of the file. `hashed` is the number
    /// of bytes that may still be hashed; it is reduced by those that were, and set below 0 if it was not enough.
    init?(_ bytes: UnsafeRawBufferPointer, identities: [Hash128], hashed: inout Int) {
        guard let end = FoundHeader.contentEnd(bytes), let proof = FoundHeader.proof(bytes, after: end) else { return nil }
        let before = UnsafeRawBufferPointer(rebasing: bytes[..<(proof + 8 + SegmentProof.size - 16)])
        guard before.count <= hashed else {
            hashed = -1
            return nil
        }
        hashed -= before.count
        var reader = ByteReader(bytes, at: proof + 8)
        guard let typeID = try? reader.read(UInt32.self), let schema = try? ExtentRef(from: &reader), let hash = try? reader.readHash()
        else { return nil }
        guard
            identities.contains(where: { identity in
                var all = ByteWriter(reserving: before.count + 16)
                all.append(contentsOf: before)
                all.append(identity)
                return Hash128(of: all.bytes) == hash
            })
        else { return nil }
        self.proof = SegmentProof(typeID: typeID, schema: schema)
        var start = ByteReader(bytes, at: 4)
        guard let rows = try? start.read(UInt32.self), (try? start.read(UInt32.self)) != nil, let first = try? start.read(Int64.self) else {
            return nil
        }
        rowCount = Int(rows)
        firstRowID = first
        length = proof + 8 + SegmentProof.size
    }

    /// Returns the end of what `SegmentHeader` reads, found by lengths alone.
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
            guard columns <= min(bytes.count, SegmentHeader.leastPackedLimit) else { throw Damage("more columns than bytes") }
            var total = 0
            for _ in 0..<columns {
                _ = try reader.readCount(limit: Int(UInt32.max))
                total += try reader.readCount(limit: bytes.count)
                if try reader.read(UInt8.self) >> 4 != 0 { _ = try reader.read(count: 16) }
            }
            guard total <= SegmentHeader.packedLimit(columns: columns) else { throw Damage("longer than a packed header") }
            _ = try reader.read(count: total)
            return reader.position
        }
        return try? end()
    }

    /// Returns the offset of the proof among the parts after the header, or nil.
    private static func proof(_ bytes: UnsafeRawBufferPointer, after end: Int) -> Int? {
        var offset = end
        // There are few kinds of parts, and each occurs at most once.
        for _ in 0..<8 {
            var reader = ByteReader(bytes, at: offset)
            guard let tag = try? reader.read(count: 4), let length = try? reader.read(UInt32.self) else { return nil }
            if tag.elementsEqual(SegmentProof.tag) {
                return length == UInt32(SegmentProof.size) && reader.remaining >= SegmentProof.size ? offset : nil
            }
            guard (try? reader.read(count: Int(length))) != nil else { return nil }
            offset = reader.position
        }
        return nil
    }
}

extension DatabaseTransaction {
    /// Writes a segment header. In a file's first commit, it gets a proof.
    func write(_ header: SegmentHeader, ofType id: UInt32) throws(FirnError) -> ExtentRef {
        guard let identity = store.identityOfNewFile else { return try write(header.encoded) }
        try writeSchemaEarly()
        return try store.writeFindable(SegmentProof(typeID: id, schema: earlySchema!.ref).appended(to: header.encoded, identity: identity))
    }

    /// Writes the schema, unless the file already contains it in its current form. A file's first commit writes it before the rows, so that
    /// it survives the loss of the file's end. Other commits do this only if `always` is set.
    func writeSchemaEarly(always: Bool = false) throws(FirnError) {
        guard always || store.identityOfNewFile != nil else { return }
        if let earlySchema {
            if earlySchema.schema == schema { return }
            store.free(earlySchema.ref)
        }
        earlySchema = (schema, try write(schema.encoded))
    }
}
