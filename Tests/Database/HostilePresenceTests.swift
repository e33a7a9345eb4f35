import FirnBytes
import FirnCodecs
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// References of validity that no writer makes: they are damage or have their meaning, and never trap.
@Suite struct HostilePresenceTests {
    private let count = 3000
    private let type = TypeSchema(
        "T", columns: (0..<4).map { ColumnSchema("c\($0)", ColumnType(.int, optional: true), id: UInt32($0 + 1)) })

    private var outer: Bits {
        var bits = Bits(repeating: false, count: count)
        for i in 0..<count where i % 3 != 0 { bits[i] = true }
        return bits
    }

    private var inner: Bits {
        var bits = outer
        for i in 0..<count where i % 5 == 0 { bits[i] = false }
        return bits
    }

    private var words: (kind: StreamKind, bytes: [UInt8]) {
        (
            .words,
            Array(repeating: Int64(7), count: count).withUnsafeBufferPointer {
                IntegersEncoder.encode($0, present: nil, profile: .standard)
            }
        )
    }

    /// Returns a version with a packed segment of these chunks, one for each column. The schema may have dropped some of the columns.
    private func core(_ chunks: [[UInt8]], keeping columns: [Int] = Array(0..<4)) -> SnapshotCore {
        HostileSegment(type: type, rows: count).core(chunks, keeping: columns)
    }

    /// Reads such a segment. A damaged column is nil.
    private func read(_ chunks: [[UInt8]]) throws -> [Column?] {
        try HostileSegment(type: type, rows: count).read(chunks) { segment, position, raw in
            for row in [0, 1, 2, 1024, count - 1] { _ = try? raw.value(at: row) }
            _ = StoredColumn(raw).zone(ofVector: 0)
            return try? segment.allRows(position)
        }
    }

    private func chunk(_ streams: (kind: StreamKind, bytes: [UInt8])...) -> [UInt8] {
        HostileSegment.chunk(streams)
    }

    private var own: [UInt8] { chunk((.present, BooleansEncoder.encode(outer, profile: .standard)), words) }
    private func like(_ column: Int, nested: [UInt8]? = nil) -> [UInt8] {
        chunk((.presentLike, PresenceReference.encoded(column, nested: nested)), words)
    }
    private var nested: [UInt8] { BooleansEncoder.encode(inner, within: outer, profile: .standard) }

    @Test func `references to the validity of an earlier column are followed`() throws {
        let columns = try read([own, like(0), like(0, nested: nested), own])
        #expect(columns.map { $0?.present } == [outer, outer, inner, outer])
    }

    @Test func `a reference to itself, a later, a missing or a referring column is damage, also to a column without nulls`() throws {
        for (chunks, damaged) in [
            ([like(0), own, own, own], [0]), ([own, like(1), own, own], [1]), ([like(1), own, own, own], [0]),
            ([own, like(3), own, own], [1]),
            ([own, like(4), own, own], [1]), ([own, like(1 << 31), own, own], [1]), ([own, like(0), like(1), own], [2]),
            ([own, like(0), like(1, nested: nested), like(0)], [2]), ([like(2), own, like(0), own], [0, 2]),
            ([chunk(words), like(0), own, own], [1]), ([own, like(0), own, chunk((.presentLike, []), words)], [3]),
            ([own, chunk((.present, BooleansEncoder.encode(outer, profile: .standard)), (.presentLike, [0]), words), own, own], [1]),
            // An id whose varint exceeds the number of its bits.
            ([own, chunk((.presentLike, [UInt8](repeating: 0xFF, count: 12)), words), own, own], [1]),
            // A column that cannot be read makes columns that refer to it unreadable.
            ([[9, 9, 9], like(0), own, own], [0, 1]),
        ] as [([[UInt8]], [Int])] {
            let columns = try read(chunks)
            #expect(columns.indices.filter { columns[$0] == nil } == damaged, "\(chunks.map { $0.prefix(8) })")
        }
    }

    @Test func `nested validity of another length, or that disagrees with the outer column, is damage`() throws {
        var other = outer
        other[1] = false
        let foreign = BooleansEncoder.encode(
            Bits(words: inner.words.enumerated().map { $1 & other.words[$0] }, count: count), within: other, profile: .standard)
        var longer = nested
        longer[0] += 1
        for bytes in [foreign, longer, [0], [0xFF, 0x7F, 0], Array(nested.prefix(8)), [1, 0]] {
            let columns = try read([own, like(0, nested: bytes), own, own])
            #expect(columns[1] == nil && columns[0] != nil, "\(bytes.prefix(8))")
        }
    }

    @Test func `damage to the validity of another column is reported with the name of that column`() throws {
        let core = core([[9, 9, 9], like(0), own, own])
        defer { core.close() }
        let defects = core.verify(full: false, progress: { _ in }).map(\.description)
        #expect(
            defects.count == 2 && defects[0].hasPrefix("T.c0") && defects[1].hasPrefix("T.c1")
                && defects[1].contains("the column shares the validity of \"c0\""), "\(defects)")
    }

    @Test func `a column can share the validity of a dropped column, and rows with different validity are found`() throws {
        let other = chunk((.present, BooleansEncoder.encode(inner, profile: .standard)), words)
        let cores = [own, own, other].map { core([$0, like(0), own, own], keeping: [1, 2, 3]) }
        defer { for core in cores { core.close() } }
        let segments = try cores.map { try $0.segment(type: 0, index: 0) }
        #expect(try segments.map { try $0.allRows(0).present } == [outer, outer, inner])
        #expect(try segments[0].rowsThatMayDiffer(from: segments[1])?.noneSet == true)
        // The chunks of the column itself are equal to the byte.
        #expect(try segments[0].rowsThatMayDiffer(from: segments[2])?.noneSet != true)
    }

    @Test func `a overlay that refers to another column is damage`() throws {
        let overlay = ColumnOverlay(
            positions: [3, 5],
            values: {
                var values = Column(type.columns[0].type)
                _ = values.append(.int(1))
                _ = values.append(.null)
                return values
            }())
        var bytes = overlay.encoded(profile: .standard).bytes
        #expect(
            try bytes.withUnsafeBytes { raw in
                try ColumnOverlay(raw, type: type.columns[0].type, rowCount: count, memory: .unlimited).positions
            }
                == [3, 5])
        var out = ByteWriter()
        out.appendVarint(2)
        out.append(lengthPrefixed: [Int64(3), 5].withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: .standard) })
        out.append(contentsOf: like(0))
        bytes = out.bytes
        #expect(throws: Damage.self) {
            try bytes.withUnsafeBytes { raw in
                try ColumnOverlay(raw, type: type.columns[0].type, rowCount: count, memory: .unlimited).positions
            }
        }
    }

    @Test(arguments: Seed.first(6))
    func `modified chunks with shared validity are damage or columns, and never trap`(seed: Seed) throws {
        var random = RandomTables(seed)
        let good = [own, like(0), like(0, nested: nested), own]
        for _ in 0..<200 {
            var chunks = good
            for _ in 0...random.number(0...2) {
                let column = random.number(0...3),
                    offset =
                        random.chance(60)
                        ? random.number(0...min(20, chunks[column].count - 1)) : random.number(0...chunks[column].count - 1)
                chunks[column][offset] = [0, 0xFF, 0x80, UInt8(random.number(0...255))][random.number(0...3)]
            }
            for column in try read(chunks) where column != nil { #expect(column!.count == count, "seed \(seed)") }
        }
    }
}
