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

    @Test func `times of day are brought into the form in which they are stored, whose order is that of the times`() {
        #expect(TimeUnit.second.stored(timeOfDay: "9:30") == "09:30:00")
        #expect(TimeUnit.millisecond.stored(timeOfDay: "10:00:00.5") == "10:00:00.500")
        #expect(TimeUnit.second.stored(timeOfDay: "10:00:00.000") == "10:00:00")
        #expect(TimeUnit.second.stored(timeOfDay: "10:00:00.25") == "10:00:00.25")
        #expect(TimeUnit.nanosecond.stored(timeOfDay: "23:59:59") == "23:59:59.000000000")
        for text in [
            "", "10", "10:", "24:00", "10:60", "10:5", "100:00", "10:00:00.", "10:00.5", "10:00:00.1234567890", "a:bc", "10:00:0x",
        ] {
            #expect(TimeUnit.second.stored(timeOfDay: text) == nil, "\(text)")
        }
    }

    @Test func `a logical type sets the notation that it implies, unless the column has another`() {
        var column = ColumnSchema("price", ColumnType(.double))
        column.logical = .decimal(precision: 15, scale: 2)
        #expect(column.notation == .fixed(2))
        column.logical = .decimal(precision: 15, scale: 3)
        #expect(column.notation == .fixed(2))
        var made = ColumnSchema("made", ColumnType(.date))
        made.logical = .timestamp(.microsecond, zone: nil)
        #expect(made.notation == .localDateTime)
        made = ColumnSchema("made", ColumnType(.date))
        made.logical = .timestamp(.microsecond, zone: "UTC")
        #expect(made.notation == .plain)
    }
}
