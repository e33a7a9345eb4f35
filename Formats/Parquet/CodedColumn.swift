import FirnBytes
import FirnExchange
import FirnTable

/// The values of a dictionary page, sorted by bytes and without repetitions, and for each code of the page its position among them.
final class RankedDictionary: Sendable {
    /// The maximum number of values: a sorted dictionary pays if it is read many times.
    static let maximumCount = 1 << 12

    let values: Text
    let ranks: [UInt32]

    /// Returns nil if the dictionary is too large.
    init?(_ text: Text) {
        guard text.count > 0, text.count <= RankedDictionary.maximumCount else { return nil }
        let entries = (0..<text.count).map { Array(text.bytes[text.range($0)]) }
        let order = entries.indices.sorted { entries[$0].lexicographicallyPrecedes(entries[$1]) }
        var sorted = Text(), ranks = [UInt32](repeating: 0, count: entries.count)
        for (i, code) in order.enumerated() {
            if i == 0 || entries[order[i - 1]] != entries[code] { sorted.append(entries[code]) }
            ranks[code] = UInt32(sorted.count - 1)
        }
        sorted.charge = text.charge
        values = sorted
        self.ranks = ranks
    }
}

/// A column of text or bytes of a segment that is stored as codes of a dictionary, and kept so.
final class CodedColumn: ColumnReader {
    let type: ColumnType
    private let values: Text
    /// A code for each row: the number of values where there is none.
    private let codes: [UInt32]
    private let present: Bits?
    /// The values, and an empty one for rows without a value.
    private let texts: Text

    /// `codes` has a code for each row that is present.
    init(_ type: ColumnType, _ values: Text, _ codes: [UInt32], _ present: Bits?, rows: Int) throws(Damage) {
        guard codes.count == present?.ones ?? rows else { throw Damage("a column has \(codes.count) codes for \(rows) rows") }
        self.type = type
        self.values = values
        self.present = present
        var next = 0
        self.codes =
            present.map { present in
                (0..<rows).map { row in
                    guard present[row] else { return UInt32(values.count) }
                    next += 1
                    return codes[next - 1]
                }
            } ?? codes
        var texts = values
        texts.appendEmpty()
        self.texts = texts
    }

    var rowCount: Int { codes.count }

    private func rows(ofVector vector: Int) -> Range<Int> { vector * vectorSize..<min((vector + 1) * vectorSize, codes.count) }

    func dictionary() throws(Damage) -> Text? { values }

    func readCodes(vector: Int, into column: inout Column) throws(Damage) {
        let rows = rows(ofVector: vector), absent = UInt32(values.count)
        column.removeAll()
        codes.withUnsafeBufferPointer { codes in
            column.words.grow(rows.count, zero: 0) { out in
                for i in 0..<rows.count {
                    let code = codes[rows.lowerBound &+ i]
                    out[i] = code == absent ? 0 : Int64(code)
                }
            }
        }
        column.count = rows.count
        column.present = present?.slice(rows)
    }

    func read(vector: Int, into column: inout Column) throws(Damage) {
        column.removeAll()
        try append(rows(ofVector: vector), to: &column)
    }

    func wholeColumn() throws(Damage) -> Column? {
        var column = Column(type)
        try append(0..<codes.count, to: &column)
        return column
    }

    private func append(_ rows: Range<Int>, to column: inout Column) throws(Damage) {
        let room = DecodingRoom(free: 1 << 20)
        do throws(ParquetFault) {
            try codes.withUnsafeBufferPointer { (codes) throws(ParquetFault) in
                guard let base = codes.baseAddress else { return }
                try DictionaryGather.append(texts, base + rows.lowerBound, rows.count, room, to: &column.text)
            }
        } catch { throw Damage(error.what, beyondMemory: true) }
        if room.charge.bytes > 0 { column.text.charge = room.charge }
        column.count = rows.count
        column.present = present?.slice(rows)
    }

    func value(at row: Int) throws(Damage) -> Value {
        guard codes.indices.contains(row) else { throw Damage("no row \(row)") }
        guard present?[row] ?? true else { return .null }
        let bytes = Array(values.bytes[values.range(Int(codes[row]))])
        return type.kind == .string ? .string(String(decoding: bytes, as: UTF8.self)) : .data(bytes)
    }

    func search(_ range: SoughtRange, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> SearchOutcome {
        guard case .codes(let low, let high) = range, low <= high, let first = UInt32(exactly: low), let last = UInt32(exactly: high) else {
            return .notDone
        }
        let rows = rows(ofVector: vector)
        for word in 0..<vectorSize / 64 {
            var bits: UInt64 = 0
            let start = rows.lowerBound + word * 64
            for i in 0..<max(0, min(64, rows.upperBound - start)) {
                bits |= (codes[start &+ i] &- first <= last &- first ? 1 : 0) &<< UInt64(truncatingIfNeeded: i)
            }
            out[word] = bits
        }
        return .done(present: present?.slice(rows))
    }
}

/// A column of text or bytes of a segment: codes if it is stored so, else values. It is decoded when it is first read.
final class ParquetTextColumn: PartColumn, @unchecked Sendable {
    private let source: PartSource
    private let index: Int
    private let part: RowPart
    private let held = OnceOpened()

    init(_ source: PartSource, _ index: Int, _ part: RowPart) {
        self.source = source
        self.index = index
        self.part = part
    }

    private func opened() throws(Damage) -> any ColumnReader {
        try held.reader { () throws(Damage) in try source.readCoded(index, part) }
    }

    var type: ColumnType { source.content.plans[index].type }
    var rowCount: Int { part.rows.count }
    var storedBytes: Int { source.storedBytes(index, part) }
    func zone() -> Zone? { source.zone(index, part) }
    func zone(ofVector vector: Int) -> Zone? { source.zone(index, part.vector(vector)) }

    func decoded() throws(Damage) -> Column { try wholeColumn() ?? Column(type) }
    func wholeColumn() throws(Damage) -> Column? {
        if let known = held.known { return try known.wholeColumn() }
        return try source.read(index, part)
    }
    func read(vector: Int, into column: inout Column) throws(Damage) { try opened().read(vector: vector, into: &column) }
    func value(at row: Int) throws(Damage) -> Value { try opened().value(at: row) }
    func dictionary() throws(Damage) -> Text? { try opened().dictionary() }
    func readCodes(vector: Int, into column: inout Column) throws(Damage) { try opened().readCodes(vector: vector, into: &column) }
    func search(_ range: SoughtRange, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> SearchOutcome {
        try opened().search(range, vector: vector, into: out)
    }
}
