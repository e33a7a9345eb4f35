import FirnBytes
import FirnKit
import FirnTable
import Testing

@testable import FirnSQL

/// What is known of the text of statements before they are prepared.
@Suite struct StatementTextTests {
    private func names(_ sql: String) -> [String] { SQLStatements(sql).parameters.map(\.name) }

    @Test func `parameters are found outside of texts, quoted names and comments`() {
        #expect(names("SELECT :a, @b, $c, ?, ?7, ?, :a") == [":a", "@b", "$c", "?4", "?7", "?8", ":a"])
        #expect(names("SELECT ':a', \":b\", `:c`, [:d], 'it''s :e' -- :f\n/* :g */ , :h") == [":h"])
        #expect(names("SELECT ?; SELECT ?, ?") == ["?1", "?1", "?2"])
        #expect(names("SELECT $a::b(c), x'00', j ->> '$.a', a_b$c, \"x\"\":y\"") == ["$a::b(c)"])
        #expect(names("SELECT ä:ö, :1x, : , :") == [":ö", ":1x"])
        for cut in ["'", "\"", "`", "[", "/*", "--", ":", "?", "$a(", "$a::"] { _ = names("SELECT " + cut) }
    }

    @Test(arguments: Seed.first(200)) func `the parameters of a text are those of its statement`(seed: Seed) throws {
        var random = Random(seed)
        let connection = try Zoo.connection([]),
            pieces = [
                ":a", "@b", "$c", "$c::d", "?", "?3", "'x :y'", "\"n :z\"", "[o ?]", "-- :p\n", "/* ? */", "1.5", "x'ab'", ":a", "(2)",
                "NULL",
            ]
        let sql =
            "SELECT "
            + (0..<random.number(1...6)).map { _ in
                let piece = pieces[random.below(pieces.count)]
                return piece.hasPrefix("-") || piece.hasPrefix("/") ? piece + "0" : piece
            }.joined(separator: ", ")
        var start = 0
        guard let statement = try? connection.statement(SQLStatements(sql).characters, from: &start) else { return }
        let wanted = statement.parameters.enumerated().filter { $0.element != "?\($0.offset + 1)" }.map(\.element)
        let found = Set(names(sql))
        #expect(Set(wanted).isSubset(of: found), "\(sql): \(wanted) \(found)")
        for name in found { #expect(statement.parameters.contains(name) || name.hasPrefix("?"), "\(sql): \(name)") }
    }

    @Test func `a location counts lines and characters from 1`() {
        let text = SQLStatements("SELECT 1;\n-- é\nSELECT 'é', :x")
        #expect(text.parameters.map { text.location($0.offset).description } == ["SQL:3:13"])
        #expect(text.location(0).description == "SQL:1:1" && text.location(1_000).line == 3)
    }
}
