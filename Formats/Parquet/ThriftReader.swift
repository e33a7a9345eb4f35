import FirnBytes
import FirnExchange

/// Reads structures in the compact protocol of Thrift from untrusted bytes.
///
/// A structure is read field by field, and fields that are not known are skipped:
///
///     var last: Int16 = 0
///     while let field = try reader.field(after: &last) {
///         switch field.id {
///         case 1: count = try reader.int(field)
///         default: try reader.skip(field)
///         }
///     }
struct ThriftReader {
    /// The types of the protocol, as they are encoded.
    enum Kind: UInt8 {
        case yes = 1, no = 2, byte = 3, int16 = 4, int32 = 5, int64 = 6, double = 7, binary = 8, list = 9, set = 10, map = 11, structure =
            12
    }

    struct Field {
        var id: Int16
        var kind: Kind
    }

    let bytes: UnsafeRawBufferPointer
    /// The offset of the first byte in the file, for errors.
    let origin: Int
    private(set) var position = 0

    private static let maximumDepth = 32

    init(_ bytes: UnsafeRawBufferPointer, origin: Int) {
        self.bytes = bytes
        self.origin = origin
    }

    var remaining: Int { bytes.count - position }

    func fault(_ what: String) -> ParquetFault { ParquetFault(what, at: origin + position) }

    mutating func byte() throws(ParquetFault) -> UInt8 {
        guard position < bytes.count else { throw fault("the metadata is cut short") }
        position += 1
        return bytes[position - 1]
    }

    mutating func varint() throws(ParquetFault) -> UInt64 {
        var value: UInt64 = 0, shift: UInt64 = 0
        while true {
            let next = try byte()
            if shift == 63, next > 1 { throw fault("a number of the metadata is too large") }
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
            shift += 7
            if shift > 63 { throw fault("a number of the metadata is too large") }
        }
    }

    private mutating func signed() throws(ParquetFault) -> Int64 {
        let value = try varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    private func kind(_ code: UInt8) throws(ParquetFault) -> Kind {
        guard let kind = Kind(rawValue: code) else { throw fault("the metadata has a field of the unknown type \(code)") }
        return kind
    }

    /// Returns the next field of a structure; nil at its end.
    mutating func field(after last: inout Int16) throws(ParquetFault) -> Field? {
        let head = try byte()
        if head == 0 { return nil }
        let delta = Int16(head >> 4), kind = try kind(head & 15)
        if delta == 0 {
            guard let id = Int16(exactly: try signed()) else { throw fault("the metadata has a field with an invalid number") }
            last = id
        } else {
            let (id, overflow) = last.addingReportingOverflow(delta)
            guard !overflow else { throw fault("the metadata has a field with an invalid number") }
            last = id
        }
        return Field(id: last, kind: kind)
    }

    private func unexpected(_ field: Field) -> ParquetFault {
        fault("field \(field.id) of the metadata has the unexpected type \(field.kind)")
    }

    mutating func int(_ field: Field) throws(ParquetFault) -> Int {
        switch field.kind {
        case .byte: return Int(Int8(bitPattern: try byte()))
        case .int16, .int32:
            let value = try signed()
            guard Int32(exactly: value) != nil else { throw fault("field \(field.id) of the metadata has 32 bits and the value \(value)") }
            return Int(value)
        case .int64: return Int(try signed())
        default: throw unexpected(field)
        }
    }

    func bool(_ field: Field) throws(ParquetFault) -> Bool {
        guard field.kind == .yes || field.kind == .no else { throw unexpected(field) }
        return field.kind == .yes
    }

    /// Returns where the bytes of a binary are in `bytes`.
    mutating func binary(_ field: Field) throws(ParquetFault) -> Range<Int> {
        guard field.kind == .binary else { throw unexpected(field) }
        return try binary()
    }

    private mutating func binary() throws(ParquetFault) -> Range<Int> {
        let count = try varint()
        guard count <= UInt64(remaining) else { throw fault("the metadata is cut short") }
        position += Int(count)
        return position - Int(count)..<position
    }

    /// Returns where the bytes of a binary are in the file.
    mutating func placed(_ field: Field) throws(ParquetFault) -> Range<Int> {
        let range = try binary(field)
        return range.lowerBound + origin..<range.upperBound + origin
    }

    /// Reads the name of a column.
    mutating func name(_ field: Field) throws(ParquetFault) -> String {
        let range = try binary(field)
        guard let name = String(validating: bytes[range], as: UTF8.self) else { throw fault("the name of a column is not UTF-8") }
        return name
    }

    mutating func text(_ field: Field) throws(ParquetFault) -> String {
        let range = try binary(field)
        return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }

    /// Reads the head of a list. Each element takes at least one byte, so the count is less than the number of remaining bytes.
    mutating func list(_ field: Field) throws(ParquetFault) -> (count: Int, element: Field) {
        guard field.kind == .list || field.kind == .set else { throw unexpected(field) }
        let head = try byte(), kind = try kind(head & 15)
        let count = head >> 4 == 15 ? try varint() : UInt64(head >> 4)
        guard count <= UInt64(remaining) else { throw fault("a list of the metadata has \(count) elements, more than there are bytes") }
        return (Int(count), Field(id: field.id, kind: kind))
    }

    /// Reads an element of a list of booleans, which takes a byte.
    mutating func boolElement() throws(ParquetFault) -> Bool { try byte() == 1 }

    /// Checks that a field is a structure, whose fields follow.
    func enter(_ field: Field) throws(ParquetFault) {
        guard field.kind == .structure else { throw unexpected(field) }
    }

    mutating func skip(_ field: Field, depth: Int = 0) throws(ParquetFault) {
        guard depth < ThriftReader.maximumDepth else { throw fault("the metadata nests too deep") }
        switch field.kind {
        case .yes, .no: break
        case .byte: _ = try byte()
        case .int16, .int32, .int64: _ = try varint()
        case .double:
            guard remaining >= 8 else { throw fault("the metadata is cut short") }
            position += 8
        case .binary: _ = try binary()
        case .list, .set:
            let (count, element) = try list(field)
            for _ in 0..<count { try skipElement(element, depth) }
        case .map:
            let count = try varint()
            guard count > 0 else { return }
            guard count <= UInt64(remaining) else { throw fault("a map of the metadata has too many entries") }
            let kinds = try byte(), key = Field(id: 0, kind: try kind(kinds >> 4)), value = Field(id: 0, kind: try kind(kinds & 15))
            for _ in 0..<Int(count) {
                try skipElement(key, depth)
                try skipElement(value, depth)
            }
        case .structure:
            var last: Int16 = 0
            while let inner = try self.field(after: &last) { try skip(inner, depth: depth + 1) }
        }
    }

    private mutating func skipElement(_ element: Field, _ depth: Int) throws(ParquetFault) {
        if element.kind == .yes || element.kind == .no { _ = try byte() } else { try skip(element, depth: depth + 1) }
    }
}
