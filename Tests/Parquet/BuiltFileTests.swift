import FirnBytes
import FirnTable
import Testing

@testable import FirnParquet

/// Files that the usual writers do not write any more, and files that cannot be read.
@Suite struct BuiltFileTests {
    typealias Builder = ParquetBuilder

    private static func ints(_ values: [Int32]) -> [UInt8] { values.flatMap(Builder.little) }

    /// A required column with one page.
    private static func file(
        _ node: Builder.Node, _ body: [UInt8], count: Int, encoding: Int = 0, codec: Int = 0, size: Int? = nil, checksum: Int? = nil
    ) -> ParquetBuilder {
        var node = node
        node.repetition = 0
        let page = Builder.page(body, count: count, encoding: encoding, size: size, checksum: checksum)
        return Builder([node], [.init(physical: node.physical ?? 1, pages: page, values: count, codec: codec)], rows: count)
    }

    /// Reads a file that cannot be read, and returns its error.
    private func error(_ builder: ParquetBuilder) -> FirnError? {
        do {
            _ = try ReadFile(builder.bytes)
            return nil
        } catch { return error as? FirnError }
    }

    @Test func `a repeated node without an annotation is a list`() throws {
        let body = Builder.levels([0, 1, 0, 0]) + Builder.levels([1, 1, 0, 1]) + Self.ints([1, 2, 3])
        let file = Builder(
            [.init(name: "a", physical: 1, repetition: 2)], [.init(physical: 1, pages: Builder.page(body, count: 4), values: 4)], rows: 3)
        let read = try ReadFile(file.bytes)
        #expect(read.rows == ["[1,2]", "[]", "[3]"] && read.types == ["a list<int>"])
    }

    @Test func `a file without columns has no rows`() throws {
        let read = try ReadFile(Builder([], [], rows: 0).bytes)
        #expect(read.rows == [] && read.types == [])
        #expect(error(Builder([], [], rows: 3))?.message == "the file has 3 rows and no columns")
    }

    @Test(arguments: ["array", "list_tuple", "element"]) func `lists of two levels are read by the rules for old files`(name: String) throws
    {
        // optional group list (LIST) { repeated group NAME { optional int32 x } }
        let body = Builder.levels([0, 1, 0, 0]) + Builder.levels([3, 2, 1, 0]) + Self.ints([5])
        let file = Builder(
            [
                .init(name: "list", children: 1, converted: 3), .init(name: name, repetition: 2, children: 1),
                .init(name: "x", physical: 1),
            ], [.init(physical: 1, pages: Builder.page(body, count: 4), values: 4)], rows: 3)
        let rows = try ReadFile(file.bytes).rows
        #expect(rows == (name == "element" ? ["[5,null]", "[]", "null"] : [#"[{"":5},{"":null}]"#, "[]", "null"]), "\(rows)")
    }

    @Test func `a repeated value within an annotated list is its element`() throws {
        let body = Builder.levels([0, 1, 0]) + Builder.levels([2, 2, 0]) + Self.ints([1, 2])
        let file = Builder(
            [.init(name: "l", children: 1, converted: 3), .init(name: "element", physical: 1, repetition: 2)],
            [.init(physical: 1, pages: Builder.page(body, count: 3), values: 3)], rows: 2)
        #expect(try ReadFile(file.bytes).rows == ["[1,2]", "null"])
    }

    @Test func `maps of old files are sorted by key, and the last of equal keys is kept`() throws {
        // optional group m (MAP_KEY_VALUE) { repeated group map { required binary key (UTF8); optional int32 value } }
        let levels = Builder.levels([0, 1, 1, 0])
        let keys = Builder.page(levels + Builder.levels([2, 2, 2, 1]) + ["b", "a", "b"].flatMap(Builder.text), count: 4)
        let values = Builder.page(levels + Builder.levels([3, 2, 3, 1]) + Self.ints([1, 3]), count: 4)
        let file = Builder(
            [
                .init(name: "m", children: 1, converted: 2), .init(name: "map", repetition: 2, children: 2),
                .init(name: "key", physical: 6, repetition: 0, converted: 0), .init(name: "value", physical: 1),
            ], [.init(physical: 6, pages: keys, values: 4), .init(physical: 1, pages: values, values: 4)], rows: 2)
        let read = try ReadFile(file.bytes)
        #expect(read.rows == [#"{"a":null,"b":3}"#, "{}"], "\(read.rows)")
        #expect(read.remarks.count == 1 && read.remarks[0].contains("1 entries of maps have a key that follows again"))
    }

    @Test func `columns of one list that disagree are an error`() throws {
        let a = Builder.page(Builder.levels([0, 1, 0]) + Builder.levels([1, 1, 1]) + Self.ints([1, 2, 3]), count: 3)
        let b = Builder.page(Builder.levels([0, 0, 1]) + Builder.levels([1, 1, 1]) + Self.ints([1, 2, 3]), count: 3)
        let file = Builder(
            [
                .init(name: "l", repetition: 2, children: 2), .init(name: "a", physical: 1, repetition: 0),
                .init(name: "b", physical: 1, repetition: 0),
            ], [.init(physical: 1, pages: a, values: 3), .init(physical: 1, pages: b, values: 3)], rows: 2)
        #expect(error(file)?.message.contains("differ in their number of values") == true)
    }

    @Test func `levels in the deprecated bit-packed encoding are read`() throws {
        // 1 0 1 1, the first in the highest bit.
        let file = Builder(
            [.init(name: "a", physical: 1)],
            [.init(physical: 1, pages: Builder.page([0b1011_0000] + Self.ints([7, 8, 9]), count: 4, levels: 4), values: 4)], rows: 4)
        #expect(try ReadFile(file.bytes).rows == ["7", "null", "8", "9"])
    }

    @Test func `ALP values are multiplied by powers of ten and patched`() throws {
        var body: [UInt8] = [0, 0, 3] + Builder.little(Int32(9))
        var vectors: [[UInt8]] = []
        // Eight values from 100 on, of four bits, times 10^-2, with an exception; then one value.
        vectors.append(
            [2, 0] + Builder.little(UInt16(1)) + Builder.little(Int64(100)) + [4, 0x10, 0x32, 0x54, 0x76] + Builder.little(UInt16(3))
                + Builder.little(Double.infinity.bitPattern))
        vectors.append([0, 0] + Builder.little(UInt16(0)) + Builder.little(Int64(-5)) + [0])
        body += Builder.little(UInt32(8)) + Builder.little(UInt32(8 + vectors[0].count)) + vectors[0] + vectors[1]
        let file = Self.file(.init(name: "a", physical: 5), body, count: 9, encoding: 10)
        #expect(try ReadFile(file.bytes).rows == ["1", "1.01", "1.02", "null", "1.04", "1.05", "1.06", "1.07", "-5"])
    }

    @Test func `LZ4 pages with Hadoop's frame and without one are read`() throws {
        let values = Self.ints([1, 2])
        // A block of literals only.
        let block: [UInt8] = [0x80] + values
        let frame = Array(Builder.little(UInt32(values.count)).reversed()) + Array(Builder.little(UInt32(block.count)).reversed()) + block
        for stored in [block, frame] {
            let file = Self.file(.init(name: "a", physical: 1), stored, count: 2, codec: 5, size: values.count)
            #expect(try ReadFile(file.bytes).rows == ["1", "2"])
        }
    }

    @Test func `INT96, intervals, half floats and unannotated bytes have their types`() throws {
        let moment = Builder.little(Int64(1_500_000_000)) + Builder.little(Int32(2_440_589))
        #expect(
            try ReadFile(Self.file(.init(name: "a", physical: 3), moment, count: 1).bytes).rows == ["\"1970-01-02T00:00:01.500000000\""])
        let span = Builder.little(UInt32(14)) + Builder.little(UInt32(3)) + Builder.little(UInt32(4500))
        let interval = try ReadFile(Self.file(.init(name: "a", physical: 7, length: 12, converted: 21), span, count: 1).bytes)
        #expect(interval.rows == ["\"P14M3DT4.5S\""] && interval.types == ["a string interval"])
        let half = try ReadFile(Self.file(.init(name: "a", physical: 7, length: 2, logical: (15, { _ in })), [0, 0xC0], count: 1).bytes)
        #expect(half.rows == ["-2"] && half.types == ["a float float16"])
        #expect(try ReadFile(Self.file(.init(name: "a", physical: 6), Builder.text("x"), count: 1).bytes).types == ["a data"])
    }

    @Test func `decimals of all widths keep their digits`() throws {
        func decimal(_ bytes: [UInt8], _ precision: Int, _ scale: Int) throws -> String {
            let node = Builder.Node(name: "a", physical: 7, length: bytes.count, converted: 5, scale: scale, precision: precision)
            return try ReadFile(Self.file(node, bytes, count: 1).bytes).rows[0]
        }
        #expect(try decimal([0xFF, 0x85], 4, 2) == "-1.23")
        #expect(try decimal([0, 0, 0, 0, 0, 0, 0, 0, 0x7B], 20, 2) == "\"1.23\"")
        #expect(try decimal([UInt8](repeating: 0xFF, count: 20), 40, 5) == "\"-0.00001\"")
        #expect(try decimal([1] + [UInt8](repeating: 0, count: 17), 45, 0) == "\"87112285931760246646623899502532662132736\"")
    }

    @Test func `what is not known is an error that names it, with file and column`() throws {
        let one = Self.ints([1])
        let cases: [(ParquetBuilder, FirnError.Code, String)] = [
            (
                Self.file(.init(name: "a", physical: 1), one, count: 1, encoding: 77), .unsupported,
                "column \"a\", row group 0: the encoding 77"
            ),
            (Self.file(.init(name: "a", physical: 1), one, count: 1, codec: 3), .unsupported, "column \"a\", row group 0: the codec LZO"),
            (Self.file(.init(name: "a", physical: 1), one, count: 1, codec: 55), .unsupported, "the codec 55 is not known"),
            (Self.file(.init(name: "a", physical: 1, logical: (99, { _ in })), one, count: 1), .unsupported, "the logical type 99"),
            (Self.file(.init(name: "a", physical: 9), one, count: 1), .unsupported, "the unknown physical type 9"),
            (Self.file(.init(name: "a", physical: 1), one, count: 1, checksum: 5), .damaged, "the checksum of a page does not match"),
            (Self.file(.init(name: "a", physical: 1), [], count: 1), .damaged, "the values of the page are cut short"),
            (
                Self.file(.init(name: "a", physical: 6, converted: 0), Builder.text("\u{e9}").dropLast() + [0x20], count: 1), .rejected,
                "not UTF-8"
            ),
        ]
        for (file, code, text) in cases {
            let found = error(file)
            #expect(
                found?.code == code && found?.message.contains(text) == true && found?.location?.file == "t.parquet",
                "\(text): \(found as Any)")
        }
    }

    @Test func `encrypted files and columns are reported as such`() throws {
        var file = Self.file(.init(name: "a", physical: 1), Self.ints([1]), count: 1)
        file.chunks[0].isEncrypted = true
        #expect(error(file)?.code == .encrypted && error(file)?.message.contains("column \"a\"") == true)
        file.chunks[0].isEncrypted = false
        file.footerExtra = { footer in footer.structure(8) { _ in } }
        #expect(error(file)?.code == .encrypted)
        file.footerExtra = { _ in }
        var bytes = file.bytes
        bytes.replaceSubrange((bytes.count - 4)..., with: "PARE".utf8)
        #expect(throws: FirnError.self) { try ReadFile(bytes) }
        file.chunks[0].otherFile = "b.parquet"
        #expect(error(file)?.message.contains("in another file, \"b.parquet\"") == true)
    }

    @Test func `counts that lie are errors`() throws {
        func file(rows: Int, values: Int, page: Int) -> ParquetBuilder {
            var file = Self.file(.init(name: "a", physical: 1), Self.ints([1, 2, 3]), count: page)
            (file.rows, file.chunks[0].values) = (rows, values)
            return file
        }
        #expect(error(file(rows: 3, values: 3, page: 3)) == nil)
        for (rows, values, page) in [(4, 3, 3), (4, 4, 3), (4, 4, 4), (3, 3, 4), (-1, -1, 3), (1 << 40, 1 << 40, 3), (3, 3, 1 << 30)] {
            #expect(error(file(rows: rows, values: values, page: page)) != nil, "\(rows) \(values) \(page)")
        }
    }

    @Test func `names that occur twice are numbered, and metadata of the file is kept`() throws {
        var file = Self.file(.init(name: "a", physical: 1), Self.ints([1]), count: 1)
        file.nodes.append(file.nodes[0])
        file.chunks.append(file.chunks[0])
        file.metadata = [("k", "v"), ("ARROW:schema", "x"), ("k", "w")]
        let read = try ReadFile(file.bytes)
        #expect(read.types == ["a int int32", "a_2 int int32"] && read.remarks.count == 1)
        #expect(read.schema.metadata == [MetadataEntry("k", Array("w".utf8))])
    }
}
