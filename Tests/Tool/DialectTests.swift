import FirnKit
import Foundation
import Testing

/// CSV in other notations: what the command reports, and what its flags change.
@Suite struct DialectTests {
    @Test func `what was guessed about a CSV is reported by convert and schema, on standard error and in --json`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "Report of the year\n\nid;name;score\n1;x;5\n2;y\n3;z;7;\n\n* the end\n")
        let run = try scratch.firn("convert", "in.csv", "out.firn", "--json")
        #expect(run.code == 0)
        for words in [
            "cells are separated by \\\";\\\"", "the table begins in line 3", "1 row (line 5) with fewer than 3 cells",
            "1 row (line 6) with surplus cells", "after the table",
        ] {
            #expect(run.out.contains(words), "\(words): \(run.out)")
            #expect(run.errors.contains(words.replacing("\\", with: "")), "\(words): \(run.errors)")
        }
        #expect(try scratch.firn("query", "out.firn", "--format", "csv").out == "id,name,score\n1,x,5\n2,y,\n3,z,7\n")
        #expect(try scratch.firn("query", "in.csv").errors.contains("the table begins in line 3"))
        #expect(try scratch.firn("schema", "in.csv").errors.contains("the table begins in line 3"))
        #expect(try scratch.firn("schema", "in.csv", "--json").errors.contains("the table begins in line 3"))
    }

    @Test func `a file with lines around its table has the same bytes after a lossless conversion and back`() throws {
        let scratch = try Scratch()
        let files = [
            "sep=;\r\na;b\r\n1;x\r\n2;y\r\n", "Report of the year\n\na,b,c\n1,2,3\n4,5,6\n7,8\n\n* the end",
            "# one\na|b|\n1|x|\n# two\n2|y|\n",
            "a::b\n1::'x::y'\n2::z\n", "a,b\n1,\"x \\\"y\\\"\"\n", "a\tb\n1\tx\n",
        ]
        for text in files {
            try scratch.write("in.csv", text)
            let run = try scratch.firn("convert", "--force", "--lossless", "in.csv", "out.firn")
            #expect(run.code == 0, "\(text.debugDescription): \(run.errors)")
            #expect(try scratch.firn("convert", "--force", "out.firn", "back.csv").code == 0)
            #expect(try scratch.read("back.csv") == text)
        }
        // Directly from CSV to CSV, the result is a plain table.
        try scratch.write("in.csv", files[1])
        #expect(try scratch.firn("convert", "--force", "in.csv", "back.csv").code == 0)
        #expect(try scratch.read("back.csv") == "a,b,c\n1,2,3\n4,5,6\n7,8,\n")
    }

    @Test func `a lossless conversion that is not possible says why`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "a,b\r\n1,x\n2,\"y\nz\"\n")
        let run = try scratch.firn("convert", "--lossless", "in.csv", "out.firn")
        #expect(run.code == 3 && run.errors.contains("cannot be reproduced from here on: line ends are mixed"), "\(run.errors)")
    }

    @Test func `--comment none and an empty text switch comments off`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "a;b\n1;x\n#no\n2;y\n")
        #expect(try scratch.firn("query", "in.csv", "--format", "csv").out == "a,b\n1,x\n2,y\n")
        for off in ["none", ""] {
            #expect(try scratch.firn("query", "in.csv", "--format", "csv", "--comment", off).out == "a,b\n1,x\n#no,\n2,y\n")
        }
    }

    @Test func `JSON with the name of a CSV is read as JSON, with a remark`() throws {
        let scratch = try Scratch()
        for text in ["{\"a\":1}\n{\"a\":2}\n", "[{\"a\":1},{\"a\":2}]\n"] {
            try scratch.write("y.csv", text)
            let run = try scratch.firn("query", "y.csv", "--format", "ndjson")
            #expect(run.out == "{\"a\":1}\n{\"a\":2}\n", "\(run.out) \(run.errors)")
            #expect(try scratch.firn("schema", "y.csv").errors.contains("the content is JSON, not csv"))
        }
        for text in ["{\"a\":1},x\n{\"a\":2},y\n", "{x},b\n1,2\n", "[1],b\n1,2\n"] {
            try scratch.write("y.csv", text)
            let run = try scratch.firn("query", "y.csv")
            #expect(run.code == 0 && !run.errors.contains("the content is JSON"), "\(run.errors)")
        }
    }

    @Test func `an empty file among several inputs adds no rows and is named`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id\n1\n")
        try scratch.write("b.csv", "")
        try scratch.write("c.csv", "id\n2\n")
        let run = try scratch.firn("convert", "a.csv", "b.csv", "c.csv", "out.firn", "--json")
        #expect(run.code == 0 && run.errors.contains("\"b.csv\" is empty and adds no rows"), "\(run.errors)")
        #expect(run.out.contains("is empty and adds no rows"), "\(run.out)")
        #expect(try scratch.firn("query", "out.firn", "--format", "csv").out == "id\n1\n2\n")
        #expect(try scratch.firn("convert", "b.csv", "one.firn").code == 3)
    }

    @Test func `rejected rows of a CSV are reported once, and --skip-footer is not advised where it is given`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "a,b\n1,2\n3\n4,5\nend\n")
        let run = try scratch.firn("convert", "in.csv", "out.firn", "--rejects", "r", "--skip-footer", "1")
        #expect(run.code == 3 && run.errors.contains("1 rejected row in r") && !run.errors.contains("rejected\n"), "\(run.errors)")
        #expect(run.errors.contains("1 line (line 5) after the table") && !run.errors.contains("use --skip-footer"), "\(run.errors)")
    }

    @Test func `the flags of the notation work in every command that reads CSV`() throws {
        let scratch = try Scratch()
        try scratch.write("in.csv", "no table\na@b\n1@'x@y'\n% note\n2@z@w\nend\n")
        let flags = ["--skip", "1", "--delimiter", "@", "--quote", "'", "--comment", "%", "--ragged", "cut", "--skip-footer", "1"]
        let rows = "a,b\n1,x@y\n2,z\n"
        #expect(try FirnRun(["query", "in.csv", "--format", "csv"] + flags, in: scratch.folder).out == rows)
        #expect(
            try FirnRun(["sql", "in.csv", "SELECT count(*) AS n FROM \"in\"", "--format", "csv"] + flags, in: scratch.folder).out
                == "n\n2\n")
        #expect(try FirnRun(["diff", "in.csv", "in.csv", "--key", "a"] + flags, in: scratch.folder).code == 0)
        #expect(try FirnRun(["schema", "in.csv"] + flags, in: scratch.folder).out.contains("b       string"))
        #expect(try FirnRun(["hash", "in.csv"] + flags, in: scratch.folder).code == 0)
        for words in [
            ["--delimiter", "é"], ["--quote", "ab"], ["--escape", ""], ["--skip", "-1"], ["--ragged", "none"], ["--ragged", "reject"],
            ["--header", "--no-header"], ["--encoding", "klingon"], ["--comment", "a\nb"],
        ] {
            let run = try FirnRun(["schema", "in.csv"] + words, in: scratch.folder)
            #expect(run.code == 2 && run.errors.contains(words[0]) || run.errors.contains("klingon"), "\(words): \(run.code) \(run.errors)")
        }
    }

    @Test func `tabs of a CSV are kept by --lossless, with --delimiter and without it`() throws {
        let scratch = try Scratch()
        try scratch.write("tab.csv", "a\tb\n1\tx\n")
        for flags in [[], ["-d", "\t"], ["-d", "\\t"]] {
            let made = try FirnRun(["convert", "-f", "--lossless"] + flags + ["tab.csv", "t.firn"], in: scratch.folder)
            #expect(made.code == 0, "\(flags): \(made.errors)")
            #expect(try scratch.firn("convert", "-f", "t.firn", "back.csv").code == 0)
            #expect(try scratch.read("back.csv") == "a\tb\n1\tx\n", "\(flags)")
        }
        try scratch.write("tab.tsv", "a\tb\n1\tx\n")
        #expect(try scratch.firn("convert", "-f", "--lossless", "tab.tsv", "t.firn").code == 0)
        #expect(try scratch.firn("convert", "-f", "t.firn", "back.csv").code == 0)
        #expect(try scratch.read("back.csv") == "a,b\n1,x\n")
    }
}
