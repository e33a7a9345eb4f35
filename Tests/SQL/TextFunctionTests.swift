import CSQLiteLibrary
import FirnBytes
import FirnKit
import FirnSQL
import FirnTable
import Foundation
import Testing

/// Functions of texts and regular expressions.
@Suite struct TextFunctionTests {
    private func value(_ connection: SQLConnection, _ call: String, _ values: [Value] = []) throws -> Value {
        try connection.all("SELECT \(call)", values)[0][0]
    }

    @Test func `text functions return what DuckDB and PostgreSQL return`() throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        for (call, wanted) in [
            ("split_part('a,b,c', ',', 2)", "b"), ("split_part('a,b,c', ',', -1)", "c"), ("split_part('a,b', ',', 5)", ""),
            ("split_part('abc', '', 1)", "abc"), ("split_part('a--b--', '--', 3)", ""), ("lpad('7', 3, '0')", "007"),
            ("lpad('abcd', 2, 'x')", "ab"), ("rpad('ü', 4, 'äö')", "üäöä"), ("rpad('a', 3)", "a  "), ("lpad('a', -1)", ""),
            ("\"left\"('日本語', 2)", "日本"), ("\"left\"('abc', -1)", "ab"), ("\"right\"('abc', 2)", "bc"), ("\"right\"('abc', -1)", "bc"),
            ("\"left\"('abc', 9)", "abc"), ("\"right\"('abc', -9223372036854775808)", ""), ("reverse('añb')", "bña"),
            ("repeat('ab', 3)", "ababab"), ("repeat('ab', -1)", ""),
            ("concat('a', NULL, 1)", "a1"), ("concat_ws('-', 'a', NULL, 'b')", "a-b"), ("greatest('a', 'b', NULL)", "b"),
            ("initcap('hello wORLD-x 1st')", "Hello World-X 1st"), ("to_hex(255)", "ff"),
            ("regexp_replace('hello', 'l', 'L')", "heLlo"), ("regexp_replace('hello', 'l', 'L', 'g')", "heLLo"),
            ("regexp_replace('2016-09', '(\\d+)-(\\d+)', '\\2.\\1 \\0')", "09.2016 2016-09"),
            ("regexp_replace('abc', 'x*', '-', 'g')", "-a-b-c-"),
            ("regexp_extract('key=value', '(\\w+)=(\\w+)', 2)", "value"), ("regexp_extract('abc', 'x')", ""),
            ("regexp_replace('a.b', '.', 'x', 'gl')", "axb"),
        ] { #expect(try value(connection, call) == .string(wanted), "\(call)") }
        for (call, wanted) in [
            ("starts_with('abc', 'ab')", 1), ("starts_with('abc', 'b')", 0), ("ends_with('abc', 'bc')", 1), ("contains('abc', '')", 1),
            ("contains('aabaabaaab', 'aaab')", 1), ("contains('abc', 'd')", 0), ("levenshtein('kitten', 'sitting')", 3),
            ("levenshtein('', 'ab')", 2),
            ("'abc' REGEXP '^a.c$'", 1), ("'xabc' NOT REGEXP '^a'", 1), ("regexp_matches('ABC', 'b', 'i')", 1),
            ("regexp_matches('ÄRGER', 'ä', 'i')", 1),
            ("regexp_full_match('abc', 'b')", 0), ("regexp_full_match('abc', 'a|abc')", 1), ("regexp_count('banana', 'an')", 2),
            ("regexp_matches('a' || char(10) || 'b', 'a.b')", 0), ("regexp_matches('a' || char(10) || 'b', 'a.b', 's')", 1),
            ("regexp_matches('a' || char(10) || 'b', '(?m)^b$')", 1), ("regexp_matches('foo bar', '\\bbar\\b')", 1),
            ("regexp_matches('x]', '[]]')", 1), ("regexp_matches('日本', '^[\\x{65e5}-\\x{672c}]+$')", 1),
            ("regexp_matches('a-b', '^[[:alpha:]-]+$')", 1),
        ] { #expect(try value(connection, call) == .int(Int64(wanted)), "\(call)") }
        for call in [
            "split_part(NULL, ',', 1)", "concat_ws(NULL, 'a')", "regexp_matches(NULL, 'a')", "regexp_matches('a', NULL)",
            "repeat('a', NULL)",
        ] {
            #expect(try value(connection, call) == .null, "\(call)")
        }
        #expect(try value(connection, "concat(NULL)") == .string(""))
    }

    /// A random expression over `a` and `b`, and whether it can match nothing. What can match nothing is not repeated, because
    /// Foundation does not find all matches of such repetitions.
    private static func expression(_ random: inout RandomTables, _ depth: Int = 0) -> (text: String, isEmpty: Bool) {
        var text = "", isEmpty = true
        for _ in 0...random.number(0...2) {
            var atom = (text: ["a", "a", "b", ".", "[ab]", "[^a]", "\\w"][random.number(0...6)], isEmpty: false)
            switch random.number(0...(depth > 2 ? 3 : 7)) {
            case 4, 5:
                atom = expression(&random, depth + 1)
                atom.text = (random.chance(50) ? "(?:" : "(") + atom.text + ")"
            case 6, 7:
                let (first, second) = (expression(&random, depth + 1), expression(&random, depth + 1))
                atom = ("(\(first.text)|\(second.text))", first.isEmpty || second.isEmpty)
            default: break
            }
            let count = atom.isEmpty ? "" : ["", "", "", "*", "+", "?", "*?", "+?", "{2}", "{1,2}", "{0,2}?"][random.number(0...10)]
            text += atom.text + count
            isEmpty = isEmpty && (atom.isEmpty || ["*", "?", "*?", "{0,2}?"].contains(count))
        }
        return (depth == 0 && random.chance(15) ? text + "$" : text, isEmpty)
    }

    @Test func `repetitions of what can match nothing match what they match in RE2`() throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        for (text, pattern, wanted) in [
            ("aa", "(|a)*", ""), ("aa", "(|a)+", ""), ("aab", "(a|)*b", "aab"),
            ("abbbaab", "(.{0,2}?|.)*?$", "abbbaab"), ("aaa", "(a*)*", "aaa"), ("aaa", "(a*?)*?$", "aaa"), ("ab", "(a?b??)*", "a"),
        ] { #expect(try value(connection, "regexp_extract(?1, ?2)", [.string(text), .string(pattern)]) == .string(wanted), "\(pattern)") }
    }

    @Test(arguments: Seed.first(4)) func `random regular expressions match what Foundation's match`(seed: Seed) throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        var random = RandomTables(seed), matched = 0
        for _ in 0..<400 {
            let pattern = Self.expression(&random).text,
                text = String((0..<random.number(0...8)).map { _ in Character(random.chance(50) ? "a" : "b") })
            let reference = try NSRegularExpression(pattern: pattern), all = NSRange(location: 0, length: text.utf16.count)
            let match = reference.firstMatch(in: text, range: all)
            let wanted = match.map { (text as NSString).substring(with: $0.range) } ?? ""
            let values = [Value.string(text), .string(pattern)]
            let row = try connection.all("SELECT regexp_matches(?1, ?2), regexp_extract(?1, ?2), regexp_replace(?1, ?2, '<')", values)[0]
            #expect(row[0] == .int(match == nil ? 0 : 1) && row[1] == .string(wanted), "\(pattern) in \(text): \(row), not \(wanted)")
            let replaced = match.map { (text as NSString).replacingCharacters(in: $0.range, with: "<") } ?? text
            #expect(row[2] == .string(replaced), "\(pattern) in \(text)")
            if match != nil { matched += 1 }
        }
        #expect(matched > 100)
    }

    @Test func `expressions that make backtracking exponential take linear time`() throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions()), text = String(repeating: "a", count: 20_000)
        connection.setTimeout(seconds: 60)
        for pattern in ["(a*)*b", "(a+)+$b", "(a|a)*b", "(a|aa)+b", "a*a*a*a*a*a*b", "(.*)(.*)(.*)x$", "^(a?){50}a{50}b"] {
            #expect(try value(connection, "regexp_matches(?1, ?2)", [.string(text), .string(pattern)]) == .int(0), "\(pattern)")
            #expect(try value(connection, "regexp_extract(?1, ?2)", [.string(text), .string(pattern)]) == .string(""), "\(pattern)")
        }
    }

    @Test func `a search in a long text ends at the time limit`() throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        connection.setTimeout(seconds: 1)
        let start = ContinuousClock.now
        #expect(throws: FirnError.self) {
            try connection.all("SELECT regexp_extract(repeat('a', 50000000), '(a?){400}a{400}b')")
        }
        #expect(ContinuousClock.now - start < .seconds(60))
    }

    @Test func `wrong patterns are errors that name the place`() throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        for (pattern, part) in [
            ("(", "not closed"), (")", "not opened"), ("a**", "a repetition of a repetition"), ("*a", "nothing to repeat"),
            ("[a", "without ]"),
            ("(?=a)", "look-around"), ("(a)\\1", "references to groups"), ("a{1001}", "more than 1000"), ("(a{1000}){1000}", "too large"),
            ("\\", "backslash"),
            ("a{2,1}", "at least 2"), ("[z-a]", "descending"), ("[[:nope:]]", "class"), ("\\y", "\\y is not available"),
            ("\\p{L}", "not available"),
            (String(repeating: "(", count: 500), "nested"), ("\\x{110000}", "unknown character"), ("(?z)", "option"),
        ] {
            do {
                _ = try value(connection, "regexp_matches('a', ?1)", [.string(pattern)])
                Issue.record("no error: \(pattern)")
            } catch let error as FirnError { #expect(error.message.contains(part), "\(pattern): \(error)") }
        }
        #expect(throws: FirnError.self) { try value(connection, "regexp_matches('a', 'a', 'z')") }
        #expect(throws: FirnError.self) { try value(connection, "regexp_extract('a', 'a', 1)") }
        #expect(throws: FirnError.self) { try value(connection, "regexp_replace('a', 'a', '\\1')") }
    }

    @Test func `results of too many bytes are errors before they are made`() throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        for call in [
            "repeat('abc', 9223372036854775807)", "repeat('a', 1000000001)", "lpad('a', 4000000000, 'xyz')",
            "rpad('a', 9223372036854775807)",
            "levenshtein(repeat('a', 20000), 'a')", "split_part('a', ',', 0)",
            "string_agg(x, repeat('a', 300000000)) FROM (SELECT 1 AS x UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5)",
        ] { #expect(throws: FirnError.self, "\(call)") { try value(connection, call) } }
    }
}
