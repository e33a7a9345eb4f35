import FirnBytes
import FirnTable

/// What a number with a decimal mark and groups of digits consists of.
package struct NumberFields {
    /// What separates groups of three digits; none if there are no groups.
    package fileprivate(set) var group = NumberLayout.Group.none
    /// The number of separators.
    package fileprivate(set) var separators = 0
    /// The number of digits before the mark.
    package fileprivate(set) var wholeDigits = 0
    package fileprivate(set) var hasFraction = false
    /// The length of the text with a point and without groups.
    package fileprivate(set) var count = 0

    /// Whether the number is written in groups wherever a layout with this separator has them.
    package func isWritten(in layout: NumberLayout) -> Bool { group == layout.group || group == .none && wholeDigits <= 3 }
}

extension NumberText {
    /// The maximum length of a text in a layout that is read as a number, in bytes.
    static let maximumLayoutLength = 96

    /// Parses digits with separators between groups of three, and a fraction after the mark, and passes the number with a point and without
    /// groups to `body`. Returns nil for other texts: if a group is incomplete or begins with a zero, or if the separators differ. A text
    /// without groups and without a mark is a number too.
    @inline(__always)
    package static func parse<R>(
        _ text: UnsafeRawBufferPointer, hasComma: Bool, _ body: (NumberFields, UnsafeRawBufferPointer) -> R
    ) -> R? {
        guard text.count > 0, text.count <= maximumLayoutLength else { return nil }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: maximumLayoutLength) { out in
            fields(text, hasComma: hasComma, to: out).map {
                body($0, UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(out)[..<$0.count]))
            }
        }
    }

    /// Whether a text is a number with this mark.
    package static func isNumber(_ text: UnsafeRawBufferPointer, hasComma: Bool) -> Bool {
        parse(text, hasComma: hasComma) { _, _ in true } ?? false
    }

    private static func fields(
        _ text: UnsafeRawBufferPointer, hasComma: Bool, to out: UnsafeMutableBufferPointer<UInt8>
    ) -> NumberFields? {
        let mark = UInt8(ascii: hasComma ? "," : ".")
        var fields = NumberFields(), at = 0, run = 0
        func put(_ byte: UInt8) {
            out[fields.count] = byte
            fields.count &+= 1
        }
        if text[0] == UInt8(ascii: "-") {
            put(text[0])
            at = 1
        }
        let first = at
        while at < text.count, text[at] != mark {
            if text[at] &- 48 <= 9 {
                put(text[at])
                run &+= 1
                at &+= 1
                continue
            }
            guard let (found, length) = separator(text, at) else { return nil }
            if fields.group == .none {
                guard run >= 1, run <= 3, text[first] != UInt8(ascii: "0") else { return nil }
                fields.group = found
            } else if found != fields.group || run != 3 {
                return nil
            }
            fields.wholeDigits += run
            fields.separators += 1
            run = 0
            at &+= length
        }
        guard fields.group == .none ? run > 0 : run == 3 else { return nil }
        fields.wholeDigits += run
        guard at < text.count else { return fields }
        fields.hasFraction = true
        put(UInt8(ascii: "."))
        at &+= 1
        guard at < text.count else { return nil }
        while at < text.count {
            guard text[at] &- 48 <= 9 else { return nil }
            put(text[at])
            at &+= 1
        }
        return fields
    }

    private static func separator(_ text: UnsafeRawBufferPointer, _ at: Int) -> (NumberLayout.Group, Int)? {
        func follows(_ a: UInt8, _ b: UInt8) -> Bool { at + 2 < text.count && text[at + 1] == a && text[at + 2] == b }
        switch text[at] {
        case UInt8(ascii: ","): return (.comma, 1)
        case UInt8(ascii: "."): return (.point, 1)
        case UInt8(ascii: " "): return (.space, 1)
        case UInt8(ascii: "'"): return (.apostrophe, 1)
        case 0xC2: return at + 1 < text.count && text[at + 1] == 0xA0 ? (.noBreakSpace, 2) : nil
        case 0xE2: return follows(0x80, 0xAF) ? (.narrowNoBreakSpace, 3) : follows(0x80, 0x99) ? (.rightQuote, 3) : nil
        default: return nil
        }
    }

    /// The maximum length of a number in a layout, in bytes: every group has a separator of up to three bytes.
    package static let layoutRoom = room * 2 + 16

    /// Writes the number of a row of a column of numbers in a layout. `out` has memory for `layoutRoom` bytes. Returns the number of bytes.
    package static func write(_ column: Column, row: Int, _ layout: NumberLayout, to out: UnsafeMutablePointer<UInt8>) -> Int {
        let count: Int
        switch column.type.kind {
        case .int: count = write(column.words[row], to: out)
        case .double: count = write(column.reals[row], layout.digits, to: out)
        case .float: count = write(Float(column.reals[row]), to: out)
        default:
            guard case .decimal(let value) = column.value(at: row) else { return 0 }
            let text = value.description.utf8.prefix(room)
            for (i, byte) in text.enumerated() { out[i] = byte }
            count = text.count
        }
        return lay(count, layout, at: out)
    }

    /// Returns the text of the number of a row of a column of numbers in a layout.
    package static func text(_ column: Column, row: Int, _ layout: NumberLayout) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: layoutRoom) { out in
            String(decoding: out.baseAddress.map { out[..<write(column, row: row, layout, to: $0)] } ?? out[..<0], as: UTF8.self)
        }
    }

    /// Replaces a number of `count` bytes by its text in a layout. Returns the new number of bytes.
    private static func lay(_ count: Int, _ layout: NumberLayout, at out: UnsafeMutablePointer<UInt8>) -> Int {
        let start = count > 0 && out[0] == UInt8(ascii: "-") ? 1 : 0
        var end = start
        while end < count, out[end] &- 48 <= 9 { end += 1 }
        if layout.hasComma { for i in end..<count where out[i] == UInt8(ascii: ".") { out[i] = UInt8(ascii: ",") } }
        let whole = end - start, groups = (whole - 1) / 3, separator = layout.group.text
        // Exponents follow ungrouped digits.
        let isPlain = (end..<count).allSatisfy { out[$0] &- 48 <= 9 || $0 == end }
        guard layout.group != .none, whole > 3, isPlain else { return count }
        let length = count + groups * separator.utf8CodeUnitCount
        var from = count, to = length
        while from > end {
            (from, to) = (from - 1, to - 1)
            out[to] = out[from]
        }
        for digit in 0..<whole {
            if digit > 0, digit % 3 == 0 {
                to -= separator.utf8CodeUnitCount
                (out + to).update(from: separator.utf8Start, count: separator.utf8CodeUnitCount)
            }
            (from, to) = (from - 1, to - 1)
            out[to] = out[from]
        }
        return length
    }
}
