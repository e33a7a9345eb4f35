import Foundation
import Testing

@Suite struct IndexTests {
    private func sample() throws -> Scratch {
        let scratch = try Scratch()
        var text = "id,name,age\n"
        for i in 0..<3000 { text += "\(i),person \((i * 7919) % 3000),\(i % 90)\n" }
        try scratch.write("people.csv", text)
        #expect(try scratch.firn("convert", "people.csv", "people.firn", "--key", "id").code == 0)
        return scratch
    }

    @Test func `indexes are created, used, listed and dropped`() throws {
        let scratch = try sample()
        #expect(try scratch.firn("index", "people.firn").errors.contains("no indexes"))
        #expect(!(try scratch.firn("query", "people.firn", "name == 'person 5'", "--explain").out.contains("index people.name")))
        let before = try scratch.firn("query", "people.firn", "name == 'person 5'", "--format", "csv").out
        let made = try scratch.firn("index", "people.firn", "people.name", "age")
        #expect(
            made.code == 0 && made.out.contains("people.name") && made.out.contains("people.age") && made.out.contains("3,000"),
            "\(made.out)\(made.errors)")
        let plan = try scratch.firn("query", "people.firn", "name == 'person 5'", "--explain").out
        #expect(plan.contains("index people.name: 1 candidate row"), "\(plan)")
        #expect(try scratch.firn("query", "people.firn", "name == 'person 5'", "--format", "csv").out == before)
        #expect(try scratch.firn("verify", "--full", "people.firn").code == 0)
        let listed = try scratch.firn("index", "people.firn", "--json").out
        #expect(listed.contains(#""column":"name","kind":"values","forKey":false,"entries":3000,"runs":1"#), "\(listed)")
        #expect(try scratch.firn("compact", "people.firn").code == 0)
        #expect(try scratch.firn("convert", "people.firn", "copy.firn").code == 0)
        for file in ["people.firn", "copy.firn"] {
            let all = try scratch.firn("index", file, "--json").out
            #expect(all.contains(#""column":"name""#) && all.contains(#""column":"age""#), "\(file): \(all)")
            #expect(try scratch.firn("verify", "--full", file).code == 0)
        }
        #expect(try scratch.firn("diff", "people.firn", "people.csv", "--key", "id").code == 0)
        #expect(try scratch.firn("index", "people.firn", "people.age", "--drop").code == 0)
        #expect(try scratch.firn("index", "people.firn", "people.age", "--drop").code == 1)
        #expect(!(try scratch.firn("index", "people.firn", "--json").out.contains(#""column":"age""#)))
    }

    @Test func `an index that exists already is listed, and makes no new version`() throws {
        let scratch = try sample()
        let made = try scratch.firn("index", "people.firn", "name")
        #expect(made.code == 0)
        let bytes = try Data(contentsOf: scratch.file("people.firn"))
        let again = try scratch.firn("index", "people.firn", "people.name")
        #expect(again.code == 0 && again.out == made.out, "\(again.out)\(again.errors)")
        #expect(try Data(contentsOf: scratch.file("people.firn")) == bytes)
        #expect(try scratch.firn("index", "people.firn", "name", "age").code == 0)
        #expect(try scratch.firn("log", "--json", "people.firn").out.split(separator: "\n").count == 3)
    }

    @Test func `errors list the columns that users see, without those of original texts`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,name,age\n1,Ada,36\n2,Bob,NA\n3,Cyd,5\n")
        let converted = try scratch.firn("convert", "a.csv", "a.firn", "--key", "id")
        #expect(
            converted.errors.contains(
                "column \"age\": 1 of 3 cells is not an int: stored as null, together with its text (first: row 2 \"NA\")"),
            "\(converted.errors)")
        for words in [["index", "a.firn", "xyzzy"], ["index", "a.firn", "a.xyzzy"], ["query", "a.firn", "xyzzy == 1"]] {
            let run = try FirnRun(words, in: scratch.folder)
            #expect(run.code == 2 && run.errors.hasSuffix("its columns are id, name, age\n"), "\(words): \(run.errors)")
        }
    }

    @Test func `words of a text are found through a word index`() throws {
        let scratch = try Scratch()
        var text = "id,title\n"
        for i in 0..<2000 { text += "\(i),\"The \(i % 400)th Étude, opus \(i)\"\n" }
        try scratch.write("music.csv", text)
        #expect(try scratch.firn("convert", "music.csv", "music.firn").code == 0)
        let words = ["query", "music.firn", "title TEXT 'etude 17th -opus'", "--format", "csv"],
            some = ["query", "music.firn", "title TEXT 'ETUDE 17th'"]
        #expect(try scratch.firn(some[0], some[1], some[2], "--format", "csv").out.split(separator: "\n").count == 6)
        let before = try scratch.firn(some[0], some[1], some[2], "--format", "csv").out
        #expect(try scratch.firn("index", "music.firn", "title", "--full-text").out.contains("words"))
        #expect(try scratch.firn(some[0], some[1], some[2], "--format", "csv").out == before)
        #expect(try scratch.firn(some[0], some[1], some[2], "--explain").out.contains("index music.title: 5 candidate rows"))
        #expect(try FirnRun(words, in: scratch.folder).code == 1)
        #expect(try scratch.firn("verify", "--full", "music.firn").code == 0)
    }

    @Test func `index refuses unknown types, unknown columns and unsuitable columns, and proposes similar names`() throws {
        let scratch = try sample()
        #expect(try scratch.firn("index", "people.firn", "people.nam").errors.contains("did you mean \"name\"?"))
        #expect(try scratch.firn("index", "people.firn", "peple.name").errors.contains("peple"))
        #expect(try scratch.firn("index", "people.firn", "--drop").code == 2)
        let text = try scratch.firn("index", "people.csv", "people.name")
        #expect(
            text.code == 4 && text.errors.contains("people.csv: not a .firn file\n")
                && text.errors.contains("'firn convert people.csv OUT.firn' converts a file of another format"), "\(text.errors)")
        #expect(
            try scratch.firn("index", "people.firn", "people.age", "--full-text").errors.contains(
                "only string columns can have an index of words"))
    }
}
