import FirnArrow
import FirnBytes
import FirnTable

/// Texts of a column with a dictionary: codes are collected first, and then all texts are copied together, unless a consumer takes the codes.
struct CodedTexts {
    private let dictionary: Text
    private let type: ColumnType
    private let codes: PooledBuffer
    /// The number of codes of all rows.
    private let rows: Int
    /// The number of codes that are known so far.
    private var count = 0
    private var present: Bits?
    private var part: Column

    /// Fails if the column has no dictionary.
    init?(_ reader: any ColumnReader, rows: Int, _ pool: BufferPool) throws(Damage) {
        guard let known = try CodedTexts.dictionary(of: reader) else { return nil }
        dictionary = known
        type = reader.type
        part = Column(ColumnType(.int, optional: type.isOptional))
        self.rows = rows
        codes = pool.buffer(rows * MemoryLayout<Int32>.size)
    }

    /// Returns the dictionary of a column of texts; nil if it has none.
    static func dictionary(of reader: any ColumnReader) throws(Damage) -> Text? {
        guard !reader.type.isCollection, reader.type.kind == .string || reader.type.kind == .data, let known = try reader.dictionary(),
            known.count > 0
        else { return nil }
        return known
    }

    /// The number of different texts, also of those that no row has.
    var valueCount: Int { dictionary.count }

    /// Appends some rows of a vector. The vectors that are appended have at most the rows that were announced to the initializer.
    mutating func append(_ reader: any ColumnReader, vector: Int, rows: VectorRows) throws(Damage) {
        try reader.readCodes(vector: vector, into: &part)
        if let present = part.present { for row in 0..<part.count where !present[row] { part.words[row] = 0 } }
        // Codes are compared together: negative ones are large without their sign.
        var largest: UInt64 = 0
        for word in part.words { largest = max(largest, UInt64(bitPattern: word)) }
        guard largest < UInt64(dictionary.count) else { throw Damage("a code is outside of the dictionary") }
        let before = count
        var end = count
        part.words.withUnsafeBufferPointer { words in
            codes.withValues(Int32.self) { codes in
                switch rows {
                case .all: CodedTexts.narrow(words[0..<part.count], to: codes, at: &end)
                case .runs(let runs): for run in runs { CodedTexts.narrow(words[run], to: codes, at: &end) }
                case .some(let rows): for row in rows { CodedTexts.narrow(words[Int(row)...Int(row)], to: codes, at: &end) }
                }
            }
        }
        count = end
        guard part.present != nil || present != nil else { return }
        var bits = present ?? Bits(repeating: true, count: before)
        if case .all = rows {
            bits.append(contentsOf: part.present ?? Bits(repeating: true, count: part.count))
        } else {
            for row in rows.list(of: part.count) { bits.append(part.isPresent(Int(row))) }
        }
        present = bits
    }

    private static func narrow(
        _ words: Slice<UnsafeBufferPointer<Int64>>, to codes: UnsafeMutableBufferPointer<Int32>, at count: inout Int
    ) {
        let words = UnsafeBufferPointer(rebasing: words)
        trap(unless: words.count <= codes.count - count, "there are more rows than were announced")
        for i in 0..<words.count { codes[count &+ i] = Int32(truncatingIfNeeded: words[i]) }
        count += words.count
    }

    /// Returns the codes of all rows that were announced.
    func coded(_ memory: MemoryScope) throws(Damage) -> CodedColumn {
        trap(unless: count == rows, "rows that were announced are missing")
        try memory.note(rows * MemoryLayout<Int32>.size)
        return CodedColumn(codes, count: rows, present: present, values: dictionary)
    }

    /// Returns the texts of all rows that were announced as views of those of the dictionary.
    func viewed(_ memory: MemoryScope, _ pool: BufferPool) throws(Damage) -> ViewColumn {
        trap(unless: count == rows, "rows that were announced are missing")
        try memory.note(rows * MemoryLayout<Int32>.size)
        return ViewColumn(codes, count: rows, present: present, values: dictionary, pool)
    }

    /// Returns the texts. Rows without a value have an empty text.
    func column(_ memory: MemoryScope) throws(Damage) -> Column {
        try codes.withValues(Int32.self) { (codes) throws(Damage) in try column(UnsafeBufferPointer(rebasing: codes[..<rows]), memory) }
    }

    private func column(_ codes: UnsafeBufferPointer<Int32>, _ memory: MemoryScope) throws(Damage) -> Column {
        trap(unless: count == rows, "rows that were announced are missing")
        var column = Column(type)
        column.count = rows
        column.present = present
        let offsets = self.offsets(codes), total = offsets[rows]
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

    /// Returns where the text of each row begins, and where the last one ends.
    private func offsets(_ codes: UnsafeBufferPointer<Int32>) -> [Int] {
        let ends = dictionary.offsets, lengths = (0..<dictionary.count).map { ends[$0 &+ 1] &- ends[$0] }
        return [Int](unsafeUninitializedCapacity: codes.count + 1) { out, filled in
            var total = 0
            out[0] = 0
            lengths.withUnsafeBufferPointer { lengths in
                if let present {
                    for (i, code) in codes.enumerated() {
                        if present[i] { total &+= lengths[Int(code)] }
                        out[i &+ 1] = total
                    }
                } else {
                    for (i, code) in codes.enumerated() {
                        total &+= lengths[Int(code)]
                        out[i &+ 1] = total
                    }
                }
            }
            filled = codes.count + 1
        }
    }
}
