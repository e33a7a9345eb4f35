/// The first words of a statement.
enum SQLWords {
    /// Returns the first two words in capitals, without EXPLAIN: the name of the statement.
    static func name(of sql: ArraySlice<CChar>) -> [String] {
        var words = first(5, of: sql).map { $0.uppercased() }
        if words.first == "EXPLAIN" { words.removeFirst(words.starts(with: ["EXPLAIN", "QUERY", "PLAN"]) ? 3 : 1) }
        return Array(words.prefix(2))
    }

    /// Returns up to `count` of them in lower case, without comments and white space.
    static func first(_ count: Int, of sql: ArraySlice<CChar>) -> [String] {
        var words: [String] = [], at = sql.startIndex
        func byte(_ index: Int) -> UInt8 { index < sql.endIndex ? UInt8(bitPattern: sql[index]) : 0 }
        while at < sql.endIndex, words.count < count {
            if byte(at) == UInt8(ascii: "-"), byte(at + 1) == UInt8(ascii: "-") {
                while at < sql.endIndex, byte(at) != 10 { at += 1 }
            } else if byte(at) == UInt8(ascii: "/"), byte(at + 1) == UInt8(ascii: "*") {
                at += 2
                while at < sql.endIndex, !(byte(at) == UInt8(ascii: "*") && byte(at + 1) == UInt8(ascii: "/")) { at += 1 }
                at += 2
            } else if byte(at) <= 32 {
                at += 1
            } else {
                let start = at
                while at < sql.endIndex, byte(at) | 32 >= 97, byte(at) | 32 <= 122 { at += 1 }
                guard at > start else { return words }
                words.append(String(decoding: sql[start..<at].map { UInt8(bitPattern: $0) | 32 }, as: UTF8.self))
            }
        }
        return words
    }
}
