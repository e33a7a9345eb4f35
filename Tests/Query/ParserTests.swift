import FirnKit
import Testing
@testable import FirnQuery

@Suite struct ParserTests {
    @Test(arguments: [
        "age == 5", "name BEGINSWITH[c] 'A' AND NOT (x > 1 OR y < 2.50)", "a.b[0].@count >= -3", "in in 'in'",
        "contains contains 'contains'", "sort > 0",
        "ANY tags == 'x'", "ALL x.y > $0", "x BETWEEN {1, 2}", "(a + 1) * 2 > b / 3 - 4", "你好=5", "true\\ love == true", "`any` == 1",
        "d['k'] = bin(B64\"aGk=\") SORT(a ASC, b DESC) DISTINCT(c) LIMIT(3)",
        "t > T-5:-3 && u = uuid(3b241101-e2bb-4255-8caf-4136c566a962)",
        "d < 2021-03-04@05:06:07:8 or o = oid(0123456789abcdef01234567)", "x == -inf || y == NaN", "a == ANY {1, 'a', null}", "!!(a=1)",
        "a - (b - c) = 1e400",
        "Any == 1", "between == 1 and like = 2 and text = 3 and asc=4 and first=5 and size=6", "x == 2.5f", "x == 0xFf",
        "x == .5 and y == 1.", "m.@type == 'int'",
    ])
    func `the description of a query parses to the same tree`(text: String) throws {
        let tree = try Parser.query(text)
        #expect(try Parser.query(tree.description) == tree, "\(tree)")
    }

    @Test(arguments: [
        "", "age", "age ==", "== 5", "-age == -5", "a.any == 1", "any == 1", "x <[c] 'a'", "SORT(p ASC)", "x == 'a", "x == 5 SORT(a)",
        "x BETWEEN {1}",
        "(a == 1", "a == 1)", "a == (b == 1)", "x == 5 LIMIT(-1)", "not", "x == \\q", "x == '\\q'", "5a == 1", "a == {1,", "ANY 5.5 IN a",
    ])
    func `invalid text is an error with a position`(text: String) {
        do {
            _ = try Parser.query(text)
            Issue.record("\(text) was accepted")
        } catch {
            #expect(error.kind == .syntax && error.position <= text.utf8.count && !error.description.isEmpty)
        }
    }

    @Test(arguments: [
        ("a IS NULL", "a == NULL"), ("a is not null", "a != NULL"), ("a IS TRUE", "a == true"),
        ("a IN (1, 'b', null)", "a IN {1, 'b', null}"), ("a IN (1)", "a IN {1}"), ("a IN ()", "a IN {}"),
        ("a NOT IN (1, 2)", "NOT a IN {1, 2}"), ("a IN[c] ('x')", "a IN[c] {'x'}"), ("a BETWEEN 1 AND 2", "a BETWEEN {1, 2}"),
        ("a BETWEEN (1, 2)", "a BETWEEN {1, 2}"),
        ("a NOT BETWEEN -1 AND 2 AND b = 3", "NOT a BETWEEN {-1, 2} AND b == 3"),
        ("a BETWEEN 2020-01-01 AND 2020-02-01 OR b == 1", "a BETWEEN {2020-01-01, 2020-02-01} OR b == 1"),
        ("a BETWEEN $0 AND $1", "a BETWEEN {$0, $1}"), ("a BETWEEN %@ AND %@ AND b == 1", "a BETWEEN {%@, %@} AND b == 1"),
        ("(a BETWEEN $0 AND 5)", "a BETWEEN {$0, 5}"),
        ("a NOT LIKE 'x*'", "NOT a LIKE 'x*'"), ("a <> 1 && b = 2 || c != 3", "a != 1 AND b == 2 OR c != 3"),
        ("a IN ($0, $1)", "a IN {$0, $1}"),
        // These keep their meaning: a parenthesis that is a list itself, and a condition after an argument that is a list.
        ("a IN ($0)", "a IN $0"), ("a IN (b)", "a IN b"), ("a BETWEEN $0 AND $1 < b", "a BETWEEN $0 AND ($1 < b)"),
        ("a BETWEEN $0 AND b == 1", "(a BETWEEN $0) AND b == 1"), ("is == 1 AND is IS NULL", "`is` == 1 AND `is` == NULL"),
    ])
    func `spellings of SQL parse to the equivalent queries of the language`(text: String, same: String) throws {
        func tree(_ text: String) -> String {
            do { return try Parser.query(text).description } catch { return "\(error.message)" }
        }
        #expect(tree(text) == tree(same))
    }

    @Test(arguments: [
        ("a > 1 ORDER BY a", "SORT("), ("a > 1 LIMIT 5", "LIMIT(5)"), ("a ILIKE 'x'", "LIKE[c]"), ("a IS 5", "=="),
        ("a BETWEEN b AND c", ">="), ("a BETWEEN 1", "BETWEEN 1 AND 10"), ("select a from b", "firn sql"),
    ])
    func `SQL that the language does not support is an error with the equivalent to write`(text: String, hint: String) {
        let error = #expect(throws: QueryError.self) { try Parser.query(text) }
        #expect(error?.description.contains(hint) == true, "\(String(describing: error))")
    }

    @Test func `escapes are decoded`() throws {
        #expect(try Parser.query("a == 'Re\\u0078 \\ud83d\\ude00'") == Parser.query("a == 'Rex 😀'"))
    }

    @Test func `the depth of nesting is limited, the length of a query is not`() throws {
        #expect(throws: QueryError.self) { try Parser.query(String(repeating: "(", count: 100_000) + "a == 1") }
        #expect(throws: QueryError.self) { try Parser.query(String(repeating: "!", count: 100_000) + "a == 1") }
        #expect(throws: QueryError.self) { try Parser.query("a == 1" + String(repeating: " + 1", count: 100_000)) }
        _ = try Parser.query("a == 1" + String(repeating: " OR a == 1", count: 20_000))
    }

    @Test func `a printed name parses to the same name, with any characters in it`() throws {
        let parts = [
            "`", "``", "\u{301}", "\u{20E3}", "\u{200D}", "\u{FE0F}", "\u{1F3FD}", "a", "Z", "é", "like", "IN", "O1", "T5-", "0", "-", "$",
            ".", " ", "\t", "\n", "\r\n", "\0", "'", "\"", "\\", "(", ")", ",", "{", "@", "日", "👩", "\u{202E}",
            "\u{212A}", "ſ", "\u{A0}", "\u{FEFF}", "\u{E000}",
        ]
        var random = Random(seed: 7)
        for round in 0..<20_000 {
            var name = round < parts.count ? parts[round] : ""
            for _ in 0..<(round < parts.count ? 0 : 1 + random.below(6)) { name += parts[random.below(parts.count)] }
            let path = PathSyntax([.name(name), .name(name)]), text = "\(path) == 1 AND ANY \(path) > 2 SORT(\(path) ASC)"
            let tree = try Parser.query(text)
            guard case .and(let tests) = tree.predicate, case .comparison(let first) = tests[0], case .path(let read) = first.left,
                read.steps.count == 2, case .name(let again, _) = read.steps[0]
            else {
                Issue.record("\(text.debugDescription) parses to \(tree)")
                continue
            }
            #expect(Array(again.utf8) == Array(name.utf8), "\(text.debugDescription)")
        }
    }

    @Test func `any text is parsed or refused, and a parsed query is printed faithfully`() throws {
        let words = [
            "a", "b.c", "==", "!=", "<", "IN", "{", "}", "(", ")", "1", "-", "2.5", "'x'", "and", "or", "not", "ANY", "[c]", "[", "]", "0",
            "FIRST", ".", "@count", "@min",
            "null", "BETWEEN", ",", "LIKE", "SORT", "ASC", "LIMIT", "$0", "\"", "\\", "`q`", "inf", "T5:3", "2020-01-01", "+", "*", "é",
            "B64'", "uuid(", "TRUEPREDICATE",
        ]
        var random = Random(seed: 42)
        for _ in 0..<100_000 {
            var text = ""
            for _ in 0..<(1 + random.below(9)) { text += words[random.below(words.count)] + (random.below(3) > 0 ? " " : "") }
            guard let tree = try? Parser.query(text) else { continue }
            #expect(try Parser.query(tree.description) == tree, "\(text) printed as \(tree)")
        }
    }
}
