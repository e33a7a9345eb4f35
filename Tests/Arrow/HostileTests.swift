import FirnBytes
import FirnExchange
import FirnTable
import Testing

@testable import FirnArrow

/// Streams that are built by hand, with numbers that lie. Each is an error with its file, in little memory.
@Suite struct HostileTests {
    private func framed(_ kind: ArrowFormat.Header, _ header: FlatBuilder, _ body: [UInt8] = [], length: Int? = nil) -> [UInt8] {
        var metadata = ArrowSchemaWriter.message(kind, header, bodyLength: length ?? body.count)
        while metadata.count % 8 != 0 { metadata.append(0) }
        var out: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
        for i in 0..<4 { out.append(UInt8(truncatingIfNeeded: metadata.count >> (i * 8))) }
        return out + metadata + body
    }

    private func stream(_ fields: [ArrowField], rows: Int, nodes: [Int64], buffers: [Int64], body: [UInt8], length: Int? = nil) -> [UInt8] {
        framed(.schema, ArrowSchemaWriter.schema(fields, metadata: []))
            + framed(
                .recordBatch, ArrowSchemaWriter.batch(rows: rows, nodes: nodes, buffers: buffers, codec: nil), body, length: length)
    }

    private func words(_ values: [Int32]) -> [UInt8] { values.flatMap { v in (0..<4).map { UInt8(truncatingIfNeeded: v >> ($0 * 8)) } } }

    /// Reads the bytes as from a pipe, as a file, and as a table.
    private func refuses(_ bytes: [UInt8], _ what: String) {
        for isPipe in [true, false] {
            let error = #expect(throws: FirnError.self, "\(what)") { try ReadFile(bytes, isPipe: isPipe) }
            #expect(
                error.map { $0.location?.file == "t.arrow" || $0.code == .outOfMemory } ?? false, "\(what): \(error.map { "\($0)" } ?? "")")
        }
        var options = ArrowOptions(typeName: "t")
        options.staysOffDisk = true
        guard let table = try? ArrowReader.mapped(FileBytes(array: bytes, name: "t.arrow"), options: options).table else { return }
        #expect(throws: (any Error).self, "\(what), as a table") {
            for index in 0..<min(table.segmentCount, 3) {
                let segment = try table.segment(index)
                for column in table.type.columns.indices {
                    for row in 0..<min(segment.rowCount, 16) { _ = try segment.column(column).value(at: row) }
                }
            }
        }
    }

    private let text = [ArrowField("s", .text(.small), nullable: true)]

    @Test func `offsets of texts that decrease, are negative or lead beyond their buffer`() {
        let cases: [[Int32]] = [[0, 5, 2, 8], [0, 2, 4, 400], [-4, 2, 4, 8], [0, -1, 4, 8], [0, .max, .max, .max], [3, 2, 1, 0]]
        for offsets in cases {
            let body = words(offsets) + Array("abcdefgh".utf8)
            refuses(stream(text, rows: 3, nodes: [3, 0], buffers: [0, 0, 0, 16, 16, 8], body: body), "\(offsets)")
        }
    }

    @Test func `nulls that are more or fewer than the batch lists`() throws {
        // Validity with one null of three rows, then the offsets and the text.
        let body = [0b101, 0, 0, 0, 0, 0, 0, 0] + words([0, 2, 2, 4]) + Array("abcd".utf8) + [0, 0, 0, 0]
        func listing(_ nulls: Int64) -> [UInt8] {
            stream(text, rows: 3, nodes: [3, nulls], buffers: [0, 1, 8, 16, 24, 4], body: body)
        }
        #expect(try ReadFile(listing(1)).rows.count == 3)
        for nulls in [2, 3] as [Int64] { refuses(listing(nulls), "\(nulls) nulls") }
    }

    @Test func `buffers that are outside of the body, negative or too short`() {
        let body = words([0, 2, 4, 8]) + Array("abcdefgh".utf8)
        let cases: [[Int64]] = [
            [0, 0, 0, 16, 16, 1 << 40], [0, 0, 0, 16, 1 << 40, 8], [0, 0, -8, 16, 16, 8], [0, 0, 0, -16, 16, 8], [0, 0, 0, 8, 16, 8],
            [0, 0, .max, .max, 16, 8], [0, 0, 0, 16, 24, 8], [0, 0, 0, 16],
        ]
        for buffers in cases { refuses(stream(text, rows: 3, nodes: [3, 0], buffers: buffers, body: body), "\(buffers)") }
    }

    @Test func `counts of rows, values and nulls that are negative, huge or differ`() {
        let number = [ArrowField("n", .int(bits: 64, isSigned: true), nullable: true)], body = [UInt8](repeating: 1, count: 64)
        let cases: [(Int, [Int64])] = [
            (-1, [-1, 0]), (3, [-3, 0]), (1 << 50, [1 << 50, 0]), (.max, [.max, 0]), (9, [9, 0]), (8, [3, 0]), (8, []),
        ]
        for (rows, nodes) in cases {
            refuses(stream(number, rows: rows, nodes: nodes, buffers: [0, 0, 0, 64], body: body), "\(rows) \(nodes)")
        }
        // Nulls without a buffer for them.
        refuses(
            stream([ArrowField("b", .bool, nullable: true)], rows: 1 << 40, nodes: [1 << 40, 1 << 40], buffers: [0, 0, 0, 0], body: []),
            "booleans without bytes")
        refuses(stream(number, rows: 8, nodes: [8, 0], buffers: [0, 0, 0, 64], body: body, length: 1 << 50), "a huge body")
        refuses(stream(number, rows: 8, nodes: [8, 0], buffers: [0, 0, 0, 64], body: body, length: -64), "a negative body")
    }

    @Test func `lists whose elements do not exist, and structs whose fields are shorter`() {
        let list = [
            ArrowField(
                "l", .list(.small), nullable: true, children: [ArrowField("element", .int(bits: 32, isSigned: true), nullable: true)])
        ]
        for (offsets, count) in [([0, 2, 4] as [Int32], 3 as Int64), ([0, 2, 1 << 30], 4), ([0, 3, 1], 4)] {
            let body = words(offsets) + words([1, 2, 3, 4, 0])
            refuses(stream(list, rows: 2, nodes: [2, 0, count, 0], buffers: [0, 0, 0, 12, 0, 0, 12, 4 * count], body: body), "\(offsets)")
        }
        let object = [
            ArrowField("o", .structure, nullable: true, children: [ArrowField("a", .int(bits: 32, isSigned: true), nullable: true)])
        ]
        refuses(stream(object, rows: 4, nodes: [4, 0, 2, 0], buffers: [0, 0, 0, 0, 0, 16], body: words([1, 2, 3, 4])), "a short field")
    }

    /// A field whose values are indexes into the dictionary `id`.
    private func encoded(_ name: String, id: Int64, values: FlatBuilder, code: UInt8, children: [FlatBuilder] = []) -> FlatBuilder {
        var index = FlatBuilder(), encoding = FlatBuilder(), field = FlatBuilder()
        index.set(0, .int(32))
        index.set(1, flag: true)
        encoding.set(0, .long(id))
        encoding.set(1, .table(index))
        field.set(0, .text(Array(name.utf8)))
        field.set(1, flag: true)
        field.set(2, .byte(code))
        field.set(3, .table(values))
        field.set(4, .table(encoding))
        field.set(5, .tables(children))
        return field
    }

    private func dictionary(_ id: Int64, rows: Int, nodes: [Int64], buffers: [Int64], body: [UInt8]) -> [UInt8] {
        var header = FlatBuilder()
        header.set(0, .long(id))
        header.set(1, .table(ArrowSchemaWriter.batch(rows: rows, nodes: nodes, buffers: buffers, codec: nil)))
        return framed(.dictionaryBatch, header, body)
    }

    @Test func `dictionaries that are missing, too short, or contain themselves`() {
        var schema = FlatBuilder()
        schema.set(1, .tables([encoded("d", id: 7, values: FlatBuilder(), code: ArrowFormat.TypeCode.utf8.rawValue)]))
        let head = framed(.schema, schema)
        let batch = ArrowSchemaWriter.batch(rows: 2, nodes: [2, 0], buffers: [0, 0, 0, 8], codec: nil)
        let texts = words([0, 1, 2, 0]) + Array("abcdefgh".utf8)
        func values(_ id: Int64) -> [UInt8] { dictionary(id, rows: 2, nodes: [2, 0], buffers: [0, 0, 0, 12, 16, 2], body: texts) }
        refuses(head + framed(.recordBatch, batch, words([0, 1])), "no dictionary")
        refuses(head + values(8) + framed(.recordBatch, batch, words([0, 1])), "a dictionary with another id")
        for indexes in [[0, 2], [-1, 0], [.max, 0]] as [[Int32]] {
            refuses(head + values(7) + framed(.recordBatch, batch, words(indexes)), "\(indexes)")
        }
        refuses(
            head + dictionary(7, rows: 1 << 50, nodes: [1 << 50, 0], buffers: [0, 0, 0, 12, 16, 2], body: texts)
                + framed(.recordBatch, batch, words([0, 1])), "a huge dictionary")
        // The values of dictionary 7 have a field that is encoded with dictionary 7.
        let inner = encoded("x", id: 7, values: FlatBuilder(), code: ArrowFormat.TypeCode.utf8.rawValue)
        var cyclic = FlatBuilder()
        cyclic.set(
            1, .tables([encoded("d", id: 7, values: FlatBuilder(), code: ArrowFormat.TypeCode.structure.rawValue, children: [inner])]))
        refuses(
            framed(.schema, cyclic)
                + dictionary(7, rows: 1, nodes: [1, 0, 1, 0], buffers: [0, 0, 0, 0, 0, 4], body: words([0, 0]))
                + framed(.recordBatch, batch, words([0, 0])), "a cyclic dictionary")
    }
}
