import FirnBytes
import FirnTable

/// The stored form of the bounds of a header's text columns: a part after the header.
///
///     "tzb1" · length u32 · for each column that has them: position varint · flags u8 (1 high is cut, 2 values ascend) · low: length varint, bytes · high: likewise
extension SegmentHeader {
    private static let boundsTag: [UInt8] = [0x74, 0x7A, 0x62, 0x31]

    func encodeTextBounds(into out: inout ByteWriter) {
        var part = ByteWriter()
        for (position, entry) in entries.enumerated() {
            guard case .text(let bounds) = entry.zone.bounds else { continue }
            part.appendVarint(position)
            part.append((bounds.isCut ? 1 : 0) | (bounds.ascends ? 2 : 0) as UInt8)
            part.append(lengthPrefixed: bounds.low)
            part.append(lengthPrefixed: bounds.high)
        }
        guard part.count > 0 else { return }
        out.append(contentsOf: SegmentHeader.boundsTag)
        out.append(UInt32(part.count))
        out.append(contentsOf: part.bytes)
    }

    /// Reads the parts after the header. Skips parts with unknown tags.
    mutating func readParts(_ reader: inout ByteReader) throws(Damage) {
        while reader.remaining >= 8 {
            let tag = try reader.read(count: 4), length = Int(try reader.read(UInt32.self))
            let start = reader.position, bytes = try reader.read(count: length)
            guard tag.elementsEqual(SegmentHeader.boundsTag) else { continue }
            do throws(Damage) { try readTextBounds(bytes) } catch { throw error.shifted(by: UInt64(start)) }
        }
    }

    private mutating func readTextBounds(_ bytes: UnsafeRawBufferPointer) throws(Damage) {
        var reader = ByteReader(bytes), next = 0
        while !reader.isAtEnd {
            let offset = reader.position, position = try reader.readCount(limit: entries.count), flags = try reader.read(UInt8.self)
            let low = Array(try reader.readLengthPrefixed()), high = Array(try reader.readLengthPrefixed())
            guard position >= next, position < entries.count, flags < 4, low.count <= TextBounds.most, high.count <= TextBounds.most,
                !high.lexicographicallyPrecedes(low),
                entries[position].zone.bounds == .none, !entries[position].zone.allNull
            else { throw Damage("bounds of text are inconsistent", at: offset) }
            entries[position].zone.bounds = .text(TextBounds(low: low, high: high, isCut: flags & 1 != 0, ascends: flags & 2 != 0))
            next = position + 1
        }
    }
}
