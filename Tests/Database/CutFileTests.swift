import FirnBytes
import FirnCodecs
import FirnDisk
import FirnKit
import FirnThreads
import Foundation
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// Files that have lost their end: recovery finds every segment before it.
@Suite struct CutFileTests {
    private static let part = TypeSchema("Part", columns: [ColumnSchema("size", ColumnType(.int))], isEmbedded: true)
    private static let person = TypeSchema(
        "Person",
        columns: [
            ColumnSchema("year", ColumnType(.int)), ColumnSchema("name", ColumnType(.string)),
            ColumnSchema("note", ColumnType(.string, optional: true)), ColumnSchema("score", ColumnType(.double, optional: true)),
        ])
    private static let owner = TypeSchema(
        "Owner",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("part", ColumnType(.embedded, optional: true, target: "Part")),
            ColumnSchema("tags", ColumnType(.string, collection: .list)),
        ], key: [0])
    private static let few = TypeSchema("Few", columns: [ColumnSchema("code", ColumnType(.string))])

    private let folder = TemporaryFolder()
    private var path: String { folder.file("whole.firn") }
    private var cut: String { folder.file("cut.firn") }
    private var saved: String { folder.file("saved.firn") }

    private static func personRow(_ i: Int) -> [Value] {
        let x = GoldenRows.mix(i)
        return [
            .int(1880 + Int64(i / 2000)), .string("name \(x % 5000)"), x % 9 == 0 ? .null : .string(String(x &* 0x9E37_79B9, radix: 36)),
            x % 5 == 0 ? .null : .double(Double(x % 10_000) / 16),
        ]
    }

    private static func ownerRow(_ i: Int) -> [Value] {
        let x = GoldenRows.mix(i + 7)
        return [
            .int(Int64(i)), x % 4 == 0 ? .null : .object([.init("", .int(Int64(x % 1000)))]),
            .list((0..<Int(x % 3)).map { .string("tag \((x >> 8) % 40 + UInt64($0))") }),
        ]
    }

    private static let personCount = 150_000, ownerCount = personCount / 2
    private static let persons = (0..<personCount).map { personRow($0) }
    private static let owners = (0..<ownerCount).map { ownerRow($0) }

    /// Writes several types in one commit, with their rows in alternating batches.
    private func write(to path: String, profile: Profile = .standard, key: EncryptionKey? = nil) throws {
        let transaction = try Database.create(path: path, atFirstCommit: true, key: key).begin()
        transaction.profile = profile
        try transaction.extendSchema([CutFileTests.part, CutFileTests.person, CutFileTests.owner, CutFileTests.few])
        let schema = transaction.schema
        func append(_ type: String, _ rows: [[Value]]) throws {
            var batch = Batch(schema[type]!, in: schema)
            for row in rows {
                for (i, value) in row.enumerated() {
                    precondition(batch.columns[i].append(value), "\(value) does not fit \(batch.columns[i].type)")
                }
                batch.count += 1
            }
            try transaction.bulkWriter(type).append(batch)
        }
        for start in stride(from: 0, to: CutFileTests.personCount, by: 10_000) {
            try append("Person", Array(CutFileTests.persons[start..<start + 10_000]))
            try append("Owner", Array(CutFileTests.owners[start / 2..<start / 2 + 5000]))
        }
        try append("Few", (0..<300).map { [.string("code \($0)")] })
        try transaction.commit()
    }

    /// Returns the segments of a file by type: their rows, and the end of their headers, which are after all other extents of the segment.
    private func segments(_ core: SnapshotCore) throws -> [(type: Int, rows: ClosedRange<Int64>, end: UInt64)] {
        var found: [(type: Int, rows: ClosedRange<Int64>, end: UInt64)] = []
        for type in core.schema.types.indices {
            for index in 0..<core.catalogue.types[type].segmentCount {
                let entry = try core.directoryEntry(type: type, index: index), header = try core.segment(type: type, index: index).header
                let refs = header.entries.compactMap(\.chunk) + header.entries.compactMap(\.overlay) + header.shared.map(\.ref)
                #expect(refs.allSatisfy { $0.offset + $0.length <= entry.header.offset }, "a header is before an extent that it refers to")
                found.append((type, entry.firstRowID...entry.lastRowID, entry.header.offset + entry.header.length))
            }
        }
        return found
    }

    private func rows(_ path: String, _ type: String) throws -> [Int64: [Value]] {
        let snapshot = try Database.open(path: path).snapshot(), table = snapshot.table(named: type)!
        #expect(snapshot.verify(full: true).isEmpty)
        var rows: [Int64: [Value]] = [:]
        for index in 0..<table.segmentCount {
            let segment = try table.segment(index)
            var columns: [Column] = []
            for column in table.type.columns.indices {
                var all = Column(table.type.columns[column].type), one = all
                for vector in 0..<segment.vectorCount {
                    try segment.column(column).read(vector: vector, into: &one)
                    all.append(contentsOf: one)
                }
                columns.append(all)
            }
            for row in 0..<segment.rowCount where segment.live?[row] ?? true {
                rows[try segment.rowID(at: row)] = columns.map { $0.value(at: row) }
            }
        }
        return rows
    }

    /// Returns the bytes with zeros in place of an extent, as far as it is within them.
    private func bytes(_ bytes: Data, without ref: ExtentRef) -> Data {
        var bytes = bytes
        let end = min(bytes.count, Int(ref.offset + ref.length))
        if Int(ref.offset) < end { bytes.replaceSubrange(Int(ref.offset)..<end, with: Data(count: end - Int(ref.offset))) }
        return bytes
    }

    /// Returns the catalogue of the newest version. A short one can be before the rows.
    private func catalogue(_ path: String) throws -> ExtentRef { try Store.open(path: path, writable: false).newestRoot().catalogue }

    private func recover(_ bytes: Data) throws -> Recovery? {
        try bytes.write(to: URL(filePath: cut))
        try? FileManager.default.removeItem(atPath: saved)
        do { return try Recovery.run(from: cut, to: saved, profile: .fast, threads: 1) } catch let error as FirnError {
            #expect(error.code == .damaged, "\(error)")
            return nil
        }
    }

    @Test(arguments: Tier.isLong ? ["standard", "small", "compacted"] : ["standard", "compacted"])
    func `recovery of a file that was truncated anywhere has every row of each complete segment, and no others`(
        how: String
    ) throws {
        try write(to: path, profile: how == "small" ? .small : .standard)
        if how == "compacted" {
            try Database.open(path: path).snapshot().compact(to: path, overwrite: true)
        }
        let whole = try Data(contentsOf: URL(filePath: path)), core = try Database.open(path: path).snapshot().core
        let segments = try segments(core), schemaEnd = core.catalogue.schemaRef.offset + core.catalogue.schemaRef.length
        #expect(schemaEnd <= segments.map(\.end).min()!, "the schema is after a segment")
        // Segments are written one after the other, so that the loss is proportional to the truncated part.
        for (one, next) in zip(segments, segments.dropFirst()) where one.type == next.type {
            #expect(one.end <= next.end, "\(one) \(next)")
        }
        let length = UInt64(whole.count)
        var random = Random(seed: 5), cuts = [length - 1, length - 1000, segments.map(\.end).max()!, 4607, 600]
        cuts += segments.flatMap { [$0.end, $0.end - 1] }.filter { $0 < length }.shuffled(using: &random).prefix(
            how == "standard" ? Tier.cases(1, of: 4) : 1)
        for _ in 0..<(how == "standard" ? Tier.cases(2, of: 6) : Tier.cases(1, of: 2)) {
            cuts.append(.random(in: 4608..<length, using: &random))
        }
        var counts: Set<Int> = []
        let catalogue = try catalogue(path)
        for (number, length) in cuts.enumerated() {
            let kept = length < 4608 ? [] : segments.filter { $0.end <= length }
            counts.insert(kept.count)
            // Half of the files have no catalogue, so that segments are found by a search.
            let rest = number % 2 == 0 ? bytes(whole.prefix(Int(length)), without: catalogue) : whole.prefix(Int(length))
            guard let recovery = try recover(rest) else {
                #expect(kept.isEmpty, "no rows were recovered from a file cut at \(length)")
                continue
            }
            #expect(recovery.version == 1)
            for (type, originals) in [("Person", CutFileTests.persons), ("Owner", CutFileTests.owners)] {
                let typePosition = core.schema.types.firstIndex { $0.name == type }!
                let found = try rows(saved, type), expected = kept.filter { $0.type == typePosition }
                #expect(found.count == expected.reduce(0) { $0 + $1.rows.count }, "\(type) cut at \(length)")
                let parts = kept.filter { core.schema.types[$0.type].name == "Part" }
                for range in expected.map(\.rows) {
                    for id in range {
                        guard let row = found[id] else { Issue.record("\(type) \(id) is missing, cut at \(length)"); return }
                        let original = originals[Int(id)]
                        // An embedded object is a row of its own type.
                        if row == original || (type == "Owner" && parts.count < 2 && row[0] == original[0] && row[2] == original[2]) {
                            continue
                        }
                        Issue.record("\(type) \(id) differs, cut at \(length): \(row)")
                        return
                    }
                }
            }
        }
        #expect(counts.count > 3 && counts.contains(segments.count), "the cuts do not cover different numbers of segments: \(counts)")
    }

    @Test func `proofs need less than a thousandth of a file`() throws {
        try write(to: path)
        let core = try Database.open(path: path).snapshot().core, count = try segments(core).count
        let size = try Data(contentsOf: URL(filePath: path)).count
        #expect(count * (8 + SegmentProof.size) * 1000 < size, "\(count) segments in \(size) bytes")
    }

    @Test func `a segment header is used only with the proof for its own file`() throws {
        try write(to: path)
        let whole = try Data(contentsOf: URL(filePath: path)), core = try Database.open(path: path).snapshot().core
        let type = core.schema.types.firstIndex { $0.name == "Person" }!, header = try core.directoryEntry(type: type, index: 1).header
        let cut = bytes(whole.dropLast(1000), without: try catalogue(path))
        var bytes = cut
        // The first row id is changed by 65,536; the chunks are intact.
        bytes[Int(header.offset) + 14] ^= 1
        let recovery = try #require(try recover(bytes))
        #expect(recovery.losses.contains { $0.type == "Person" && $0.rows == 65_536...131_071 }, "\(recovery.losses)")
        #expect(try rows(saved, "Person").count == CutFileTests.personCount - 65_536)
        // The roots of another file identify the file.
        let other = folder.file("other.firn")
        try write(to: other)
        bytes = cut
        let roots = try Data(contentsOf: URL(filePath: other))
        for slot in [0..<512, 4096..<4608] { bytes.replaceSubrange(slot, with: roots[slot]) }
        #expect(try recover(bytes) == nil)
    }

    @Test func `a lost directory is rebuilt from the segments`() throws {
        try write(to: path)
        let whole = try Data(contentsOf: URL(filePath: path)), core = try Database.open(path: path).snapshot().core
        var rest = whole
        for state in core.catalogue.types where !state.directory.isNone { rest = bytes(rest, without: state.directory) }
        let recovery = try #require(try recover(rest))
        #expect(recovery.saved.map(\.rows) == core.catalogue.types.map(\.liveRows) && recovery.losses.count == 4, "\(recovery)")
        let found = try rows(saved, "Owner")
        #expect(
            found.count == CutFileTests.ownerCount
                && (0..<CutFileTests.ownerCount).allSatisfy { found[Int64($0)] == CutFileTests.owners[$0] })
    }

    @Test func `segments that died before the commit are not recovered`() throws {
        let type = TypeSchema("Number", columns: [ColumnSchema("a", ColumnType(.int)), ColumnSchema("b", ColumnType(.int))])
        let transaction = try Database.create(path: path, atFirstCommit: true).begin()
        try transaction.extendSchema([type])
        try transaction.bulkWriter("Number").append(
            RandomBatches.batch((0..<200_000).map { [.int(Int64(truncatingIfNeeded: GoldenRows.mix($0))), .int(Int64($0))] }, of: type))
        try transaction.finishBulk()
        for id in 0..<70_000 { try transaction.delete("Number", rowID: Int64(id)) }
        try transaction.flushAll()
        try transaction.commit()
        let recovery = try #require(try recover(bytes(Data(contentsOf: URL(filePath: path)), without: catalogue(path))))
        #expect(recovery.saved[0].rows == 130_000, "\(recovery)")
        let found = try rows(saved, "Number")
        #expect(found.keys.min() == 70_000 && found[70_000]?[1] == .int(70_000) && found.count == 130_000)
    }

    @Test func `recovery of a truncated file with later versions finds the first one, and reports this`() throws {
        try write(to: path)
        let first = try Data(contentsOf: URL(filePath: path)).count, catalogue = try catalogue(path)
        do {
            let database = try Database.open(path: path, writable: true)
            for round in 0..<3 {
                let transaction = try database.begin()
                for id in 0..<5000 { try transaction.update("Person", rowID: Int64(id), column: "year", .int(Int64(round))) }
                try transaction.commit(durability: .full)
            }
        }
        let recovery = try #require(try recover(bytes(Data(contentsOf: URL(filePath: path)).prefix(first - 2000), without: catalogue)))
        #expect(
            recovery.version == 1 && recovery.losses.contains { $0.damage.what.contains("all later changes, up to version 4, are lost") },
            "\(recovery.losses)")
        #expect(try rows(saved, "Person")[0] == CutFileTests.personRow(0))
    }

    @Test func `an encrypted file that lost its end is not recovered, and no file is written`() throws {
        let key = EncryptionKey((0..<64).map { UInt8($0) })!
        try write(to: path, key: key)
        try Data(contentsOf: URL(filePath: path)).dropLast(1000).write(to: URL(filePath: cut))
        #expect(throws: FirnError.self) { try Recovery.run(from: cut, key: key, to: saved, threads: 1) }
        #expect(!FileManager.default.fileExists(atPath: saved))
    }

    @Test func `bytes that look like headers everywhere are searched in bounded time`() throws {
        try write(to: path)
        var bytes = try Data(contentsOf: URL(filePath: path)).dropLast(1000)
        // Headers at every unit that extend to the end of the file, with a proof there.
        let end = bytes.count / 64 * 64, tail = Data(SegmentProof.tag) + Data([52, 0, 0, 0]) + Data(count: 52)
        bytes.replaceSubrange((end - 68)..<end, with: Data(count: 4) + tail + Data(count: 4))
        for unit in stride(from: bytes.count / 2 / 64 * 64, to: end - 256, by: 64) {
            var length = UInt32(end - 64 - unit - 28).littleEndian
            var header = Data([0x73, 0x67, 1, 2, 5, 0, 0, 0, 0, 0, 0, 0]) + Data(count: 8)
            header += withUnsafeBytes(of: &length) { Data($0) }
            bytes.replaceSubrange(unit..<unit + header.count, with: header)
        }
        _ = try recover(bytes)
        var hashed = bytes.count * 4
        let unit = bytes.count / 2 / 64 * 64
        let isFound = bytes[unit..<bytes.count].withUnsafeBytes {
            FoundHeader($0, identities: [Hash128(low: 1, high: 2)], hashed: &hashed) != nil
        }
        #expect(!isFound)
        #expect(hashed < bytes.count * 4, "the hashed bytes were not counted")
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["FIRN_CUTS"] != nil, "FIRN_CUTS=n: two million rows, cut n times"))
    func `recovery of two million rows that were truncated anywhere has every complete segment`() throws {
        let type = TypeSchema(
            "Name",
            columns: [
                ColumnSchema("year", ColumnType(.int)), ColumnSchema("name", ColumnType(.string)), ColumnSchema("sex", ColumnType(.string)),
                ColumnSchema("count", ColumnType(.int)),
            ])
        let rows = 2_117_216, transaction = try Database.create(path: path, atFirstCommit: true).begin()
        try transaction.extendSchema([type])
        var random = Random(seed: 12)
        let names = (0..<90_000).map { _ in String(UInt32.random(in: 0 ... .max, using: &random), radix: 36) }
        for start in stride(from: 0, to: rows, by: segmentSize) {
            var batch = Batch(type, in: Schema([type]))
            for i in start..<min(rows, start + segmentSize) {
                let rank = i % 15_000
                _ = batch.columns[0].append(.int(Int64(1880 + i / 15_000)))
                _ = batch.columns[1].append(.string(names[Int(UInt64.random(in: 0..<40_000, using: &random)) + rank]))
                _ = batch.columns[2].append(.string(rank % 2 == 0 ? "F" : "M"))
                _ = batch.columns[3].append(.int(Int64(60_000 / (rank + 1)) + 5))
                batch.count += 1
            }
            try transaction.bulkWriter("Name").append(batch)
        }
        try transaction.commit()
        let core = try Database.open(path: path).snapshot().core, segments = try segments(core),
            whole = try Data(contentsOf: URL(filePath: path)), catalogue = try catalogue(path)
        var recovered = 0, expected = 0, cuts = 0
        for _ in 0..<(Int(ProcessInfo.processInfo.environment["FIRN_CUTS"]!) ?? 100) {
            let length = Int.random(in: 1..<whole.count, using: &random),
                kept = length < 4608 ? [] : segments.filter { $0.end <= UInt64(length) }
            cuts += 1
            expected += kept.reduce(0) { $0 + $1.rows.count }
            guard let recovery = try recover(cuts % 2 == 0 ? bytes(whole.prefix(length), without: catalogue) : whole.prefix(length)) else {
                continue
            }
            recovered += recovery.saved[0].rows
            let copy = try Database.open(path: saved).snapshot().core
            for index in 0..<copy.catalogue.types[0].segmentCount {
                let segment = try copy.segment(type: 0, index: index), first = segment.header.firstRowID
                let original = try core.segment(type: 0, index: try core.firstSegment(type: 0, endingAtOrAfter: first))
                #expect(original.header.firstRowID == first && kept.contains { $0.rows.lowerBound == first })
                for column in 0..<4 { #expect(try segment.allRows(column).logicalHash == original.header.entries[column].logicalHash) }
            }
        }
        let overhead = segments.count * (8 + SegmentProof.size)
        print(
            "\(cuts) cuts of \(whole.count) bytes: \(recovered) rows recovered, \(expected) rows in whole segments, \(cuts * rows) in all; \(overhead) bytes for proofs"
        )
        #expect(recovered == expected && recovered > cuts * rows / 4 && overhead * 1000 < whole.count)
    }
}
