import FirnBytes
import FirnTable

/// The record of the delta store for one row id (`docs/format/model.md`, "Delta records"). Embedded objects are links to rows of their
/// type.
///
///     kind u8: 1 the whole row, 2 new values for some columns, 3 deleted · [count varint · count × (column id varint, value)]
struct DeltaRecord {
    enum Kind: UInt8 { case row = 1, update = 2, deletion = 3 }

    var kind: Kind
    /// The values, with their column ids.
    var values: [(column: UInt32, value: Value)]

    var encoded: [UInt8] {
        var out = ByteWriter()
        out.append(kind.rawValue)
        guard kind != .deletion else { return out.bytes }
        out.appendVarint(values.count)
        for entry in values {
            out.appendVarint(Int(entry.column))
            entry.value.encode(into: &out)
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
        guard let kind = Kind(rawValue: try reader.read(UInt8.self)) else { throw Damage("unknown delta record") }
        self.kind = kind
        values = []
        guard kind != .deletion else { return }
        let count = try reader.readCount(limit: reader.remaining)
        for _ in 0..<count {
            let column = UInt32(try reader.readCount(limit: Int(UInt32.max)))
            values.append((column, try Value(from: &reader)))
        }
        guard reader.isAtEnd else { throw Damage("bytes after the delta record", at: reader.position) }
    }

    /// Returns the approximate memory that the decoded record takes. Small records are estimated by their length, without decoding.
    static func footprint(_ bytes: UnsafeRawBufferPointer) throws(Damage) -> Int {
        if bytes.count < 1 << 12 { return 64 + bytes.count * 2 }
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) != Kind.deletion.rawValue else { return 64 }
        var total = 64
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            _ = try reader.readCount(limit: Int(UInt32.max))
            total += MemoryLayout<(UInt32, Value)>.stride
            try Value.measure(&reader, &total)
        }
        return total
    }

    /// Returns whether the record is an update with a value for a column. Values are not kept.
    static func updates(_ column: UInt32, _ record: ByteReader) throws(Damage) -> Bool {
        var reader = record, unused = 0
        guard try reader.read(UInt8.self) == Kind.update.rawValue else { return false }
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            if try reader.readCount(limit: Int(UInt32.max)) == Int(column) { return true }
            try Value.measure(&reader, &unused)
        }
        return false
    }

    func value(of column: UInt32) -> Value? { values.first { $0.column == column }?.value }

    /// Replaces values of this record by those of a later update.
    mutating func update(with later: [(column: UInt32, value: Value)]) {
        for entry in later {
            if let i = values.firstIndex(where: { $0.column == entry.column }) {
                values[i].value = entry.value
            } else {
                values.append(entry)
            }
        }
    }
}
