import FirnBytes
import FirnExchange
import FirnTable
import Testing

@testable import FirnParquet

/// Columns of text whose rows are codes of a dictionary.
@Suite struct CodedColumnTests {
    private typealias Builder = ParquetBuilder

    private func table(_ bytes: [UInt8], batchRows: Int) throws -> any Table {
        var options = ParquetOptions(typeName: "t")
        (options.staysOffDisk, options.batchRows) = (true, batchRows)
        return try ParquetReader(.init(bytes: bytes, name: "t"), options: options).table
    }

    /// An optional column of text: a dictionary, a page of codes, and a page of plain values.
    private func mixedFile(dictionary: [String], codes: [UInt8?], plain: [String]) -> [UInt8] {
        let entries = Builder.dictionary(dictionary.flatMap(Builder.text), count: dictionary.count)
        let runs: [UInt8] = [8] + codes.compactMap(\.self).flatMap { [2, $0] }
        let coded = Builder.page(Builder.levels(codes.map { $0 == nil ? 0 : 1 }) + runs, count: codes.count, encoding: 8)
        let values = Builder.page(Builder.levels(plain.map { _ in 1 }) + plain.flatMap(Builder.text), count: plain.count)
        let count = codes.count + plain.count
        return Builder(
            [.init(name: "a", physical: 6, converted: 0)],
            [.init(physical: 6, pages: entries + coded + (plain.isEmpty ? [] : values), values: count)], rows: count
        ).bytes
    }

    /// Checks that all ways to read a column give the same values.
    private func check(_ reader: any ColumnReader, _ type: ColumnType) throws {
        let whole = try #require(try reader.wholeColumn()), rows = reader.rowCount
        #expect(whole.count == rows)
        let values = (0..<rows).map { whole.value(at: $0) }
        var vector = Column(type)
        try reader.read(vector: 0, into: &vector)
        #expect((0..<rows).map { vector.value(at: $0) } == values)
        #expect(try (0..<rows).map { try reader.value(at: $0) } == values)
        guard let dictionary = try reader.dictionary() else { return }
        let entries = (0..<dictionary.count).map { Array(dictionary.bytes[dictionary.range($0)]) }
        for i in entries.indices.dropFirst() { #expect(entries[i - 1].lexicographicallyPrecedes(entries[i])) }
        var codes = Column(ColumnType(.int, optional: type.isOptional))
        try reader.readCodes(vector: 0, into: &codes)
        for row in 0..<rows {
            #expect(codes.isPresent(row) == !values[row].isNull && entries.indices.contains(Int(codes.words[row])))
            guard codes.isPresent(row) else { continue }
            let entry = entries[Int(codes.words[row])]
            #expect(values[row] == (type.kind == .string ? .string(String(decoding: entry, as: UTF8.self)) : .data(entry)))
        }
        for low in 0..<Int64(entries.count) {
            for high in low..<Int64(entries.count) {
                let found = withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 16) { out -> [Bool]? in
                    guard case .done = try? reader.search(.codes(low, high), vector: 0, into: out.baseAddress!) else { return nil }
                    return (0..<rows).map { out[$0 / 64] >> UInt64($0 % 64) & 1 == 1 }
                }
                for row in 0..<rows where codes.isPresent(row) { #expect(found?[row] == (low...high).contains(codes.words[row])) }
            }
        }
    }

    @Test func `text that is stored with a dictionary is read as codes of sorted, distinct values`() throws {
        let bytes = mixedFile(dictionary: ["pear", "", "fig", "pear"], codes: [0, nil, 3, 2, 1, nil, 2], plain: [])
        let segment = try table(bytes, batchRows: 7).segment(0), reader = try segment.column(0)
        let dictionary = try #require(try reader.dictionary())
        #expect(
            (0..<dictionary.count).map { String(decoding: dictionary.bytes[dictionary.range($0)], as: UTF8.self) } == ["", "fig", "pear"])
        #expect(
            try (0..<7).map { try reader.value(at: $0) }
                == ["pear", nil, "pear", "fig", "", nil, "fig"].map { $0.map(Value.string) ?? .null })
        try check(reader, ColumnType(.string, optional: true))
    }

    @Test(arguments: 1...9) func `a dictionary that a column uses in some pages only gives the same values`(batchRows: Int) throws {
        let bytes = mixedFile(dictionary: ["b", "a"], codes: [0, nil, 1, 1, 0], plain: ["c", "a", "", "b"])
        let table = try table(bytes, batchRows: batchRows)
        var found: [String?] = []
        for i in 0..<table.segmentCount {
            let reader = try table.segment(i).column(0)
            // Whether the codes or the values are asked for first.
            if i % 2 == 0 { _ = try reader.dictionary() }
            try check(reader, ColumnType(.string, optional: true))
            for row in 0..<reader.rowCount {
                if case .string(let text) = try reader.value(at: row) { found.append(text) } else { found.append(nil) }
            }
        }
        #expect(found == ["b", nil, "a", "a", "b", "c", "a", "", "b"])
    }

    @Test(arguments: Fixture.names) func `all ways to read a column of text give the same values`(name: String) throws {
        let table = try table(Fixture.bytes(name), batchRows: 4)
        for i in 0..<table.segmentCount {
            for (index, column) in table.type.columns.enumerated()
            where [.string, .data].contains(column.type.kind) && !column.type.isCollection {
                try check(try table.segment(i).column(index), column.type)
            }
        }
    }

    @Test func `a code outside its dictionary is damage`() throws {
        let reader = try table(mixedFile(dictionary: ["b", "a"], codes: [0, 2], plain: []), batchRows: 2).segment(0).column(0)
        #expect(throws: Damage.self) { try reader.dictionary() }
        #expect(throws: Damage.self) { try reader.wholeColumn() }
    }
}
