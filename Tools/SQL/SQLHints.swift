import FirnBytes

/// Advice for statements in the dialects of other databases, which SQLite refuses.
enum SQLHints {
    /// Functions of other databases under the names that are available.
    private static let functions: [String: String] = [
        "array_agg": "json_group_array(x) makes a JSON array", "list": "json_group_array(x) makes a JSON array",
        "now": "use datetime('now') or current_timestamp", "today": "use date('now')", "getdate": "use datetime('now')",
        "to_char": "use strftime('%Y-%m', d)", "date_format": "use strftime('%Y-%m', d)",
        "to_date": "use strptime('29.09.2016', '%d.%m.%Y')", "to_timestamp": "use datetime(seconds, 'unixepoch')",
        "strpos": "use instr(s, part)", "position": "use instr(s, part)", "charindex": "use instr(s, part)", "len": "use length(s)",
        "char_length": "use length(s)", "strlen": "use length(s)", "nvl": "use ifnull(a, b) or coalesce(a, b)",
        "isnull": "use ifnull(a, b) or coalesce(a, b)", "if": "use iif(condition, a, b)", "try_cast": "use CAST(x AS REAL)",
        "to_json": "use json_object or json_quote", "age": "use date_sub('year', a, b), or date_diff for boundaries that are crossed",
        "approx_count_distinct": "use count(DISTINCT x)", "approx_quantile": "use quantile(x, 0.9)", "percentile": "use quantile(x, 0.9)",
        "ucase": "use upper(s)", "lcase": "use lower(s)", "regexp_like": "use regexp_matches(s, pattern)",
        "regexp_substr": "use regexp_extract(s, pattern)", "array_to_string": "use string_agg(s, ', ')", "bool": "use CAST(x AS INTEGER)",
        "unnest": "use json_each(list) in FROM",
        "generate_series": "use WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10)",
        "range": "use WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10)",
    ]

    /// Returns advice for a function that does not exist.
    static func unknown(_ name: String, among known: [String]) -> String? {
        let name = NameTable.folded(name)
        return functions[name] ?? Suggestion.nearest(to: name, among: known).map { "did you mean \($0)?" }
    }

    /// Returns advice for a syntax error at an offset of a text.
    static func syntax(_ text: SQLStatements, at offset: Int) -> String? {
        let tokens = text.tokens(0..<text.bytes.count)
        guard let at = tokens.firstIndex(where: { $0.range.upperBound > offset }) else { return nil }
        let found = tokens[at], before = at > 0 ? tokens[at - 1] : nil, next = at + 1 < tokens.count ? tokens[at + 1] : nil
        func written(_ token: SQLToken) -> String { String(decoding: text.bytes[token.range], as: UTF8.self) }

        if found.isSymbol("("), let before, ["left", "right"].contains(before.text), before.kind == .word { return end(before.text) }
        if ["left", "right"].contains(found.text), found.kind == .word, next?.isSymbol("(") ?? false { return end(found.text) }
        if text.byte(offset) == UInt8(ascii: ":"),
            text.byte(offset + 1) == UInt8(ascii: ":") || text.byte(max(0, offset - 1)) == UInt8(ascii: ":")
        {
            return cast(tokens, at)
        }
        if found.isWord("ilike") { return "LIKE ignores the case of ASCII letters; a LIKE 'x%' is enough" }
        if found.isWord("rlike") || found.isWord("similar") || found.text == "~" { return "use a REGEXP '^x'" }
        if found.isWord("order"), call(tokens, at) != nil {
            return "this version of SQLite (\(SQLConnection.version)) has no ORDER BY in aggregates; order the rows in a subquery: "
                + "SELECT string_agg(b, ',') FROM (SELECT b FROM t ORDER BY a)"
        }
        let isWithin = found.isWord("within") || before?.isWord("within") ?? false || at > 1 && tokens[at - 2].isWord("within")
        if isWithin { return "write quantile_cont(x, 0.5)" }
        if found.isWord("from"), let function = call(tokens, at), function.isWord("extract") { return "write date_part('year', d)" }
        if found.isWord("from") || found.isWord("for"), let function = call(tokens, at), function.isWord("substring") {
            return "write substring(s, 2, 3)"
        }
        if found.isWord("in"), let function = call(tokens, at), function.isWord("position") { return "write instr(s, part)" }
        if found.kind == .text, let before {
            if before.isWord("interval") { return interval }
            if before.isWord("date") || before.isWord("timestamp") { return "dates are texts: write \(written(found))" }
        }
        if found.isWord("qualify") || before?.isWord("qualify") ?? false {
            return "put the window function in a subquery, and its condition in WHERE"
        }
        if found.isWord("all"), before?.isWord("by") ?? false { return "name the columns" }
        if found.kind == .number, before?.isWord("top") ?? false { return "write LIMIT \(found.text) at the end of the statement" }
        if found.isWord("exclude") || before?.isWord("exclude") ?? false { return "name the columns to select" }
        if found.isWord("as"), let function = call(tokens, at), function.isWord("try_cast") { return "use CAST(x AS REAL)" }
        return nil
    }

    /// Advice for `INTERVAL '1 day'`.
    static let interval = "write date_add('day', 1, d), or datetime(d, '+1 day')"

    private static func end(_ name: String) -> String {
        "this version of SQLite (\(SQLConnection.version)) reserves the word: write \"\(name)\"(s, 3) with double quotes, or substr(s, "
            + (name == "left" ? "1, 3)" : "-3)")
    }

    private static func cast(_ tokens: [SQLToken], _ at: Int) -> String {
        let type = tokens[at...].prefix(3).first { $0.kind == .word || $0.kind == .parameter }?.text.filter { $0.isLetter || $0.isNumber }
        let value = tokens[..<at].last { $0.isName || $0.isLiteral }?.text ?? "x"
        let known = ["int": "INTEGER", "integer": "INTEGER", "bigint": "INTEGER", "double": "REAL", "float": "REAL", "real": "REAL"]
        switch type {
        case "date", "timestamp", "datetime": return "dates are texts; date(x) and datetime(x) convert"
        default: return "write CAST(\(value) AS \(type.flatMap { known[$0] } ?? "TEXT"))"
        }
    }

    /// Returns the function in whose parentheses a token is.
    private static func call(_ tokens: [SQLToken], _ at: Int) -> SQLToken? {
        var depth = 0
        for index in (0..<at).reversed() {
            if tokens[index].isSymbol(")") { depth += 1 }
            if tokens[index].isSymbol("(") {
                guard depth == 0 else {
                    depth -= 1
                    continue
                }
                let isCall = index > 0 && tokens[index - 1].kind == .word
                return isCall && !["over", "in", "from", "join", "as", "exists"].contains(tokens[index - 1].text) ? tokens[index - 1] : nil
            }
            if tokens[index].isSymbol(";") { return nil }
        }
        return nil
    }
}
