import FirnBytes

/// The header of a file: which version is read, and in which format.
struct RealmHeader {
    /// The offset of the top array; nil if nothing was ever committed.
    let top: Int?
    let format: UInt8
    /// The offset of the byte that holds the format.
    let formatOffset: Int
    /// The top reference of the other slot; nil if it leads to no version.
    private let other: (top: Int, format: UInt8, formatOffset: Int, slot: Int)?

    init(_ bytes: RealmBytes) throws(Damage) {
        guard bytes.count >= RealmFileFormat.headerBytes else { throw Damage("the header is cut short", at: bytes.count) }
        guard bytes.count % 8 == 0 else {
            throw Damage("the length of \(bytes.count) bytes is not a multiple of 8: the file is truncated", at: bytes.count)
        }
        let header = try bytes.pointer(0, RealmFileFormat.headerBytes)
        let flags = header.load(fromByteOffset: 23, as: UInt8.self), live = Int(flags & 1)
        func slot(_ index: Int) -> UInt64 { UInt64(littleEndian: header.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)) }
        func version(_ index: Int) -> UInt8 { header.load(fromByteOffset: 20 + index, as: UInt8.self) }
        formatOffset = 20 + live
        format = version(live)
        if live == 0, slot(0) == .max {
            // The streaming form has its top reference in the last 16 bytes.
            guard bytes.count >= RealmFileFormat.headerBytes + 16 else { throw Damage("the footer is cut short", at: bytes.count) }
            let footer = try bytes.pointer(bytes.count - 16, 16)
            guard UInt64(littleEndian: footer.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) == RealmFileFormat.footerCookie else {
                throw Damage("the file does not end with the footer of its form: it is truncated", at: bytes.count - 8)
            }
            top = try RealmHeader.top(
                UInt64(littleEndian: footer.loadUnaligned(as: UInt64.self)), at: bytes.count - 16, of: bytes)
            other = nil
            return
        }
        top = slot(live) == 0 ? nil : try RealmHeader.top(slot(live), at: live * 8, of: bytes)
        let word = slot(1 - live)
        other =
            word == 0 || word == .max || word % 8 != 0 || word >= UInt64(bytes.count)
            ? nil : (Int(word), version(1 - live), 21 - live, (1 - live) * 8)
    }

    private init(top: Int, format: UInt8, formatOffset: Int) {
        self.top = top
        self.format = format
        self.formatOffset = formatOffset
        other = nil
    }

    /// The header of the version that the inactive top reference leads to; nil if it leads to none.
    var previous: RealmHeader? {
        other.map { RealmHeader(top: $0.top, format: $0.format, formatOffset: $0.formatOffset) }
    }

    private static func top(_ ref: UInt64, at offset: Int, of bytes: RealmBytes) throws(Damage) -> Int {
        guard ref != 0, ref % 8 == 0, ref < UInt64(bytes.count) else {
            throw Damage("the top reference \(ref) does not lead into the file", at: offset)
        }
        return Int(ref)
    }
}

/// The top array: the root of one version.
struct RealmTop {
    /// The names of the tables, by slot.
    let names: [String]
    /// The top arrays of the tables, by slot; nil for free slots.
    let tables: [Int?]
    /// The number of the version; 0 if the file has none.
    let version: UInt64

    init(_ ref: Int, _ bytes: RealmBytes) throws(Damage) {
        let array = try bytes.array(ref)
        guard array.hasRefs, !array.isInner, [3, 5, 7, 9, 10, 11, 12].contains(array.count) else {
            throw Damage("this is not the top array of a version", at: ref)
        }
        guard let size = array.tagged(2), let nameRef = try array.ref(0), let tableRef = try array.ref(1) else {
            throw Damage("the top array lacks the names, the tables or the size", at: ref)
        }
        guard size <= UInt64(bytes.count) else {
            throw Damage("the file has \(bytes.count) of its \(size) bytes: it is truncated", at: bytes.count)
        }
        version = array.count > 6 ? array.tagged(6) ?? 0 : 0
        let refs = try bytes.array(tableRef)
        guard refs.hasRefs || refs.count == 0 || refs.width == 0, refs.count <= 1 << 16 else {
            throw Damage("this is not an array of tables", at: tableRef)
        }
        names = try bytes.names(nameRef)
        guard names.count >= refs.count else { throw Damage("\(refs.count) tables have \(names.count) names", at: nameRef) }
        var tables: [Int?] = []
        for slot in 0..<refs.count { tables.append(refs.isRef(slot) ? try refs.ref(slot) : nil) }
        var taken: Set<String> = []
        for (name, table) in zip(names, tables) where table != nil && !taken.insert(name).inserted {
            throw Damage("two tables have the name \"\(name)\"", at: nameRef)
        }
        self.tables = tables
    }
}

extension RealmBytes {
    /// Returns the strings of an array of short strings that cannot be null, such as the names of tables and columns.
    func names(_ ref: Int) throws(Damage) -> [String] {
        let array = try array(ref)
        guard !array.hasRefs, array.kind == .bytes || array.width == 0 else { throw Damage("this is not an array of names", at: ref) }
        guard array.count <= 1 << 16 else { throw Damage("\(array.count) names are too many", at: ref) }
        var names: [String] = []
        for i in 0..<array.count {
            let text = try array.shortString(i).map { String(decoding: $0, as: UTF8.self) } ?? ""
            names.append(text)
        }
        return names
    }
}
