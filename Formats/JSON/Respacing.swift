import FirnBytes

/// Writes parts of valid JSON text again with other white space: indented by two spaces, or without any.
struct Respacing: ~Copyable {
    private(set) var out: [UInt8] = []
    private let isPretty: Bool
    private var depth = 0
    /// Whether a bracket was opened and nothing follows it yet.
    private var isFresh = false

    init(isPretty: Bool) { self.isPretty = isPretty }

    /// Adds the next part of the text. A part begins and ends between two tokens.
    mutating func add(_ text: UnsafeRawBufferPointer) {
        var at = 0
        while at < text.count {
            let byte = text[at]
            at += 1
            switch byte {
            case 9, 10, 13, 32: continue
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if !isFresh { breakLine() }
                isFresh = false
                out.append(byte)
            case UInt8(ascii: ","):
                out.append(byte)
                breakLine()
            case UInt8(ascii: ":"):
                out.append(byte)
                if isPretty { out.append(32) }
            default:
                begin()
                out.append(byte)
                if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                    depth += 1
                    isFresh = true
                } else if byte == UInt8(ascii: "\"") {
                    while at < text.count, text[at] != UInt8(ascii: "\"") {
                        let step = text[at] == UInt8(ascii: "\\") ? 2 : 1
                        out.append(contentsOf: text[at..<min(at + step, text.count)])
                        at += step
                    }
                    out.append(UInt8(ascii: "\""))
                    at += 1
                }
            }
        }
    }

    /// Begins a value or a key.
    mutating func begin() {
        if isFresh { breakLine() }
        isFresh = false
    }

    private mutating func breakLine() {
        guard isPretty else { return }
        out.append(10)
        out.append(contentsOf: repeatElement(32, count: 2 * max(0, depth)))
    }
}
