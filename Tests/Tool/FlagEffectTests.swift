import FirnKit
import Foundation
import Testing

/// A flag that has no effect, contradicts another one or names nothing is an error with exit code 2, or is reported.
@Suite struct FlagEffectTests {
    private func refuse(_ scratch: Scratch, _ words: [String], _ part: String) throws {
        let run = try FirnRun(words, in: scratch.folder)
        #expect(run.code == 2 && run.out.isEmpty && run.errors.contains(part), "\(words): \(run.code) \(run.out)\(run.errors)")
    }

    private func sample() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,name,day\n1,x,2024-01-02\n2,y,2024-01-03\n")
        try scratch.write("a.ndjson", "{\"id\":1,\"o\":{\"k1\":1},\"l\":[{\"p\":{\"q\":1}}]}\n")
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "-q").code == 0)
        return scratch
    }

    @Test func `an empty value, an empty item and a name given twice are errors in every flag that takes names`() throws {
        let scratch = try sample()
        for (command, flags) in [
            (
                ["convert", "a.csv", "x.firn"],
                ["--key", "--columns", "--json-column", "--type", "--schema", "--rejects", "--null", "--dates"]
            ),
            (["query", "a.csv"], ["--select", "--sort", "--distinct", "--group-by", "--where", "--agg", "--map", "--object"]),
            (["diff", "a.csv", "a.csv"], ["--key", "--ignore", "--columns", "--changes"]), (["hash", "a.csv"], ["--key"]),
            (["compact", "a.firn"], ["--keep"]), (["info", "a.firn"], ["--type"]),
        ] {
            for flag in flags { try refuse(scratch, command + [flag, ""], "the value of \(flag) is empty") }
        }
        for (words, part) in [
            (["convert", "a.csv", "x.firn", "--key", "id,id"], "--key names \"id\" twice"),
            (["convert", "a.csv", "x.firn", "--key", "id", "-k", "id"], "--key names \"id\" twice"),
            (["convert", "a.csv", "x.firn", "--columns", "id,id"], "--columns names \"id\" twice"),
            (["convert", "a.firn", "x.firn", "--columns", "id,name, id"], "--columns names \"id\" twice"),
            (["query", "a.csv", "-s", "id,id"], "--select names \"id\" twice"),
            (["query", "a.csv", "-S", "id,-id"], "--sort names \"id\" twice"),
            (["query", "a.csv", "-g", "id,,name"], "an item of --group-by is empty: \"id,,name\""),
            (["diff", "a.csv", "a.csv", "--key", ","], "an item of --key is empty: \",\""),
            (["query", "a.csv", "--null", "NA,"], "an item of --null is empty: \"NA,\""),
        ] { try refuse(scratch, words, part) }
        #expect(scratch.names == ["a.csv", "a.firn", "a.ndjson"])
    }

    @Test func `flags that contradict each other are errors`() throws {
        let scratch = try sample()
        #expect(try scratch.firn("convert", "a.ndjson", "b.csv", "several.firn").code != 0)
        for (words, part) in [
            (["query", "a.ndjson", "--map", "o", "--object", "o"], "--map and --object both name \"o\""),
            (["query", "a.csv", "--decimal", ",", "--decimal", "."], "--decimal sets the mark of all columns twice"),
            (["query", "a.csv", "--decimal", "id=,", "--decimal", "id=."], "--decimal sets the mark of column \"id\" twice"),
            (["query", "a.firn:a", "--type", "b"], "--type names \"b\", and a.firn:a names another type"),
            (["info", "a.firn:a", "--type", "b"], "--type names \"b\""), (["schema", "a.firn:a", "--type", "b"], "--type names \"b\""),
            (["log", "a.firn:a", "--type", "b"], "--type names \"b\""), (["index", "a.firn:a", "--type", "b"], "--type names \"b\""),
            (["query", "a.csv", "--explain", "--json"], "--explain prints a plan as text, and --json is about rows"),
            (["query", "a.csv", "--explain", "--format", "csv"], "--explain prints a plan"),
            (["sql", "a.csv", "SELECT 1", "--explain", "--json"], "--explain prints a plan"),
        ] { try refuse(scratch, words, part) }
        for (flag, part) in [("--flatten", "--flatten: no column contains objects"), ("--nest", "--nest: no name of a column has parts")] {
            let run = try scratch.firn("convert", flag, "a.csv", "-", "--to", "ndjson")
            #expect(run.code == 0 && run.errors.contains(part), "\(run.errors)")
        }
        #expect(try !scratch.firn("convert", "--flatten", "a.ndjson", "-", "--to", "csv").errors.contains("--flatten:"))
    }

    @Test func `the flags of one format are errors in every command if no input has it`() throws {
        let scratch = try sample()
        for (flag, value) in [
            ("--null", "NA"), ("--delimiter", ";"), ("--dates", "dd.MM.yyyy"), ("--encoding", "latin-1"), ("--skip", "1"),
        ] {
            for words in [
                ["query", "a.firn"], ["hash", "a.firn"], ["schema", "a.firn"], ["diff", "a.firn", "a.ndjson", "--key", "id"],
                ["sql", "a.firn"], ["hash", "a.firn", "a.ndjson"],
            ] {
                let run = try FirnRun(words + [flag, value] + (words[0] == "sql" ? ["SELECT 1"] : []), in: scratch.folder)
                #expect(run.code == 2 && run.errors.contains("\(flag) applies to CSV only"), "\(words) \(flag): \(run.code) \(run.errors)")
            }
        }
        #expect(try scratch.firn("hash", "a.firn", "a.csv", "--null", "x").code == 0)
        #expect(try scratch.firn("query", "a.csv", "--map", "o").errors.contains("--map applies to JSON only"))
    }

    @Test func `a path of --map or --object at which there is no object is an error, and in one of several inputs a remark`() throws {
        let scratch = try sample()
        for flag in ["--map", "--object"] {
            for path in ["nosuch", "o..", "o.k1", "l", "l.p", "id", "l.*.p.q", "*.k1"] {
                try refuse(
                    scratch, ["convert", "a.ndjson", "x.firn", flag, path], "\(flag) names \"\(path)\", and there is no object at this path"
                )
            }
            for path in ["o", "l.*", "l.*.p", "*"] {
                let run = try scratch.firn("query", "a.ndjson", flag, path)
                #expect(run.code == 0, "\(flag) \(path): \(run.errors)")
            }
        }
        try scratch.write("b.ndjson", "{\"id\":2}\n")
        let both = try scratch.firn("convert", "a.ndjson", "b.ndjson", "both.firn", "--map", "o")
        #expect(both.code == 0 && both.errors.contains("--map names \"o\", and there is no object"), "\(both.errors)")
        try scratch.write("none.json", "[]")
        #expect(try scratch.firn("convert", "none.json", "none.firn", "--map", "o").code == 0)
    }

    @Test func `a notation that fits no cell is reported`() throws {
        let scratch = try sample()
        for (flags, part) in [
            (["--dates", "dd.MM.yyyy"], "--dates dd.MM.yyyy: no column has such dates only"),
            (["--dates", "name=M/d/yy"], "--dates name=M/d/yy: the column does not have such dates only"),
            (["--decimal", "name=,"], "--decimal: the column \"name\" does not consist of numbers"),
            (["--null", "NA,n/a"], "--null: no cell contains \"NA\" or \"n/a\""),
            (["--null", "name=NA"], "--null: no cell of the column \"name\" contains \"NA\""),
        ] {
            for words in [["convert", "a.csv", "x.firn", "-f"], ["query", "a.csv"], ["hash", "a.csv"]] {
                let run = try FirnRun(words + flags, in: scratch.folder)
                #expect(run.code == 0 && run.errors.contains(part), "\(words + flags): \(run.errors)")
            }
        }
        try scratch.write("b.csv", "id,born\n1,31.12.2020\n2,NA\n")
        let run = try scratch.firn("query", "b.csv", "--dates", "dd.MM.yyyy", "--null", "NA,n/a")
        #expect(run.code == 0 && run.errors.isEmpty, "\(run.errors)")
        let subset = try scratch.firn("convert", "b.csv", "x.firn", "-f", "--dates", "born=dd.MM.yyyy", "--columns", "id")
        #expect(subset.code == 0 && !subset.errors.contains("--dates"), "\(subset.errors)")
    }

    @Test func `--skip-footer and --skip beyond the file say which lines are left`() throws {
        let scratch = try sample()
        for (flags, part) in [
            (["--skip-footer", "10"], "there is no header and no row before the last 10 lines"),
            (["--skip-footer", "3"], "there is no header and no row before the last 3 lines"),
            (["--skip", "1", "--skip-footer", "2"], "after the first line and before the last 2 lines"),
        ] {
            let run = try FirnRun(["query", "a.csv"] + flags, in: scratch.folder)
            #expect(run.code == 3 && run.errors.contains(part) && run.errors.contains("--skip-footer"), "\(flags): \(run.errors)")
        }
        try scratch.write("empty.csv", "")
        #expect(try scratch.firn("query", "empty.csv", "--skip-footer", "2").errors.contains("the input is empty"))
    }
}
