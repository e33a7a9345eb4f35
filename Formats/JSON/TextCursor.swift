/// Finds where in a text the values of its tape stand. The text has been parsed: what is no JSON is not looked for. Goes forwards only.
struct TextCursor {
    private let text: UnsafeRawBufferPointer
    private var at = 0
    /// The number of the next value in the text, counted as the items of a tape are.
    private var next: Int
    private var line = 0, lineStart = 0, counted = 0
    /// Where the key of the value found last begins, if it is a member's.
    private(set) var key: Int?

    /// `first`: the item of the text's first value.
    init(_ text: UnsafeRawBufferPointer, first: Int = 0) {
        self.text = text
        next = first
    }

    /// Where the value of an item begins: one after those asked for before.
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

    /// Line and column, from 0, of a byte not before those asked for earlier.
    mutating func place(_ offset: Int) -> (line: Int, column: Int) {
        while counted < min(offset, text.count) {
            if text[counted] == 10 { (line, lineStart) = (line + 1, counted + 1) }
            counted += 1
        }
        return (line, offset - lineStart)
    }

    /// The text of the whole value that begins at a byte.
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

    func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: text[range]) }

    /// The end of the token that begins at a byte.
    private static func end(_ text: UnsafeRawBufferPointer, of start: Int) -> Int {
        var at = start + 1
        switch text[start] {
        case UInt8(ascii: "\""):
            while at < text.count, text[at] != UInt8(ascii: "\"") { at += text[at] == UInt8(ascii: "\\") ? 2 : 1 }
            return min(at + 1, text.count)
        case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"):
            while at < text.count {
                switch text[at] {
                case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"): at += 1
                default: return at
                }
            }
            return at
        default: return at
        }
    }
}
