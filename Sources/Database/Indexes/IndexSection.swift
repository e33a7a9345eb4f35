import FirnBytes
import FirnStore
import FirnTable

/// The reference of a run, and what is known about it without reading it.
struct RunRef: Hashable, Sendable {
    var ref: ExtentRef
    var count: Int
    var nullCount: Int
    var lowest = IndexKey.least
    var highest = IndexKey.least

    var size: Int { count + nullCount }
    func mayHold(_ range: ClosedRange<IndexKey>) -> Bool { count > 0 && range.lowerBound <= highest && lowest <= range.upperBound }
}

/// An index of one column at one version.
struct IndexState: Hashable, Sendable {
    var column: UInt32
    var kind: IndexKind
    /// Whether text of up to eight bytes is entered as it is (kinds 3 and 4 in the file).
    var keepsShort = false
    /// Whether it was created because the type's key needs it.
    var isForKey = false
    /// About how many rows were changed or deleted since the index was built.
    var staleRows = 0
    var runs: [RunRef] = []

    init(column: UInt32, _ kind: IndexKind, isForKey: Bool = false) {
        self.column = column
        self.kind = kind
        self.isForKey = isForKey
    }

    /// Creates an index of a column in the current form.
    init(_ column: ColumnSchema, _ kind: IndexKind, isForKey: Bool = false) {
        self.init(column: column.id, kind, isForKey: isForKey)
        keepsShort = column.type.kind == .string || column.type.kind == .data
    }

    /// The number of the kind in the file.
    fileprivate var storedKind: UInt8 { kind.rawValue + (keepsShort ? IndexState.short : 0) }
    fileprivate static let short: UInt8 = 2

    var entryCount: Int { runs.reduce(0) { $0 + $1.size } }
    var bytes: Int { runs.reduce(0) { $0 + Int(clamping: $1.ref.length) } }
}

/// The indexes of a type, which follow the entries of its directory (`docs/format/indexes.md`, "Location").
enum IndexSection {
    private static let magic: [UInt8] = [0x69, 0x78]
    private static let version: UInt8 = 1

    static func encode(_ indexes: [IndexState], into out: inout ByteWriter) {
        guard !indexes.isEmpty else { return }
        out.append(contentsOf: magic)
        out.append(version)
        out.append(0 as UInt8)
        out.appendVarint(indexes.count)
        for index in indexes.sorted(by: { ($0.column, $0.storedKind) < ($1.column, $1.storedKind) }) {
            out.appendVarint(Int(index.column))
            out.append(index.storedKind)
            out.append(index.isForKey ? 1 : 0 as UInt8)
            out.appendVarint(index.staleRows)
            out.appendVarint(index.runs.count)
            for run in index.runs {
                run.ref.encode(to: &out)
                out.append(UInt32(run.count))
                out.append(UInt32(run.nullCount))
                guard run.count > 0 else { continue }
                for key in [run.lowest, run.highest] {
                    out.append(key.word)
                    out.append(key.extra)
                }
            }
        }
    }

    /// Decodes the bytes after the entries of a directory. If there are none, or those of another version, there is no index.
    static func decode(_ bytes: UnsafeRawBufferPointer, of type: TypeSchema) throws(Damage) -> [IndexState] {
        guard bytes.count > 4, bytes[0] == magic[0], bytes[1] == magic[1], bytes[2] == version else { return [] }
        var reader = ByteReader(bytes, at: 4)
        var indexes: [IndexState] = [], last: (UInt32, UInt8)?
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            let offset = reader.position
            let column = UInt32(try reader.readCount(limit: Int(UInt32.max))), raw = try reader.read(UInt8.self),
                flags = try reader.read(UInt8.self)
            if let last, last >= (column, raw) { throw Damage("indexes are out of order", at: offset) }
            last = (column, raw)
            let keepsShort = raw > IndexState.short, kind = IndexKind(rawValue: keepsShort ? raw - IndexState.short : raw)
            var index = IndexState(column: column, kind ?? .values, isForKey: flags & 1 != 0)
            index.keepsShort = keepsShort
            index.staleRows = try reader.readCount()
            for _ in 0..<(try reader.readCount(limit: reader.remaining)) { index.runs.append(try RunRef(from: &reader)) }
            guard kind != nil else { continue }
            guard let known = type.index(ofID: column), case let own = type.columns[known].type, own.refusal(of: index.kind) == nil,
                !keepsShort || own.kind == .string || own.kind == .data
            else { throw Damage("an index of a column that cannot have one", at: offset) }
            guard !indexes.contains(where: { $0.column == column && $0.kind == index.kind }) else {
                throw Damage("two indexes of the same kind on one column", at: offset)
            }
            indexes.append(index)
        }
        guard reader.isAtEnd else { throw Damage("bytes after the indexes", at: reader.position) }
        return indexes
    }
}

extension RunRef {
    fileprivate init(from reader: inout ByteReader) throws(Damage) {
        let offset = reader.position
        self.init(ref: try ExtentRef(from: &reader), count: Int(try reader.read(UInt32.self)), nullCount: Int(try reader.read(UInt32.self)))
        guard !ref.isNone, count <= IndexRun.maximumEntries, nullCount <= IndexRun.maximumEntries, size > 0 else {
            throw Damage("the description of an index run is inconsistent", at: offset)
        }
        if count > 0 {
            lowest = IndexKey(try reader.read(), try reader.read())
            highest = IndexKey(try reader.read(), try reader.read())
            guard lowest <= highest else { throw Damage("the description of an index run is inconsistent", at: offset) }
        }
    }
}

extension Catalogue {
    /// Reads the indexes after the entries of directories, and marks them in the schema. Damage there does not prevent reading rows.
    mutating func takeIndexes(_ schema: inout Schema, _ store: any ExtentSource) {
        for i in types.indices where !types[i].directory.isNone {
            let end = types[i].segmentCount * DirectoryEntry.size
            guard types[i].directory.length > UInt64(end) else { continue }
            do throws(Damage) {
                let bytes = try store.read(types[i].directory)
                types[i].indexes = try IndexSection.decode(UnsafeRawBufferPointer(rebasing: bytes[end...]), of: schema.types[i])
                schema.types[i].noteIndexes(types[i].indexes)
            } catch { types[i].indexDamage = error }
        }
    }
}

extension TypeSchema {
    mutating func noteIndexes(_ indexes: [IndexState]) {
        for position in columns.indices {
            columns[position].indexes = []
            for index in indexes where index.column == columns[position].id { columns[position].indexes.insert(IndexMarks(index.kind)) }
        }
    }
}
