import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Testing

@testable import FirnParquet

/// What the metadata of written files says.
@Suite struct WrittenStructureTests {
    private func footer(_ columns: [ColumnSchema], key: [Int] = [], _ values: [[Value]], groupRows: Int = 1 << 20) throws -> (
        footer: ParquetFooter, file: FileBytes
    ) {
        var columns = columns
        for i in columns.indices { columns[i].id = UInt32(i) }
        let schema = Schema([TypeSchema("T", columns: columns, key: key)])
        var batch = Batch(schema.types[0], in: schema)
        for row in values { for (i, value) in row.enumerated() { batch.columns[i].append(value) } }
        batch.count = values.count
        var options = ParquetWriterOptions()
        options.groupRows = groupRows
        let file = try FileBytes(array: try WriterTests.written(schema, [batch], options).bytes, name: "t")
        return (try ParquetFooter.read(file), file)
    }

    private func bounds(_ chunk: ParquetChunk, _ file: FileBytes) throws -> (low: [UInt8], high: [UInt8])? {
        guard let statistics = chunk.statistics, let low = statistics.minimum, let high = statistics.maximum else { return nil }
        return (Array(file.bytes[low]), Array(file.bytes[high]))
    }

    private func littleEndian<T: FixedWidthInteger>(_ value: T) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }

    @Test func `bounds are those of the order of the type`() throws {
        var unsigned = ColumnSchema("u", ColumnType(.int)), wide = ColumnSchema("d", ColumnType(.decimal))
        unsigned.logical = .integer(bits: 32, isSigned: false)
        wide.logical = .decimal(precision: 30, scale: 0)
        let (footer, file) = try footer(
            [
                unsigned, wide, ColumnSchema("r", ColumnType(.double)), ColumnSchema("n", ColumnType(.double)),
                ColumnSchema("s", ColumnType(.string)),
                ColumnSchema("i", ColumnType(.int, optional: true)),
            ],
            [
                [.int(4_000_000_000), .decimal(Decimal(-5 as Int64)), .double(0), .double(.nan), .string("\u{FF}"), .null],
                [
                    .int(7), .decimal(Decimal(3 as Int64)), .double(.nan), .double(.nan), .string(String(repeating: "ab", count: 60)),
                    .int(-1),
                ],
            ])
        let chunks = footer.groups[0].chunks
        let numbers = try #require(try bounds(chunks[0], file))
        #expect(numbers.low == littleEndian(7 as UInt32) && numbers.high == littleEndian(4_000_000_000 as UInt32))
        let decimals = try #require(try bounds(chunks[1], file))
        #expect(decimals.low.last == 0xFB && decimals.low.first == 0xFF && decimals.high.last == 3 && decimals.high.first == 0)
        let reals = try #require(try bounds(chunks[2], file))
        #expect(reals.low == littleEndian((-0.0).bitPattern) && reals.high == littleEndian(0.0.bitPattern))
        #expect(chunks[2].statistics?.nanCount == 1 && chunks[3].statistics?.nanCount == 2)
        #expect(try bounds(chunks[3], file) == nil && chunks[3].columnIndex == nil && chunks[3].offsetIndex != nil)
        let texts = try #require(try bounds(chunks[4], file))
        #expect(texts.low == Array(String(repeating: "ab", count: 32).utf8) && texts.high == Array("\u{FF}".utf8))
        #expect(chunks[5].statistics?.nullCount == 1)
        #expect(footer.hasTypeOrder == Array(repeating: true, count: 6))
    }

    @Test func `long upper bounds are cut to a text above them, and long ones without one are kept`() {
        func high(_ text: String) -> (text: String, isExact: Bool)? {
            var values = LeafValues(.byteArray, length: 0)
            values.text.append(text)
            return LeafBounds(values, .bytes(isText: true)).written.map { (String(decoding: $0.maximum, as: UTF8.self), $0.maximumIsExact) }
        }
        let long = high(String(repeating: "z", count: 63) + "az")
        #expect(long?.text == String(repeating: "z", count: 63) + "b" && long?.isExact == false)
        let wide = String(repeating: "日", count: 40)
        #expect(high(wide)?.text == wide && high(wide)?.isExact == true)
        #expect(high(String(repeating: "日", count: 4000)) == nil)
        #expect(high("short")?.isExact == true)
    }

    @Test func `row groups have at most the number of rows that is asked for, and pages have an index`() throws {
        let (footer, file) = try footer([ColumnSchema("i", ColumnType(.int))], (0..<2500).map { [.int(Int64($0 * 3))] }, groupRows: 1000)
        #expect(footer.groups.map(\.rowCount) == [1000, 1000, 500])
        for (number, group) in footer.groups.enumerated() {
            let chunk = group.chunks[0], index = try #require(PageBounds(file, chunk))
            let reading = StatisticsReading(file, try ParquetNode.tree(footer.elements).allLeaves[0], .int, hasOrder: true)
            #expect(
                index.zone(0..<10, reading, group.rowCount)?.bounds
                    == .words(Int64(number * 3000), Int64((number * 1000 + group.rowCount - 1) * 3)))
        }
    }

    @Test func `the smallest of the encodings is chosen for each column`() throws {
        var random = Random(seed: 4)
        let rows: [[Value]] = (0..<20_000).map { row in
            [
                .int(Int64(row)), .string(["red", "green", "blue"][random.number(0...2)]),
                .double(Double(random.number(0...1_000_000)) / 7),
                .string("item \(100_000 + row)"),
            ]
        }
        let columns = ["ascending", "colour", "real", "label"].enumerated().map {
            ColumnSchema($0.element, ColumnType([.int, .string, .double, .string][$0.offset]))
        }
        let schema = Schema([
            TypeSchema(
                "T",
                columns: columns.enumerated().map {
                    var c = $0.element; c.id = UInt32($0.offset); return c
                })
        ])
        var batch = Batch(schema.types[0], in: schema)
        for row in rows { for (i, value) in row.enumerated() { batch.columns[i].append(value) } }
        batch.count = rows.count
        let made = ParquetShapes(schema.types[0], in: schema), elements = SchemaElements(made.shapes, name: "T")
        let expected: [Set<Int>] = [[5], [8], [0, 9], [6, 7]]
        for (i, shape) in made.shapes.enumerated() {
            let writer = ChunkWriter(elements.leaves[i]), compressor = PageCompressor(.standard)
            try writer.add(LevelBuilder(shape, batch.columns[i], 0..<batch.count).pages[0], share: 1, compressor)
            #expect(try !writer.take(compressor).encodings.isDisjoint(with: expected[i]), "\(columns[i].name)")
        }
    }

    /// DuckDB and polars read no other encodings of such values.
    @Test func `values of a fixed number of bytes are plain or in a dictionary`() throws {
        let column = ColumnSchema("u", ColumnType(.uuid)), schema = Schema([TypeSchema("T", columns: [column])])
        var batch = Batch(schema.types[0], in: schema)
        // As ascending as the identifiers of a clock.
        for row in 0..<20_000 {
            batch.columns[0].append(.uuid(Identifier(high: 0x018F << 48 | UInt64(row) << 16, low: UInt64(row) &* 7919)))
        }
        batch.count = 20_000
        let made = ParquetShapes(schema.types[0], in: schema), elements = SchemaElements(made.shapes, name: "T")
        let writer = ChunkWriter(elements.leaves[0]), compressor = PageCompressor(.standard)
        try writer.add(LevelBuilder(made.shapes[0], batch.columns[0], 0..<batch.count).pages[0], share: 1, compressor)
        #expect(try writer.take(compressor).encodings.isSubset(of: [0, 2, 3, 8]))
    }

    @Test func `a dictionary that grows too large is given up, and the rows before keep it`() throws {
        let column = ColumnSchema("s", ColumnType(.string)), schema = Schema([TypeSchema("T", columns: [column])])
        var batches: [Batch] = []
        for part in 0..<3 {
            var batch = Batch(schema.types[0], in: schema)
            // At first few values, later all of them different and long.
            for row in 0..<65_536 {
                batch.columns[0].append(.string(part == 0 ? "value \(row % 100)" : "\(part) \(row) " + String(repeating: "y", count: 60)))
            }
            batch.count = 65_536
            batches.append(batch)
        }
        let bytes = try WriterTests.written(schema, batches).bytes, reader = try WriterTests.reader(bytes, name: "T")
        var row = 0
        while let (_, batch) = try reader.next() {
            for i in stride(from: 0, to: batch.count, by: 997) {
                let at = row + i
                #expect(batch.columns[0].value(at: i) == batches[at / 65_536].columns[0].value(at: at % 65_536))
            }
            row += batch.count
        }
        #expect(row == 3 * 65_536)
        // 60 equal bytes compress well, so the file is far smaller than a dictionary of all texts.
        #expect(bytes.count < 3 * 65_536 * 12)
    }

    @Test func `halves are rounded to the nearest, ties to even`() {
        for bits in stride(from: UInt16(0), through: 0x7C00, by: 1) { #expect(HalfPrecision.bits(HalfPrecision.value(bits)) == bits) }
        #expect(HalfPrecision.bits(2049) == HalfPrecision.bits(2048) && HalfPrecision.bits(2051) == HalfPrecision.bits(2052))
        #expect(HalfPrecision.bits(65_519) == 0x7BFF && HalfPrecision.bits(65_520) == 0x7C00 && HalfPrecision.bits(-0.0) == 0x8000)
    }
}
