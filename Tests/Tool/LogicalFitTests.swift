import FirnBytes
import FirnDatabase
import FirnKit
import FirnTable
import Foundation
import Testing

/// Values that `append` and `upsert` add have the logical type of their column.
@Suite struct LogicalFitTests {
    @Test func `values outside of the logical type of a column are refused with the row`() throws {
        let scratch = try Scratch()
        try scratch.write(
            "s.json",
            """
            {"v":1,"type":"T","key":["id"],"columns":[{"name":"id","type":"int"},{"name":"i","type":"int?","logical":"int8"},
            {"name":"u","type":"int?","logical":"uint16"},{"name":"t","type":"string?","logical":"time(s)"},
            {"name":"d","type":"double?","logical":"decimal(5,2)"}]}
            """)
        try scratch.write("a.ndjson", "{\"id\":1,\"i\":5,\"u\":1,\"t\":\"10:00:00\",\"d\":1.25}\n")
        #expect(try scratch.firn("convert", "--schema", "s.json", "a.ndjson", "a.firn", "-q").code == 0)
        let before = try Data(contentsOf: scratch.file("a.firn"))
        for (column, value) in [
            ("i", "300"), ("i", "-129"), ("u", "-1"), ("u", "65536"), ("t", "nonsense"), ("t", "25:00:00"), ("d", "1234.5"), ("d", "1.234"),
        ] {
            for command in ["append", "upsert"] {
                let run = try scratch.firn(command, "a.firn", "-", input: "id,\(column)\n2,\n3,\(value)\n")
                #expect(
                    run.code == 3 && run.errors.contains("row 2") && run.errors.contains("\"\(column)\""),
                    "\(command) \(value): \(run.errors)")
            }
        }
        #expect(try Data(contentsOf: scratch.file("a.firn")) == before)
        let run = try scratch.firn(
            "append", "a.firn", "-", input: "id,i,u,t,d\n2,-128,65535,23:59:59,999.99\n3,127,0,,-999.99\n4,,,,0.07\n")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try scratch.firn("convert", "a.firn", "a.parquet", "-q").code == 0)
    }

    @Test func `decimals that are stored as doubles are compared by their digits`() throws {
        let scratch = try Scratch()
        try scratch.write(
            "s.json",
            """
            {"v":1,"type":"T","key":[],"columns":[{"name":"id","type":"int"},{"name":"q","type":"double","logical":"decimal(12,2)"},
            {"name":"r","type":"decimal128"}]}
            """)
        try scratch.write(
            "a.ndjson",
            "{\"id\":1,\"q\":8836.31,\"r\":8836.31}\n{\"id\":2,\"q\":1.1,\"r\":1.10}\n{\"id\":3,\"q\":2,\"r\":2.5}\n")
        let made = try scratch.firn("convert", "--schema", "s.json", "a.ndjson", "a.firn", "-q")
        #expect(made.code == 0, "\(made.errors)")
        for (predicate, ids) in [
            ("q == decimal(8836.31)", "1"), ("q IN {decimal(1.10), decimal(2)}", "2\n3"), ("q == r", "1\n2"), ("q < r", "3"), ("q > r", ""),
            ("r >= q", "1\n2\n3"), ("q <= decimal(1.10)", "2"), ("q > decimal(1.10)", "1\n3"), ("NOT (q == decimal(1.1))", "1\n3"),
        ] {
            let run = try scratch.firn("query", "a.firn", predicate, "-s", "id", "--format", "csv")
            #expect(run.out.split(separator: "\n").dropFirst().joined(separator: "\n") == ids, "\(predicate): \(run.out)\(run.errors)")
        }
    }

    @Test func `a full check reports keys that are repeated`() throws {
        let scratch = try Scratch(), path = scratch.file("a.firn").path
        let type = TypeSchema("T", columns: [ColumnSchema("id", ColumnType(.int)), ColumnSchema("v", ColumnType(.string))], key: [0])
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema([type])
        // Segments are written without comparing keys.
        let rows = (0..<200).map { [Value.int(Int64($0 % 197 * 7919 % 1000)), .string("v")] }
        try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
        try transaction.commit()
        #expect(try scratch.firn("verify", path).code == 0)
        let run = try scratch.firn("verify", "--full", path)
        #expect(run.code == 1 && run.out.contains("have the key id = "), "\(run.out)\(run.errors)")
    }
}
