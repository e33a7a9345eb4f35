import FirnBytes
import FirnTable

/// Texts of a column with a dictionary: codes are collected first, and then all texts are copied together.
struct CodedTexts {
    private let dictionary: Text
    private let type: ColumnType
    private var codes: [Int32] = []
    private var present: Bits?
    private var part: Column

    /// Fails if the column has no dictionary.
    init?(_ reader: any ColumnReader, rows: Int) throws(Damage) {
        guard !reader.type.isCollection, reader.type.kind == .string || reader.type.kind == .data, let known = try reader.dictionary(),
            known.count > 0
        else { return nil }
        dictionary = known
        type = reader.type
        part = Column(ColumnType(.int, optional: type.isOptional))
        codes.reserveCapacity(rows)
    }

    /// Appends some rows of a vector; nil: all.
    mutating func append(_ reader: any ColumnReader, vector: Int, rows: [Int32]?) throws(Damage) {
        try reader.readCodes(vector: vector, into: &part)
        let before = codes.count, count = dictionary.count
        var isWrong = false
        func code(_ row: Int) -> Int32 {
            let value = part.isPresent(row) ? part.words[row] : 0
            isWrong = isWrong || value < 0 || value >= count
            return Int32(truncatingIfNeeded: value)
        }
        if let rows { for row in rows { codes.append(code(Int(row))) } } else { for row in 0..<part.count { codes.append(code(row)) } }
        guard !isWrong else { throw Damage("a code is outside of the dictionary") }
        guard part.present != nil || present != nil else { return }
        var bits = present ?? Bits(repeating: true, count: before)
        if let rows {
            for row in rows { bits.append(part.isPresent(Int(row))) }
        } else {
            bits.append(contentsOf: part.present ?? Bits(repeating: true, count: part.count))
        }
        present = bits
    }

    /// Returns the texts. Rows without a value have an empty text.
    func column(_ memory: MemoryScope) throws(Damage) -> Column {
        var column = Column(type)
        column.count = codes.count
        column.present = present
        var total = 0
        let offsets = [Int](unsafeUninitializedCapacity: codes.count + 1) { out, filled in
            out[0] = 0
            dictionary.offsets.withUnsafeBufferPointer { ends in
                for (i, code) in codes.enumerated() {
                    if present?[i] ?? true { total &+= ends[Int(code) &+ 1] &- ends[Int(code)] }
                    out[i &+ 1] = total
                }
            }
            filled = codes.count + 1
        }
        try column.text.reserve(total + offsets.count * 8, memory)
        column.text.offsets = offsets
        // Each text is copied with up to seven bytes after it, which the next one replaces.
        let padding = [UInt8](repeating: 0, count: 8), source = dictionary.bytes + padding
        column.text.bytes = [UInt8](unsafeUninitializedCapacity: total + 8) { out, filled in
            source.withUnsafeBytes { source in
                guard let from = source.baseAddress, let to = UnsafeMutableRawPointer(out.baseAddress) else { return }
                for (i, code) in codes.enumerated() {
                    let count = offsets[i &+ 1] &- offsets[i], start = dictionary.offsets[Int(code)]
                    if count <= 8 {
                        (to + offsets[i]).storeBytes(of: (from + start).loadUnaligned(as: UInt64.self), as: UInt64.self)
                    } else {
                        (to + offsets[i]).copyMemory(from: from + start, byteCount: count)
                    }
                }
            }
            filled = total
        }
        return column
    }
}
