import FirnBytes
import FirnExchange

/// A table of FlatBuffers metadata (the format of the project FlatBuffers, "Internals"). Every offset is checked before it is followed.
/// Offsets to other tables lead forward only, so that no chain of them returns to a table; the visitor bounds the number of tables.
struct FlatTable {
    private let bytes: UnsafeRawBufferPointer
    /// The offset of `bytes` in the file.
    private let base: Int
    private let position: Int
    private let slots: Int
    private let slotsSize: Int
    private let size: Int

    /// The offset of the table in the file.
    var offset: Int { base + position }

    /// The table at the root of a buffer.
    init(root bytes: UnsafeRawBufferPointer, base: Int) throws(ArrowFault) {
        guard bytes.count >= 8 else { throw ArrowFault("the metadata is cut short", at: base) }
        let start = Int(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
        try self.init(bytes, base, at: start)
    }

    private init(_ bytes: UnsafeRawBufferPointer, _ base: Int, at position: Int) throws(ArrowFault) {
        let count = bytes.count
        guard position >= 4, position <= count - 4 else { throw ArrowFault("a table of the metadata is outside it", at: base) }
        let back = Int(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: Int32.self))), slots = position - back
        guard slots >= 0, slots <= count - 4 else { throw ArrowFault("a table of the metadata has no layout", at: base + position) }
        slotsSize = Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: slots, as: UInt16.self)))
        size = Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: slots + 2, as: UInt16.self)))
        guard slotsSize >= 4, slotsSize <= count - slots, size >= 4, size <= count - position else {
            throw ArrowFault("a table of the metadata has a wrong layout", at: base + position)
        }
        self.bytes = bytes
        self.base = base
        self.position = position
        self.slots = slots
    }

    /// Returns the position of a field of `width` bytes; nil if it is absent.
    private func field(_ slot: Int, _ width: Int) throws(ArrowFault) -> Int? {
        let at = 4 + slot * 2
        guard at + 2 <= slotsSize else { return nil }
        let offset = Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: slots + at, as: UInt16.self)))
        if offset == 0 { return nil }
        guard offset >= 4, offset + width <= size else {
            throw ArrowFault("a field of the metadata is outside its table", at: base + position)
        }
        return position + offset
    }

    func scalar<T: FixedWidthInteger>(_ slot: Int, _ preset: T) throws(ArrowFault) -> T {
        guard let at = try field(slot, MemoryLayout<T>.size) else { return preset }
        return T(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: T.self))
    }

    func flag(_ slot: Int) throws(ArrowFault) -> Bool { try scalar(slot, 0 as UInt8) != 0 }

    /// Follows the offset in a field.
    private func target(_ slot: Int) throws(ArrowFault) -> Int? {
        guard let at = try field(slot, 4) else { return nil }
        return try follow(at)
    }

    private func follow(_ at: Int) throws(ArrowFault) -> Int {
        let offset = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self)))
        guard offset >= 4, offset <= bytes.count - at - 4 else {
            throw ArrowFault("an offset of the metadata leads outside it", at: base + at)
        }
        return at + offset
    }

    func table(_ slot: Int) throws(ArrowFault) -> FlatTable? {
        guard let at = try target(slot) else { return nil }
        return try FlatTable(bytes, base, at: at)
    }

    /// Returns the bytes of a text.
    func text(_ slot: Int) throws(ArrowFault) -> UnsafeRawBufferPointer? {
        guard let (start, count) = try vector(slot, 1) else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
    }

    /// Returns the text in UTF-8.
    func string(_ slot: Int) throws(ArrowFault) -> String? {
        guard let text = try text(slot) else { return nil }
        guard let string = String(validating: text, as: UTF8.self) else {
            throw ArrowFault("a name in the metadata is not UTF-8", at: offset)
        }
        return string
    }

    private func vector(_ slot: Int, _ width: Int) throws(ArrowFault) -> (start: Int, count: Int)? {
        guard let at = try target(slot) else { return nil }
        let count = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self)))
        guard count <= (bytes.count - at - 4) / width else {
            throw ArrowFault("a list of \(count) in the metadata is longer than the metadata", at: base + at)
        }
        return (at + 4, count)
    }

    /// Returns the bytes of a list of structures of `width` bytes.
    func structures(_ slot: Int, width: Int) throws(ArrowFault) -> (bytes: UnsafeRawBufferPointer, count: Int) {
        guard let (start, count) = try vector(slot, width) else { return (UnsafeRawBufferPointer(start: nil, count: 0), 0) }
        return (UnsafeRawBufferPointer(rebasing: bytes[start..<start + count * width]), count)
    }

    /// Returns the numbers of a list.
    func numbers<T: FixedWidthInteger>(_ slot: Int, as type: T.Type) throws(ArrowFault) -> [T] {
        let width = MemoryLayout<T>.size
        let (list, count) = try structures(slot, width: width)
        return (0..<count).map { T(littleEndian: list.loadUnaligned(fromByteOffset: $0 * width, as: T.self)) }
    }

    /// Returns the tables of a list.
    func tables(_ slot: Int, maximum: Int) throws(ArrowFault) -> [FlatTable] {
        guard let (start, count) = try vector(slot, 4) else { return [] }
        guard count <= maximum else { throw ArrowFault("the metadata refers to the same tables again and again", at: offset) }
        var out: [FlatTable] = []
        out.reserveCapacity(count)
        for i in 0..<count { out.append(try FlatTable(bytes, base, at: try follow(start + i * 4))) }
        return out
    }
}
