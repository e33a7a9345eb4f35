import FirnBytes
import FirnKit
import Foundation
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// Logical types and metadata in the schema of a file.
@Suite struct AttributeTests {
    private static func schema() -> Schema {
        var schema = Schema([GoldenRows.order, TypeSchema("Plain", columns: [ColumnSchema("n", ColumnType(.int))])])
        for i in schema.types.indices {
            schema.types[i].id = UInt32(i + 1)
            for c in schema.types[i].columns.indices { schema.types[i].columns[c].id = UInt32(c + 1) }
        }
        schema.setMetadata("title", Array("Orders".utf8))
        schema.setMetadata("bytes", [0, 1, 255])
        return schema
    }

    private func decoded(_ bytes: [UInt8]) throws(Damage) -> Schema {
        try bytes.withBytes { (bytes) throws(Damage) in try Schema(encoded: bytes) }
    }

    @Test func `a schema with attributes everywhere is read as it was written`() throws {
        let schema = AttributeTests.schema(), encoded = schema.encoded
        #expect(encoded[0] == 2)
        #expect(try decoded(encoded) == schema)
        var plain = schema
        plain.otherAttributes = []
        #expect(plain.encoded[0] == 1)
        #expect(try decoded(plain.encoded) == plain)
    }

    @Test func `every truncation and every flipped bit of a schema is damage or another schema, never a trap`() throws {
        let encoded = AttributeTests.schema().encoded
        for count in encoded.indices { #expect(throws: Damage.self) { try decoded(Array(encoded[..<count])) } }
        for bit in 0..<(encoded.count * 8) {
            var bytes = encoded
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            _ = try? decoded(bytes)
        }
    }

    @Test func `counts and lengths that lie, repeated names and unknown flags are damage`() throws {
        func attributes(_ count: Int, _ entries: [(String, [UInt8])]) -> [UInt8] {
            var out = ByteWriter()
            out.append(UInt8(2))
            out.appendVarint(count)
            for (name, value) in entries {
                out.append(string: name)
                out.appendVarint(value.count)
                out.append(contentsOf: value)
            }
            out.appendVarint(0)
            return out.bytes
        }
        #expect(try decoded(attributes(1, [("a", [1])])).otherAttributes == [SchemaAttribute("a", [1])])
        #expect(throws: Damage.self) { try decoded(attributes(0, [])) }
        #expect(throws: Damage.self) { try decoded(attributes(2, [("a", [1])])) }
        #expect(throws: Damage.self) { try decoded(attributes(2, [("a", [1]), ("a", [2])])) }
        #expect(throws: Damage.self) { try decoded(attributes(65_537, (0..<65_537).map { ("\($0)", []) })) }
        #expect(try decoded(attributes(65_536, (0..<65_536).map { ("\($0)", []) })).otherAttributes.count == 65_536)
        // A length beyond the end, and one beyond the limit that is within the bytes.
        #expect(throws: Damage.self) { try decoded([2, 1, 1, 97, 200, 1]) }
        var long = ByteWriter()
        long.append(contentsOf: [2, 1, 1, 97] as [UInt8])
        long.appendVarint(1 << 26 + 1)
        #expect(throws: Damage.self) { try decoded(long.bytes + [UInt8](repeating: 0, count: 1 << 26 + 2)) }
        // Version 3, and a type with flag 8.
        #expect(throws: Damage.self) { try decoded([3, 0]) }
        #expect(throws: Damage.self) { try decoded([1, 1, 1, 1, 97, 8, 0, 0]) }
        #expect(throws: Damage.self) { try decoded([1, 1, 1, 1, 97, 4, 0, 0, 0]) }
    }

    @Test func `a writer refuses attributes that could not be read, and leaves the file as it is`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        let database = try Database.create(path: path)
        let first = try database.begin()
        try first.extendSchema([GoldenRows.order])
        try first.commit()
        let before = try database.snapshot().schema
        func refusal(_ change: (inout Schema) -> Void) throws -> String {
            let transaction = try database.begin()
            defer { transaction.cancel() }
            var wanted = before
            change(&wanted)
            do throws(FirnError) { try transaction.setAttributes(like: wanted) } catch {
                #expect(error.code == .schema)
                return error.message
            }
            return ""
        }
        let many = (0..<65_537).map { SchemaAttribute("meta:\($0)", []) }
        #expect(try refusal { $0.otherAttributes = many } == "the file has 65537 attributes, more than 65536")
        #expect(try refusal { $0.types[0].otherAttributes = many }.hasPrefix("type \"Order\" has 65537 attributes"))
        #expect(try refusal { $0.types[0].columns[0].otherAttributes = many }.hasPrefix("column \"id\" of type \"Order\" has 65537"))
        #expect(
            try refusal { $0.otherAttributes = [SchemaAttribute("a", []), SchemaAttribute("a", [])] }
                == "the file has two attributes with the name \"a\"")
        let long = [UInt8](repeating: 0, count: 1 << 26 + 1)
        #expect(
            try refusal { $0.setMetadata("k", long) }
                == "the attribute \"meta:k\" of the file has 67108865 bytes, more than 67108864")
        var type = GoldenRows.order
        type.name = "Other"
        type.otherAttributes = many
        let transaction = try database.begin()
        #expect(throws: FirnError.self) { try transaction.extendSchema([type]) }
        transaction.cancel()
        #expect(try database.snapshot().schema == before && database.snapshot().version == 1)
    }

    @Test func `reverts and compaction with several versions keep the attributes of each version`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn"), copy = folder.file("b.firn")
        let database = try Database.create(path: path)
        func commit(_ change: (inout Schema) -> Void, rows: Int) throws {
            let transaction = try database.begin()
            if try database.snapshot().version == 0 { try transaction.extendSchema([GoldenRows.order]) }
            var schema = transaction.schema
            change(&schema)
            try transaction.setAttributes(like: schema)
            for row in GoldenRows.orders.suffix(rows) { try transaction.insert("Order", row) }
            try transaction.commit()
        }
        try commit({ $0.setMetadata("state", [1]) }, rows: 2)
        try database.tag("first", database.snapshot())
        try commit(
            {
                $0.setMetadata("state", [2])
                $0.types[0].setMetadata("more", [3])
                $0.types[0].columns[1].setMetadata("unit", nil)
            }, rows: 0)
        let first = try database.snapshot(tag: "first").schema, second = try database.snapshot().schema
        #expect(first.metadata == [MetadataEntry("state", [1])] && second.metadata == [MetadataEntry("state", [2])])

        try Database.compact(database.versions(upTo: database.snapshot()), retention: nil, to: copy)
        let compacted = try Database.open(path: copy)
        #expect(try compacted.snapshot(tag: "first").schema == first && compacted.snapshot().schema == second)
        #expect(try compacted.verifyStructure().isEmpty)

        let transaction = try database.begin()
        try transaction.revert(to: database.snapshot(tag: "first"))
        try transaction.commit()
        #expect(try database.snapshot().schema == first)
        #expect(try database.verifyStructure().isEmpty && database.snapshot().verify(full: true).isEmpty)
    }

    @Test func `a type that is written again with other columns keeps its attributes`() throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        let transaction = try database.begin()
        try transaction.extendSchema([GoldenRows.order])
        for row in GoldenRows.orders.prefix(5) { try transaction.insert("Order", row) }
        try transaction.commit()
        let second = try database.begin()
        let kept = GoldenRows.order.columns.dropLast().map { ColumnSchema($0.name, $0.type) }
        try second.revise(TypeSchema("Order", columns: kept + [ColumnSchema("new", ColumnType(.int))], key: [0]))
        try second.commit()
        let type = try database.snapshot().schema.types[0]
        #expect(type.metadata == GoldenRows.order.metadata)
        #expect(type.columns.dropLast().map(\.logical) == GoldenRows.order.columns.dropLast().map(\.logical))
        #expect(type.columns.last?.hasAttributes == false)
    }
}
