import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Testing

@testable import FirnParquet

/// Files that the writer makes, read by the reader of this module. `Tools/bench/compare-parquet-out.py` compares them with other readers.
@Suite struct WriterTests {
    /// A type with a column of each kind, collection and logical type.
    static func everyType() -> (type: TypeSchema, schema: Schema) {
        var columns: [ColumnSchema] = []
        let kinds: [ScalarKind] = [.bool, .int, .float, .double, .string, .data, .date, .decimal, .objectID, .uuid, .any]
        for kind in kinds {
            columns.append(ColumnSchema("\(kind)", ColumnType(kind)))
            columns.append(ColumnSchema("\(kind)?", ColumnType(kind, optional: true)))
            columns.append(ColumnSchema("list \(kind)", ColumnType(kind, optional: true, collection: .list, elementOptional: true)))
            columns.append(ColumnSchema("set \(kind)", ColumnType(kind, collection: .set)))
            columns.append(ColumnSchema("map \(kind)", ColumnType(kind, optional: true, collection: .map, elementOptional: true)))
        }
        let logical: [(LogicalType, ScalarKind)] = [
            (.integer(bits: 8, isSigned: true), .int), (.integer(bits: 32, isSigned: false), .int),
            (.integer(bits: 64, isSigned: false), .decimal),
            (.float16, .float), (.decimal(precision: 9, scale: 2), .double), (.decimal(precision: 15, scale: 4), .decimal),
            (.decimal(precision: 34, scale: 10), .decimal), (.decimal(precision: 50, scale: 3), .string), (.date, .date),
            (.time(.second), .string), (.time(.nanosecond), .string), (.timestamp(.millisecond, zone: "Europe/Oslo"), .date),
            (.timestamp(.nanosecond, zone: nil), .date), (.duration(.second), .int), (.interval, .string),
            (.enumeration(["a", "b"]), .string),
            (.json, .string), (.geometry(system: "OGC:CRS84"), .data),
        ]
        for (logical, kind) in logical {
            var column = ColumnSchema("as \(logical)", ColumnType(kind, optional: true))
            column.logical = logical
            columns.append(column)
        }
        columns.append(ColumnSchema("object", ColumnType(.embedded, optional: true, target: "Inner")))
        columns.append(ColumnSchema("objects", ColumnType(.embedded, collection: .list, target: "Inner")))
        columns.append(
            ColumnSchema("lists", ColumnType(.embedded, optional: true, collection: .list, elementOptional: true, target: "Bare")))
        for i in columns.indices { columns[i].id = UInt32(i) }
        var inner = TypeSchema(
            "Inner",
            columns: [
                ColumnSchema("n", ColumnType(.int, optional: true), id: 0), ColumnSchema("at", ColumnType(.date), id: 1),
                ColumnSchema("tags", ColumnType(.string, collection: .list), id: 2),
            ], isEmbedded: true)
        inner.setMetadata("unit", Array("m".utf8))
        let bare = TypeSchema(
            "Bare", columns: [ColumnSchema("value", ColumnType(.int, collection: .list, elementOptional: true), id: 0)], isEmbedded: true,
            envelope: TypeSchema.bareEnvelope)
        var type = TypeSchema("Everything", columns: columns, key: [2], envelope: "csv\ndelimiter 59")
        type.setMetadata("table", [0xFF, 0])
        var schema = Schema([type, inner, bare])
        schema.setMetadata("source", Array("tests".utf8))
        schema.setMetadata("binary", [0xFF, 0xFE])
        return (type, schema)
    }

    static func value(_ column: ColumnSchema, _ random: inout Random, _ schema: Schema) -> Value {
        let type = column.type
        if type.isOptional, random.number(0...4) == 0 { return .null }
        if type.isCollection {
            var element = column
            element.type = type.element
            element.otherAttributes = []
            let values = (0..<random.number(0...3)).map { _ in value(element, &random, schema) }
            switch type.collection {
            case .set: return .set(Value.distinctSorted(values.filter { !$0.isNull }))
            case .map: return .map(values.enumerated().map { .init("k\($0.offset)é", $0.element) })
            default: return .list(values)
            }
        }
        if type.kind == .embedded, let target = type.target.flatMap({ schema[$0] }) {
            return .object(target.columns.map { .init("", value($0, &random, schema)) })
        }
        if let logical = column.logical { return self.value(logical, type.kind, &random) }
        return scalar(type.kind, &random)
    }

    private static func scalar(_ kind: ScalarKind, _ random: inout Random) -> Value {
        let number = random.number(-1_000_000...1_000_000)
        switch kind {
        case .bool: return .bool(number % 2 == 0)
        case .int: return .int([Int64.min, .max, 0, Int64(number)][random.number(0...3)])
        case .float: return .float([Float.nan, -0.0, .infinity, Float(number) / 8][random.number(0...3)])
        case .double: return .double([Double.nan, -0.0, -.infinity, Double(number) / 7][random.number(0...3)])
        case .string:
            return .string(["", "été", "日本語 \u{1F600}", "word \(number % 5)", String(repeating: "x", count: 90)][random.number(0...4)])
        case .data: return .data([[], [0, 255, 128], Array("word".utf8)][random.number(0...2)])
        case .date: return .date(Timestamp(seconds: Int64(number) * 1000, nanoseconds: Int32(random.number(0...999_999_999))))
        case .decimal: return .decimal(Decimal(["1.50", "-3E+30", "0.000", "\(number)"][random.number(0...3)])!)
        case .objectID: return .objectID(Identifier(high: UInt64(random.number(0...Int.max)), low: UInt64(random.number(0...0xFFFF_FFFF))))
        case .uuid: return .uuid(Identifier(high: UInt64(random.number(0...Int.max)) << 1, low: UInt64(random.number(0...Int.max))))
        default:
            switch random.number(0...12) {
            case 0: return .null
            case 1: return .list([.int(1), .set([.date(Timestamp(seconds: 5, nanoseconds: 7))]), .map([.init("$link", .link(3))])])
            case 2: return .map([.init("$", .null), .init("a", .double(2)), .init("b", .float(.nan))])
            case 3: return .link(9)
            case let other: return scalar(ScalarKind.allCases[other % 10], &random)
            }
        }
    }

    private static func value(_ logical: LogicalType, _ kind: ScalarKind, _ random: inout Random) -> Value {
        let number = random.number(0...100)
        switch logical {
        case .integer(64, false): return .decimal(Decimal(["18446744073709551615", "0", "\(number)"][random.number(0...2)])!)
        case .integer(8, _): return .int([Int64(-128), 127, Int64(number)][random.number(0...2)])
        case .integer: return .int([Int64(0), 4_294_967_295, Int64(number)][random.number(0...2)])
        case .float16: return .float([65_504, -0.0, 0.5, 5.9604645e-08][random.number(0...3)])
        case .decimal(9, _): return .double([9_999_999.99, -0.01, Double(number) / 100][random.number(0...2)])
        case .decimal(15, _): return .decimal(Decimal(["99999999999.9999", "-0.0001", "\(number).0000"][random.number(0...2)])!)
        case .decimal(34, _): return .decimal(Decimal(["999999999999999999999999.9999999999", "-0.0000000001"][random.number(0...1)])!)
        case .decimal:
            return .string(["99999999999999999999999999999999999999999999999.999", "-0.001", "\(number).500"][random.number(0...2)])
        case .date: return .date(Timestamp(seconds: Int64(number - 50) * 86_400 * 1000))
        case .time(.second): return .string(["00:00:00", "23:59:59"][random.number(0...1)])
        case .time: return .string(["00:00:00.000000001", "23:59:59.999999999"][random.number(0...1)])
        case .timestamp(.millisecond, _): return .date(Timestamp(seconds: -62_135_596_800 + Int64(number), nanoseconds: 7_000_000))
        case .timestamp: return .date(Timestamp(seconds: Int64(number) - 50, nanoseconds: 999_999_999))
        case .duration: return .int(Int64(number))
        case .interval: return .string(["P14M3DT4.5S", "PT0S", "P1M"][random.number(0...2)])
        case .enumeration: return .string(["a", "b"][random.number(0...1)])
        case .json: return .string(#"{"a":[1,null]}"#)
        default: return .data([1, 2, 3])
        }
    }

    static func batch(_ type: TypeSchema, _ schema: Schema, rows: Int, seed: UInt64) -> Batch {
        var random = Random(seed: seed), batch = Batch(type, in: schema)
        for _ in 0..<rows {
            for i in type.columns.indices {
                let value = value(type.columns[i], &random, schema)
                let fits = batch.columns[i].append(value)
                #expect(fits, "\(type.columns[i].name): \(value)")
            }
        }
        batch.count = rows
        return batch
    }

    static func written(_ schema: Schema, _ batches: [Batch], _ options: ParquetWriterOptions = .init()) throws -> (
        bytes: [UInt8], remarks: [String]
    ) {
        let output = Output(memory: "t.parquet"), writer = ParquetWriter(output, options: options)
        try writer.begin(schema)
        for batch in batches { try writer.write(batch, type: schema.roots[0].name) }
        try writer.finish()
        return (output.bytes, writer.remarks)
    }

    static func reader(_ bytes: [UInt8], name: String = "Everything") throws -> ParquetReader {
        var options = ParquetOptions(typeName: name)
        options.staysOffDisk = true
        return try ParquetReader(Input(bytes: bytes, name: "t.parquet"), options: options)
    }

    private func rows(_ reader: any BatchReader) throws -> [[Value]] {
        var rows: [[Value]] = []
        while let (_, batch) = try reader.next() {
            for row in 0..<batch.count { rows.append(batch.columns.map { $0.value(at: row) }) }
        }
        return rows
    }

    @Test(arguments: ["zstd", "zstd:12", "snappy", "gzip:1", "brotli", "lz4", "none"])
    func `a table of every type is read back with the same values, schema, key and attributes`(codec: String) throws {
        let (type, schema) = Self.everyType()
        var options = ParquetWriterOptions()
        options.compression = try ParquetCompression(codec)
        (options.groupRows, options.threads) = (400, 2)
        let batches = [Self.batch(type, schema, rows: 300, seed: 1), Self.batch(type, schema, rows: 700, seed: 2)]
        let (bytes, _) = try Self.written(schema, batches, options), reader = try Self.reader(bytes)
        #expect(reader.schema.types == schema.types && reader.schema.metadata == schema.metadata)
        let read = try rows(reader),
            expected = batches.flatMap { batch in (0..<batch.count).map { row in batch.columns.map { $0.value(at: row) } } }
        #expect(read.count == 1000)
        for (i, column) in type.columns.enumerated() {
            for row in 0..<1000 where !Self.isSame(read[row][i], expected[row][i], column) {
                Issue.record("\(column.name), row \(row): \(expected[row][i]) became \(read[row][i])")
                break
            }
        }
    }

    /// Decimals with a declared scale are equal by value, and dates of this test are cut to the unit of their column.
    private static func isSame(_ a: Value, _ b: Value, _ column: ColumnSchema) -> Bool {
        if a == b { return true }
        if case .decimal(let x) = a, case .decimal(let y) = b, column.logical != nil { return x.compare(y) == 0 }
        return false
    }

    @Test func `the same rows give the same bytes with any number of threads`() throws {
        let (type, schema) = Self.everyType(), batch = Self.batch(type, schema, rows: 500, seed: 3)
        var options = ParquetWriterOptions()
        let one = try Self.written(schema, [batch], options).bytes
        options.threads = 3
        #expect(try Self.written(schema, [batch], options).bytes == one)
    }

    @Test(arguments: [0, 1, 7, 8, 9, 1000]) func `any number of rows is read back, also if all are null`(count: Int) throws {
        let columns = (0..<3).map { ColumnSchema("c\($0)", ColumnType([.int, .string, .double][$0], optional: true), id: UInt32($0)) }
        let schema = Schema([TypeSchema("T", columns: columns)])
        var batch = Batch(schema.types[0], in: schema)
        for i in columns.indices { batch.columns[i].appendNulls(count) }
        batch.count = count
        let reader = try Self.reader(try Self.written(schema, count == 0 ? [] : [batch]).bytes, name: "T")
        #expect(reader.rowCount == count && reader.schema.types == schema.types)
        #expect(try rows(reader) == Array(repeating: [.null, .null, .null], count: count))
    }

    @Test func `ten thousand columns are written and read`() throws {
        let columns = (0..<10_000).map { ColumnSchema("column \($0)", ColumnType(.int), id: UInt32($0)) }
        let schema = Schema([TypeSchema("T", columns: columns)])
        var batch = Batch(schema.types[0], in: schema)
        for i in columns.indices { for row in 0..<3 { batch.columns[i].append(.int(Int64(i * row))) } }
        batch.count = 3
        let read = try rows(try Self.reader(try Self.written(schema, [batch]).bytes, name: "T"))
        #expect(read.count == 3 && read[2][9999] == .int(19_998))
    }

    @Test func `original texts are metadata, and belong to the same rows again`() throws {
        var type = TypeSchema("T", columns: [ColumnSchema("n", ColumnType(.int, optional: true), id: 0)])
        var companion = type.makeCompanion(of: type.columns[0])
        companion.id = 1
        type.columns.append(companion)
        let schema = Schema([type])
        var batch = Batch(type, in: schema)
        for row in 0..<1000 {
            batch.columns[0].append(row % 9 == 0 ? .null : .int(Int64(row)))
            batch.columns[1].append(row % 9 == 0 ? .string("NA \(row)") : .null)
        }
        batch.count = 1000
        var options = ParquetWriterOptions()
        options.groupRows = 300
        let reader = try Self.reader(try Self.written(schema, [batch], options).bytes, name: "T")
        #expect(reader.schema.types == schema.types)
        #expect(try rows(reader) == (0..<1000).map { row in batch.columns.map { $0.value(at: row) } })
        let table = reader.table
        for index in 0..<table.segmentCount {
            let segment = try table.segment(index), first = Int(try segment.rowID(at: 0))
            for row in 0..<segment.rowCount {
                #expect(try segment.column(1).value(at: row) == batch.columns[1].value(at: first + row))
            }
        }
    }

    @Test(arguments: [TimeUnit.millisecond, .microsecond, .nanosecond])
    func `dates in the first and the last second of the range of 64 bits are written`(unit: TimeUnit) throws {
        func date(_ count: Int64) -> Timestamp {
            let (seconds, rest) = (count / unit.perSecond, count % unit.perSecond), isBefore = rest < 0
            return Timestamp(
                seconds: seconds - (isBefore ? 1 : 0),
                nanoseconds: Int32((isBefore ? rest + unit.perSecond : rest) * (1_000_000_000 / unit.perSecond)))
        }
        let dates = [Int64.min, .min + 1, -1, 0, .max - 1, .max].map { Value.date(date($0)) }
        var known = ColumnSchema("c", ColumnType(.date), id: 0)
        known.logical = .timestamp(unit, zone: nil)
        for column in [known, ColumnSchema("c", ColumnType(.date), id: 0)] {
            let schema = Schema([TypeSchema("T", columns: [column])])
            var batch = Batch(schema.types[0], in: schema)
            for date in dates { batch.columns[0].append(date) }
            batch.count = dates.count
            let reader = try Self.reader(try Self.written(schema, [batch]).bytes, name: "T")
            #expect(try rows(reader) == dates.map { [$0] }, "\(column.logical.map { "\($0)" } ?? "no logical type")")
            // The message names the date that does not fit.
            let beyond = Timestamp(seconds: .min, nanoseconds: 0)
            batch.columns[0].append(.date(beyond))
            batch.count += 1
            let error = #expect(throws: FirnError.self) { _ = try Self.written(schema, [batch]) }
            #expect(error?.message.contains("a date \(Int64.min) seconds after 1970") == true, "\(error?.message ?? "")")
        }
    }

    @Test func `what a type of Parquet cannot express is counted, and what has no neighbour is an error`() throws {
        func attempt(_ logical: LogicalType, _ kind: ScalarKind, _ value: Value) throws -> [String] {
            var column = ColumnSchema("c", ColumnType(kind))
            column.logical = logical
            let schema = Schema([TypeSchema("T", columns: [column])])
            var batch = Batch(schema.types[0], in: schema)
            batch.columns[0].append(value)
            batch.count = 1
            return try Self.written(schema, [batch]).remarks
        }
        let late = Value.date(Timestamp(seconds: 3601, nanoseconds: 1500))
        #expect(try attempt(.date, .date, late).first?.contains("the time of day of 1 value is left out") == true)
        #expect(try attempt(.timestamp(.microsecond, zone: nil), .date, late).first?.contains("1 value cut to microseconds") == true)
        #expect(try attempt(.decimal(precision: 5, scale: 1), .double, .double(1.25)).first?.contains("1 value rounded") == true)
        #expect(try attempt(.float16, .float, .float(0.1)).first?.contains("1 value rounded to 16 bits") == true)
        #expect(try attempt(.decimal(precision: 5, scale: 1), .double, .double(1.5)).isEmpty)
        let misfits: [(LogicalType, ScalarKind, Value)] = [
            (.integer(bits: 8, isSigned: true), .int, .int(128)), (.decimal(precision: 5, scale: 1), .double, .double(10_000)),
            (.decimal(precision: 5, scale: 1), .double, .double(.nan)), (.time(.second), .string, .string("24:00:00")),
            (.interval, .string, .string("P1")), (.timestamp(.nanosecond, zone: nil), .date, .date(Timestamp(seconds: 1 << 40))),
            (.integer(bits: 64, isSigned: false), .decimal, .decimal(Decimal(-1 as Int64))),
        ]
        for (logical, kind, value) in misfits {
            let error = #expect(throws: FirnError.self) { try attempt(logical, kind, value) }
            #expect(error?.code == .rejected && error?.message.hasPrefix("column \"c\": ") == true, "\(logical)")
        }
    }
}
