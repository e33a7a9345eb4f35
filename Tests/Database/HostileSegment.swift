import FirnBytes
import FirnCodecs
import FirnKit
import FirnStore
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// A source without extents.
private final class Nowhere: ExtentSource, Sendable {
    func read(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer { throw Damage("nothing is there") }
}

/// A version with one packed segment of chunks that no writer makes, for the tests of hostile bytes.
struct HostileSegment {
    let type: TypeSchema
    let rows: Int

    /// Returns the version, with one chunk for each column. The schema may have dropped some of the columns.
    func core(_ chunks: [[UInt8]], keeping columns: [Int]? = nil) -> SnapshotCore {
        let entries = chunks.indices.map {
            SegmentHeader.Entry(columnID: type.columns[$0].id, zone: Zone(mayHaveNulls: true, allNull: false, bounds: .none))
        }
        var header = SegmentHeader(rowCount: rows, firstRowID: 0, entries: entries)
        header.packedChunks = chunks
        var state = Catalogue.TypeState()
        state.nextRowID = Int64(rows)
        state.liveRows = rows
        state.segmentCount = 1
        state.inner = (
            DirectoryEntry(firstRowID: 0, lastRowID: Int64(rows - 1), rowCount: rows, deletedCount: 0, header: .none),
            FixedBytes(header.encoded)
        )
        let kept = (columns ?? Array(type.columns.indices)).map { type.columns[$0] }
        return SnapshotCore(
            Nowhere(), catalogue: Catalogue(schemaRef: .none, types: [state]), schema: Schema([TypeSchema("T", columns: kept)]))
    }

    /// Verifies and describes such a segment, and calls `read` for each column that can be opened. A damaged column is nil.
    func read(_ chunks: [[UInt8]], _ read: (StoredSegment, Int, RawColumn) -> Column?) throws -> [Column?] {
        let core = core(chunks)
        defer { core.close() }
        let segment = try core.segment(type: 0, index: 0)
        _ = core.verify(full: true, progress: { _ in })
        _ = try? core.statistics()
        return chunks.indices.map { position in (try? segment.rawColumn(position)).flatMap { read(segment, position, $0) } }
    }

    /// Reads a segment of numbers in every way: rows one by one as in the whole column, bounds, sums and searches.
    func readNumbers(_ chunks: [[UInt8]]) throws -> [Column?] {
        let bits = UnsafeMutablePointer<UInt64>.allocate(capacity: 16)
        defer { bits.deallocate() }
        return try read(chunks) { segment, position, raw in
            let whole = try? segment.allRows(position)
            for row in [0, 1, 5, 1024, 2047, rows - 1] {
                let one = try? raw.value(at: row)
                if let whole { #expect(one == whole.value(at: row), "column \(position), row \(row)") }
                if raw.type.kind == .int { _ = try? raw.word(at: row) } else { _ = try? raw.real(at: row) }
            }
            let column = StoredColumn(raw)
            _ = column.zone(ofVector: 0)
            _ = try? column.sum(vector: 0)
            _ = try? column.search(raw.type.kind == .int ? .words(0, 5) : .reals(0, 5), vector: 0, into: bits)
            return whole
        }
    }

    static func chunk(_ streams: [(kind: StreamKind, bytes: [UInt8])]) -> [UInt8] {
        Chunk(streams: streams.sorted { $0.kind.rawValue < $1.kind.rawValue }).encoded
    }

    /// Returns a stream of integers. `isCoded`: as a dictionary.
    static func integers(_ values: [Int64], isCoded: Bool = false) -> [UInt8] {
        values.withUnsafeBufferPointer {
            isCoded
                ? IntegersEncoder.encodeCoded($0, present: nil, profile: .standard)
                : IntegersEncoder.encode($0, present: nil, profile: .standard)
        }
    }

    /// Changes up to four bytes near the beginning of some chunks.
    static func damage(_ chunks: inout [[UInt8]], _ random: inout Random) {
        for _ in 0...random.below(3) {
            let chunk = random.below(chunks.count), byte = random.below(min(chunks[chunk].count, 60))
            chunks[chunk][byte] =
                random.bool() ? UInt8(truncatingIfNeeded: random.next()) : chunks[chunk][byte] ^ 1 << UInt8(random.below(8))
        }
    }
}
