import Foundation
import Testing

/// Inputs that write the same numbers and dates in several notations.
@Suite struct UnionValueTests {
    private func files() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("de.csv", "id;amt;d;ok\n1;1.234,50;31.01.2024;true\n2;0,75;01.02.2024;false\n")
        try scratch.write("en.csv", "id,amt,d,ok\n3,1000.25,2024-03-01,True\n4,2.00,2024-03-02,False\n")
        return scratch
    }

    @Test func `queries and SQL unite numbers, dates and bools by value`() throws {
        let scratch = try files()
        let query = try scratch.firn("query", "de.csv", "en.csv", "-a", "sum(amt),max(amt),min(d),max(d)", "--format", "csv")
        #expect(query.out == "sum(amt),max(amt),min(d),max(d)\n2237.5,1234.5,2024-01-31,2024-03-02\n", "\(query.out) \(query.errors)")
        #expect(query.errors.contains("column \"amt\": written in several notations; read as double"), "\(query.errors)")
        let sql = try scratch.firn(
            "sql", "de.csv", "en.csv", "SELECT sum(amt) s, max(amt) m FROM de UNION ALL SELECT sum(amt), max(amt) FROM en", "--format",
            "csv")
        #expect(sql.code == 0, "\(sql.errors)")
        #expect(
            try scratch.firn("query", "de.csv", "en.csv", "ok == true AND amt > 10", "-a", "count", "--format", "csv").out == "count\n2\n")
        let wide = try scratch.firn("query", "de.csv", "en.csv", "--union", "wide", "-a", "max(amt)", "--format", "csv")
        #expect(wide.out == "max(amt)\n2.00\n", "\(wide.out) \(wide.errors)")
    }

    @Test func `a folder of files in several notations has right sums in SQL`() throws {
        let scratch = try files()
        try FileManager.default.createDirectory(at: scratch.file("u"), withIntermediateDirectories: true)
        for name in ["de.csv", "en.csv"] { try scratch.write("u/\(name)", try scratch.read(name)) }
        let sql = try scratch.firn("sql", "u", "SELECT sum(amt) s, max(amt) m, min(d) a FROM u", "--format", "csv")
        #expect(sql.out.hasPrefix("s,m,a\n2237.5,1234.5,2024-01-31"), "\(sql.out) \(sql.errors)")
    }

    @Test func `convert keeps every text, unless values are requested`() throws {
        let scratch = try files()
        let texts = try scratch.firn("convert", "de.csv", "en.csv", "t.firn")
        #expect(
            texts.errors.contains("column \"amt\": double in 2 (first de.csv); read as string; --union values unites their values"),
            "\(texts.errors)")
        #expect(try scratch.firn("query", "t.firn", "id == 1", "--select", "amt", "--format", "csv").out == "amt\n\"1.234,50\"\n")
        let values = try scratch.firn("convert", "de.csv", "en.csv", "v.firn", "--union", "values")
        #expect(values.code == 0 && values.errors.contains("read as double"), "\(values.errors)")
        let back = try scratch.firn("convert", "v.firn", "-", "--to", "csv").out
        #expect(
            back.replacing(";", with: ",")
                == "id,amt,d,ok\n1,1234.5,2024-01-31,true\n2,0.75,2024-02-01,false\n3,1000.25,2024-03-01,true\n4,2,2024-03-02,false\n",
            "\(back)")
    }

    @Test func `columns that are text in one input stay text`() throws {
        let scratch = try files()
        try scratch.write("x.csv", "id,amt\n9,on request\n")
        let run = try scratch.firn("query", "de.csv", "x.csv", "id == 9", "--select", "amt", "--format", "csv")
        #expect(run.out == "amt\non request\n", "\(run.errors)")
    }

    @Test func `a folder can be the last of several inputs, whatever it is called`() throws {
        let scratch = try files()
        for name in ["o", "n"] {
            try FileManager.default.createDirectory(at: scratch.file(name), withIntermediateDirectories: true)
            try scratch.write("\(name)/a.csv", "id,ok\n1,true\n2,false\n")
        }
        for words in [["o", "n"], ["o", "./n"], ["o/", "n/"], ["o/a.csv", "n"]] {
            #expect(try scratch.firn(["query"] + words + ["-a", "count", "--format", "csv"]).out == "count\n4\n", "\(words)")
        }
        #expect(try scratch.firn("query", "o", "n", "id == 1", "-a", "count", "--format", "csv").out == "count\n2\n")
    }
}
