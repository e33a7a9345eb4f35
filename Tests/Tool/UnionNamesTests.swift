import FirnKit
import Foundation
import Testing

/// The names of files, folders and columns of several inputs.
@Suite struct UnionNamesTests {
    private func folder(_ scratch: Scratch, _ name: String) throws {
        try FileManager.default.createDirectory(at: scratch.file(name), withIntermediateDirectories: true)
    }

    @Test func `a header of a later input names the columns, if the first input has none`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "1,2\n3,4\n")
        try scratch.write("b.csv", "x,y\n5,6\n")
        for out in ["out.csv", "out.firn"] {
            #expect(try FirnRun(["convert", "a.csv", "b.csv", out], in: scratch.folder).code == 0)
        }
        let rows = "column1,column2,x,y\n1,2,,\n3,4,,\n,,5,6\n"
        #expect(try scratch.read("out.csv") == rows)
        #expect(try FirnRun(["convert", "out.firn", "-", "--to", "csv"], in: scratch.folder).out == rows)
        #expect(try FirnRun(["convert", "a.csv", "a.csv", "-", "--to", "csv", "-q"], in: scratch.folder).out == "1,2\n3,4\n1,2\n3,4\n")
    }

    @Test func `names that differ only in how an accent is written are those of different files`() throws {
        let scratch = try Scratch()
        try folder(scratch, "d")
        try scratch.write("d/\u{E9}.csv", "a\n1\n")
        try scratch.write("d/e\u{301}.csv", "a\n2\n")
        for input in [["d"], ["d/*.csv"], ["d/*"], ["d/e\u{301}.csv", "d/\u{E9}.csv"]] {
            let run = try FirnRun(["convert"] + input + ["-", "--to", "csv"], in: scratch.folder)
            #expect(run.out == "a\n2\n1\n" && !run.errors.contains("twice"), "\(input): \(run.out) \(run.errors)")
        }
    }

    @Test func `a name that leads to no file is reported`() throws {
        let scratch = try Scratch()
        try folder(scratch, "d")
        try scratch.write("d/a.csv", "a\n1\n")
        try FileManager.default.createSymbolicLink(atPath: scratch.file("d/b.csv").path, withDestinationPath: "missing.csv")
        let run = try FirnRun(["convert", "d", "-", "--to", "csv"], in: scratch.folder)
        #expect(run.code == 0 && run.out == "a\n1\n" && run.errors.contains("d: 1 name skipped"), "\(run.errors)")
        let pattern = try FirnRun(["convert", "d/*.csv", "-", "--to", "csv"], in: scratch.folder)
        #expect(pattern.code != 0 && pattern.errors.contains("d/b.csv"), "\(pattern.errors)")
    }

    @Test func `a partition whose value begins with a combining mark is a column`() throws {
        let scratch = try Scratch()
        for value in ["\u{301}a", "b"] {
            try folder(scratch, "p/x=\(value)")
            try scratch.write("p/x=\(value)/f.csv", "n\n1\n")
            let to = ["convert", "p/x=\(value)/f.csv", "p/x=\(value)/f.parquet"]
            #expect(try FirnRun(to, in: scratch.folder).code == 0)
            try FileManager.default.removeItem(at: scratch.file("p/x=\(value)/f.csv"))
        }
        let run = try FirnRun(["convert", "p", "-", "--to", "csv", "--where", "x == 'b'", "-q"], in: scratch.folder)
        #expect(run.code == 0 && run.out == "n,x\n1,b\n", "\(run.out) \(run.errors)")
    }

    @Test(arguments: [["x=1/y=2", "x=1"], ["x=1", "y=2"], ["x=1/x=2", "x=1/x=3"]])
    func `names of folders that do not agree are reported`(folders: [String]) throws {
        let scratch = try Scratch()
        try scratch.write("f.csv", "n\n1\n")
        for name in folders {
            try folder(scratch, "p/\(name)")
            #expect(try FirnRun(["convert", "f.csv", "p/\(name)/f.parquet"], in: scratch.folder).code == 0)
        }
        let run = try FirnRun(["convert", "p", "-", "--to", "csv"], in: scratch.folder)
        #expect(run.out == "n\n1\n1\n" && run.errors.contains("no columns from the names of folders"), "\(run.errors)")
    }
}
