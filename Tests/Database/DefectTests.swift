import FirnBytes
import FirnKit
import Foundation
import Testing

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// T6: `verify` names everything that is damaged: type, column and rows, or the structure if there are none.
@Suite struct DefectTests {
    /// A byte of a file, and the part that it belongs to.
    private struct DamagedPart {
        var kind: String, offset: UInt64
        var type: String?, column: String?, rows: ClosedRange<Int64>?
        /// A word of the description of the defect.
        var word = ""
        var isOld = false
    }

    private static let person = TypeSchema(
        "Person",
        columns: [
            ColumnSchema("id", ColumnType(.int)), ColumnSchema("name", ColumnType(.string, optional: true)),
            ColumnSchema("note", ColumnType(.string)), ColumnSchema("score", ColumnType(.double)),
            ColumnSchema("flags", ColumnType(.int, collection: .list, elementOptional: true)),
            ColumnSchema("props", ColumnType(.string, collection: .map)), ColumnSchema("born", ColumnType(.date)),
            ColumnSchema("code", ColumnType(.uuid)), ColumnSchema("any", ColumnType(.any, optional: true)),
        ], key: [0])
    private static let small = TypeSchema("Small", columns: [ColumnSchema("x", ColumnType(.int))])

    private static func row(_ i: Int) -> [Value] {
        let x = GoldenRows.mix(i)
        return [
            .int(Int64(i)), x % 9 == 0 ? .null : .string("name \(x % 500)"), .string("note \(x % 9000) of \(x >> 20 % 70)"),
            .double(Double(x % 5000) / 8),
            .list((0..<Int(x % 3)).map { $0 == 1 ? .null : .int(Int64(x % 90)) }),
            .map(x % 4 == 0 ? [.init("k", .string("v\(x % 5)"))] : []),
            .date(Timestamp(seconds: Int64(x % 4_000_000_000), nanoseconds: Int32(x % 9))), .uuid(Identifier(high: x, low: x &* 3)),
            x % 3 == 0 ? .null : x % 3 == 1 ? .int(4) : .string("any"),
        ]
    }

    /// Writes two wide segments with dictionaries and an index, a packed segment, overlays, a delta with inner nodes, a tag, and a last
    /// commit that lists its extents.
    private static func write(_ path: String) throws {
        let database = try Database.create(path: path)
        func commit(_ body: (DatabaseTransaction) throws -> Void) throws {
            let transaction = try database.begin()
            try body(transaction)
            try transaction.commit()
        }
        try commit {
            try $0.extendSchema([person, small])
            try $0.bulkWriter("Person").append(RandomBatches.batch((0..<70_000).map(row), of: person))
            try $0.bulkWriter("Small").append(RandomBatches.batch((0..<100).map { [.int(Int64($0))] }, of: small))
            try $0.addIndex("Person", "name", .values)
        }
        try database.tag("first", database.snapshot())
        try commit {
            for id in stride(from: Int64(0), to: 60_000, by: 300) { try $0.update("Person", rowID: id, column: "score", .double(-1)) }
            try $0.flushAll()
        }
        try commit {
            for id in stride(from: Int64(7), to: 70_000, by: 170) {
                try $0.update(
                    "Person", rowID: id, column: "note", .string("changed, and rather long, so that the delta has several nodes \(id)"))
            }
            for id in 70_000..<70_020 { try $0.insert("Person", row(id)) }
            try $0.delete("Person", rowID: 8)
        }
        try commit { try $0.update("Person", rowID: 9, column: "score", .double(-2)) }
    }

    private static func parts(_ path: String) throws -> [DamagedPart] {
        let database = try Database.open(path: path), snapshot = try database.snapshot(), core = snapshot.core, root = snapshot.pinned.root
        var parts = [
            DamagedPart(kind: "newest root", offset: root.offset(of: root.version) + 40, word: "root at"),
            DamagedPart(kind: "other root", offset: root.offset(of: root.version + 1) + 40, word: "root at"),
            DamagedPart(kind: "record", offset: root.record.offset + 9, word: "commit record"),
            DamagedPart(kind: "catalogue", offset: root.catalogue.offset + 50, word: "catalogue"),
            DamagedPart(kind: "schema", offset: core.catalogue.schemaRef.offset + 5, word: "schema"),
        ]
        let record = try CommitRecord(snapshot.pinned.read(root.record))
        if !record.history.isNone { parts.append(DamagedPart(kind: "history", offset: record.history.offset + 30, word: "tags")) }
        if !record.previous.isNone {
            parts.append(DamagedPart(kind: "earlier record", offset: record.previous.offset + 9, word: "commit record"))
        }
        for (index, type) in core.schema.types.enumerated() {
            let state = core.catalogue.types[index], all = 0...state.nextRowID - 1
            parts.append(DamagedPart(kind: "directory", offset: state.directory.offset + 17, type: type.name, rows: all, word: "directory"))
            for number in 0..<state.segmentCount {
                let entry = try core.directoryEntry(type: index, index: number), rows = entry.firstRowID...entry.lastRowID,
                    segment = try core.segment(type: index, index: number)
                parts.append(
                    DamagedPart(
                        kind: "header", offset: entry.header.offset + entry.header.length / 2, type: type.name, rows: rows, word: "segment")
                )
                for stored in segment.header.entries {
                    let column = type.columns.first { $0.id == stored.columnID }!.name
                    if let chunk = stored.chunk {
                        let bytes = try snapshot.pinned.read(chunk)
                        parts.append(DamagedPart(kind: "chunk's table", offset: chunk.offset, type: type.name, column: column, rows: rows))
                        for part in try Chunk.split(bytes) where !part.bytes.isEmpty {
                            parts.append(
                                DamagedPart(
                                    kind: "stream \(part.kind)",
                                    offset: chunk.offset + UInt64(part.bytes.baseAddress! - bytes.baseAddress!)
                                        + UInt64(part.bytes.count / 2),
                                    type: type.name, column: column, rows: rows))
                        }
                    }
                    if let overlay = stored.overlay {
                        parts.append(DamagedPart(kind: "overlay", offset: overlay.offset + 2, type: type.name, column: column, rows: rows))
                    }
                }
                for blob in segment.header.shared {
                    let column = type.columns.first { $0.id == segment.header.entries[blob.column].columnID }!.name
                    parts.append(
                        DamagedPart(
                            kind: "shared \(blob.kind)", offset: blob.ref.offset + blob.ref.length / 2, type: type.name, column: column,
                            rows: rows))
                }
            }
            for run in state.indexes.flatMap(\.runs) {
                parts.append(
                    DamagedPart(
                        kind: "index run", offset: run.ref.offset + run.ref.length / 2, type: type.name, column: "name",
                        word: "index of values"))
            }
            func visit(_ ref: ExtentRef, _ level: Int?) throws {
                let node = try TreeNodeView(try snapshot.pinned.read(ref), level: level)
                parts.append(
                    DamagedPart(
                        kind: node.level == 0 ? "delta leaf" : "delta inner node", offset: ref.offset + 8, type: type.name, rows: all,
                        word: "delta"))
                if node.level > 0 { for child in 0..<node.count { try visit(try node.child(child), node.level - 1) } }
            }
            if !state.delta.isNone { try visit(state.delta, nil) }
        }
        let old = try database.snapshot(tag: "first")
        let entry = try old.core.directoryEntry(type: 0, index: 0)
        parts.append(
            DamagedPart(
                kind: "header of a tagged version", offset: entry.header.offset + 40, type: "Person",
                rows: entry.firstRowID...entry.lastRowID, word: "segment", isOld: true))
        parts.append(
            DamagedPart(kind: "catalogue of a tagged version", offset: old.pinned.catalogue.offset + 50, word: "catalogue", isOld: true))
        return parts
    }

    private static func defects(_ path: String) -> [Defect] {
        do throws(FirnError) {
            let database = try Database.open(path: path)
            // A damaged root without a loss is a notice, not a defect.
            let notice = try database.rootNotice().map { Defect(part: "structure", $0) }
            return try database.verify(try database.snapshot(), full: false) + [notice].compactMap { $0 }
        } catch { return [Defect(part: "structure", Damage(error.message, at: Int(clamping: error.location?.byte ?? 0)))] }
    }

    /// Returns whether a defect describes the damage of a part.
    private static func tells(_ defect: Defect, _ part: DamagedPart) -> Bool {
        guard defect.type == part.type, defect.column == part.column, defect.damage.offset > 0 || part.word.hasPrefix("root"),
            defect.description.contains(part.word) || part.word.isEmpty
        else { return false }
        if part.type == nil { return defect.part == "structure" }
        if part.isOld, defect.version == nil { return false }
        guard let rows = part.rows else { return true }
        return defect.rows?.overlaps(rows) ?? false
    }

    @Test func `verify names the type, column and rows of all damage [T6]`() throws {
        let folder = TemporaryFolder(), path = folder.file("whole.firn"), bad = folder.file("bad.firn")
        try DefectTests.write(path)
        let whole = try Data(contentsOf: URL(filePath: path)), parts = try DefectTests.parts(path)
        let kinds = Set(parts.map(\.kind))
        for kind in [
            "stream present", "stream words", "stream extra", "stream reals", "stream text", "stream lengths", "stream keys",
            "stream elementPresent", "stream tags", "overlay", "index run",
            "delta leaf", "delta inner node", "history",
        ] { #expect(kinds.contains(kind), "the file has no \(kind): \(kinds.sorted())") }
        #expect(kinds.contains { $0.hasPrefix("shared") })
        let intact = try Database.open(path: path)
        #expect(try intact.verify(intact.snapshot(), full: true).isEmpty)
        for part in parts {
            var bytes = whole
            bytes[Int(part.offset)] ^= 0x20
            try bytes.write(to: URL(filePath: bad))
            let defects = DefectTests.defects(bad), found = defects.contains { DefectTests.tells($0, part) }
            #expect(found, "\(part): \(defects)")
            // No other column is reported, except one that depends on the damaged one.
            if let column = part.column {
                #expect(
                    defects.allSatisfy {
                        $0.column == column || $0.column == nil || $0.description.contains("shares the validity")
                            || $0.description.contains("follows from")
                    },
                    "\(part): \(defects)")
            }
        }
    }

    @Test func `verify reports a damaged value of the delta store at its own byte, and no segment`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        let type = TypeSchema("T", columns: [ColumnSchema("id", ColumnType(.int)), ColumnSchema("text", ColumnType(.string))])
        var database: Database? = try Database.create(path: path)
        func commit(_ body: (DatabaseTransaction) throws -> Void) throws {
            let transaction = try database!.begin()
            try body(transaction)
            try transaction.commit()
        }
        try commit {
            try $0.extendSchema([type])
            try $0.bulkWriter("T").append(RandomBatches.batch((0..<5000).map { [.int(Int64($0)), .string("row \($0)")] }, of: type))
        }
        try commit { try $0.update("T", rowID: 7, column: "text", .string(String(repeating: "long ", count: 900))) }
        let snapshot = try database!.snapshot(), delta = snapshot.core.catalogue.types[0].delta
        let node = try TreeNodeView(try snapshot.pinned.read(delta), level: nil), (inline, value) = try node.value(0)
        #expect(inline == nil && value.length > 4000)
        database = nil
        var bytes = try Data(contentsOf: URL(filePath: path))
        // A commit with a list would count as interrupted. This one was synced before its root, so its version is read as it is.
        bytes[Int(value.offset) + 100] ^= 4
        try bytes.write(to: URL(filePath: path))
        let damaged = try Database.open(path: path), found = try damaged.verify(damaged.snapshot(), full: true)
        let own = found.filter { $0.type == "T" }
        #expect(!own.isEmpty && own.allSatisfy { $0.part == "delta" && $0.damage.offset == value.offset && $0.rows == 7...7 }, "\(found)")
        #expect(found.allSatisfy { $0.damage.offset < UInt64(bytes.count) }, "\(found)")
    }

    @Test func `a damaged root without a loss is a notice of verify and not a defect`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        try DefectTests.write(path)
        let root = try Database.open(path: path).snapshot().pinned.root, whole = try Data(contentsOf: URL(filePath: path))
        // The older root is overwritten by zeros, and one bit of the newest is changed: nothing is lost in either case.
        for (version, count) in [(root.version + 1, 512), (root.version, 1)] {
            var bytes = whole
            let offset = Int(root.offset(of: version))
            if count == 1 { bytes[offset + 41] ^= 1 } else { bytes.replaceSubrange(offset..<offset + count, with: Data(count: count)) }
            try bytes.write(to: URL(filePath: path))
            let database = try Database.open(path: path), snapshot = try database.snapshot()
            let defects = try database.verify(snapshot, full: false), notice = try database.rootNotice()
            #expect(snapshot.version == root.version && defects.isEmpty, "\(defects)")
            #expect(notice?.what.contains("root at \(offset)") == true)
        }
        // The newest root is overwritten by zeros: its version is not read, but found.
        var bytes = whole
        let offset = Int(root.offset(of: root.version))
        bytes.replaceSubrange(offset..<offset + 512, with: Data(count: 512))
        try bytes.write(to: URL(filePath: path))
        let database = try Database.open(path: path), defects = try database.verify(database.snapshot(), full: false)
        #expect(
            try database.rootNotice() == nil && defects.contains { $0.damage.what.contains("version \(root.version) is not read") },
            "\(defects)")
    }

    @Test func `verify names the row with a dangling link [T6]`() throws {
        let folder = TemporaryFolder(), path = folder.file("a.firn")
        let type = TypeSchema("T", columns: [ColumnSchema("next", ColumnType(.link, optional: true, target: "T"))]),
            database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema([type])
        try transaction.bulkWriter("T").append(RandomBatches.batch((0..<100).map { [.link($0 == 42 ? 5000 : Int64($0))] }, of: type))
        try transaction.commit()
        let defects = try database.snapshot().verify(full: true)
        #expect(
            defects.count == 1 && defects.first?.rows == 42...42 && defects.first?.column == "next"
                && defects.first?.subject == "T.next, segment 0, row 42", "\(defects)")
    }
}
