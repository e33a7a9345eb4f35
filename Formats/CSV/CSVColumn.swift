import FirnBytes
import FirnExchange
import FirnTable

/// How the cells of one column are read.
struct CSVPlan: Sendable {
    /// The position among the cells of a record.
    var cell: Int
    var type: ColumnType
    /// How the values are written: decides how dates are read.
    var notation = Notation.plain
    /// Whether cells that the type does not round-trip keep their text in a companion.
    var hasOriginals = false
    /// While guesses are made: whether fractions follow a comma, or a point; then numbers can have groups of digits. Nil for ordinary ones.
    var hasComma: Bool?
    /// Whether the type was requested rather than inferred, so that cells can fail to fit it.
    var isForced: Bool
    /// The column, if cells of its type can be written back with a different text. Such cells are reported, and must denote the same
    /// number.
    var spelling: ColumnSchema?
    /// The number of rows; links must be less.
    var rowLimit = Int64.max
    /// The texts that represent null.
    var nulls = CSVNulls([""])
}

/// Collects the values of one column while a block is read.
final class CSVColumn {
    let plan: CSVPlan
    private var capacity = 0
    private var expectedRows = 1
    private(set) var count = 0
    private var words: UnsafeMutablePointer<Int64>?
    private var extra: UnsafeMutablePointer<Int64>?
    private var reals: UnsafeMutablePointer<Double>?
    /// The end offsets of the texts.
    private var ends: UnsafeMutablePointer<Int>?
    private var text: UnsafeMutablePointer<UInt8>?
    private var textCount = 0, textCapacity = 0
    private var nulls: [Int32] = []
    private var originals: CSVOriginals?
    /// The layout of numbers with a decimal comma or groups; nil for other columns.
    private let layout: NumberLayout?

    init(_ plan: CSVPlan) {
        self.plan = plan
        layout = plan.type.kind.isNumber ? NumberLayout(plan.notation) : nil
        if plan.hasOriginals { originals = CSVOriginals(plan.type.kind, plan.notation.plainNumber) }
    }

    deinit {
        words?.deallocate()
        extra?.deallocate()
        reals?.deallocate()
        ends?.deallocate()
        text?.deallocate()
    }

    private var usesIntegers: Bool { !usesFloats && !usesText }
    private var usesExtra: Bool { [.date, .decimal, .uuid, .objectID].contains(plan.type.kind) }
    private var usesFloats: Bool { plan.type.kind == .double || plan.type.kind == .float }
    private var usesText: Bool { plan.type.kind == .string }

    /// Sets the number of rows for which the first cells allocate memory.
    func expect(rows: Int) { expectedRows = rows }

    private func reserve(_ more: Int) {
        guard count + more > capacity || capacity == 0 else { return }
        let larger = max(count + more, capacity * 2, expectedRows)
        if usesIntegers { CSVColumn.grow(&words, count, larger) }
        if usesExtra { CSVColumn.grow(&extra, count, larger) }
        if usesFloats { CSVColumn.grow(&reals, count, larger) }
        if usesText { CSVColumn.grow(&ends, count, larger) }
        capacity = larger
    }

    private static func grow<T>(_ memory: inout UnsafeMutablePointer<T>?, _ count: Int, _ capacity: Int) {
        let larger = UnsafeMutablePointer<T>.allocate(capacity: capacity)
        if let old = memory {
            larger.update(from: old, count: count)
            old.deallocate()
        }
        memory = larger
    }

    /// Appends the cells of an index. If a cell does not fit, appends nothing and returns its row.
    func append(_ index: CSVIndex, memory: UnsafePointer<UInt8>) -> Int? {
        let nulls = plan.nulls
        reserve(index.rows)
        let before = self.nulls.count
        let failed: Int?
        switch plan.type.kind {
        case _ where layout == nil && originals != nil:
            appendWithOriginals(index, memory)
            failed = nil
        case _ where layout != nil: failed = appendInLayout(index, memory, nulls)
        case .int where plan.spelling != nil:
            failed = append(index, memory, nulls, to: words) { NumberText.parseInt64($0) ?? NumberText.wholeNumber($0) }
        case .int: failed = append(index, memory, nulls, to: words) { CSVShortNumber.int($0) }
        case .link:
            failed = append(index, memory, nulls, to: words) { bytes in
                NumberText.parseInt64(bytes).flatMap { $0 >= 0 && $0 < plan.rowLimit ? $0 : nil }
            }
        case .double where plan.spelling != nil: failed = append(index, memory, nulls, to: reals, CSVColumn.sameDouble)
        case .float where plan.spelling != nil: failed = append(index, memory, nulls, to: reals, CSVColumn.sameFloat)
        case .double: failed = append(index, memory, nulls, to: reals) { CSVShortNumber.double($0) }
        case .float:
            failed = append(index, memory, nulls, to: reals) { bytes in
                NumberText.parseDouble(bytes).flatMap { value in Float(value).isFinite || !value.isFinite ? Double(Float(value)) : nil }
            }
        case .bool: failed = append(index, memory, nulls, to: words, CSVColumn.bool)
        case .date: failed = appendDates(index, memory, nulls)
        case .decimal, .uuid, .objectID: failed = appendPairs(index, memory, nulls, CSVColumn.pair(plan.type.kind))
        default:
            appendText(index, memory, nulls)
            failed = nil
        }
        if let failed {
            self.nulls.removeLast(self.nulls.count - before)
            return failed
        }
        if !plan.type.isOptional, self.nulls.count > before {
            let row = Int(self.nulls[before]) - count
            self.nulls.removeLast(self.nulls.count - before)
            return row
        }
        count += index.rows
        return nil
    }

    /// Returns what reads a decimal or an identifier.
    private static func pair(_ kind: ScalarKind) -> (UnsafeRawBufferPointer) -> (Int64, Int64)? {
        switch kind {
        case .decimal: { Decimal(String(decoding: $0, as: UTF8.self)).map(Column.pair) }
        case .uuid:
            {
                (IdentifierText.parseUUID($0)?.value ?? Identifier(uuidText: String(decoding: $0, as: UTF8.self))).map(Column.pair(uuid:))
            }
        default: { Identifier(objectIDText: String(decoding: $0, as: UTF8.self)).map(Column.pair(objectID:)) }
        }
    }

    /// Returns the double in a cell if export writes the same number.
    private static func sameDouble(_ bytes: UnsafeRawBufferPointer) -> Double? {
        NumberText.parseDouble(bytes).flatMap {
            isSame($0, bytes, written: $0.description, surely: 15) || NumberText.isExactly(bytes, $0) ? $0 : nil
        }
    }

    /// The same for a float.
    private static func sameFloat(_ bytes: UnsafeRawBufferPointer) -> Double? {
        NumberText.parseDouble(bytes).flatMap { value in
            isSame(value, bytes, written: Float(value).description, surely: 6) || isExactly(Float(value), value, bytes)
                ? Double(Float(value)) : nil
        }
    }

    /// Reads numbers with a decimal comma or groups. Those that export would write differently keep their text, if the column has a
    /// companion; otherwise returns the row of the first cell that is no number.
    private func appendInLayout(_ index: CSVIndex, _ memory: UnsafePointer<UInt8>, _ nulls: CSVNulls) -> Int? {
        guard let layout else { return nil }
        let rule = originals?.rule
        return forEachText(index, memory, nulls) { text, row in
            guard let rule else {
                guard let value = OriginalText.withPlain(text, hasComma: layout.hasComma, value(requested:)) ?? nil else { return false }
                put(value, count + row)
                return true
            }
            let read = NumberText.parse(text, hasComma: layout.hasComma) { fields, plain in
                fields.isWritten(in: layout) && rule.isOrdinary(plain) ? value(ordinary: plain) : nil
            }
            guard let ordinary = read ?? nil else {
                originals?.keep(text, from: 0, row: count + row)
                put(value(original: text), count + row)
                return true
            }
            put(ordinary, count + row)
            return true
        }
    }

    /// Calls `body` with the text of each cell of the column and its row. Cells that are null have no value. Returns the row for which `body`
    /// returned false, which is the last one; nil if there was none.
    @inline(__always)
    private func forEachText(
        _ index: CSVIndex, _ memory: UnsafePointer<UInt8>, _ nulls: CSVNulls, _ body: (UnsafeRawBufferPointer, _ row: Int) -> Bool
    ) -> Int? {
        let width = index.width
        var cell = UnsafePointer(index.cells) + plan.cell
        for row in 0..<index.rows {
            let entry = cell.pointee
            cell += width
            let start = Int(entry & CSVIndex.startMask), length = Int(entry &>> 32) &- start
            if entry & CSVIndex.quotedBit == 0, nulls.contains(memory + start, length) {
                put(nil, count + row)
            } else if !body(UnsafeRawBufferPointer(start: memory + start, count: length), row) {
                return row
            }
        }
        return nil
    }

    /// Returns the number in a cell, which is written with a point and without groups.
    private func value(requested text: UnsafeRawBufferPointer) -> Stored? {
        let checks = plan.spelling != nil
        switch plan.type.kind {
        case .int: return (NumberText.parseInt64(text) ?? (checks ? NumberText.wholeNumber(text) : nil)).map { .words($0, 0) }
        case .double: return (checks ? CSVColumn.sameDouble(text) : NumberText.parseDouble(text)).map { .real($0) }
        case .float:
            if checks { return CSVColumn.sameFloat(text).map { .real($0) } }
            return NumberText.parseDouble(text).flatMap { Float($0).isFinite || !$0.isFinite ? .real(Double(Float($0))) : nil }
        default: return value(ordinary: text)
        }
    }

    private func appendDates(_ index: CSVIndex, _ memory: UnsafePointer<UInt8>, _ nulls: CSVNulls) -> Int? {
        guard plan.notation == .yearMonth || DateLayout(plan.notation) != nil else {
            return appendPairs(index, memory, nulls) { bytes in DateText.parse(bytes).map { ($0.seconds, $0.nanoseconds) } }
        }
        return appendPairs(index, memory, nulls) { bytes in DateText.parse(bytes, like: plan.notation) }
    }

    /// Removes the rows from `count` on.
    func cut(to count: Int) {
        while let last = nulls.last, Int(last) >= count { nulls.removeLast() }
        self.count = count
        originals?.cut(to: count)
        if usesText { textCount = count > 0 ? ends![count - 1] : 0 }
    }

    /// Whether the text that is written for the value denotes the number in the cell. Texts of at most `surely` bytes always do, and are
    /// not compared.
    private static func isSame(_ value: Double, _ bytes: UnsafeRawBufferPointer, written: @autoclosure () -> String, surely: Int) -> Bool {
        if bytes.count <= surely, value == 0 || (abs(value) > 1e-30 && abs(value) < 1e30) || value.isNaN {
            // A zero can be a small number that was lost.
            if value != 0 || !bytes.contains(where: { $0 | 32 == UInt8(ascii: "e") }) { return true }
        }
        if value.isNaN { return true }
        guard let read = Decimal(String(decoding: bytes, as: UTF8.self)), let back = Decimal(written()) else { return false }
        return read.compare(back) == 0
    }

    /// Whether the number in the cell, either as a double is written or with all its digits, is exactly a float.
    private static func isExactly(_ float: Float, _ value: Double, _ bytes: UnsafeRawBufferPointer) -> Bool {
        Double(float) == value && (isSame(value, bytes, written: value.description, surely: 15) || NumberText.isExactly(bytes, value))
    }

    private static func bool(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        switch bytes.count {
        case 4
        where bytes[0] | 32 == UInt8(ascii: "t") && bytes[1] | 32 == UInt8(ascii: "r") && bytes[2] | 32 == UInt8(ascii: "u")
            && bytes[3] | 32 == UInt8(ascii: "e"):
            1
        case 5
        where bytes[0] | 32 == UInt8(ascii: "f") && bytes[1] | 32 == UInt8(ascii: "a") && bytes[2] | 32 == UInt8(ascii: "l")
            && bytes[3] | 32 == UInt8(ascii: "s")
            && bytes[4] | 32 == UInt8(ascii: "e"):
            0
        case 1 where bytes[0] == UInt8(ascii: "1"): 1
        case 1 where bytes[0] == UInt8(ascii: "0"): 0
        default: nil
        }
    }

    /// Reads the cells of the column into `values`. Null cells become 0.
    @inline(__always)
    private func append<T: BitwiseCopyable & Numeric>(
        _ index: CSVIndex, _ memory: UnsafePointer<UInt8>, _ nulls: CSVNulls, to values: UnsafeMutablePointer<T>?,
        _ read: (UnsafeRawBufferPointer) -> T?
    ) -> Int? {
        let out = values! + count
        return each(
            index, memory, nulls, { out[$0] = 0 },
            { row, bytes in
                guard let value = read(bytes) else { return false }
                out[row] = value
                return true
            })
    }

    @inline(__always)
    private func appendPairs(
        _ index: CSVIndex, _ memory: UnsafePointer<UInt8>, _ nulls: CSVNulls, _ read: (UnsafeRawBufferPointer) -> (Int64, Int64)?
    ) -> Int? {
        let out = words! + count, more = extra! + count
        return each(
            index, memory, nulls, { (out[$0], more[$0]) = (0, 0) },
            { row, bytes in
                guard let value = read(bytes) else { return false }
                (out[row], more[row]) = value
                return true
            })
    }

    @inline(__always)
    private func each(
        _ index: CSVIndex, _ memory: UnsafePointer<UInt8>, _ nulls: CSVNulls, _ filler: (Int) -> Void,
        _ take: (Int, UnsafeRawBufferPointer) -> Bool
    ) -> Int? {
        let width = index.width, rows = index.rows
        var cell = UnsafePointer(index.cells) + plan.cell
        for row in 0..<rows {
            let entry = cell.pointee
            cell += width
            let start = Int(entry & CSVIndex.startMask), length = Int(entry &>> 32) &- start
            if entry & CSVIndex.quotedBit == 0, nulls.contains(memory + start, length) {
                filler(row)
                noteNull(row)
            } else if !take(row, UnsafeRawBufferPointer(start: memory + start, count: length)) {
                return row
            }
        }
        return nil
    }

    @inline(never)
    private func noteNull(_ row: Int) { nulls.append(Int32(truncatingIfNeeded: count &+ row)) }

    /// Reads the cells of the column. Those that the type does not round-trip keep their text.
    private func appendWithOriginals(_ index: CSVIndex, _ memory: UnsafePointer<UInt8>) {
        guard let rule = originals?.rule else { return }
        _ = forEachText(index, memory, plan.nulls) { text, row in
            let isOrdinary = rule.isOrdinary(text)
            if !isOrdinary { originals?.keep(text, from: rule.start(text), row: count + row) }
            put(isOrdinary ? value(ordinary: text) : value(original: text), count + row)
            return true
        }
    }

    /// A value as it is stored: an integer and an extra one, or a float.
    private enum Stored {
        case words(Int64, Int64)
        case real(Double)
    }

    private func put(_ value: Stored?, _ row: Int) {
        switch value {
        case .words(let word, let more):
            words?[row] = word
            extra?[row] = more
        case .real(let x): reals?[row] = x
        case nil:
            words?[row] = 0
            extra?[row] = 0
            reals?[row] = 0
            nulls.append(Int32(truncatingIfNeeded: row))
        }
    }

    private func value(ordinary text: UnsafeRawBufferPointer) -> Stored? {
        switch plan.type.kind {
        case .int: NumberText.parseInt64(text).map { .words($0, 0) }
        case .double: NumberText.parseDouble(text).map { .real($0) }
        case .bool: CSVColumn.bool(text).map { .words($0, 0) }
        case .date: DateText.parse(text, like: plan.notation).map { .words($0.seconds, $0.nanoseconds) }
        case .decimal: Decimal(String(decoding: text, as: UTF8.self)).map(CSVColumn.stored(Column.pair))
        case .uuid: (IdentifierText.parseUUID(text)?.value).map(CSVColumn.stored(Column.pair(uuid:)))
        default: nil
        }
    }

    private func value(original text: UnsafeRawBufferPointer) -> Stored? {
        switch plan.type.kind {
        case .int: OriginalText.int(text, plan.notation).map { .words($0, 0) }
        case .double: OriginalText.double(text, plan.notation).map { .real($0) }
        case .date: DateText.parse(text, like: plan.notation).map { .words($0.seconds, $0.nanoseconds) }
        case .decimal: OriginalText.decimal(text, plan.notation).map(CSVColumn.stored(Column.pair))
        default: nil
        }
    }

    private static func stored<T>(_ pair: @escaping (T) -> (Int64, Int64)) -> (T) -> Stored {
        { value in
            let (word, more) = pair(value)
            return .words(word, more)
        }
    }

    /// The companion of the column, if it has one.
    func finishOriginals() -> Column? { originals?.column(count: count) }

    private func appendText(_ index: CSVIndex, _ memory: UnsafePointer<UInt8>, _ nulls: CSVNulls) {
        let width = index.width, rows = index.rows
        var cell = UnsafePointer(index.cells) + plan.cell
        let ends = ends! + count
        var text = text, textCount = textCount, textCapacity = textCapacity
        for row in 0..<rows {
            let entry = cell.pointee
            cell += width
            let start = Int(entry & CSVIndex.startMask), length = Int(entry &>> 32) &- start
            if entry & CSVIndex.quotedBit == 0, nulls.contains(memory + start, length) {
                noteNull(row)
            } else {
                if textCount &+ length &+ 32 > textCapacity {
                    let larger = max(textCapacity &* 2, textCount &+ length &+ min(4096, (max(rows, expectedRows) &+ 1) &* 16))
                    CSVColumn.grow(&text, textCount, larger)
                    textCapacity = larger
                }
                let to = UnsafeMutableRawPointer(text! + textCount), from = UnsafeRawPointer(memory + start)
                if length <= 32 {
                    // Copies 32 bytes because both sides have space for them: this is faster than a copy of the exact length.
                    to.storeBytes(of: from.loadUnaligned(as: SIMD4<UInt64>.self), as: SIMD4<UInt64>.self)
                } else {
                    to.copyMemory(from: from, byteCount: length)
                }
                textCount &+= length
            }
            ends[row] = textCount
        }
        (self.text, self.textCount, self.textCapacity) = (text, textCount, textCapacity)
    }

    /// Returns the values as a column of the model.
    func finish() -> Column {
        var column = Column(plan.type)
        column.count = count
        if let words { column.words = CSVColumn.array(words, count) }
        if let extra { column.extra = CSVColumn.array(extra, count) }
        if let reals { column.reals = CSVColumn.array(reals, count) }
        if usesText {
            let offsets = [Int](unsafeUninitializedCapacity: count + 1) { buffer, filled in
                buffer[0] = 0
                if let ends, count > 0 { (buffer.baseAddress! + 1).update(from: ends, count: count) }
                filled = count + 1
            }
            column.text = Text(offsets: offsets, bytes: text.map { CSVColumn.array($0, textCount) } ?? [])
        }
        if !nulls.isEmpty {
            var bits = Bits(repeating: true, count: count)
            for row in nulls { bits[Int(row)] = false }
            column.present = bits
        }
        return column
    }

    private static func array<T>(_ memory: UnsafeMutablePointer<T>, _ count: Int) -> [T] {
        [T](unsafeUninitializedCapacity: count) { buffer, filled in
            if count > 0 { buffer.baseAddress!.update(from: memory, count: count) }
            filled = count
        }
    }
}
