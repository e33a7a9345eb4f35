import FirnBytes
import FirnDisk
import FirnKit
import Foundation
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// Files that were written once, one for each set of features. Their content never changes, and they are never written again. A missing one
/// is written with `FIRN_NEW_FIXTURES=1`, and its hash is added to the list.
struct GoldenFile: Sendable {
    let name: String
    /// XXH3-128 of the file.
    let hash: String
    let readerFeatures: UInt64
    let writerFeatures: UInt64
    let write: @Sendable (String) throws -> Void
    /// Rows by type, in the order of their row ids. The key of a tagged version is `@tag/Type`.
    let rows: [String: [[Value]]]

    var path: String { GoldenFile.folder + name }
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path + "/Fixtures/firn/"

    static let all: [GoldenFile] = [
        GoldenFile(
            name: "plain.firn", hash: "ff8aa8f0ac40469caf62bfba584c90e1", readerFeatures: 0, writerFeatures: 0,
            write: GoldenRows.writePlain, rows: ["Row": GoldenRows.plainAfter]),
        GoldenFile(
            name: "alone.firn", hash: "82d33ec46c3b5296998b70722d756bc8", readerFeatures: 0, writerFeatures: 0,
            write: GoldenRows.writeAlone, rows: ["Row": GoldenRows.many(20)]),
        GoldenFile(
            name: "collections.firn", hash: "492894741c6b0e1435946e6d329633d6", readerFeatures: 0, writerFeatures: 0,
            write: GoldenRows.writeCollections,
            rows: ["Owner": GoldenRows.owners, "Thing": GoldenRows.things]),
        GoldenFile(
            name: "indexes.firn", hash: "126cf0240d1c188ac29888167cb7125c", readerFeatures: 0, writerFeatures: 1,
            write: GoldenRows.writeIndexes, rows: ["Row": GoldenRows.many(3000)]),
        GoldenFile(
            name: "tags.firn", hash: "987536d36d894770f95560d5a362c158", readerFeatures: 0, writerFeatures: 2, write: GoldenRows.writeTags,
            rows: ["Row": GoldenRows.many(150), "@first/Row": GoldenRows.many(100), "@second/Row": GoldenRows.secondTagged]),
        GoldenFile(
            name: "proofs.firn", hash: "d9316d93d179dd9d4a1c2dbb4331574e", readerFeatures: 0, writerFeatures: 5,
            write: GoldenRows.writeProofs,
            rows: ["Row": GoldenRows.many(60), "Name": GoldenRows.names]),
        GoldenFile(
            name: "originals.firn", hash: "8d08d6371a32141d0dbef857904b7aba", readerFeatures: 4, writerFeatures: 0,
            write: GoldenRows.writeOriginals,
            rows: ["Score": GoldenRows.scores]),
        GoldenFile(
            name: "parts.firn", hash: "0824962d2e9c0dd6dddb0e7e53730f7a", readerFeatures: 1 << 33 | 4, writerFeatures: 0,
            write: GoldenRows.writeParts,
            rows: ["Visit": GoldenRows.visits]),
        GoldenFile(
            name: "attributes.firn", hash: "85cd842ea3756bb8403a6aedd088f7c0", readerFeatures: 12, writerFeatures: 0,
            write: GoldenRows.writeAttributes,
            rows: ["Order": GoldenRows.orders]),
        GoldenFile(
            name: "encodings.firn", hash: "5586c2b330cbbdc13062e91c4cf5e611", readerFeatures: 1 << 33, writerFeatures: 0,
            write: GoldenRows.writeEncodings,
            rows: ["Place": GoldenRows.places]),
        GoldenFile(
            name: "relations.firn", hash: "2f5af6c495d240783495cd0a0cd0a2b4", readerFeatures: 1 << 32, writerFeatures: 0,
            write: GoldenRows.writeRelations, rows: ["Player": GoldenRows.players]),
        GoldenFile(
            name: "models.firn", hash: "f17137f5cca1e648d68968091ed942b5", readerFeatures: 1 << 35, writerFeatures: 0,
            write: ModelledRows.write, rows: ["Stop": ModelledRows.rows]),
        GoldenFile(
            name: "doubles.firn", hash: "db90817e2113d9cf624b260048842f77", readerFeatures: 1 << 33 | 1 << 36, writerFeatures: 0,
            write: DoubleRows.write, rows: ["Wage": DoubleRows.rows]),
        GoldenFile(
            name: "splices.firn", hash: "dfdaee5657ecdf3321f43ed7e2ecd30d", readerFeatures: 1 << 33 | 1 << 4, writerFeatures: 0,
            write: SplicedRows.write, rows: ["Series": SplicedRows.after]),
        GoldenFile(
            name: "predictions.firn", hash: "6d99bc1fb95b0a9d65075e394f20a6a7", readerFeatures: 1 << 37 | 1 << 33, writerFeatures: 0,
            write: PredictedRows.write, rows: ["Stay": PredictedRows.rows]),
        GoldenFile(
            name: "pieces.firn", hash: "047c5af1b42e6aa9c1d24295b351bc23", readerFeatures: 1 << 38, writerFeatures: 0,
            write: PiecedRows.write,
            rows: ["Account": PiecedRows.rows]),
        GoldenFile(
            name: "products.firn", hash: "3c3c101f3d97ded8ebba6c6b354eeccd", readerFeatures: 1 << 39 | 1 << 33, writerFeatures: 0,
            write: ProductRows.write, rows: ["Region": ProductRows.rows]),
        GoldenFile(
            name: "contexts.firn", hash: "3b22a46f3cc5aac6d35dd916b28647c1", readerFeatures: 1 << 40 | 1 << 33, writerFeatures: 0,
            write: CommentRows.write, rows: ["Item": CommentRows.rows]),
        GoldenFile(
            name: "corrections.firn", hash: "e657e4184f2bfcaab667af79d3a24e8c", readerFeatures: 1 << 41 | 1 << 33, writerFeatures: 0,
            write: SumRows.write, rows: ["Sum": SumRows.rows]),
    ]
}

@Suite struct GoldenFileTests {
    @Test(.enabled(if: ProcessInfo.processInfo.environment["FIRN_NEW_FIXTURES"] != nil, "FIRN_NEW_FIXTURES=1: writes missing fixtures"))
    func `missing fixtures are written`() throws {
        for file in GoldenFile.all where !FileManager.default.fileExists(atPath: file.path) {
            try file.write(file.path)
            print(file.name, Hash128(of: try File(path: file.path, .read).readAll()))
        }
    }

    @Test(arguments: GoldenFile.all.map(\.name))
    func `a file of each set of features can be opened by all later versions [T12]`(name: String) throws {
        let file = try #require(GoldenFile.all.first { $0.name == name })
        let before = try File(path: file.path, .read).readAll()
        let modified = try FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date
        #expect("\(Hash128(of: before))" == file.hash, "the fixture has changed")
        let database = try Database.open(path: file.path)
        let root = try database.store.newestRoot()
        #expect(root.formatVersion == 1 && root.readerFeatures == file.readerFeatures && root.writerFeatures == file.writerFeatures)
        #expect(try database.verifyStructure().isEmpty && database.fallback == nil)
        try check(file, database)
        #expect(try File(path: file.path, .read).readAll() == before)
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date == modified)

        // A copy can be written, and its earlier rows do not change.
        let folder = TemporaryFolder(), copy = folder.file(name)
        try FileManager.default.copyItem(atPath: file.path, toPath: copy)
        let writable = try Database.open(path: copy, writable: true)
        for i in 0..<3 {
            let transaction = try writable.begin()
            try transaction.extendSchema([TypeSchema("Later", columns: [ColumnSchema("n", ColumnType(.int))])])
            try transaction.insert("Later", [.int(Int64(i))])
            try transaction.commit()
        }
        try check(file, writable)
        #expect(try writable.verifyStructure().isEmpty)
        let after = try writable.store.newestRoot()
        #expect(
            after.readerFeatures == file.readerFeatures && after.writerFeatures == file.writerFeatures,
            "the file has an unexpected feature")
    }

    @Test func `attributes of the golden file are those that were written`() throws {
        let schema = try Database.open(path: GoldenFile.folder + "attributes.firn").snapshot().schema
        #expect(schema.metadata == [MetadataEntry("application", Array("golden".utf8))])
        #expect(schema.otherAttributes.last == SchemaAttribute("later", [7]))
        #expect(schema.types[0].metadata == GoldenRows.order.metadata)
        #expect(schema.types[0].columns.map(\.logical) == GoldenRows.order.columns.map(\.logical))
        #expect(schema.types[0].columns.map(\.metadata) == GoldenRows.order.columns.map(\.metadata))
        #expect(schema.types[0].columns.map(\.notation) == [.plain, .fixed(2), .plain, .localDateTime, .plain, .plain])
    }

    private func check(_ file: GoldenFile, _ database: Database) throws {
        for (typePath, rows) in file.rows {
            let parts = typePath.split(separator: "/").map(String.init)
            let snapshot = try parts.count == 2 ? database.snapshot(tag: String(parts[0].dropFirst())) : database.snapshot()
            let table = try #require(snapshot.table(named: parts.last!))
            let found = try allRows(table).map(\.values)
            #expect(found == rows.map { $0.map(stripped) }, "\(file.name), \(typePath): \(found.count) and \(rows.count) rows")
            #expect(snapshot.verify(full: true).isEmpty, "\(file.name), \(typePath)")
        }
    }
}
