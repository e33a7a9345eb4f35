import FirnBytes
import FirnCodecs
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// Files that a newer version wrote: an unknown encoding costs the columns that use it, not the file.
@Suite struct UnknownEncodingTests {
    private let count = 20_000
    private let type = TypeSchema(
        "T", columns: [ColumnSchema("a", ColumnType(.int)), ColumnSchema("b", ColumnType(.int)), ColumnSchema("c", ColumnType(.string))])

    /// Returns the path of a file in which the chunk of column "b" is `chunk`, with these reader bits.
    private func file(_ chunk: [UInt8], bits: UInt64, in folder: TemporaryFolder) throws -> String {
        let path = folder.file("a.firn")
        let database = try Database.create(path: path)
        var random = Random(seed: 1)
        let rows = (0..<count).map { i -> [Value] in
            [.int(Int64(i)), .int(Int64.random(in: 0...(.max), using: &random)), .string("text \(i % 7)")]
        }
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        try transaction.bulkWriter("T").append(RandomTables.batch(rows, of: type, in: Schema([type])))
        try transaction.commit()
        let second = try database.begin()
        try second.directoryChange(0) { (entries) throws(FirnError) in
            do throws(Damage) {
                var header = try SegmentHeader(try second.store.read(entries[0].header))
                let old = header.entries[1].chunk!
                do throws(FirnError) {
                    header.entries[1].chunk = try second.write(chunk)
                    header.entries[1].logicalHash = nil
                    second.store.free(old)
                    second.store.free(entries[0].header)
                    entries[0].header = try second.write(header, ofType: second.schema.types[0].id)
                } catch { Issue.record("\(error)") }
            } catch { Issue.record("\(error)") }
        }
        second.store.require(EncodingFeatures(rawValue: bits))
        try second.commit()
        return path
    }

    private var chunks: [[UInt8]] {
        [
            Chunk(streams: [(.words, [0xC0, 1, 2, 3])]).encoded,
            // A nested stream: scaled, then a private id.
            Chunk(streams: [(.words, [4, 0, 2, 0xFF])]).encoded,
            // A private stream of the chunk.
            [2, 5, 2, 0xC7, 1, 1, 0, 9],
        ]
    }

    @Test func `a column with a private id is refused by name, and everything else is readable`() throws {
        for chunk in chunks {
            let folder = TemporaryFolder(), path = try file(chunk, bits: 1 << 56 | 1 << 50, in: folder)
            let database = try Database.open(path: path, writable: true), snapshot = try database.snapshot()
            let table = snapshot.table(named: "T")!, segment = try table.segment(0)
            #expect(try segment.column(0).value(at: 17) == .int(17))
            #expect(try segment.column(2).value(at: 17) == .string("text 3"))
            do throws(Damage) {
                _ = try segment.column(1)
                Issue.record("a column in an unknown encoding was opened")
            } catch {
                #expect(error.isUnknownID && error.what.hasPrefix("T.b, rows 0 to 19999: unknown "), "\(error)")
                let told = FirnError(error, in: path)
                #expect(told.code == .unsupported && told.advice == "use a newer version of Firn")
            }
            let columns = try snapshot.statistics()[0]
            #expect(columns.defects.isEmpty)
            #expect(columns.columns[1].encodings.map(\.name) == ["unknown (use a newer version of Firn)"])
            let defects = snapshot.verify(full: true)
            #expect(defects.map(\.column) == ["b"] && defects[0].damage.isUnknownID, "\(defects)")
            do throws(FirnError) {
                _ = try database.begin()
                Issue.record("a file with an unknown encoding was written")
            } catch { #expect(error.code == .unsupported) }
            // A copy without the column would lose it.
            do throws(FirnError) {
                try snapshot.compact(to: folder.file("b.firn"))
                Issue.record("a file with an unknown encoding was compacted")
            } catch { #expect(error.code == .unsupported, "\(error)") }
            do throws(FirnError) {
                _ = try Recovery.run(from: path, to: folder.file("c.firn"))
                Issue.record("a file with an unknown encoding was recovered")
            } catch { #expect(error.code == .unsupported, "\(error)") }
        }
    }

    @Test func `without an unknown feature bit, an unknown id is damage`() throws {
        for chunk in chunks {
            let folder = TemporaryFolder(), path = try file(chunk, bits: 0, in: folder)
            let snapshot = try Database.open(path: path).snapshot()
            do throws(Damage) {
                _ = try snapshot.table(named: "T")!.segment(0).column(1)
                Issue.record("a damaged column was opened")
            } catch { #expect(FirnError(error, in: path).code == .damaged) }
            #expect(snapshot.verify(full: true).count == 1)
        }
    }

    @Test func `a bit of encodings is set only if a chunk uses it, and has the number of its reader feature`() throws {
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn"))
        let transaction = try database.begin()
        try transaction.extendSchema([type])
        try transaction.bulkWriter("T").append(
            RandomTables.batch([[.int(1), .int(2), .string("x")]], of: type, in: Schema([type])))
        try transaction.commit()
        #expect(try database.store.newestRoot().readerFeatures & ReaderFeature.encodings == 0)
        #expect(EncodingFeatures.relations.rawValue == ReaderFeature.relations.bit)
        #expect(EncodingFeatures.numbers.rawValue == ReaderFeature.numberEncodings.bit)
        #expect(EncodingFeatures.text.rawValue == ReaderFeature.textEncodings.bit)
        #expect(EncodingFeatures.models.rawValue == ReaderFeature.modelledStreams.bit)
        #expect(EncodingFeatures.doubles.rawValue == ReaderFeature.doubleEncodings.bit)
        #expect(EncodingFeatures.corrections.rawValue == ReaderFeature.correctedDoubles.bit)
        #expect(EncodingFeatures.contexts.rawValue == ReaderFeature.contextCodedText.bit)
    }
}
