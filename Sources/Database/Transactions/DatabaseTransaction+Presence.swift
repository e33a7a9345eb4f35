import FirnBytes
import FirnCodecs
import FirnStore
import FirnTable

/// Validity that columns of a segment share.
extension DatabaseTransaction {
    /// Returns the validity streams of the columns of a segment; nil for a column whose own encoder makes the stream.
    func presence(of columns: [Column], profile: Profile) -> [(kind: StreamKind, bytes: [UInt8])?] {
        presence(columns.map(\.present), profile: profile)
    }

    /// The same for validity bitmaps. A bitmap is nil if the column's own encoder makes the stream, or if every row has a value.
    func presence(_ bits: [Bits?], profile: Profile) -> [(kind: StreamKind, bytes: [UInt8])?] {
        let plan = PresencePlan(bits, profile: profile) { count, body in inParallel(count, body) }
        if plan.refers { store.require(.sharedPresence) }
        return plan.streams
    }

    /// Gives each chunk of a wide header that refers to the validity of the column at `entryPosition` a validity stream of its own, because
    /// that column is encoded again. Appends the replaced chunks to `replaced`. Returns the bytes written.
    func separate(from entryPosition: Int, _ header: inout SegmentHeader, _ segment: StoredSegment, _ replaced: inout [ExtentRef])
        throws(FirnError)
        -> Int
    {
        var written = 0
        let isShareable = try reading { () throws(Damage) in
            try Chunk.split(try segment.chunkBytes(entryPosition)).contains { $0.kind == .present }
        }
        guard isShareable else { return 0 }
        // Only chunks that may have both nulls and values are read.
        for other in header.entries.indices
        where other > entryPosition && header.entries[other].zone.mayHaveNulls && !header.entries[other].zone.allNull {
            let old = header.entries[other].chunk!
            let chunk = try reading { () throws(Damage) -> Chunk? in
                var streams: [(kind: StreamKind, bytes: [UInt8])] = []
                var presence: Bits?
                for part in try Chunk.split(try store.read(old)) {
                    guard part.kind == .presentLike else {
                        streams.append((part.kind, Array(part.bytes)))
                        continue
                    }
                    let reference = try PresenceReference(part.bytes)
                    guard reference.column == entryPosition else { return nil }
                    presence = try segment.presence(reference, of: other).allBits()
                }
                return presence.map { Chunk(streams: [(.present, BooleansEncoder.encode($0, profile: profile))] + streams) }
            }
            guard let chunk else { continue }
            store.require(chunk.features(rows: segment.rowCount))
            let bytes = chunk.encoded
            header.entries[other].chunk = try write(bytes)
            replaced.append(old)
            written += bytes.count
        }
        return written
    }
}
