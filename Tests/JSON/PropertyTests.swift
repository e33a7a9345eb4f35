import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnJSON

@Suite struct PropertyTests {
    static func document(_ dice: inout Random, depth: Int) -> JSONDocument {
        switch dice.below(depth > 4 ? 9 : 14) {
        case 0: return .null
        case 1: return .bool(dice.below(2) == 0)
        case 2: return .number(String(dice.below(100)))
        case 3: return .number(String(Int64(bitPattern: dice.next())))
        case 4: return .number(JSONBytes.plain(Double(dice.below(100_000)) / 100))
        case 5: return .number(JSONBytes.plain(Double(Int64(bitPattern: dice.next())) * 1e-30))
        case 6:
            return .string(
                [
                    "", "a", "2020-01-01", "2020-01-01T00:00:00Z", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "line\nbreak \"q\" \\ \u{1}",
                    "é😀", "null",
                ][dice.below(8)])
        case 7: return .string(String(repeating: "x", count: dice.below(40)))
        case 8: return .number(String(dice.below(3)))
        case 9, 10: return .array((0..<dice.below(4)).map { _ in document(&dice, depth: depth + 1) })
        default:
            var names = ["a", "b", "c", "d", "key", "value", "é", ""]
            names.shuffle(using: &dice)
            return .object(names.prefix(dice.below(5)).map { ($0, document(&dice, depth: depth + 1)) })
        }
    }

    /// Removes nulls from objects, because null and missing members become equal in a column that has both.
    static func withoutNulls(_ document: JSONDocument) -> JSONDocument {
        switch document {
        case .array(let elements): .array(elements.map(withoutNulls))
        case .object(let members): .object(members.filter { $0.1 != .null }.map { ($0.0, withoutNulls($0.1)) })
        default: document
        }
    }

    @Test func `random values survive a round trip, as documents and as lines`() throws {
        let seed = Seed.one(4)
        var dice = Random(seed)
        for _ in 0..<400 {
            let rows = (0..<(1 + dice.below(6))).map { _ in PropertyTests.withoutNulls(PropertyTests.document(&dice, depth: 0)) }
            try expectSameDocument(Array(JSONDocument.array(rows).compact.utf8))
            try expectSameDocument(Array(rows[0].pretty.utf8))
            try expectSameLines(Array(rows.map { $0.compact + "\n" }.joined().utf8))
            let written = try Table(Array(JSONDocument.array(rows).compact.utf8), .document).written { $0.isPretty = true }
            #expect(try foundation(Array(JSONDocument.array(rows).compact.utf8)).isEqual(foundation(written)), "seed \(seed)")
        }
    }

    @Test func `damaged text is an error or is read, and never a trap`() throws {
        let seed = Seed.one(5)
        var dice = Random(seed)
        let base = Array(
            #"{"name":"x","rows":[{"a":1,"b":[1.5,{"c":"\u00e9\n"}]},{"a":-12e3,"b":[true,null]}],"m":{"k":"2020-01-01"}}"#.utf8)
        for cut in 1..<base.count {
            #expect(throws: FirnError.self, "cut to \(cut) bytes") { try Table(Array(base[..<cut]), .document) }
            _ = try? Table(Array(base[..<cut]), .lines)
        }
        var read = 0, refused = 0
        for _ in 0..<3000 {
            var bytes = base + [10] + base
            for _ in 0...dice.below(4) {
                bytes[dice.below(bytes.count)] =
                    dice.below(2) == 0 ? UInt8(dice.below(256)) : Array("{}[],:\"\\0e-.\n ".utf8)[dice.below(14)]
            }
            for layout in [JSONOptions.Layout.document, .lines] {
                guard let table = try? Table(bytes, layout) else {
                    refused += 1
                    continue
                }
                _ = try table.written(layout)
                read += 1
            }
        }
        for _ in 0..<500 {
            let bytes = (0..<dice.below(80)).map { _ in UInt8(dice.below(256)) }
            for layout in [JSONOptions.Layout.document, .lines] { _ = try? Table(bytes, layout) }
        }
        #expect(read > 100 && refused > 1000, "seed \(seed): \(read) read, \(refused) refused")
    }
}

@Suite struct WriterTests {
    @Test func `kinds that JSON lacks are written as text, numbers or null`() throws {
        let kinds: [(Value, ColumnType, String)] = [
            (.data([0, 1, 254]), ColumnType(.data), "\"AAH+\""), (.float(1.5), ColumnType(.float), "1.5"),
            (.link(7), ColumnType(.link, target: "T"), "7"),
            (.double(.infinity), ColumnType(.double), "null"),
            (.date(Timestamp(seconds: 0)), ColumnType(.date), "\"1970-01-01T00:00:00Z\""),
            (.objectID(Identifier(objectIDText: "507f1f77bcf86cd799439011")!), ColumnType(.objectID), "\"507f1f77bcf86cd799439011\""),
            (.set([.int(1), .int(2)]), ColumnType(.int, collection: .set), "[1,2]"),
            (.decimal(Decimal("1.10")!), ColumnType(.decimal), "1.10"),
            (.list([.list([.null]), .bool(true)]), ColumnType(.any), "[[null],true]"), (.double(.nan), ColumnType(.any), "null"),
        ]
        let type = TypeSchema("T", columns: kinds.enumerated().map { ColumnSchema("c\($0)", $1.1) })
        var batch = Batch(type, in: Schema([type]))
        for (index, kind) in kinds.enumerated() { batch.columns[index].append(kind.0) }
        batch.count = 1
        let output = Output(memory: "out")
        let writer = JSONWriter(output, options: JSONOptions(layout: .lines))
        try writer.begin(Schema([type]))
        try writer.write(batch, type: "T")
        try writer.finish()
        #expect(text(output.bytes) == "{" + kinds.enumerated().map { "\"c\($0)\":\($1.2)" }.joined(separator: ",") + "}\n")
        #expect(writer.remarks.count == 2)
        var options = JSONOptions(layout: .lines)
        options.isLossless = true
        let strict = JSONWriter(Output(memory: "out"), options: options)
        try strict.begin(Schema([type]))
        #expect(throws: FirnError.self) { try strict.write(batch, type: "T") }
    }

    @Test func `writing rows without the text around them adds a remark, and is refused if lossless`() throws {
        let table = try Table(#"{"name":"x","rows":[{"a":1}]}"#)
        #expect(text(try table.written(.lines)) == "{\"a\":1}\n")
        #expect(throws: FirnError.self) { try table.written(.lines) { $0.isLossless = true } }
    }

    @Test func `several types become one object of arrays`() throws {
        let types = ["A", "B", "C"].map { TypeSchema($0, columns: [ColumnSchema("x", ColumnType(.int))]) }
        let output = Output(memory: "out")
        let writer = JSONWriter(output)
        try writer.begin(Schema(types))
        for type in types[..<2] {
            var batch = Batch(type, in: Schema(types))
            batch.columns[0].append(.int(1))
            batch.columns[0].append(.int(2))
            batch.count = 2
            try writer.write(batch, type: type.name)
        }
        try writer.finish()
        #expect(try JSONDocument(text(output.bytes)).compact == #"{"A":[{"x":1},{"x":2}],"B":[{"x":1},{"x":2}],"C":[]}"#)
    }
}
