import FirnBytes
import FirnChange
import FirnKit
import FirnTable
import Testing

/// The content hash of batches is that of the table that they make.
@Suite struct ContentHashStreamTests {
    @Test(arguments: Seed.first(40)) func `rows that are hashed batch by batch have the hash of the whole table`(seed: Seed) throws {
        var random = RandomTables(seed)
        let schema = random.schema(), type = try #require(schema["Thing"])
        guard ContentHashStream.canHash(type, schema) else { return }
        let batches = (0..<random.number(0...5)).map { _ in
            RandomTables.batch(random.rows(random.number(0...1300), of: type, in: schema), of: type, in: schema)
        }
        let table = MemoryTable(type, schema: schema, batches: batches)
        for key in [nil, ["c0"]] {
            var options = ContentHash.Options()
            (options.key, options.eachColumn, options.threads) = (key, true, 1 + Int(seed.number % 3))
            let whole = try ContentHash(of: table, options: options)
            let stream = try ContentHashStream(type, schema, options: options)
            for batch in batches { try stream.add(batch) }
            let found = try stream.finish()
            #expect(found.hash == whole.hash && found.rows == whole.rows && found.key == whole.key && found.name == whole.name)
            #expect(found.columns.map(\.hash) == whole.columns.map(\.hash))
        }
        var options = ContentHash.Options()
        options.key = ["nothing"]
        #expect(throws: FirnError.self) { try ContentHashStream(type, schema, options: options) }
    }

    @Test func `columns with links and open values are not hashed in batches`() {
        let linked = TypeSchema("A", columns: [ColumnSchema("b", ColumnType(.link, optional: true, target: "A"))])
        let open = TypeSchema("B", columns: [column("v", .any)]), plain = TypeSchema("C", columns: [column("v", .int)])
        let schema = Schema([linked, open, plain])
        #expect(!ContentHashStream.canHash(linked, schema) && !ContentHashStream.canHash(open, schema))
        #expect(ContentHashStream.canHash(plain, schema))
    }
}
