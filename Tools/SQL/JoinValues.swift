import FirnBytes
import FirnTable

/// Numbers for the distinct values of columns that are compared with each other.
struct JoinValues {
    enum Kind {
        /// Whole numbers.
        case words
        /// Values of two words: dates and identifiers.
        case pairs
        case reals
        /// Doubles that are compared with whole numbers.
        case whole
        /// Texts and blobs.
        case bytes
    }
    let kind: Kind
    private var words = JoinNumbers(), extra = JoinNumbers(), both = JoinNumbers()
    private(set) var texts = JoinTexts()

    init(_ kind: Kind) { self.kind = kind }

    var count: Int {
        switch kind {
        case .words, .reals, .whole: words.count
        case .pairs: both.count
        case .bytes: texts.count
        }
    }
    /// The memory in use in bytes.
    var bytes: Int { words.bytes + extra.bytes + both.bytes + texts.bytes }

    private mutating func freeze() {
        words.freeze()
        extra.freeze()
    }

    /// Numbers the values of a table's column, to look others up. The numbers of whole numbers need not be those of values that occur.
    mutating func index(_ column: Column) -> [UInt32] {
        let hasSpan = column.reals.isEmpty && (kind == .words || kind == .whole) && words.span(column.words, column.present)
        let numbers = numbers(column, adds: !hasSpan)
        if !hasSpan { freeze() }
        return numbers
    }

    /// Returns the numbers of a column's rows. Those of nulls, and of unknown values unless they are added, are `JoinNumbers.none`.
    mutating func numbers(_ column: Column, offset: Int64 = 0, adds: Bool) -> [UInt32] {
        let count = column.count, present = column.present
        if kind == .bytes { return texts.numbers(column.text, present, adds: adds) }
        if !column.reals.isEmpty { return numbers(ofReals: column, adds: adds) }
        guard kind == .pairs else { return JoinValues.numbers(of: column.words, present, offset: offset, in: &words, adds: adds) }
        var out = [UInt32](repeating: JoinNumbers.none, count: count), last: (Int64, Int64)?, number = JoinNumbers.none
        for row in 0..<count where present?[row] ?? true {
            let value = (column.words[row], column.extra[row])
            // Neighbours are often the same.
            if last.map({ $0 != value }) ?? true {
                last = value
                number = self.number(of: value, adds: adds)
            }
            out[row] = number
        }
        return out
    }

    private mutating func number(of value: (Int64, Int64), adds: Bool) -> UInt32 {
        let high = adds ? words.add(value.0) : words.find(value.0), low = adds ? extra.add(value.1) : extra.find(value.1)
        guard high != JoinNumbers.none, low != JoinNumbers.none else { return JoinNumbers.none }
        let pair = Int64(high) << 32 | Int64(low)
        return adds ? both.add(pair) : both.find(pair)
    }

    private static func numbers(of values: [Int64], _ present: Bits?, offset: Int64, in words: inout JoinNumbers, adds: Bool) -> [UInt32] {
        var out = [UInt32](repeating: JoinNumbers.none, count: values.count)
        // The table is a local variable, so that its arrays are not looked up for each row.
        var table = words
        words = JoinNumbers()
        if adds {
            for row in values.indices where present?[row] ?? true { out[row] = table.add(values[row] &+ offset) }
        } else {
            for row in values.indices where present?[row] ?? true { out[row] = table.find(values[row] &+ offset) }
        }
        words = table
        return out
    }

    private mutating func numbers(ofReals column: Column, adds: Bool) -> [UInt32] {
        var out = [UInt32](repeating: JoinNumbers.none, count: column.count)
        for row in 0..<column.count where column.isPresent(row) {
            let value = column.reals[row]
            // SQLite treats NaN as null. The sign of zero has no meaning.
            guard !value.isNaN else { continue }
            let word: Int64
            if kind == .whole {
                guard let whole = Int64(exactly: value) else { continue }
                word = whole
            } else {
                word = Int64(bitPattern: (value == 0 ? 0 : value).bitPattern)
            }
            out[row] = adds ? words.add(word) : words.find(word)
        }
        return out
    }

    /// Appends the value with a number to a column.
    func append(_ number: UInt32, to column: inout Column) {
        guard number != JoinNumbers.none else { return column.appendNull() }
        let row = Int(number)
        column.count += 1
        column.present?.append(true)
        switch kind {
        case .words: column.words.append(words.keys[row])
        case .pairs:
            let pair = both.keys[row]
            column.words.append(words.keys[Int(pair >> 32)])
            column.extra.append(extra.keys[Int(pair & 0xFFFF_FFFF)])
        case .bytes: texts.keys.withBytes(row) { column.text.append($0) }
        case .reals, .whole: trap("doubles are not keys of groups")
        }
    }

    /// Returns whether one value is less than another. Values of two words have the order of the words.
    func isLess(_ a: UInt32, _ b: UInt32) -> Bool {
        switch kind {
        case .words: return words.keys[Int(a)] < words.keys[Int(b)]
        case .bytes: return texts.isLess(a, b)
        case .pairs:
            let x = both.keys[Int(a)], y = both.keys[Int(b)]
            let high = (words.keys[Int(x >> 32)], words.keys[Int(y >> 32)])
            return high.0 != high.1 ? high.0 < high.1 : extra.keys[Int(x & 0xFFFF_FFFF)] < extra.keys[Int(y & 0xFFFF_FFFF)]
        case .reals, .whole: trap("doubles are compared as they are")
        }
    }

    /// The whole numbers or texts, if there are at most `limit`, for a test that excludes rows.
    func constants(limit: Int, offset: Int64) -> [Value]? {
        guard count <= limit, words.keys.count == count || kind != .words else { return nil }
        switch kind {
        case .words: return words.keys.map { .int($0 &- offset) }
        case .bytes:
            let strings = (0..<texts.count).map { texts.keys.withBytes($0) { String(validating: $0, as: UTF8.self) } }
            return strings.contains(nil) ? nil : strings.compactMap { $0.map { .string($0) } }
        default: return nil
        }
    }
}
