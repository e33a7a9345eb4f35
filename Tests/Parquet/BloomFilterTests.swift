import FirnBytes
import FirnExchange
import FirnTable
import Foundation
import Testing

@testable import FirnParquet

/// Bloom filters of DuckDB exclude row groups without the values that a query wants.
@Suite struct BloomFilterTests {
    private func table() throws -> any Table {
        var options = ParquetOptions(typeName: "t")
        options.staysOffDisk = true
        return try ParquetReader(.init(bytes: Fixture.bytes("bloom"), name: "bloom"), options: options).table
    }

    @Test func `the hash is XXH64`() {
        #expect(XXHash64.hash([]) == 0xEF46_DB37_51D8_E999)
        #expect(XXHash64.hash(Array("abc".utf8)) == 0x44BC_2CF5_AD77_0999)
        #expect(XXHash64.hash(Array("xxhash".utf8)) == 0x32DD_3895_2C4B_C720)
    }

    @Test func `no value of a row group is excluded, and few others are not`() throws {
        let table = try table()
        #expect(table.segmentCount == 3)
        var asked = 0, held = 0
        for name in ["id", "name", "score"] {
            let column = try #require(table.type.index(of: name))
            for group in 0..<3 {
                let reader = try table.segment(group).column(column)
                for row in stride(from: 2, to: reader.rowCount, by: 3) {
                    var value = try reader.value(at: row)
                    if case .string(let text) = value { value = .data(Array(text.utf8)) }
                    #expect(try table.segment(group).mayHold([value], column: column), "\(name) \(value)")
                    for other in 0..<3 where other != group {
                        asked += 1
                        if try table.segment(other).mayHold([value], column: column) { held += 1 }
                    }
                }
            }
        }
        #expect(held * 20 < asked, "\(held) of \(asked)")
    }

    @Test func `values that a filter cannot be asked for, and damaged filters, exclude nothing`() throws {
        let table = try table(), score = try #require(table.type.index(of: "score"))
        for value in [Value.double(0), .double(-0.0), .double(.nan), .int(1), .null] {
            #expect(try table.segment(0).mayHold([value], column: score))
        }
        var bytes = try Fixture.bytes("bloom")
        var options = ParquetOptions(typeName: "t")
        options.staysOffDisk = true
        let content = try ParquetReader(.init(bytes: bytes, name: "bloom"), options: options)
        let footer = try ParquetFooter.read(FileBytes(array: bytes, name: "bloom"))
        let offset = try #require(footer.groups[0].chunks[0].bloomOffset)
        for at in offset..<offset + 16 {
            let kept = bytes[at]
            for damage in [UInt8(0), 0xFF, kept ^ 0x10] {
                bytes[at] = damage
                let filter = try BloomFilter(FileBytes(array: bytes, name: "bloom"), footer.groups[0].chunks[0])
                _ = filter?.mayHold([1, 2, 3])
            }
            bytes[at] = kept
        }
        #expect(content.rowCount == 3 * 2048)
    }
}
