import FirnBytes

/// A table of FlatBuffers metadata that is being written: its fields by slot.
struct FlatBuilder {
    indirect enum Content {
        case byte(UInt8), short(Int16), int(Int32), long(Int64)
        case table(FlatBuilder)
        case text([UInt8])
        case tables([FlatBuilder])
        case longs([Int64]), ints([Int32])
        /// Structures of two or three 64-bit numbers.
        case structures([Int64], width: Int)

        var size: Int {
            switch self {
            case .byte: 1
            case .short: 2
            case .long: 8
            default: 4
            }
        }
    }

    private(set) var fields: [(slot: Int, content: Content)] = []

    /// Sets a field; nil leaves it out.
    mutating func set(_ slot: Int, _ content: Content?) {
        if let content { fields.append((slot, content)) }
    }

    mutating func set(_ slot: Int, flag: Bool) { if flag { set(slot, .byte(1)) } }

    /// The bytes of a buffer with this table as its root.
    var bytes: [UInt8] {
        var out: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
        let root = append(to: &out)
        FlatBuilder.put(UInt32(root), at: 0, in: &out)
        return out
    }

    private static func put<T: FixedWidthInteger>(_ value: T, at position: Int, in out: inout [UInt8]) {
        for i in 0..<MemoryLayout<T>.size { out[position + i] = UInt8(truncatingIfNeeded: value >> T(i * 8)) }
    }

    private static func append<T: FixedWidthInteger>(_ value: T, to out: inout [UInt8]) {
        for i in 0..<MemoryLayout<T>.size { out.append(UInt8(truncatingIfNeeded: value >> T(i * 8))) }
    }

    private static func align(_ out: inout [UInt8], _ alignment: Int, before more: Int = 0) {
        while (out.count + more) % alignment != 0 { out.append(0) }
    }

    /// Appends the layout of the table, the table, and then what it refers to. Returns the position of the table.
    private func append(to out: inout [UInt8]) -> Int {
        // Fields follow the offset of the layout, the largest first, after one of four bytes that fills the gap.
        var offsets: [Int: Int] = [:], end = 4
        var order = fields.indices.sorted { (-fields[$0].content.size, $0) < (-fields[$1].content.size, $1) }
        if let large = order.first, fields[large].content.size == 8, let four = order.firstIndex(where: { fields[$0].content.size == 4 }) {
            order.insert(order.remove(at: four), at: 0)
        }
        for i in order {
            let size = fields[i].content.size
            end = (end + size - 1) / size * size
            offsets[i] = end
            end += size
        }
        let slots = (fields.map(\.slot).max() ?? -1) + 1
        FlatBuilder.align(&out, 8, before: 4 + slots * 2)
        let layout = out.count, table = layout + 4 + slots * 2
        FlatBuilder.append(UInt16(4 + slots * 2), to: &out)
        FlatBuilder.append(UInt16(end), to: &out)
        var bySlot = [UInt16](repeating: 0, count: slots)
        for (i, field) in fields.enumerated() { bySlot[field.slot] = UInt16(offsets[i] ?? 0) }
        for offset in bySlot { FlatBuilder.append(offset, to: &out) }
        out.append(contentsOf: repeatElement(0, count: end))
        FlatBuilder.put(Int32(table - layout), at: table, in: &out)
        for (i, field) in fields.enumerated() {
            let at = table + (offsets[i] ?? 0)
            switch field.content {
            case .byte(let value): out[at] = value
            case .short(let value): FlatBuilder.put(value, at: at, in: &out)
            case .int(let value): FlatBuilder.put(value, at: at, in: &out)
            case .long(let value): FlatBuilder.put(value, at: at, in: &out)
            default: FlatBuilder.put(UInt32(FlatBuilder.append(field.content, to: &out) - at), at: at, in: &out)
            }
        }
        return table
    }

    /// Appends what a field refers to. Returns its position.
    private static func append(_ content: Content, to out: inout [UInt8]) -> Int {
        switch content {
        case .table(let table): return table.append(to: &out)
        case .text(let text):
            align(&out, 4)
            let start = out.count
            append(UInt32(text.count), to: &out)
            out += text
            out.append(0)
            return start
        case .tables(let tables):
            align(&out, 4)
            let start = out.count
            append(UInt32(tables.count), to: &out)
            out.append(contentsOf: repeatElement(0, count: tables.count * 4))
            for (i, table) in tables.enumerated() {
                let at = start + 4 + i * 4
                put(UInt32(table.append(to: &out) - at), at: at, in: &out)
            }
            return start
        case .ints(let values):
            align(&out, 4)
            let start = out.count
            append(UInt32(values.count), to: &out)
            for value in values { append(value, to: &out) }
            return start
        case .longs(let values): return append(numbers: values, count: values.count, to: &out)
        case .structures(let values, let width): return append(numbers: values, count: values.count * 8 / width, to: &out)
        case .byte, .short, .int, .long: trap("numbers are within their table")
        }
    }

    private static func append(numbers: [Int64], count: Int, to out: inout [UInt8]) -> Int {
        align(&out, 8, before: 4)
        let start = out.count
        append(UInt32(count), to: &out)
        for value in numbers { append(value, to: &out) }
        return start
    }
}
