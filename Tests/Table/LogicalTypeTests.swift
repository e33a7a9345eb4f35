import FirnTable
import Testing

@Suite struct LogicalTypeTests {
    static let all: [LogicalType] = [
        .integer(bits: 8, isSigned: true), .integer(bits: 64, isSigned: false), .float16, .decimal(precision: 15, scale: 2),
        .decimal(precision: 76, scale: -3), .date, .time(.microsecond), .timestamp(.nanosecond, zone: nil),
        .timestamp(.millisecond, zone: "Europe/Zürich"), .duration(.second), .interval, .enumeration([]),
        .enumeration(["a", "", "b,c", "say \"so\"", "\\", ")"]), .json, .fixedList(0), .fixedList(768), .geometry(system: nil),
        .geometry(system: "EPSG:4326"),
    ]

    @Test(arguments: all)
    func `the text of a logical type reads back as the same type`(type: LogicalType) {
        #expect(LogicalType(text: "\(type)") == type)
    }

    @Test(arguments: [
        "", "int", "int7", "int8(1)", "decimal()", "decimal", "decimal(5)", "decimal(0,1)", "decimal(5,2", "decimal(5,2)x", "time()",
        "time(h)", "timestamp(us,UTC)",
        "timestamp(us,\"UTC)", "enum(a)", "enum(\"a\",)", "enum(\"a\"\"b\")", "fixed-list(-1)", "geometry(x)", "date()x", "json(1)",
    ])
    func `other texts are no logical type`(text: String) {
        #expect(LogicalType(text: text) == nil)
    }

    @Test func `a logical type at a storage type that it does not fit is ignored`() {
        var column = ColumnSchema("price", ColumnType(.double))
        column.logical = .decimal(precision: 15, scale: 2)
        #expect(column.logical == .decimal(precision: 15, scale: 2) && column.hasAttributes)
        column.type = ColumnType(.string)
        #expect(column.logical == nil && column.hasAttributes)
        column.logical = nil
        #expect(!column.hasAttributes)
    }

    @Test func `metadata keeps its order, and setting a key again replaces its value`() {
        var schema = Schema([TypeSchema("Row", columns: [ColumnSchema("a", ColumnType(.int))])])
        schema.setMetadata("b", [1])
        schema.setMetadata("a", [0xFF, 0])
        schema.setMetadata("b", [2, 3])
        schema.types[0].columns[0].setMetadata("unit", Array("m/s".utf8))
        schema.types[0].columns[0].logical = .integer(bits: 32, isSigned: true)
        #expect(schema.metadata == [MetadataEntry("b", [2, 3]), MetadataEntry("a", [0xFF, 0])])
        schema.setMetadata("b", nil)
        #expect(schema.metadata == [MetadataEntry("a", [0xFF, 0])])
        let column = schema.types[0].columns[0]
        #expect(column.metadata == [MetadataEntry("unit", Array("m/s".utf8))] && column.logical == .integer(bits: 32, isSigned: true))
    }
}
