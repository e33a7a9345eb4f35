import Foundation
import Testing

/// Comparisons in which a column is text in one file and has values in the other.
@Suite struct DiffTextTests {
    private let header = "id;d;n\n"

    private func rows(_ odd: [Int: String] = [:]) -> String {
        header + (1...28).map { "\($0);\(odd[$0] ?? "\($0 < 10 ? "0" : "")\($0).01.2024");1.\($0 + 100),50\n" }.joined()
    }

    @Test func `a cell that is no date changes one row of two CSV files, not all`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", rows())
        try scratch.write("b.csv", rows([5: "soon"]))
        for (files, change) in [(["a.csv", "b.csv"], "05.01.2024 → soon"), (["b.csv", "a.csv"], "soon → 05.01.2024")] {
            let run = try scratch.firn(["diff"] + files + ["-k", "id"])
            #expect(run.code == 1 && run.out.hasSuffix("0 added, 0 removed, 1 changed, 27 unchanged\n"), "\(run.out)")
            #expect(run.out.replacing("\"", with: "").contains(change), "\(run.out)")
            #expect(
                run.errors.contains("b.csv: column \"d\" is text because of \"soon\"") && run.errors.contains("; compared as text"),
                "\(run.errors)")
        }
    }

    @Test func `a .firn file that keeps the notation of its columns is compared as text too`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", rows())
        try scratch.write("b.csv", rows([5: "soon"]).replacing("1.107,50", with: "on request"))
        #expect(try scratch.firn("convert", "--key", "id", "a.csv", "a.firn").code == 0)
        let run = try scratch.firn("diff", "a.firn", "b.csv")
        #expect(run.code == 1 && run.out.hasSuffix("0 added, 0 removed, 2 changed, 26 unchanged\n"), "\(run.out) \(run.errors)")
    }

    @Test func `original texts of cells that are null are compared with the texts of the other file`() throws {
        let scratch = try Scratch()
        let numbers = (0..<3000).map { "\($0),\($0 == 40 ? "SOLD OUT" : "\($0 % 7)")\n" }
        try scratch.write("a.csv", "id,q\n" + numbers.joined())
        try scratch.write(
            "b.csv", "id,q\n" + numbers.enumerated().map { $0.offset % 100 == 1 ? "\($0.offset),none yet\n" : $0.element }.joined())
        let run = try scratch.firn("diff", "a.csv", "b.csv", "-k", "id", "--format", "summary")
        #expect(run.out.hasPrefix("0 added, 0 removed, 30 changed, 2,970 unchanged\n"), "\(run.out) \(run.errors)")
    }

    @Test func `a key that has letters in one file identifies the rows of both`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,v\n1,x\n2,y\n3,z\n")
        try scratch.write("b.csv", "id,v\n1,x\n2,y\nA3,z\n")
        let run = try scratch.firn("diff", "a.csv", "b.csv", "-k", "id", "--format", "summary")
        #expect(run.out.hasPrefix("1 added, 1 removed, 0 changed, 2 unchanged\n"), "\(run.out) \(run.errors)")
    }

    @Test func `changes record values, so the column of the patched file has the new type`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", rows())
        try scratch.write("b.csv", rows([5: "soon"]))
        #expect(try scratch.firn("convert", "--key", "id", "a.csv", "a.firn").code == 0)
        let run = try scratch.firn("diff", "a.firn", "b.csv", "--changes", "c.firn")
        #expect(run.code == 1 && run.errors.contains("is text because of \"soon\""), "\(run.errors)")
        #expect(try scratch.firn("patch", "a.firn", "c.firn").code == 0)
        #expect(try scratch.firn("diff", "a.firn", "b.csv").code == 0)
    }

    @Test(arguments: [["--only", "added"], ["--where", "id > 1"]])
    func `changes are refused with a flag that would leave some of them out`(flag: [String]) throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,v\n1,x\n")
        try scratch.write("b.csv", "id,v\n2,x\n")
        let run = try scratch.firn(["diff", "a.csv", "b.csv", "-k", "id", "--changes", "c.firn"] + flag)
        #expect(run.code == 2 && run.errors.contains("omit \(flag[0])") && !scratch.has("c.firn"), "\(run.errors)")
    }
}
