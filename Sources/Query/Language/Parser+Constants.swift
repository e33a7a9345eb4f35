import FirnBytes
import FirnTable

extension Parser {
    mutating func constant() throws(QueryError) -> ConstantSyntax {
        let start = TextPosition(position)
        func made(_ value: Value) -> ConstantSyntax { ConstantSyntax(value, at: start) }
        switch peek {
        case .string(let bytes):
            advance()
            return made(.string(String(decoding: bytes, as: UTF8.self)))
        case .base64(let bytes):
            guard Base64.bytes(bytes, .lenient) != nil else { throw QueryError(.syntax, "not base 64", at: start.offset) }
            advance()
            return made(.string(String(decoding: bytes, as: UTF8.self)))
        case .date(let date):
            advance()
            var constant = made(.date(date))
            constant.written = SourceText(written(from: start.offset))
            return constant
        case .uuid(let inside):
            guard let id = Identifier(uuidText: inside.lowercased()) else {
                throw QueryError(.syntax, "not a UUID", at: start.offset, expected: "8-4-4-4-12 hexadecimal digits")
            }
            advance()
            return made(.uuid(id))
        case .objectID(let inside):
            guard let id = Identifier(objectIDText: inside.lowercased()) else {
                throw QueryError(.syntax, "not an object id", at: start.offset, expected: "24 hexadecimal digits")
            }
            advance()
            return made(.objectID(id))
        case .decimal(let inside):
            guard let value = Decimal(inside) else {
                throw QueryError(
                    .syntax, "not a decimal number of at most 34 digits", at: start.offset, expected: "a number, such as decimal(1.50)")
            }
            advance()
            return made(.decimal(value))
        case .number, .symbol("-"), .symbol("+"): return try number()
        case .word:
            switch keyword {
            case "true", "false":
                let value = keyword == "true"
                advance()
                return made(.bool(value))
            case "null", "nil":
                advance()
                return made(.null)
            default: break
            }
            switch lenientKeyword {
            case "inf", "infinity", "nan": return try number()
            case "bin", "binary": return try binary()
            default: throw unexpected("a value")
            }
        default: throw unexpected("a value or a property")
        }
    }

    private mutating func binary() throws(QueryError) -> ConstantSyntax {
        let start = TextPosition(position)
        advance()
        try expect("(", "\"(\"")
        let bytes: [UInt8]
        switch peek {
        case .string(let inside): bytes = inside
        case .base64(let inside):
            guard let decoded = Base64.bytes(inside, .lenient) else { throw QueryError(.syntax, "not base 64", at: position) }
            bytes = decoded
        default: throw unexpected("text in quotes, or B64\"…\"")
        }
        advance()
        try expect(")", "\")\"")
        return ConstantSyntax(.data(bytes), at: start)
    }

    mutating func number() throws(QueryError) -> ConstantSyntax {
        let start = TextPosition(position)
        let negative = peek == .symbol("-")
        if negative || peek == .symbol("+") {
            advance()
            if tokens[at].spaced { throw unexpected("a number right after the sign") }
        }
        if let word = lenientKeyword {
            guard word == "inf" || word == "infinity" || word == "nan" else {
                throw unexpected("a number (a property has no sign: write 0 - \(word))")
            }
            advance()
            let value = word == "nan" ? Double.nan : Double.infinity
            return ConstantSyntax(.double(negative ? -value : value), at: start)
        }
        guard case .number(let token) = peek else { throw unexpected("a number") }
        advance()
        let digits = (negative ? "-" : "") + token
        if token.lowercased().hasPrefix("0x") {
            guard let value = Int64((negative ? "-" : "") + token.dropFirst(2), radix: 16) else {
                throw QueryError(.syntax, "\"\(token)\" is not a 64-bit number", at: start.offset)
            }
            return ConstantSyntax(.int(value), at: start)
        }
        if let value = Int64(digits) { return ConstantSyntax(.int(value), at: start) }
        if token.last == "f" || token.last == "F" {
            guard let value = Float(Parser.completed(digits.dropLast())), value.isFinite else {
                throw QueryError(.syntax, "\"\(token)\" is not a float", at: start.offset)
            }
            return ConstantSyntax(.float(value), at: start)
        }
        guard let value = Double(Parser.completed(digits[...])) else {
            throw QueryError(.syntax, "\"\(token)\" is not a number", at: start.offset)
        }
        return ConstantSyntax(.double(value), digits: Parser.completed(digits[...]), at: start)
    }

    /// Adds the digit that `1.` and `.5` omit.
    private static func completed(_ digits: Substring) -> String {
        var out = ""
        var last: Character = " "
        for character in digits {
            if character == ".", !last.isNumber { out.append("0") }
            if last == ".", !character.isNumber { out.append("0") }
            out.append(character)
            last = character
        }
        return last == "." ? out + "0" : out
    }
}
