import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnParquet

enum Fixture {
    static let names = ["types-v1", "types-v2", "nested", "nested-v1", "encodings"]
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fixtures/parquet").standardized.path

    static func bytes(_ name: String) throws -> [UInt8] { try Array(Data(contentsOf: URL(filePath: folder + "/" + name + ".parquet"))) }
}

/// Files that pyarrow wrote, with their rows as text, which agree with what pyarrow reads (`Tools/bench/compare-parquet.py`).
@Suite struct FixtureTests {
    @Test(arguments: Fixture.names) func `files of pyarrow are read with the recorded values`(name: String) throws {
        let read = try ReadFile(Fixture.bytes(name)), path = Fixture.folder + "/" + name + ".txt"
        let text = (read.types + read.rows).joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["FIRN_RECORD"] != nil { try Data(text.utf8).write(to: URL(filePath: path)) }
        #expect(try text == String(contentsOfFile: path, encoding: .utf8))
    }

    @Test func `decimals that declare more digits than their values have are decimals`() throws {
        let read = try ReadFile(Fixture.bytes("sums"))
        #expect(
            read.types == [
                "few decimal128? decimal(38,2)", "many string? decimal(38,0)", "none decimal128? decimal(38,2)",
            ])
        #expect(read.rows[3] == "\"-20.00\" \"-20000000000000000000000000000000000\" null")
    }

    @Test(arguments: Fixture.names) func `rows do not depend on the size of batches, the number of threads or the chosen columns`(
        name: String
    )
        throws
    {
        let bytes = try Fixture.bytes(name), whole = try ReadFile(bytes)
        for size in [1, 3, 7, 10] { #expect(try ReadFile(bytes, batchRows: size).rows == whole.rows, "\(size)") }
        #expect(try ReadFile(bytes, threads: 3, batchRows: 5).rows == whole.rows)
        let last = try #require(whole.schema.types[0].columns.last?.name)
        let part = try ReadFile(bytes, columns: [last])
        #expect(part.schema.types[0].columns.map(\.name) == [last] && part.rows.count == whole.rows.count)
        #expect(zip(part.rows, whole.rows).allSatisfy { $1.hasSuffix($0) })
    }

    @Test(arguments: Fixture.names) func `the rows of chosen segments are those of the whole file`(name: String) throws {
        let bytes = try Fixture.bytes(name), whole = try ReadFile(bytes)
        var random = Random(seed: 9)
        for threads in [1, 2] {
            for size in [1, 3, 4, 100] {
                var options = ParquetOptions(typeName: "t")
                (options.staysOffDisk, options.batchRows, options.threads) = (true, size, threads)
                let reader = try ParquetReader(.init(bytes: bytes, name: "t"), options: options), table = reader.table
                let chosen = (0..<table.segmentCount).filter { _ in random.bool() }
                reader.keep(segments: chosen)
                let wanted = try chosen.flatMap { index in
                    let segment = try table.segment(index)
                    return try (0..<segment.rowCount).map { whole.rows[Int(try segment.rowID(at: $0))] }
                }
                var rows: [String] = []
                while let (_, batch) = try reader.next() {
                    for row in 0..<batch.count {
                        rows.append(
                            zip(batch.columns, reader.schema.types[0].columns).map { nestedText($0.value(at: row), notation: $1.notation) }
                                .joined(separator: " "))
                    }
                }
                #expect(rows == wanted, "\(name), batches of \(size) rows")
            }
        }
    }

    @Test func `row groups that are not chosen are not read`() throws {
        let bytes = try Fixture.bytes("bloom")
        var options = ParquetOptions(typeName: "t")
        (options.staysOffDisk, options.threads) = (true, 1)
        let content = try ParquetContent(try FileBytes(Input(bytes: bytes, name: "t"), staysOffDisk: true), options)
        for chosen in [[], [1], [0, 2], [0, 1, 2]] {
            let reader = try ParquetReader(.init(bytes: bytes, name: "t"), options: options)
            reader.keep(segments: chosen)
            while try reader.next() != nil {}
            let stored = chosen.flatMap { content.footer.groups[$0].chunks }.reduce(0) { $0 + $1.compressedSize }
            #expect(reader.pages.bytes == stored && reader.pages.skipped == 0, "\(chosen)")
        }
    }

    @Test(arguments: Fixture.names) func `a table reads the same rows in any order`(name: String) throws {
        let bytes = try Fixture.bytes(name), whole = try ReadFile(bytes)
        var options = ParquetOptions(typeName: "t")
        (options.staysOffDisk, options.batchRows, options.threads) = (true, 4, 2)
        let table = try ParquetReader(.init(bytes: bytes, name: "t"), options: options).table
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
                guard let zone = try segment.zone(of: column) else { continue }
                #expect(zone.mayHold(try segment.column(column).value(at: position)), "\(table.type.columns[column].name)")
            }
        }
    }
}

/// Damaged files are read or refused, and nothing else.
@Suite struct DamageTests {
    private static func attempt(_ bytes: [UInt8]) {
        do { _ = try ReadFile(bytes) } catch let error as FirnError {
            #expect(!error.message.isEmpty && error.location?.file == "t.parquet")
        } catch { Issue.record("\(error)") }
    }

    @Test(arguments: Fixture.names) func `a file that is cut short at any byte is an error`(name: String) throws {
        let bytes = try Fixture.bytes(name)
        for length in stride(from: 0, to: bytes.count, by: bytes.count > 6000 ? 3 : 1) {
            #expect(throws: FirnError.self) { try ReadFile(Array(bytes[..<length])) }
        }
    }

    @Test(arguments: Fixture.names) func `changed bytes lead to other values or to an error`(name: String) throws {
        let bytes = try Fixture.bytes(name)
        var random = Random(seed: 11)
        for round in 0..<Tier.cases(200, of: 1500) {
            var changed = bytes
            // Half of the changes are in the footer, where counts and offsets are.
            let from = round % 2 == 0 ? 4 : max(4, bytes.count - 3000)
            for _ in 0...random.number(0...2) {
                let at = random.number(from...bytes.count - 5)
                changed[at] = round % 3 == 0 ? UInt8(random.number(0...255)) : changed[at] ^ 1 << UInt8(random.number(0...7))
            }
            Self.attempt(changed)
        }
    }
}
