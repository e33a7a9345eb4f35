import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnArrow

/// What the writer writes is read back as the same table.
@Suite struct WriterTests {
    private func written(_ schema: Schema, _ batches: [Batch], stream: Bool, _ compression: ArrowWriterOptions.Compression) throws -> (
        bytes: [UInt8], remarks: [String]
    ) {
        let output = Output(memory: "t.arrow")
        var options = ArrowWriterOptions()
        (options.isStream, options.compression) = (stream, compression)
        let writer = ArrowWriter(output, options: options)
        try writer.begin(schema)
        for batch in batches { try writer.write(batch, type: schema.roots[0].name) }
        try writer.finish()
        return (output.bytes, writer.remarks)
    }

    @Test(arguments: Fixture.names) func `files of pyarrow are written again with the same types, values and metadata`(name: String) throws
    {
        let bytes = try Fixture.bytes(name), whole = try ReadFile(bytes)
        var options = ArrowOptions(typeName: "t")
        options.staysOffDisk = true
        let reader = try ArrowReader.open(Input(bytes: bytes, name: "t"), options: options)
        var batches: [Batch] = []
        while let (_, batch) = try reader.next() { batches.append(batch) }
        for compression in ArrowWriterOptions.Compression.allCases {
            for stream in [false, true] {
                let (out, remarks) = try written(reader.schema, batches, stream: stream, compression)
                for isPipe in [false, true] {
                    let read = try ReadFile(out, isPipe: isPipe)
                    #expect(read.rows == whole.rows && read.types == whole.types, "\(compression) \(stream)")
                    #expect(read.schema.metadata == whole.schema.metadata)
                    #expect(read.schema.types[0].columns.map(\.metadata) == whole.schema.types[0].columns.map(\.metadata))
                }
                #expect(remarks == [], "\(remarks)")
            }
        }
    }

    private static let table: (schema: Schema, batch: Batch) = {
        func column(_ name: String, _ type: ColumnType, _ id: UInt32, _ values: [Value]) -> (ColumnSchema, Column) {
            var column = Column(type)
            for value in values { if !column.append(value) { column.appendNull() } }
            return (ColumnSchema(name, type, id: id), column)
        }
        let moment = Timestamp(seconds: -5, nanoseconds: 1)
        var columns = [
            column("id", ColumnType(.objectID), 4, (0..<3).map { .objectID(Identifier(high: $0, low: 7)) }),
            column("any", ColumnType(.any, optional: true), 9, [.list([.int(1), .date(moment)]), .null, .map([.init("$a", .double(2))])]),
            column("amount", ColumnType(.decimal, optional: true), 2, [.decimal(Decimal("1.00")!), .null, .decimal(Decimal("1E+400")!)]),
            column("made", ColumnType(.date), 1, [.date(moment), .date(Timestamp(seconds: 0)), .date(Timestamp(seconds: 9))]),
            column("marks", ColumnType(.int, collection: .set), 7, [.set([.int(3), .int(1)]), .set([]), .set([.int(2)])]),
            column("float", ColumnType(.float), 8, [.float(1.5), .float(.infinity), .float(-0.25)]),
        ]
        columns[3].0.notation = .dateTimeSpace(3)
        columns[2].0.writesNull = true
        var type = TypeSchema("Order", columns: columns.map(\.0), key: [0], envelope: "csv\n")
        type.setMetadata("of", Array("type".utf8))
        var schema = Schema([type])
        schema.setMetadata("of", Array("file".utf8))
        return (schema, Batch(count: 3, columns: columns.map(\.1)))
    }()

    @Test func `columns that Arrow has no type for are read back as they were, with keys, notations and attributes`() throws {
        let (schema, batch) = Self.table
        let (bytes, remarks) = try written(schema, [batch], stream: false, .zstd)
        #expect(remarks == [])
        var options = ArrowOptions(typeName: "t")
        (options.staysOffDisk, options.keepsTypeName) = (true, true)
        let reader = try ArrowReader.open(Input(bytes: bytes, name: "t"), options: options)
        #expect(reader.schema == schema, "\(reader.schema)")
        let read = try #require(try reader.next()).batch
        for (i, column) in batch.columns.enumerated() {
            for row in 0..<3 {
                #expect(read.columns[i].value(at: row) == column.value(at: row), "\(schema.types[0].columns[i].name) \(row)")
            }
        }
        #expect(try reader.next() == nil)
    }

    @Test func `values that a logical type does not allow are null and counted, or an error`() throws {
        for isOptional in [true, false] {
            var column = ColumnSchema("n", ColumnType(.int, optional: isOptional), id: 0), values = Column(column.type)
            column.logical = .integer(bits: 8, isSigned: true)
            for value in [1, 300, -128] { _ = values.append(.int(Int64(value))) }
            let schema = Schema([TypeSchema("t", columns: [column])]), batch = Batch(count: 3, columns: [values])
            if isOptional {
                let (bytes, remarks) = try written(schema, [batch], stream: true, .none)
                #expect(try ReadFile(bytes).rows == ["1", "null", "-128"])
                #expect(remarks.count == 1 && remarks[0].contains("1 values are written as null, because int8"), "\(remarks)")
            } else {
                let error = #expect(throws: FirnError.self) { try written(schema, [batch], stream: true, .none) }
                #expect(error?.message.contains("cannot express the value \"300\"") == true)
            }
        }
    }

    @Test func `a recorded schema that is damaged or does not fit the fields is not used`() throws {
        let (schema, batch) = Self.table
        let bytes = try written(schema, [batch], stream: false, .none).bytes
        let key = Array("firn.schema".utf8)
        var random = Random(seed: 3), positions: [Int] = []
        for i in 0..<bytes.count - key.count where bytes[i..<i + key.count].elementsEqual(key) { positions.append(i) }
        #expect(positions.count == 2)
        for _ in 0..<300 {
            var changed = bytes
            for at in positions { changed[min(at + random.number(0...300), bytes.count - 9)] = UInt8(random.number(32...126)) }
            for isPipe in [true, false] { do { _ = try ReadFile(changed, isPipe: isPipe) } catch is FirnError {} }
        }
    }
}
