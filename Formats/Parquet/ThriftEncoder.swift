/// Writes structures in the compact protocol of Thrift.
///
///     var out = ThriftEncoder()
///     out.int(1, count)
///     out.structure(2) { $0.text(1, name) }
///     let bytes = out.finished
struct ThriftEncoder {
    private var bytes: [UInt8] = []
    private var last: Int16 = 0

    /// The bytes of the structure, with its end.
    var finished: [UInt8] { bytes + [0] }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    private mutating func signed(_ value: Int) { varint(UInt64(bitPattern: Int64(value &<< 1) ^ Int64(value &>> 63))) }

    private mutating func head(_ id: Int16, _ kind: ThriftReader.Kind) {
        if id > last, id - last < 16 {
            bytes.append(UInt8(id - last) << 4 | kind.rawValue)
        } else {
            bytes.append(kind.rawValue)
            signed(Int(id))
        }
        last = id
    }

    mutating func bool(_ id: Int16, _ value: Bool) { head(id, value ? .yes : .no) }

    mutating func byte(_ id: Int16, _ value: Int8) {
        head(id, .byte)
        bytes.append(UInt8(bitPattern: value))
    }

    mutating func short(_ id: Int16, _ value: Int) {
        head(id, .int16)
        signed(value)
    }

    /// Writes a number of 32 bits.
    mutating func int(_ id: Int16, _ value: Int) {
        head(id, .int32)
        signed(value)
    }

    /// Writes a number of 64 bits.
    mutating func long(_ id: Int16, _ value: Int) {
        head(id, .int64)
        signed(value)
    }

    mutating func text(_ id: Int16, _ value: String) { binary(id, Array(value.utf8)) }

    mutating func binary(_ id: Int16, _ value: [UInt8]) {
        head(id, .binary)
        varint(UInt64(value.count))
        bytes += value
    }

    mutating func structure(_ id: Int16, _ fill: (inout ThriftEncoder) -> Void) {
        head(id, .structure)
        element(fill)
    }

    private mutating func element(_ fill: (inout ThriftEncoder) -> Void) {
        let outer = last
        last = 0
        fill(&self)
        bytes.append(0)
        last = outer
    }

    private mutating func listHead(_ id: Int16, _ kind: ThriftReader.Kind, _ count: Int) {
        head(id, .list)
        if count < 15 {
            bytes.append(UInt8(count) << 4 | kind.rawValue)
        } else {
            bytes.append(0xF0 | kind.rawValue)
            varint(UInt64(count))
        }
    }

    /// Writes a list of structures.
    mutating func list<T>(_ id: Int16, _ elements: [T], _ fill: (inout ThriftEncoder, T) -> Void) {
        listHead(id, .structure, elements.count)
        for value in elements { element { fill(&$0, value) } }
    }

    mutating func ints(_ id: Int16, _ elements: [Int]) {
        listHead(id, .int32, elements.count)
        for value in elements { signed(value) }
    }

    mutating func longs(_ id: Int16, _ elements: [Int]) {
        listHead(id, .int64, elements.count)
        for value in elements { signed(value) }
    }

    mutating func bools(_ id: Int16, _ elements: [Bool]) {
        listHead(id, .yes, elements.count)
        for value in elements { bytes.append(value ? 1 : 2) }
    }

    mutating func binaries(_ id: Int16, _ elements: [[UInt8]]) {
        listHead(id, .binary, elements.count)
        for value in elements {
            varint(UInt64(value.count))
            bytes += value
        }
    }
}
