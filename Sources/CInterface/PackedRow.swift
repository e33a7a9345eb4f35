import CFirn
import FirnBytes
import FirnChange
import FirnExchange
import FirnTable

/// A row in the layout of `firn_get`: a slot of eight bytes for each column, a byte for each column that says what its slot holds, and the
/// bytes that slots refer to.
struct PackedRow {
    private var slots: [UInt64] = []
    private var states: [UInt8] = []
    private var bytes: [UInt8] = []
    /// Where `bytes` begin.
    private let start: Int

    init(columns count: Int) {
        start = count * 9
        slots.reserveCapacity(count)
        states.reserveCapacity(count)
    }

    var count: Int { start + bytes.count }

    mutating func append(_ value: Value, _ column: ColumnSchema, _ schema: Schema) {
        switch value {
        case .null: add(0, FIRN_SLOT_NULL)
        case .bool(let x) where column.type.kind == .bool: add(x ? 1 : 0, FIRN_SLOT_VALUE)
        case .int(let x) where column.type.kind == .int: add(UInt64(bitPattern: x), FIRN_SLOT_VALUE)
        case .link(let x) where column.type.kind == .link: add(UInt64(bitPattern: x), FIRN_SLOT_VALUE)
        case .double(let x) where column.type.kind == .double: add(x.bitPattern, FIRN_SLOT_VALUE)
        // The double that the shortest text of the float means, as in JSON.
        case .float(let x) where column.type.kind == .float:
            add((x.isFinite ? Double("\(x)") ?? Double(x) : Double(x)).bitPattern, FIRN_SLOT_VALUE)
        case .string(let x) where column.type.kind == .string: append(x.utf8, FIRN_SLOT_BYTES)
        case .data(let x) where column.type.kind == .data: append(x, FIRN_SLOT_BYTES)
        case .date(let x) where column.type.kind == .date && PackedRow.seconds.contains(x.seconds) && x.nanoseconds >= 0:
            add(UInt64(bitPattern: x.seconds * 1_000_000 + Int64(x.nanoseconds / 1000)), FIRN_SLOT_VALUE)
        default:
            var text: [UInt8] = []
            ExactJSON.append(value.named(column.type, in: schema, unwraps: true), to: &text)
            append(text, FIRN_SLOT_JSON)
        }
    }

    /// The years 1 to 9999.
    private static let seconds: Range<Int64> = -62_135_596_800..<253_402_300_800

    private mutating func add(_ slot: UInt64, _ state: firn_slot) {
        slots.append(slot)
        states.append(UInt8(truncatingIfNeeded: state.rawValue))
    }

    private mutating func append(_ value: some Collection<UInt8>, _ state: firn_slot) {
        add(UInt64(UInt32(truncatingIfNeeded: count)) | UInt64(UInt32(truncatingIfNeeded: value.count)) << 32, state)
        bytes.append(contentsOf: value)
    }

    /// Writes the row if there is room for it.
    func write(to room: UnsafeMutableRawBufferPointer) {
        guard room.count >= count else { return }
        slots.withUnsafeBytes { room.copyBytes(from: $0) }
        UnsafeMutableRawBufferPointer(rebasing: room[(slots.count * 8)...]).copyBytes(from: states)
        UnsafeMutableRawBufferPointer(rebasing: room[start...]).copyBytes(from: bytes)
    }
}

/// `firn_get` of `firn.h`.
@_cdecl("firn_get")
public func firnGet(
    _ table: OpaquePointer?, _ key: UnsafePointer<firn_value>?, _ count: Int, _ row: UnsafeMutableRawPointer?, _ room: Int,
    _ length: UnsafeMutablePointer<Int>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let reader = try CTable.reading(table, "table")
        guard let length, room >= 0, room == 0 || row != nil else { throw FirnError(.usage, "the row or its length is NULL") }
        guard let values = try reader.values(try reader.find(key, count), reader.visible) else {
            throw FirnError(.damaged, "the index has a row that does not exist", at: .init(file: reader.path))
        }
        var packed = PackedRow(columns: values.count)
        // Asked for once: each answer is a copy.
        let type = reader.table.type, schema = reader.table.schema
        for (i, value) in values.enumerated() { packed.append(value, type.columns[reader.visible[i]], schema) }
        guard packed.count <= Int(Int32.max) else {
            throw FirnError(.usage, "the row has more than 2 GiB", at: .init(file: reader.path), advice: "read it with firn_row_text")
        }
        packed.write(to: UnsafeMutableRawBufferPointer(start: row, count: room))
        length.pointee = packed.count
    }
}
