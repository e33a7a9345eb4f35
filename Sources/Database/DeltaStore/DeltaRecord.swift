import FirnBytes
import FirnTable

/// The record of the delta store for one row id (`docs/format/model.md`, "Delta records"). Embedded objects are links to rows of their
/// type.
///
///     kind u8: 1 the whole row, 2 new values for some columns, 3 deleted, 4 as 2, with splices
///         · [count varint · count × (column id varint, value)] · [kind 4: count varint · count × (column id varint, splices)]
struct DeltaRecord {
    enum Kind: UInt8 { case row = 1, update = 2, deletion = 3 }
    /// The number in the file of an update with splices.
    static let splicedUpdate: UInt8 = 4

    var kind: Kind
    /// The values, with their column ids.
    var values: [(column: UInt32, value: Value)]
    /// The changes of large collections, with their column ids. Only updates have them, and no column has both a value and splices.
    var splices: [(column: UInt32, splices: CollectionSplices)] = []

    var encoded: [UInt8] {
        var out = ByteWriter()
        out.append(splices.isEmpty ? kind.rawValue : DeltaRecord.splicedUpdate)
        guard kind != .deletion else { return out.bytes }
        out.appendVarint(values.count)
        for entry in values {
            out.appendVarint(Int(entry.column))
            entry.value.encode(into: &out)
        }
        guard !splices.isEmpty else { return out.bytes }
        out.appendVarint(splices.count)
        for entry in splices {
            out.appendVarint(Int(entry.column))
            entry.splices.encode(into: &out)
        }
        return out.bytes
    }

    init(_ kind: Kind, _ values: [(column: UInt32, value: Value)] = []) {
        self.kind = kind
        self.values = values
    }

    init(_ bytes: [UInt8]) throws(Damage) {
        let result = bytes.withUnsafeBytes { bytes in Result { () throws(Damage) in try DeltaRecord(bytes) } }
        self = try result.get()
    }

    init(_ bytes: UnsafeRawBufferPointer) throws(Damage) {
        var reader = ByteReader(bytes)
        let number = try reader.read(UInt8.self)
        guard let kind = number == DeltaRecord.splicedUpdate ? .update : Kind(rawValue: number) else {
            throw Damage("unknown delta record")
        }
        self.kind = kind
        values = []
        guard kind != .deletion else { return }
        let count = try reader.readCount(limit: reader.remaining)
        for _ in 0..<count {
            let column = UInt32(try reader.readCount(limit: Int(UInt32.max)))
            values.append((column, try Value(from: &reader)))
        }
        if number == DeltaRecord.splicedUpdate {
            let count = try reader.readCount(limit: reader.remaining)
            guard count > 0 else { throw Damage("a delta record without splices", at: reader.position) }
            for _ in 0..<count {
                let column = UInt32(try reader.readCount(limit: Int(UInt32.max)))
                splices.append((column, try CollectionSplices(from: &reader)))
            }
        }
        guard reader.isAtEnd else { throw Damage("bytes after the delta record", at: reader.position) }
    }

    /// Returns the approximate memory that the decoded record takes. Small records are estimated by their length, without decoding.
    static func footprint(_ bytes: UnsafeRawBufferPointer) throws(Damage) -> Int {
        if bytes.count < 1 << 12 { return 64 + bytes.count * 2 }
        var reader = ByteReader(bytes)
        let number = try reader.read(UInt8.self)
        guard number != Kind.deletion.rawValue else { return 64 }
        var total = 64
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            _ = try reader.readCount(limit: Int(UInt32.max))
            total += MemoryLayout<(UInt32, Value)>.stride
            try Value.measure(&reader, &total)
        }
        guard number == splicedUpdate else { return total }
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            _ = try reader.readCount(limit: Int(UInt32.max))
            total += MemoryLayout<(UInt32, CollectionSplices)>.stride
            try CollectionSplices.measure(&reader, &total)
        }
        return total
    }

    /// Returns whether the record is an update with a value or splices for a column. Values are not kept.
    static func updates(_ column: UInt32, _ record: ByteReader) throws(Damage) -> Bool {
        var reader = record, unused = 0
        let number = try reader.read(UInt8.self)
        guard number == Kind.update.rawValue || number == splicedUpdate else { return false }
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            if try reader.readCount(limit: Int(UInt32.max)) == Int(column) { return true }
            try Value.measure(&reader, &unused)
        }
        guard number == splicedUpdate else { return false }
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            if try reader.readCount(limit: Int(UInt32.max)) == Int(column) { return true }
            try CollectionSplices.measure(&reader, &unused)
        }
        return false
    }

    func value(of column: UInt32) -> Value? { values.first { $0.column == column }?.value }

    func splices(of column: UInt32) -> CollectionSplices? { splices.first { $0.column == column }?.splices }

    /// Returns whether the record is an update with a value or splices for a column.
    func updates(_ column: UInt32) -> Bool {
        kind == .update && (values.contains { $0.column == column } || splices.contains { $0.column == column })
    }

    /// The ids of the columns for which the record has a value or splices.
    var columns: [UInt32] { values.map(\.column) + splices.map(\.column) }

    /// Replaces values and splices of this record by those of a later update. Splices of both are relative to the same value.
    mutating func update(with later: DeltaRecord) {
        splices.removeAll { later.updates($0.column) }
        for entry in later.values {
            if let i = values.firstIndex(where: { $0.column == entry.column }) {
                values[i].value = entry.value
            } else {
                values.append(entry)
            }
        }
        guard !later.splices.isEmpty else { return }
        values.removeAll { value in later.splices.contains { $0.column == value.column } }
        splices += later.splices
    }
}
