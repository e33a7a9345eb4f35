import FirnBytes
import FirnKit
import FirnStore
import Foundation

@testable import FirnCodecs
@testable import FirnDatabase
@testable import FirnTable

/// Small hostile files that need more memory than there is when they are unpacked. All their hashes are correct.
enum Bomb: String, CaseIterable {
    /// 64 columns of two values, each column with a dictionary of 240 MB.
    case dictionaries
    /// 200 columns that share one page of 61 MB.
    case sharedPage
    /// A value of 48 million nulls in nested lists.
    case nestedLists
    /// Columns of one long text in each of 65,536 rows.
    case constants
    /// Lists of 33 million equal numbers.
    case longLists
    /// Objects with a list of objects, nested five levels deep, which are all stored in one row.
    case nestedObjects
    /// Objects with two fields, both of which contain the object itself.
    case cyclicObjects

    /// The error contains one of these texts.
    var names: [String] {
        switch self {
        case .dictionaries, .sharedPage, .constants, .longLists, .nestedLists: ["column \"T.c"]
        case .nestedObjects, .cyclicObjects: ["column \"L", "objects of type \"L", "column \"T.c"]
        }
    }

    /// The exit code. Objects that contain themselves are reported as damage.
    var code: Int32 { self == .cyclicObjects ? 4 : 5 }

    func write(_ path: String) throws {
        switch self {
        case .dictionaries:
            try HostileWriter(path, text(64)).write(rows: 2) { writer, column in
                HostileWriter.Part(chunk: try writer.extent(HostileWriter.coded), shared: try writer.extent(Bomb.dictionary))
            }
        case .sharedPage:
            let writer = try HostileWriter(path, text(200)), page = HostileWriter.text(HostileWriter.page([30_500_000, 30_500_000]))
            let ref = try writer.extent(page)
            try writer.write(rows: 2) { _, _ in HostileWriter.Part(chunk: ref) }
        case .nestedLists:
            let writer = try HostileWriter(path, [ColumnSchema("c0", ColumnType(.any)), ColumnSchema("c1", ColumnType(.any))])
            let ref = try writer.extent(HostileWriter.nested(lists: 48_000, of: 1000))
            try writer.write(rows: 1) { _, _ in HostileWriter.Part(chunk: ref) }
        case .constants:
            try HostileWriter(path, text(4)).write(rows: segmentSize) { writer, _ in
                HostileWriter.Part(chunk: try writer.extent(HostileWriter.text([0x60] + [UInt8](repeating: 97, count: 300_000))))
            }
        case .longLists:
            try HostileWriter(path, (0..<4).map { ColumnSchema("c\($0)", ColumnType(.int, collection: .list)) }).write(rows: 1) {
                writer, _ in
                HostileWriter.Part(chunk: try writer.extent(HostileWriter.list(of: 33_000_000)))
            }
        case .nestedObjects: try nested(path)
        case .cyclicObjects: try cyclic(path)
        }
    }

    private func text(_ count: Int) -> [ColumnSchema] { (0..<count).map { ColumnSchema("c\($0)", ColumnType(.string)) } }

    /// Two values of 120 MB.
    private static let dictionary: [UInt8] = {
        var out = ByteWriter(), lengths = ByteWriter()
        for _ in 0..<2 { lengths.appendVarint(120_000_000) }
        out.append(UInt8(0))
        out.appendVarint(2)
        out.appendVarint(240_000_000)
        PageBlock.append(lengths.bytes, level: 1, to: &out)
        PageBlock.append([UInt8](repeating: 97, count: 240_000_000), level: 1, to: &out)
        return out.bytes
    }()

    private func nested(_ path: String) throws {
        let levels = 5, fanOut = 300
        var types = [TypeSchema("T", columns: [ColumnSchema("c0", ColumnType(.embedded, collection: .list, target: "L0"))])]
        for level in 0..<levels {
            let inner =
                level + 1 < levels
                ? ColumnSchema("c0", ColumnType(.embedded, collection: .list, target: "L\(level + 1)"))
                : ColumnSchema("c0", ColumnType(.int))
            types.append(TypeSchema("L\(level)", columns: [inner], isEmbedded: true))
        }
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema(types)
        for (index, type) in types.enumerated() {
            var column = Column(type.columns[0].type.stored)
            let isLast = index == levels
            precondition(
                column.append(isLast ? .int(7) : .list(Array(repeating: .link(0), count: fanOut))), "the value does not fit the column")
            try transaction.bulkWriter(type.name).append(stored: [column], rowIDs: [0])
        }
        try transaction.commit()
    }

    private func cyclic(_ path: String) throws {
        let field = { (name: String) in ColumnSchema(name, ColumnType(.embedded, optional: true, target: "L")) }
        let types = [TypeSchema("T", columns: [field("c0")]), TypeSchema("L", columns: [field("a"), field("b")], isEmbedded: true)]
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema(types)
        for type in types {
            let columns = try type.columns.map { schema in
                var column = Column(schema.type.stored)
                guard column.append(.link(0)) else { throw Damage("the value does not fit") }
                return column
            }
            try transaction.bulkWriter(type.name).append(stored: columns, rowIDs: [0])
        }
        try transaction.commit()
    }
}

/// Writes a segment with chunks that no encoder produces.
struct HostileWriter {
    let database: Database, transaction: DatabaseTransaction, columns: [ColumnSchema]

    /// A column of the segment.
    struct Part {
        var chunk: ExtentRef
        /// The values of a dictionary.
        var shared: ExtentRef?
    }

    init(_ path: String, _ columns: [ColumnSchema]) throws {
        database = try Database.create(path: path)
        transaction = try database.begin()
        try transaction.extendSchema([TypeSchema("T", columns: columns)])
        self.columns = transaction.schema.types[0].columns
    }

    func extent(_ bytes: [UInt8]) throws -> ExtentRef { try transaction.write(bytes) }

    /// Commits a segment of `rows` rows, which the directory lists `times` times.
    func write(rows: Int, times: Int = 1, _ part: (HostileWriter, Int) throws -> Part) throws {
        var entries: [SegmentHeader.Entry] = [], shared: [SegmentHeader.Shared] = []
        for (index, column) in columns.enumerated() {
            let part = try part(self, index)
            entries.append(.init(columnID: column.id, zone: Zone(mayHaveNulls: true, allNull: false, bounds: .none), chunk: part.chunk))
            if let blob = part.shared { shared.append(.init(column: index, stream: .text, kind: .values, ref: blob)) }
        }
        var header = SegmentHeader(rowCount: rows, firstRowID: 0, entries: entries)
        header.shared = shared
        let entry = DirectoryEntry(
            firstRowID: 0, lastRowID: Int64(rows - 1), rowCount: rows, deletedCount: 0, header: try transaction.write(header.encoded))
        _ = transaction.giveRowIDs(0, count: rows * times)
        try transaction.addSegments(Array(repeating: entry, count: times), type: 0)
        try transaction.commit()
    }

    private static func words(_ values: [Int64]) -> [UInt8] {
        values.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: nil, profile: .standard) }
    }

    /// A column of text with this stream.
    static func text(_ stream: [UInt8]) -> [UInt8] { Chunk(streams: [(.text, stream)]).encoded }

    /// A column of two rows, the first two values of a shared dictionary.
    static var coded: [UInt8] { text([0x61, 1, 0] + words([0, 1])) }

    /// A page of values with the given lengths, filled with one repeated byte, or with the bytes of `raw`.
    static func page(_ lengths: [Int], raw: [UInt8]? = nil) -> [UInt8] {
        var page = ByteWriter(), out = ByteWriter(), frame: [UInt8] = []
        for length in lengths { page.appendVarint(length) }
        page.append(contentsOf: raw ?? [UInt8](repeating: 97, count: lengths.reduce(0, +)))
        page.bytes.withUnsafeBytes { _ = PageCompressor(level: 1).compress($0, into: &frame) }
        out.append(contentsOf: [0x62, 0, 12])
        out.appendVarint(page.count)
        PageOffsets.append([frame.count], to: &out)
        out.append(contentsOf: frame)
        return out.bytes
    }

    /// A row with a list of lists of nulls, in a column of kind `any`.
    static func nested(lists: Int, of nulls: Int) -> [UInt8] {
        var one = ByteWriter(), all = ByteWriter()
        one.append(AnyTag.list)
        one.appendVarint(nulls)
        for _ in 0..<nulls { one.append(AnyTag.null) }
        all.append(AnyTag.list)
        all.appendVarint(lists)
        for _ in 0..<lists { all.append(contentsOf: one.bytes) }
        return Chunk(streams: [
            (.words, words([0])), (.extra, words([0])), (.reals, reals), (.text, page([all.count], raw: all.bytes)),
            (.tags, words([Int64(AnyTag.list)])),
        ]).encoded
    }

    private static var reals: [UInt8] {
        [0].withUnsafeBufferPointer { FloatsEncoder.encode($0, present: nil, single: false, profile: .standard) }
    }

    /// A row with a list of equal numbers.
    static func list(of count: Int) -> [UInt8] {
        Chunk(streams: [
            (.lengths, [0, count].withUnsafeBufferPointer { LengthsEncoder.encode($0, profile: .standard) }), (.words, [1, 14]),
        ]).encoded
    }
}
