/// Finds the positions of the values of a tape in its text. The text must have been parsed, because its syntax is not checked again.
/// Positions can only be searched forwards.
struct TextCursor {
    private let text: UnsafeRawBufferPointer
    private var at = 0
    /// The number of the next value in the text, counted like the items of a tape.
    private var next: Int
    private var line = 0, lineStart = 0, counted = 0
    /// The start of the key of the value that was found last, if it is a member.
    private(set) var key: Int?

    /// `first` is the item of the first value in the text.
    init(_ text: UnsafeRawBufferPointer, first: Int = 0) {
        self.text = text
        next = first
    }

    /// Returns the start of an item's value. Items must be searched in ascending order.
    mutating func find(_ item: Int) -> Int {
        while at < text.count {
            switch text[at] {
            case 9, 10, 13, 32, UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "]"), UInt8(ascii: "}"):
                at += 1
                continue
            default: break
            }
            let start = at
            at = TextCursor.end(text, of: start)
            if text[start] == UInt8(ascii: "\""), isKey {
                key = start
                continue
            }
            next += 1
            if next > item { return start }
            key = nil
        }
        return text.count
    }

    private var isKey: Bool { text[at...].first { $0 > 32 } == UInt8(ascii: ":") }

    /// Returns line and column, from 0, of an offset. Offsets must be passed in ascending order.
    mutating func location(_ offset: Int) -> (line: Int, column: Int) {
        while counted < min(offset, text.count) {
            if text[counted] == 10 { (line, lineStart) = (line + 1, counted + 1) }
            counted += 1
        }
        return (line, offset - lineStart)
    }

    /// Returns the text of the whole value that begins at an offset.
    func value(_ start: Int) -> UnsafeRawBufferPointer {
        var at = start, depth = 0
        while at < text.count {
            let byte = text[at]
            switch byte {
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
            at = TextCursor.end(text, of: at)
            if depth <= 0 { break }
        }
        return UnsafeRawBufferPointer(rebasing: text[start..<at])
    }

    /// The number of bytes of the text.
    var count: Int { text.count }

    func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: text[range]) }

    /// Returns the end of the token that begins at an offset.
    private static func end(_ text: UnsafeRawBufferPointer, of start: Int) -> Int {
        var at = start + 1
        switch text[start] {
        case UInt8(ascii: "\""):
            while at < text.count, text[at] != UInt8(ascii: "\"") { at += text[at] == UInt8(ascii: "\\") ? 2 : 1 }
            return min(at + 1, text.count)
        case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"):
            while at < text.count {
                switch text[at] {
                case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"):
                    at += 1
                default: return at
                }
            }
            return at
        default: return at
        }
    }
}
