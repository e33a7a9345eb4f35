import FirnBytes
import FirnCodecs
import FirnKit
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// Text with pieces of other columns: random tables with planted pieces, written, changed, compacted and read.
@Suite struct PieceTests {
    private let type = PiecedRows.account

    private func rows(_ count: Int, exceptions: Int, seed: UInt64) -> [[Value]] {
        (0..<count).map { PiecedRows.row($0 + Int(seed) << 24, exceptions: exceptions) }
    }

    /// Expects these rows, and single values as in the whole vector, within bounds.
    private func expect(_ file: OneTypeFile, holds model: [Int64: [Value]], _ note: String) throws {
        try file.expect(model, note)
        let segment = try Database.open(path: file.database.path).snapshot().table(named: type.name)!.segment(0)
        for index in type.columns.indices where type.columns[index].type.kind == .string {
            let reader = try segment.column(index)
            var read = Column(reader.type)
            try reader.read(vector: 0, into: &read)
            if let zone = reader.zone(ofVector: 0) { #expect(zone.mayHaveNulls || read.nullCount == 0, "\(note)") }
            for row in [0, read.count / 2, read.count - 1] { #expect(try reader.value(at: row) == read.value(at: row), "\(note)") }
        }
    }

    @Test(arguments: Tier.isLong ? [1, 2, 3, 4, 5] : [1, 2, 4])
    func `text with pieces stays the same through changes, flushes and compaction`(_ seed: UInt64) throws {
        var random = Random(seed: seed)
        let count = [1500, 1500, 20_000, 70_000, 9000][Int(seed - 1)], exceptions = [0, 40, 50, 100, 30][Int(seed - 1)]
        let rows = rows(count, exceptions: exceptions, seed: seed), profile: Profile = seed == 2 ? .small : .standard
        let folder = TemporaryFolder(), file = try OneTypeFile(type, rows, folder.file("a.firn"), profile: profile)
        let database = file.database
        var model = Dictionary(uniqueKeysWithValues: rows.enumerated().map { (Int64($0.offset), $0.element) })
        let names = try file.encodings
        for (column, source) in [("key", "id"), ("page", "number"), ("slug", "title")] {
            #expect(names[column]!.hasPrefix("pieces(\(source))") || names[source]!.hasPrefix("pieces(\(column))"), "\(names)")
        }
        #expect(names["mail"]!.hasPrefix("pieces(first, last)") || names["first"]!.hasPrefix("pieces(mail)"), "\(names)")
        #expect(!names["noise"]!.hasPrefix("pieces("), "\(names)")
        #expect(try database.store.newestRoot().readerFeatures & ReaderFeature.pieces.bit != 0)
        try expect(file, holds: model, "written")

        // A few changes become chunk overlays, many of them new chunks: of text with pieces, and of columns that pieces are of.
        for (column, share) in [(5, 100), (0, 2), (2, 2), (4, 2), (7, 3), (1, 2)] {
            try file.change(column: column, oneIn: share, deleting: random.below(count), &model, from: rows)
            if count < 10_000 || Tier.isLong || column == 0 { try expect(file, holds: model, "flushed \(column) in one of \(share)") }
        }
        try database.snapshot().compact(to: folder.file("b.firn"))
        try expect(try OneTypeFile(opening: folder.file("b.firn"), type), holds: model, "compacted")
    }

    @Test func `the same rows give the same bytes, and fast files have no pieces`() throws {
        let rows = rows(3000, exceptions: 50, seed: 9), folder = TemporaryFolder()
        let names = try OneTypeFile(type, rows, folder.file("a.firn")).encodings
        #expect(try names == OneTypeFile(type, rows, folder.file("b.firn")).encodings)
        let fast = try OneTypeFile(type, rows, folder.file("c.firn"), profile: .fast)
        #expect(try fast.database.store.newestRoot().readerFeatures & ReaderFeature.pieces.bit == 0)
    }

    @Test func `text without a relation has no pieces, whatever its alphabet`() throws {
        var random = Random(seed: 4)
        let kinds: [ScalarKind] = [.string, .string, .string, .int, .string, .uuid]
        let noise = TypeSchema("N", columns: kinds.enumerated().map { ColumnSchema("c\($0)", ColumnType($1)) })
        let rows = (0..<4000).map { _ -> [Value] in
            let x = random.next(), y = random.next()
            return [
                .string(String(x >> 20, radix: 16)), .string(String(y >> 40, radix: 10)), .string(PiecedRows.word(x &* 77)),
                .int(Int64(random.below(300))), .string("\(random.below(20))-\(PiecedRows.word(y)) and more"),
                .uuid(Identifier(high: random.next(), low: random.next())),
            ]
        }
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn")), transaction = try database.begin()
        try transaction.extendSchema([noise])
        try transaction.bulkWriter("N").append(RandomTables.batch(rows, of: noise, in: Schema([noise])))
        try transaction.commit()
        #expect(try database.store.newestRoot().readerFeatures & ReaderFeature.pieces.bit == 0)
    }

    @Test(arguments: ["nulls", "other values", "bytes that stand for pieces"])
    func `the columns of later segments differ from those of the first`(later: String) throws {
        let strings = TypeSchema(
            "S", columns: [ColumnSchema("name", ColumnType(.string, optional: true)), ColumnSchema("page", ColumnType(.string))])
        func name(_ i: Int) -> String { PiecedRows.word(UInt64(i) &* 0x9E37_79B9_7F4A_7C15) + "\(i * 7919 % 10_007)" }
        let count = 140_000
        var names = Column(strings.columns[0].type), pages = Column(strings.columns[1].type)
        for i in 0..<count {
            let isLater = i >= 70_000
            _ = names.append(isLater && later == "nulls" ? .null : .string(name(isLater && later == "other values" ? i * 3 : i)))
            _ = pages.append(.string("https://example.org/" + name(i)))
        }
        if later.hasPrefix("bytes") { pages.text.bytes[pages.text.bytes.count - 1] = 0xF8 }
        let folder = TemporaryFolder(), database = try Database.create(path: folder.file("a.firn")), transaction = try database.begin()
        try transaction.extendSchema([strings])
        try transaction.bulkWriter("S").append(Batch(count: count, columns: [names, pages]))
        try transaction.commit()
        let encodings = try OneTypeFile(opening: database.path, strings).encodings
        #expect(encodings["page"]!.contains("pieces(name)"), "\(encodings)")
        let snapshot = try Database.open(path: database.path).snapshot(), table = snapshot.table(named: "S")!
        var start = 0
        for index in 0..<table.segmentCount {
            let segment = try table.segment(index)
            var read = Column(pages.type)
            for vector in 0..<segment.vectorCount {
                try segment.column(1).read(vector: vector, into: &read)
                for i in 0..<read.count where read.text.array(i) != pages.text.array(start + i) { Issue.record("row \(start + i)") }
                start += read.count
            }
        }
        #expect(start == count && snapshot.verify(full: true).isEmpty)
    }

    @Test(arguments: [("ENSG", ""), ("", "-eu"), ("ab", "cd")])
    func `pieces are found if all of them begin or end alike`(_ ends: (first: String, last: String)) throws {
        let type = TypeSchema("T", columns: ["id", "page"].map { ColumnSchema($0, ColumnType(.string)) })
        var random = Random(seed: 8)
        let rows = (0..<2000).map { _ -> [Value] in
            let id = ends.first + String(random.below(1 << 40), radix: 36) + ends.last
            return [.string(id), .string("https://example.org/\(id)/view")]
        }
        let folder = TemporaryFolder(), table = try OneTypeFile(type, rows, folder.file("a.firn")), names = try table.encodings
        #expect(names["page"]!.hasPrefix("pieces(id)") || names["id"]!.hasPrefix("pieces(page)"), "\(names)")
        try table.expect(Dictionary(uniqueKeysWithValues: rows.enumerated().map { (Int64($0.offset), $0.element) }), "\(ends)")
    }

    @Test func `the search for a piece that begins nearly everywhere is given up`() {
        func position(of piece: String, in text: String) -> Int? {
            Array(text.utf8).withUnsafeBytes { $0.position(of: Array(piece.utf8)) }
        }
        let many = String(repeating: "a", count: 4000)
        #expect(position(of: many + "b", in: many + many + "bc") == nil)
        #expect(position(of: many, in: many + many) == 4000 && position(of: many + "c", in: many + many + "c") == 4000)
        #expect(position(of: "aab", in: many + "bc") == 3998 && position(of: many + "b", in: many + "bc") == 0)
        #expect(position(of: "b", in: "abba") == 1 && position(of: "ba", in: "abba") == 2 && position(of: "c", in: "abba") == nil)
    }

    @Test func `versions and files are compared by value where pieces are of another chunk`() throws {
        let rows = rows(20_000, exceptions: 100, seed: 5), folder = TemporaryFolder()
        let database = try OneTypeFile(type, rows, folder.file("a.firn")).database
        let before = try database.snapshot(), transaction = try database.begin()
        // Most ids change: their chunk is encoded again, and what has pieces of it must not change.
        for i in 0..<20_000 where i % 3 != 0 {
            try transaction.update(type.name, rowID: Int64(i), column: "id", .uuid(Identifier(high: UInt64(i), low: 1)))
        }
        try transaction.flushAll()
        try transaction.commit()
        let after = try database.snapshot()
        let old = try before.core.segment(type: 0, index: 0), new = try after.core.segment(type: 0, index: 0)
        for column in type.columns.indices.dropFirst() {
            #expect(try old.allRows(column).isStoredAs(try new.allRows(column)), "\(type.columns[column].name)")
        }
        if let differing = try new.rowsThatMayDiffer(from: old) {
            for i in 0..<20_000 where i % 3 != 0 { #expect(differing[i]) }
        }
        #expect(after.verify(full: true).isEmpty)
    }
}
