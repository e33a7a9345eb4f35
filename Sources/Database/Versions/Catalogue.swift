import FirnBytes
import FirnStore
import FirnTable

/// The catalogue: the root of the data of one version (`docs/format/model.md`, "Catalogue").
///
///     version u8 = 1 · 0 u8 · type count u16 · schema ref 32 · for each type of the schema, in its order:
///     next row id i64 · live rows u64 · segment count u32 · delta rows u32 · delta changes u32 · delta bytes u32
///     · directory ref 32 · delta ref 32 · touched segments: length u32, one bit per segment (absent: none)
struct Catalogue {
    static let version: UInt8 = 1
    /// The next row id of a type must be less than this. Readers reject other catalogues.
    static let maximumRowIDs: Int64 = 1 << 62
    static let empty = Catalogue(schemaRef: .none, types: [])

    /// The state of one type in one version.
    struct TypeState {
        var nextRowID: Int64 = 0
        var liveRows: Int = 0
        /// The number of sealed segments, which the directory lists.
        var segmentCount: Int = 0
        /// The number of rows that exist only in the delta store.
        var deltaRows: Int = 0
        /// The number of delta records about rows of sealed segments: updates and deletions.
        var deltaChanges: Int = 0
        /// The approximate size of the delta records in bytes.
        var deltaBytes: Int = 0
        var directory: ExtentRef = .none
        var delta: ExtentRef = .none
        /// One bit for each sealed segment, set if the delta store has records about it. Missing bits are clear.
        var touched: [UInt8] = []
        /// The indexes, which are stored after the entries of the directory.
        var indexes: [IndexState] = []
        /// The damage of the stored indexes, if any. Rows can still be read, but nothing can be written.
        var indexDamage: Damage?
        /// The one segment of the type in an inline file, if it has rows. The catalogue contains its header, and `directory` is none.
        var inner: (entry: DirectoryEntry, header: FixedBytes)?

        /// False if a count is out of range, because the file contained wrong counts and changes were counted from them.
        var canBeWritten: Bool {
            nextRowID >= 0 && liveRows >= 0 && [segmentCount, deltaRows, deltaChanges].allSatisfy { $0 >= 0 && $0 <= Int(UInt32.max) }
                && deltaBytes >= 0
        }

        func touches(_ segment: Int) -> Bool { segment / 8 < touched.count && touched[segment / 8] >> UInt8(segment % 8) & 1 == 1 }

        mutating func touch(_ segment: Int) {
            while touched.count <= segment / 8 { touched.append(0) }
            touched[segment / 8] |= 1 << UInt8(segment % 8)
        }

        /// Records that `count` segments without delta records replace the given ones.
        mutating func untouch(_ segments: Range<Int>, replacedBy count: Int) {
            var bits = (0..<max(touched.count * 8, segments.upperBound)).map { touches($0) }
            bits.replaceSubrange(segments, with: repeatElement(false, count: count))
            touched = []
            for (i, bit) in bits.enumerated() where bit { touch(i) }
        }

        /// Records that a segment has no delta records any more. If the segment was removed, the later ones move up.
        mutating func untouch(_ segment: Int, removed: Bool) {
            var bits = (0..<touched.count * 8).map { touches($0) }
            guard segment < bits.count else { return }
            if removed { bits.remove(at: segment) } else { bits[segment] = false }
            touched = []
            for (i, bit) in bits.enumerated() where bit { touch(i) }
        }
    }

    var schemaRef: ExtentRef
    var types: [TypeState]

    /// Whether the schema and the indexes of another version are valid for this one, because both refer to the same extents.
    func hasSchema(of other: Catalogue) -> Bool {
        guard !schemaRef.isNone, schemaRef == other.schemaRef, types.count == other.types.count else { return false }
        for type in types.indices {
            guard types[type].directory == other.types[type].directory, types[type].segmentCount == other.types[type].segmentCount,
                types[type].inner == nil, other.types[type].inner == nil, other.types[type].indexDamage == nil
            else { return false }
        }
        return true
    }

    var encoded: [UInt8] {
        var out = ByteWriter()
        out.append(Catalogue.version)
        out.append(0 as UInt8)
        out.append(UInt16(types.count))
        schemaRef.encode(to: &out)
        for type in types {
            out.append(type.nextRowID)
            out.append(UInt64(type.liveRows))
            out.append(UInt32(type.segmentCount))
            out.append(UInt32(type.deltaRows))
            out.append(UInt32(type.deltaChanges))
            out.append(UInt32(clamping: type.deltaBytes))
            type.directory.encode(to: &out)
            type.delta.encode(to: &out)
            out.append(UInt32(type.touched.count))
            out.append(contentsOf: type.touched)
        }
        return out.bytes
    }

    init(schemaRef: ExtentRef, types: [TypeState]) {
        self.schemaRef = schemaRef
        self.types = types
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(Damage) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Catalogue.version else { throw Damage("unknown catalogue version") }
        _ = try reader.read(UInt8.self)
        let count = Int(try reader.read(UInt16.self))
        schemaRef = try ExtentRef(from: &reader)
        types = []
        for _ in 0..<count {
            var type = TypeState()
            let offset = reader.position
            type.nextRowID = try reader.read(Int64.self)
            let rows = try reader.read(UInt64.self)
            guard type.nextRowID >= 0, type.nextRowID < Catalogue.maximumRowIDs, rows <= UInt64(type.nextRowID) else {
                throw Damage("more rows than row ids", at: offset)
            }
            type.liveRows = Int(rows)
            type.segmentCount = Int(try reader.read(UInt32.self))
            type.deltaRows = Int(try reader.read(UInt32.self))
            type.deltaChanges = Int(try reader.read(UInt32.self))
            type.deltaBytes = Int(try reader.read(UInt32.self))
            type.directory = try ExtentRef(from: &reader)
            type.delta = try ExtentRef(from: &reader)
            guard UInt64(type.segmentCount) * UInt64(DirectoryEntry.size) <= type.directory.length else {
                throw Damage("more segments than the directory holds", at: offset)
            }
            type.touched = Array(try reader.read(count: Int(try reader.read(UInt32.self))))
            types.append(type)
        }
        guard reader.isAtEnd else { throw Damage("bytes after the catalogue", at: reader.position) }
    }
}

/// One sealed segment in the directory of its type: 64 bytes. Entries ascend by row id (`docs/format/model.md`, "Directory").
///
///     first row id i64 · last row id i64 · rows u32 · deleted u32 · header ref 32 · 0 u64
struct DirectoryEntry {
    static let size = 64

    var firstRowID: Int64
    var lastRowID: Int64
    var rowCount: Int
    var deletedCount: Int
    var header: ExtentRef

    func encode(into out: inout ByteWriter) {
        out.append(firstRowID)
        out.append(lastRowID)
        out.append(UInt32(rowCount))
        out.append(UInt32(deletedCount))
        header.encode(to: &out)
        out.append(UInt64(0))
    }

    init(firstRowID: Int64, lastRowID: Int64, rowCount: Int, deletedCount: Int, header: ExtentRef) {
        self.firstRowID = firstRowID
        self.lastRowID = lastRowID
        self.rowCount = rowCount
        self.deletedCount = deletedCount
        self.header = header
    }

    /// Decodes entry `index` of a directory.
    init(_ bytes: UnsafeRawBufferPointer, _ index: Int) throws(Damage) {
        var reader = ByteReader(bytes, at: index * DirectoryEntry.size)
        let offset = reader.position
        firstRowID = try reader.read(Int64.self)
        lastRowID = try reader.read(Int64.self)
        rowCount = Int(try reader.read(UInt32.self))
        deletedCount = Int(try reader.read(UInt32.self))
        header = try ExtentRef(from: &reader)
        guard firstRowID >= 0, rowCount > 0, rowCount <= segmentSize, deletedCount <= rowCount, lastRowID >= firstRowID,
            lastRowID - firstRowID >= Int64(rowCount - 1)
        else {
            throw Damage("a directory entry contradicts itself", at: offset)
        }
    }
}
