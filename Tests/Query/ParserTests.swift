import FirnKit
import Testing
@testable import FirnQuery

@Suite struct ParserTests {
    @Test(arguments: [
        "age == 5", "name BEGINSWITH[c] 'A' AND NOT (x > 1 OR y < 2.50)", "a.b[0].@count >= -3", "in in 'in'", "contains contains 'contains'", "sort > 0",
        "ANY tags == 'x'", "ALL x.y > $0", "x BETWEEN {1, 2}", "(a + 1) * 2 > b / 3 - 4", "你好=5", "true\\ love == true", "`any` == 1",
        "d['k'] = bin(B64\"aGk=\") SORT(a ASC, b DESC) DISTINCT(c) LIMIT(3)", "t > T-5:-3 && u = uuid(3b241101-e2bb-4255-8caf-4136c566a962)",
        "d < 2021-03-04@05:06:07:8 or o = oid(0123456789abcdef01234567)", "x == -inf || y == NaN", "a == ANY {1, 'a', null}", "!!(a=1)", "a - (b - c) = 1e400",
        "Any == 1", "between == 1 and like = 2 and text = 3 and asc=4 and first=5 and size=6", "x == 2.5f", "x == 0xFf", "x == .5 and y == 1.", "m.@type == 'int'",
    ])
    func `the description of a query parses back to the same tree`(text: String) throws {
        let tree = try Parser.query(text)
        #expect(try Parser.query(tree.description) == tree, "\(tree)")
    }

    @Test(arguments: ["", "age", "age ==", "== 5", "-age == -5", "a.any == 1", "any == 1", "x <[c] 'a'", "SORT(p ASC)", "x == 'a", "x == 5 SORT(a)", "x BETWEEN {1}",
                      "(a == 1", "a == 1)", "a == (b == 1)", "x == 5 LIMIT(-1)", "not", "x == \\q", "x == '\\q'", "5a == 1", "a == {1,", "ANY 5.5 IN a"])
    func `text outside the language is an error with a position`(text: String) {
        do {
            _ = try Parser.query(text)
            Issue.record("\(text) was accepted")
        } catch {
            #expect(error.kind == .syntax && error.position <= text.utf8.count && !error.description.isEmpty)
        }
    }

    @Test func `escapes are decoded`() throws {
        #expect(try Parser.query("a == 'Re\\u0078 \\ud83d\\ude00'") == Parser.query("a == 'Rex 😀'"))
    }

    @Test func `nesting is bounded and long queries are not`() throws {
        #expect(throws: QueryError.self) { try Parser.query(String(repeating: "(", count: 100_000) + "a == 1") }
        #expect(throws: QueryError.self) { try Parser.query(String(repeating: "!", count: 100_000) + "a == 1") }
        #expect(throws: QueryError.self) { try Parser.query("a == 1" + String(repeating: " + 1", count: 100_000)) }
        _ = try Parser.query("a == 1" + String(repeating: " OR a == 1", count: 20_000))
    }

    @Test func `any text is parsed or refused, and what parses is printed faithfully`() throws {
        let words = ["a", "b.c", "==", "!=", "<", "IN", "{", "}", "(", ")", "1", "-", "2.5", "'x'", "and", "or", "not", "ANY", "[c]", "[", "]", "0", "FIRST", ".", "@count", "@min",
                     "null", "BETWEEN", ",", "LIKE", "SORT", "ASC", "LIMIT", "$0", "\"", "\\", "`q`", "inf", "T5:3", "2020-01-01", "+", "*", "é", "B64'", "uuid(", "TRUEPREDICATE"]
        var random = Random(seed: 42)
        for _ in 0..<100_000 {
            var text = ""
            for _ in 0..<(1 + random.below(9)) { text += words[random.below(words.count)] + (random.below(3) > 0 ? " " : "") }
            guard let tree = try? Parser.query(text) else { continue }
            #expect(try Parser.query(tree.description) == tree, "\(text) printed as \(tree)")
        }
    }
}
