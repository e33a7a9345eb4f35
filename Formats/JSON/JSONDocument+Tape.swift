import FirnExchange

extension JSONDocument {
    /// Converts a value of a tape.
    init(_ tape: Tape, _ index: Int) {
        let item = tape.items[index]
        switch item.tag {
        case TapeTag.no: self = .bool(false)
        case TapeTag.yes: self = .bool(true)
        case TapeTag.int: self = .number(String(item.integer))
        case TapeTag.double: self = .number(JSONBytes.plain(item.double))
        case TapeTag.numberText: self = .number(item.string)
        case TapeTag.string: self = .string(item.string)
        case TapeTag.array, TapeTag.object:
            var members: [(String, JSONDocument)] = [], at = index + 1
            for _ in 0..<item.size {
                members.append((item.tag == TapeTag.object ? tape.parser.keyText(tape.items[at].key) : "", JSONDocument(tape, at)))
                at += tape.items[at].step
            }
            self = item.tag == TapeTag.object ? .object(members) : .array(members.map(\.1))
        default: self = .null
        }
    }
}
