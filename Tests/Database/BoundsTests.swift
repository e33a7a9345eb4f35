import FirnBytes
import FirnCodecs
import Testing

@testable import FirnDatabase
@testable import FirnTable

/// T7: a few bytes that claim large sizes are refused before memory is allocated for them.
@Suite struct BoundsTests {
    @Test func `types that embed each other exponentially often are refused [T7]`() throws {
        func type(_ level: Int, _ columns: Int) -> TypeSchema {
            let kind = level == 8 ? ColumnType(.int) : ColumnType(.embedded, optional: true, target: "T\(level + 1)")
            let fields = (1...columns).map { ColumnSchema("c\($0)", kind, id: UInt32($0)) }
            return TypeSchema("T\(level)", columns: fields, isEmbedded: level > 0, id: UInt32(level + 1))
        }
        func schema(_ columns: Int) -> Schema { Schema((0..<9).map { type($0, columns) }) }
        try schema(3).validate()
        #expect(throws: Damage.self) { try schema(20).validate() }
        let own = ColumnType(.embedded, optional: true, target: "A")
        let selfish = Schema([
            TypeSchema("A", columns: (1...20).map { ColumnSchema("c\($0)", own, id: UInt32($0)) }, isEmbedded: true, id: 1)
        ])
        #expect(throws: Damage.self) { try selfish.validate() }
        let tree = Schema([
            TypeSchema("A", columns: [ColumnSchema("left", own, id: 1), ColumnSchema("right", own, id: 2)], isEmbedded: true, id: 1)
        ])
        try tree.validate()
    }

    @Test func `a schema of 50,000 types that link to each other is valid [T7]`() throws {
        let types = (0..<50_000).map {
            TypeSchema(
                "T\($0)", columns: [ColumnSchema("x", ColumnType(.link, optional: true, target: "T\(49_999 - $0)"), id: 1)],
                id: UInt32($0 + 1))
        }
        try Schema(types).validate()
    }

    @Test func `a chunk of a few bytes that claims a billion elements is damage [T7]`() throws {
        let total = 1 << 30
        let starts = [0, total / 2].map { Int64($0) }.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: .fast) }
        var lengths = ByteWriter()
        lengths.append(1 as UInt8)
        lengths.appendVarint(total)
        lengths.append(contentsOf: starts)
        let chunk = Chunk(streams: [(.lengths, lengths.bytes), (.words, [1, 14])]).encoded
        try chunk.withUnsafeBytes { (bytes) throws in
            let reader = try ChunkReader(
                bytes, type: ColumnType(.int, collection: .list), rowCount: 2, sharedText: [], sharedKeys: [], memory: .unlimited)
            var column = Column(ColumnType(.int, collection: .list))
            #expect(throws: Damage.self) { try reader.read(vector: 0, into: &column) }
            #expect(throws: Damage.self) { _ = try reader.value(at: 0) }
        }
    }
}
