import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnArrow

/// Files that pyarrow wrote, with their rows as text, which agree with what pyarrow reads (`Tools/bench/compare-arrow.py`).
@Suite struct FixtureTests {
    @Test(arguments: Fixture.names) func `files of pyarrow are read with the recorded values`(name: String) throws {
        let read = try ReadFile(Fixture.bytes(name)), path = Fixture.folder + "/" + name + ".txt"
        let text = (read.types + read.rows).joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["FIRN_RECORD"] != nil { try Data(text.utf8).write(to: URL(filePath: path)) }
        #expect(try text == String(contentsOfFile: path, encoding: .utf8))
    }

    @Test(arguments: Fixture.names) func `rows do not depend on the size of batches, the number of threads or the chosen columns`(
        name: String
    ) throws {
        let bytes = try Fixture.bytes(name), whole = try ReadFile(bytes)
        for size in [1, 3, 7, 10] {
            for isPipe in [true, false] { #expect(try ReadFile(bytes, batchRows: size, isPipe: isPipe).rows == whole.rows, "\(size)") }
        }
        #expect(try ReadFile(bytes, threads: 3, batchRows: 5).rows == whole.rows)
        let last = try #require(whole.schema.types[0].columns.last?.name)
        let part = try ReadFile(bytes, columns: [last])
        #expect(part.schema.types[0].columns.map(\.name) == [last] && part.rows.count == whole.rows.count)
        #expect(zip(part.rows, whole.rows).allSatisfy { $1.hasSuffix($0) })
    }

    @Test(arguments: Fixture.names) func `a table reads the same rows in any order`(name: String) throws {
        let bytes = try Fixture.bytes(name), whole = try ReadFile(bytes)
        var options = ArrowOptions(typeName: "t")
        (options.staysOffDisk, options.batchRows, options.threads) = (true, 4, 2)
        let table = try ArrowReader.mapped(FileBytes(array: bytes, name: "t"), options: options).table
        #expect(table.rowCount == whole.rows.count)
        var random = Random(seed: 5)
        for _ in 0..<60 {
            let row = random.number(0...table.rowCount - 1), index = try #require(try table.segmentIndex(of: Int64(row)))
            let segment = try table.segment(index), position = try #require(try segment.position(of: Int64(row)))
            let text = try table.type.columns.indices.map { column in
                nestedText(try segment.column(column).value(at: position), notation: table.type.columns[column].notation)
            }.joined(separator: " ")
            #expect(text == whole.rows[row])
            for column in table.type.columns.indices {
                var vector = Column(table.type.columns[column].type)
                try segment.column(column).read(vector: 0, into: &vector)
                #expect(vector.count == segment.rowCount)
                let value = try segment.column(column).value(at: position)
                #expect(nestedText(vector.value(at: position)) == nestedText(value))
            }
        }
    }
}

/// Damaged files are read or refused, and nothing else.
@Suite struct DamageTests {
    private static func attempt(_ bytes: [UInt8], isPipe: Bool = true) {
        do { _ = try ReadFile(bytes, isPipe: isPipe) } catch let error as FirnError {
            #expect(!error.message.isEmpty && (error.location?.file == "t.arrow" || error.code == .outOfMemory))
        } catch { Issue.record("\(error)") }
    }

    @Test(arguments: Fixture.names) func `a file that is cut short at any byte is an error, a stream at least a remark`(name: String) throws
    {
        let bytes = try Fixture.bytes(name)
        for length in stride(from: 0, to: bytes.count, by: bytes.count > 6000 ? 7 : 1) {
            for isPipe in [true, false] {
                let cut = Array(bytes[..<length])
                do {
                    let read = try ReadFile(cut, isPipe: isPipe)
                    #expect(name.hasSuffix("s") && read.remarks.contains { $0.contains("no end marker") }, "\(length)")
                } catch is FirnError {}
            }
        }
    }

    @Test(arguments: Fixture.names) func `changed bytes lead to other values or to an error`(name: String) throws {
        let bytes = try Fixture.bytes(name)
        var random = Random(seed: 11)
        for round in 0..<Tier.cases(200, of: 1200) {
            var changed = bytes
            for _ in 0...random.number(0...2) {
                // Half of the changes are at the start or the end, where counts and offsets are.
                let at =
                    switch round % 4 {
                    case 0: random.number(8...min(bytes.count - 9, 3000))
                    case 1: random.number(max(8, bytes.count - 3000)...bytes.count - 9)
                    default: random.number(8...bytes.count - 9)
                    }
                changed[at] = round % 3 == 0 ? UInt8(random.number(0...255)) : changed[at] ^ 1 << UInt8(random.number(0...7))
            }
            Self.attempt(changed, isPipe: round % 2 == 0)
        }
    }

    @Test func `Feather of version 1 and other formats are named`() {
        let feather = #expect(throws: FirnError.self) { try ReadFile(Array("FEA1".utf8) + [UInt8](repeating: 0, count: 100)) }
        #expect(feather?.code == .unsupported && feather?.message.contains("Feather file of version 1") == true)
        #expect(feather?.advice?.contains("write_feather") == true)
        let text = #expect(throws: FirnError.self) { try ReadFile(Array("a,b\n1,2\n3,4\n".utf8)) }
        #expect(text?.code == .notThisFormat, "\(String(describing: text))")
    }
}
