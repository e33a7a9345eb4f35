import FirnExchange

extension JSONDocument {
    /// Converts a value of a tape.
    init(_ tape: Tape, _ index: Int) {
        let item = tape.items[index]
        switch item.tag {
        case Tag.no: self = .bool(false)
        case Tag.yes: self = .bool(true)
        case Tag.int: self = .number(String(item.integer))
        case Tag.double: self = .number(JSONText.plain(item.double))
        case Tag.numberText: self = .number(item.string)
        case Tag.string: self = .string(item.string)
        case Tag.array, Tag.object:
            var members: [(String, JSONDocument)] = [], at = index + 1
            for _ in 0..<item.size {
                members.append((item.tag == Tag.object ? tape.parser.keyText(tape.items[at].key) : "", JSONDocument(tape, at)))
                at += tape.items[at].step
            }
            self = item.tag == Tag.object ? .object(members) : .array(members.map(\.1))
        default: self = .null
        }
    }
}
