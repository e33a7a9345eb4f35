import Foundation
import Testing

/// `firn query` and `firn sql` with `--format markdown` and `--format html`.
@Suite struct DocumentOutputTests {
    private func sample() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("p.csv", "id,name|x,note\n1,Ann,\"a\nb\"\n2,<b>Bo</b>,\n10,x|y,\"\"\n")
        return scratch
    }

    private let markdown = """
        | id | name\\|x | note |
        | ---: | --- | --- |
        | 1 | Ann | a<br>b |
        | 2 | &lt;b&gt;Bo&lt;/b&gt; |  |
        | 10 | x\\|y | "" |

        """

    @Test func `rows are a table in Markdown`() throws {
        let scratch = try sample()
        let query = try scratch.firn("query", "p.csv", "--format", "markdown")
        #expect((query.code, query.out) == (0, markdown), "\(query.errors)")
        let sql = try scratch.firn("sql", "p.csv", "SELECT * FROM p", "--format", "markdown")
        #expect((sql.code, sql.out) == (0, markdown), "\(sql.errors)")
        let several = try scratch.firn("sql", "p.csv", "SELECT 1 AS a; SELECT 2 AS a", "--format", "markdown")
        #expect(several.out == "| a |\n| ---: |\n| 1 |\n\n| a |\n| ---: |\n| 2 |\n", "\(several.out)\(several.errors)")
        let none = try scratch.firn("query", "p.csv", "id > 99", "--format", "markdown")
        #expect(none.code == 1 && none.out == "| id | name\\|x | note |\n| ---: | --- | --- |\n" && none.errors.contains("no rows"))
    }

    @Test func `rows are a page of HTML without markup of their own`() throws {
        let scratch = try sample()
        for words in [["query", "p.csv"], ["sql", "p.csv", "SELECT * FROM p"]] {
            let run = try scratch.firn(words + ["--format", "html"])
            #expect(run.code == 0 && run.out.hasPrefix("<!DOCTYPE html>") && run.out.hasSuffix("</table>\n</body>\n</html>\n"))
            #expect(
                run.out.contains("<tr><td class=\"number\">2</td><td>&lt;b&gt;Bo&lt;/b&gt;</td><td></td></tr>") && !run.out.contains("<b>"),
                "\(run.out)\(run.errors)")
        }
        let several = try scratch.firn("sql", "p.csv", "SELECT 1 AS a; SELECT 2 AS a", "--format", "html")
        #expect(several.code == 2 && several.errors.contains("several statements return rows"), "\(several.errors)")
    }

    @Test func `the extension of the file decides, and a file that exists needs --force`() throws {
        let scratch = try sample()
        #expect(try scratch.firn("query", "p.csv", "-o", "rows.md").code == 0)
        #expect(try scratch.read("rows.md") == markdown)
        let refused = try scratch.firn("query", "p.csv", "id > 1", "-o", "rows.md")
        #expect(refused.code == 5 && refused.errors.contains("--force"), "\(refused.errors)")
        #expect(try scratch.firn("sql", "p.csv", "SELECT * FROM p", "-o", "rows.html", "--color=always").code == 0)
        #expect(try scratch.read("rows.html") == scratch.firn("sql", "p.csv", "SELECT * FROM p", "--format", "html").out)
        let json = try scratch.firn("query", "p.csv", "--json", "--format", "markdown")
        #expect(json.code == 2 && json.errors.contains("--json and --format markdown request different formats"), "\(json.errors)")
        #expect(try scratch.firn("query", "p.csv", "id > 'x'", "-o", "bad.md").code != 0)
        #expect(!scratch.has("bad.md"))
    }
}
