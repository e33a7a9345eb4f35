import FirnBytes
import FirnExchange
import FirnTable

/// The cells of one column as text, for consecutive rows. The writer joins the lanes of all columns to rows.
struct CSVLane {
    /// The number of bytes after the text that may be read and written: cells are copied 16 bytes at a time.
    static let slack = 80

    private(set) var bytes: UnsafeMutablePointer<UInt8>
    private(set) var ends: UnsafeMutablePointer<Int>
    private(set) var count = 0
    private var capacity: Int

    init(rows: Int) {
        capacity = rows * 16
        bytes = .allocate(capacity: capacity + CSVLane.slack)
        bytes.initialize(repeating: 0, count: capacity + CSVLane.slack)
        ends = .allocate(capacity: rows)
    }

    /// Whether a cell has no text.
    func isEmpty(_ row: Int) -> Bool { ends[row] == (row == 0 ? 0 : ends[row - 1]) }

    func append(_ row: Int, to text: inout [UInt8]) {
        let start = row == 0 ? 0 : ends[row - 1]
        text.append(contentsOf: UnsafeBufferPointer(start: bytes + start, count: ends[row] - start))
    }

    func free() {
        bytes.deallocate()
        ends.deallocate()
    }

    private mutating func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        let larger = max(capacity * 2, count + more)
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: larger + CSVLane.slack)
        memory.update(from: bytes, count: count)
        bytes.deallocate()
        bytes = memory
        capacity = larger
    }

    /// What the text of cells depends on, apart from their values.
    struct Style {
        var marks: CSVMarks
        var nullText: [UInt8]
        var isAlwaysQuoted: Bool
        var description: ColumnSchema
        var schema: Schema
        /// The byte before a quote within quotes; nil if quotes are doubled.
        var escape: UInt8?
        /// All bytes of a delimiter of several; empty if it is one byte.
        var longDelimiter: [UInt8] = []
        /// Whether quotes are text, so that they need no quotes around them.
        var quotesAreText = false

        /// Whether the text of a number, date, bool or identifier can contain the delimiter or a quote.
        var hasMarksInValues: Bool {
            func occurs(_ byte: UInt8) -> Bool { byte &- 48 <= 9 || (byte | 32) &- 97 < 26 || "+-.: ".utf8.contains(byte) }
            return occurs(marks.delimiter) || !quotesAreText && occurs(marks.quote)
        }

        /// Whether a text without quotes would be read as null.
        func isNull(_ text: UnsafePointer<UInt8>, _ length: Int) -> Bool {
            length == nullText.count && nullText.indices.allSatisfy { nullText[$0] == text[$0] }
        }

        /// Whether a text must be quoted.
        func needsQuotes(_ text: UnsafePointer<UInt8>, _ length: Int) -> Bool {
            guard FirnCSV.needsQuotes(text, length, marks) else { return false }
            // With the first bytes of the delimiter at its end, the cell would end too early.
            if !longDelimiter.isEmpty, text[length - 1] == marks.delimiter { return true }
            if longDelimiter.isEmpty, !quotesAreText, escape == nil { return true }
            let bytes = Array(UnsafeBufferPointer(start: text, count: length))
            if bytes.contains(where: { $0 == 10 || $0 == 13 || $0 == marks.quote && !quotesAreText }) { return true }
            return longDelimiter.isEmpty ? bytes.contains(marks.delimiter) : bytes.containsBytes(longDelimiter)
        }
    }

    /// Formats rows of a column that has original texts: those that still read as the value of their row replace what is written for it.
    mutating func fill(_ column: Column, originals: Column?, _ rows: Range<Int>, _ style: Style) {
        fill(column, rows, style)
        guard let originals, rows.contains(where: { originals.isPresent($0) }) else { return }
        let isNested = column.type.isCollection || column.type.kind == .embedded
        var lane = CSVLane(rows: rows.count), from = 0
        for row in rows {
            let end = ends[row - rows.lowerBound]
            if isNested, column.isPresent(row), originals.isPresent(row), let parts = OriginalParts(originals.text.array(row)) {
                lane.put(nested: column, row, style, parts)
            } else if !isNested, originals.isPresent(row), isCurrent(originals, of: column, row, style) {
                lane.put(original: originals, of: column, row, style)
            } else {
                lane.reserve(end - from)
                (lane.bytes + lane.count).update(from: bytes + from, count: end - from)
                lane.count += end - from
            }
            lane.ends[row - rows.lowerBound] = lane.count
            from = end
        }
        // The caller's number of rows is that of all parts.
        ends.update(from: lane.ends, count: rows.count)
        swap(&bytes, &lane.bytes)
        swap(&capacity, &lane.capacity)
        count = lane.count
        lane.free()
    }

    /// Writes the original text of a row; if it is the zone of a date, the date in that zone.
    private mutating func put(original originals: Column, of column: Column, _ row: Int, _ style: Style) {
        originals.text.bytes.withUnsafeBufferPointer { text in
            let start = originals.text.offsets[row], length = originals.text.offsets[row + 1] - start
            let bytes = text.baseAddress.map { $0 + start }
            guard column.type.kind == .date, column.isPresent(row), let bytes else { return put(bytes, length, style) }
            let zone = UnsafeRawBufferPointer(start: bytes, count: length), first = count
            reserve(DateText.room)
            let written = DateText.write(
                seconds: column.words[row], nanoseconds: column.extra[row], notation: style.description.notation, zone: zone,
                to: self.bytes + count)
            guard let written else { return put(bytes, length, style) }
            count += written
            addQuotes(from: first, style)
        }
    }

    private func isCurrent(_ originals: Column, of column: Column, _ row: Int, _ style: Style) -> Bool {
        originals.text.withBytes(row) { OriginalText.isCurrent($0, column, row: row, notation: style.description.notation) }
    }

    /// Formats rows of a column.
    mutating func fill(_ column: Column, _ rows: Range<Int>, _ style: Style) {
        count = 0
        let notation = style.description.notation
        if column.type.isCollection {
            each(column, rows, style, most: 0) { lane, row in lane.put(nested: column, row, style) }
            return
        }
        if column.type.kind.isNumber, let layout = NumberLayout(notation) {
            each(column, rows, style, most: 0) { lane, row in lane.put(column, row: row, layout, style) }
            return
        }
        switch column.type.kind {
        case .string: fillText(column, rows, style)
        case .int, .link:
            column.words.withUnsafeBufferPointer { words in
                each(column, rows, style, most: NumberText.room) { lane, row in
                    lane.count &+= NumberText.write(words[row], to: lane.bytes + lane.count)
                }
            }
        case .double:
            column.reals.withUnsafeBufferPointer { reals in
                each(column, rows, style, most: NumberText.room) { lane, row in
                    lane.count &+= NumberText.write(reals[row], notation, to: lane.bytes + lane.count)
                }
            }
        case .float:
            each(column, rows, style, most: NumberText.room) { lane, row in
                lane.count += NumberText.write(Float(column.reals[row]), to: lane.bytes + lane.count)
            }
        case .bool: fillBools(column, rows, style)
        case .date:
            let writer = DateWriter(notation)
            column.words.withUnsafeBufferPointer { seconds in
                column.extra.withUnsafeBufferPointer { nanoseconds in
                    each(column, rows, style, most: DateText.room) { lane, row in
                        lane.count &+= writer.write(seconds: seconds[row], nanoseconds: nanoseconds[row], to: lane.bytes + lane.count)
                    }
                }
            }
        case .uuid, .objectID: fillIdentifiers(column, rows, style)
        case .decimal:
            each(column, rows, style, most: 0) { lane, row in
                guard case .decimal(let value) = column.value(at: row) else { return }
                lane.put(Array(value.description.utf8), style)
            }
        case .data:
            each(column, rows, style, most: 0) { lane, row in
                var text: [UInt8] = []
                Base64.append(column.text.array(row), to: &text)
                lane.put(text, style)
            }
        case .any:
            each(column, rows, style, most: 0) { lane, row in
                // JSON text of null would be read as a string.
                column.value(at: row).isNull ? lane.put(null: style) : lane.put(nested: column, row, style)
            }
        case .embedded:
            each(column, rows, style, most: 0) { lane, row in lane.put(nested: column, row, style) }
        }
    }

    private mutating func fillBools(_ column: Column, _ rows: Range<Int>, _ style: Style) {
        let notation = style.description.notation
        let texts: (StaticString, StaticString) =
            notation == .capitalised ? ("True", "False") : notation == .upperCase ? ("TRUE", "FALSE") : ("true", "false")
        column.words.withUnsafeBufferPointer { words in
            each(column, rows, style, most: 8) { lane, row in
                let text = words[row] != 0 ? texts.0 : texts.1
                (lane.bytes + lane.count).update(from: text.utf8Start, count: text.utf8CodeUnitCount)
                lane.count &+= text.utf8CodeUnitCount
            }
        }
    }

    private mutating func fillIdentifiers(_ column: Column, _ rows: Range<Int>, _ style: Style) {
        let isUpper = style.description.notation == .uuidUpper
        if column.type.kind == .uuid {
            each(column, rows, style, most: 36) { lane, row in
                IdentifierText.write(
                    uuid: Column.uuid(column.words[row], column.extra[row]), upper: isUpper, to: lane.bytes + lane.count)
                lane.count += 36
            }
        } else {
            each(column, rows, style, most: 24) { lane, row in
                IdentifierText.write(objectID: Column.objectID(column.words[row], column.extra[row]), to: lane.bytes + lane.count)
                lane.count += 24
            }
        }
    }

    /// Formats each row. `write` appends the text of a row that has a value: at most `most` bytes, for which memory is reserved; with 0 it
    /// reserves memory itself.
    @inline(__always)
    private mutating func each(_ column: Column, _ rows: Range<Int>, _ style: Style, most: Int, _ write: (inout CSVLane, Int) -> Void) {
        let quote = style.marks.quote, quoted = style.isAlwaysQuoted && most > 0
        let hasMarks = style.hasMarksInValues, checks = !quoted && most > 0 && (hasMarks || !style.nullText.isEmpty)
        reserve(rows.count * (most * (checks ? 2 : 1) + 2 + style.nullText.count))
        let hasNulls = column.present != nil
        for row in rows {
            if hasNulls, !column.isPresent(row) {
                put(null: style)
            } else if quoted {
                bytes[count] = quote
                count &+= 1
                write(&self, row)
                bytes[count] = quote
                count &+= 1
            } else {
                let start = count
                write(&self, row)
                if checks, style.isNull(bytes + start, count - start) || hasMarks && style.needsQuotes(bytes + start, count - start) {
                    addQuotes(from: start, style)
                }
            }
            ends[row &- rows.lowerBound] = count
        }
    }

    /// Puts the text that was appended from `start` on in quotes if it needs them.
    @inline(never)
    private mutating func addQuotes(from start: Int, _ style: Style) {
        let text = Array(UnsafeBufferPointer(start: bytes + start, count: count - start))
        count = start
        put(text, style)
    }

    private mutating func put(null style: Style) {
        reserve(style.nullText.count)
        for byte in style.nullText {
            bytes[count] = byte
            count += 1
        }
    }

    private mutating func put(nested column: Column, _ row: Int, _ style: Style, _ parts: OriginalParts? = nil) {
        var text: [UInt8] = []
        JSONText.append(column, row: row, of: style.description, in: style.schema, parts: parts, to: &text)
        put(text, style)
    }

    /// Appends a number with a decimal comma or groups of digits.
    private mutating func put(_ column: Column, row: Int, _ layout: NumberLayout, _ style: Style) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: NumberText.layoutRoom) { buffer in
            guard let out = buffer.baseAddress else { return }
            put(out, NumberText.write(column, row: row, layout, to: out), style)
        }
    }

    private mutating func put(_ text: [UInt8], _ style: Style) {
        text.withUnsafeBufferPointer { put($0.baseAddress, $0.count, style) }
    }

    /// Appends a text, in quotes if it needs them or if the column is always quoted.
    private mutating func put(_ text: UnsafePointer<UInt8>?, _ length: Int, _ style: Style) {
        reserve(length &* 2 &+ 2)
        guard let text, length > 0 else { return putEmpty(style) }
        let quote = style.marks.quote
        guard
            style.isAlwaysQuoted || style.needsQuotes(text, length) || style.isNull(text, length)
        else {
            (bytes + count).update(from: text, count: length)
            count &+= length
            return
        }
        bytes[count] = quote
        count &+= 1
        for i in 0..<length {
            if text[i] == quote || text[i] == style.escape {
                bytes[count] = style.escape ?? quote
                count &+= 1
            }
            bytes[count] = text[i]
            count &+= 1
        }
        bytes[count] = quote
        count &+= 1
    }

    /// Quotes distinguish an empty text from null.
    private mutating func putEmpty(_ style: Style) {
        reserve(2)
        guard style.nullText.isEmpty || style.isAlwaysQuoted else { return }
        bytes[count] = style.marks.quote
        bytes[count &+ 1] = style.marks.quote
        count &+= 2
    }

    private mutating func fillText(_ column: Column, _ rows: Range<Int>, _ style: Style) {
        column.text.offsets.withUnsafeBufferPointer { offsets in
            column.text.bytes.withUnsafeBufferPointer { text in
                let from = offsets[rows.lowerBound], to = offsets[rows.upperBound]
                reserve(to &- from &+ rows.count &* 2)
                guard let base = text.baseAddress else { return each(column, rows, style, most: 0) { lane, _ in lane.putEmpty(style) } }
                if isPlain(column, rows, offsets, base, style) {
                    (bytes + count).update(from: base + from, count: to &- from)
                    count &+= to &- from
                    for row in rows { ends[row &- rows.lowerBound] = offsets[row &+ 1] &- from }
                    return
                }
                each(column, rows, style, most: 0) { lane, row in lane.put(base + offsets[row], offsets[row &+ 1] &- offsets[row], style) }
            }
        }
    }

    /// Whether the texts can be written unchanged, in one copy.
    private func isPlain(
        _ column: Column, _ rows: Range<Int>, _ offsets: UnsafeBufferPointer<Int>, _ base: UnsafePointer<UInt8>, _ style: Style
    ) -> Bool {
        guard !style.isAlwaysQuoted, style.nullText.isEmpty else { return false }
        for row in rows where offsets[row] == offsets[row &+ 1] {
            if column.isPresent(row) { return false }
        }
        var at = offsets[rows.lowerBound]
        let end = offsets[rows.upperBound]
        while at &+ 64 <= end {
            if marks64(base + at, style.marks.delimiter, style.marks.quote, 10) | marks64(base + at, 13, 13, 13) != 0 { return false }
            at &+= 64
        }
        return !needsQuotes(base + at, end &- at, style.marks)
    }
}
