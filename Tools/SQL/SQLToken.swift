/// A token of a statement by SQLite's lexical rules.
struct SQLToken: Equatable {
    enum Kind: Equatable {
        /// A name or keyword without quotes.
        case word
        /// A name in quotes.
        case quoted
        case text, blob, number, parameter, symbol
        /// A byte that begins no token, or a token that SQLite refuses.
        case other
    }
    let kind: Kind
    /// The bytes in the text of the statements.
    let range: Range<Int>
    /// A name without its quotes, with ASCII letters in lower case; otherwise the token as written.
    let text: String

    func isWord(_ word: String) -> Bool { kind == .word && text == word }
    func isSymbol(_ symbol: String) -> Bool { kind == .symbol && text == symbol }
    var isName: Bool { kind == .word || kind == .quoted }
    var isLiteral: Bool { kind == .text || kind == .blob || kind == .number }
}

extension SQLStatements {
    /// The tokens of a part of the text, without white space and comments.
    func tokens(_ range: Range<Int>) -> [SQLToken] {
        var tokens: [SQLToken] = [], at = range.lowerBound
        while at < range.upperBound {
            if let next = afterSpace(at) {
                at = next
                continue
            }
            let (kind, end) = token(at), whole = at..<max(end, at + 1)
            tokens.append(SQLToken(kind: kind, range: whole, text: text(kind, whole)))
            at = whole.upperBound
        }
        return tokens
    }

    private func text(_ kind: SQLToken.Kind, _ range: Range<Int>) -> String {
        switch kind {
        case .word: return NameTable.folded(String(decoding: bytes[range], as: UTF8.self))
        case .quoted:
            var inner: [UInt8] = []
            let quote = bytes[range.upperBound - 1]
            var at = range.lowerBound + 1
            while at < range.upperBound - 1 {
                inner.append(bytes[at])
                // A quote within the name is doubled.
                at += bytes[at] == quote && quote != UInt8(ascii: "]") ? 2 : 1
            }
            return NameTable.folded(String(decoding: inner, as: UTF8.self))
        default: return String(decoding: bytes[range], as: UTF8.self)
        }
    }

    private static let symbols: [[UInt8]] = ["->>", "->", "||", "<=", "<>", "<<", ">=", ">>", "==", "!="].map { Array($0.utf8) }

    /// Returns the kind of the token at an offset, and its end.
    private func token(_ start: Int) -> (SQLToken.Kind, Int) {
        let first = byte(start)
        switch first {
        case UInt8(ascii: "'"): return (.text, afterQuoted(start, first))
        case UInt8(ascii: "\""), UInt8(ascii: "`"): return (.quoted, afterQuoted(start, first))
        case UInt8(ascii: "["): return (.quoted, afterQuoted(start, UInt8(ascii: "]")))
        case UInt8(ascii: "x") where byte(start + 1) == UInt8(ascii: "'"), UInt8(ascii: "X") where byte(start + 1) == UInt8(ascii: "'"):
            return (.blob, afterQuoted(start + 1, UInt8(ascii: "'")))
        case UInt8(ascii: "?"):
            var at = start + 1
            while isDigit(at) { at += 1 }
            return (.parameter, at)
        case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "#"):
            let end = afterName(start)
            return (end > start + 1 ? .parameter : .other, end)
        case _ where isDigit(start), UInt8(ascii: ".") where isDigit(start + 1): return number(start)
        case _ where SQLStatements.isPartOfName(first):
            var at = start
            while SQLStatements.isPartOfName(byte(at)) { at += 1 }
            return (.word, at)
        default:
            if let symbol = SQLStatements.symbols.first(where: { bytes[start...].starts(with: $0) }) {
                return (.symbol, start + symbol.count)
            }
            return ("+-*/%|&<>=~,.();".utf8.contains(first) ? .symbol : .other, start + 1)
        }
    }

    private func isDigit(_ at: Int) -> Bool { (48...57).contains(byte(at)) }

    private func number(_ start: Int) -> (SQLToken.Kind, Int) {
        var at = start
        if byte(at) == UInt8(ascii: "0"), byte(at + 1) | 32 == UInt8(ascii: "x") {
            at += 2
            while isDigit(at) || (97...102).contains(byte(at) | 32) { at += 1 }
        } else {
            while isDigit(at) { at += 1 }
            if byte(at) == UInt8(ascii: ".") {
                at += 1
                while isDigit(at) { at += 1 }
            }
            if byte(at) | 32 == UInt8(ascii: "e") {
                let sign = byte(at + 1) == UInt8(ascii: "+") || byte(at + 1) == UInt8(ascii: "-") ? 1 : 0
                if isDigit(at + 1 + sign) {
                    at += 1 + sign
                    while isDigit(at) { at += 1 }
                }
            }
        }
        guard SQLStatements.isPartOfName(byte(at)) else { return (.number, at) }
        while SQLStatements.isPartOfName(byte(at)) { at += 1 }
        return (.other, at)
    }
}
