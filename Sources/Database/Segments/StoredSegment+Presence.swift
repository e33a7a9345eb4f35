import FirnBytes
import FirnCodecs
import FirnTable

/// Validity that a column shares with an earlier column of the same segment (`docs/format/model.md`, "Shared validity").
extension StoredSegment {
    /// Returns the bits that the chunk at position `entryPosition` refers to.
    func presence(_ reference: PresenceReference, of entryPosition: Int) throws(Damage) -> BooleansReader {
        let outer: BooleansReader
        do throws(Damage) { outer = try BooleansReader(try ownPresence(reference.column, before: entryPosition), count: rowCount) } catch {
            let id = reference.column < header.entries.count ? header.entries[reference.column].columnID : nil
            let name = id.flatMap(type.index(ofID:)).map { type.columns[$0].name } ?? "?"
            throw error.explained("the column shares the validity of \"\(name)\"")
        }
        return try reference.nested.map { (bytes) throws(Damage) in try BooleansReader(bytes, within: outer) } ?? outer
    }

    /// Returns the validity stream of the column that the chunk at `entryPosition` refers to, or nil if it refers to none.
    func outerPresence(of entryPosition: Int) throws(Damage) -> UnsafeRawBufferPointer? {
        guard let part = try Chunk.split(try chunkBytes(entryPosition)).first(where: { $0.kind == .presentLike }) else { return nil }
        return try ownPresence(try PresenceReference(part.bytes).column, before: entryPosition)
    }

    /// Returns the position of the column that the chunk at `entryPosition` refers to, or nil if it refers to none.
    func presenceSource(of entryPosition: Int) throws(Damage) -> Int? {
        guard let part = try Chunk.split(try chunkBytes(entryPosition)).first(where: { $0.kind == .presentLike }) else { return nil }
        return try PresenceReference(part.bytes).column
    }

    /// Returns the validity stream that a column stores itself: a reference never leads to another reference.
    private func ownPresence(_ column: Int, before entryPosition: Int) throws(Damage) -> UnsafeRawBufferPointer {
        guard column < entryPosition else { throw Damage("a chunk shares the validity of a column that is not before it") }
        guard let part = try Chunk.split(try chunkBytes(column)).first(where: { $0.kind == .present }) else {
            throw Damage("a chunk shares the validity of a column that stores none")
        }
        return part.bytes
    }
}

extension BooleansReader {
    /// Returns all bits, decoded.
    func allBits() throws(Damage) -> Bits {
        var words: [UInt64] = []
        words.reserveCapacity((count + 63) / 64)
        for vector in 0..<(count + vectorSize - 1) / vectorSize {
            words += try Array(count: vectorSize / 64) { (out) throws(Damage) in try decode(vector: vector, into: out) }
        }
        return Bits(words: words, count: count)
    }
}
