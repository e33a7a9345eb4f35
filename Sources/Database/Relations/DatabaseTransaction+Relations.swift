import FirnBytes
import FirnStore
import FirnTable

extension DatabaseTransaction {
    /// Encodes again, without a relation, each chunk of a wide header that follows from the column at `entryPosition`, because that column
    /// is encoded again. Appends the replaced chunks to `replaced` and the positions of their columns to `reencoded`. Returns the bytes
    /// written.
    func unrelate(
        from entryPosition: Int, _ header: inout SegmentHeader, _ segment: StoredSegment, _ type: Int, _ replaced: inout [ExtentRef],
        _ reencoded: inout Set<Int>
    ) throws(FirnError) -> Int {
        var written = 0
        for (index, column) in schema.types[type].columns.enumerated() {
            guard let other = segment.layout.entryPosition(of: column.id, near: index), other != entryPosition, !reencoded.contains(other)
            else { continue }
            let refers = try reading { () throws(Damage) in try segment.relationSources(of: other).contains(entryPosition) }
            guard refers else { continue }
            let rows = try reading { () throws(Damage) in try segment.chunkRows(index) }
            let encoder = ColumnEncoder(column.type.stored, profile: profile, isLookedUp: schema.types[type].isLookedUp(index))
            encoder.add(rows)
            let ready = encoder.finish().ready[0]
            store.require(ready.summary.features)
            let bytes = ready.chunk.encoded
            replaced.append(header.entries[other].chunk!)
            header.entries[other].chunk = try write(bytes)
            reencoded.insert(other)
            written += bytes.count
        }
        return written
    }
}
