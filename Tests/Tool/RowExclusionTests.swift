import FirnKit
import Foundation
import Testing

/// Rows and files that a condition excludes are not read.
@Suite struct RowExclusionTests {
    /// Writes rows as Parquet, in row groups of 100 rows.
    private func write(_ ids: Range<Int>, _ path: String, in scratch: Scratch) throws {
        try FileManager.default.createDirectory(at: scratch.file(path).deletingLastPathComponent(), withIntermediateDirectories: true)
        let lines = ids.map { "{\"id\":\($0),\"name\":\"row \($0)\"}\n" }.joined()
        let made = try FirnRun(
            ["convert", "-", path, "--row-group", "100", "-q", "--from", "ndjson", "-f"], input: lines, in: scratch.folder)
        #expect(made.code == 0, "\(made.errors)")
    }

    /// Flips bits of the first pages of a Parquet file: reading its first row group is an error.
    private func damage(_ path: String, in scratch: Scratch) throws {
        var bytes = try Array(Data(contentsOf: scratch.file(path)))
        for i in 4..<60 { bytes[i] ^= 0xA5 }
        try Data(bytes).write(to: scratch.file(path))
    }

    @Test func `convert reads only the row groups that the statistics do not exclude`() throws {
        let scratch = try Scratch()
        try write(0..<1000, "a.parquet", in: scratch)
        try damage("a.parquet", in: scratch)
        #expect(try scratch.firn("convert", "a.parquet", "-", "--to", "csv", "-q").code == 4)
        let found = try scratch.firn("convert", "a.parquet", "-", "--to", "csv", "-q", "--where", "id >= 998 OR id == 150")
        #expect(found.code == 0 && found.out == "id,name\n150,row 150\n998,row 998\n999,row 999\n", "\(found.out) \(found.errors)")
        // The first row group cannot be excluded.
        #expect(try scratch.firn("convert", "a.parquet", "-", "--to", "csv", "-q", "--where", "id < 5").code == 4)
        // Nothing is read of a file without any such row.
        let none = try scratch.firn("convert", "a.parquet", "-", "--to", "csv", "-q", "--where", "id > 5000")
        #expect(none.code == 0 && none.out == "id,name\n", "\(none.out) \(none.errors)")
        let wrong = try scratch.firn("convert", "a.parquet", "x.csv", "--where", "idd > 5000")
        #expect(wrong.code == 2 && wrong.errors.contains("did you mean \"id\"?"), "\(wrong.errors)")
    }

    @Test func `several files are read where their statistics do not exclude the rows`() throws {
        let scratch = try Scratch()
        try write(0..<300, "a.parquet", in: scratch)
        try write(300..<600, "b.parquet", in: scratch)
        try damage("a.parquet", in: scratch)
        for words in [
            ["query", "a.parquet", "b.parquet", "id > 597"], ["query", "a.parquet", "b.parquet", "id > 597", "--filename", "f"],
        ] {
            let found = try FirnRun(words + ["--format", "csv"], in: scratch.folder)
            #expect(
                found.code == 0 && found.out.hasPrefix("id,name") && found.out.contains("\n598,row 598"), "\(found.out) \(found.errors)")
        }
        let converted = try scratch.firn(
            "convert", "a.parquet", "b.parquet", "-", "--to", "csv", "-q", "--where", "name == 'row 599' AND id > 300")
        #expect(converted.code == 0 && converted.out == "id,name\n599,row 599\n", "\(converted.out) \(converted.errors)")
        // A condition on the name of the file excludes whole files.
        let named = try scratch.firn(
            "convert", "a.parquet", "b.parquet", "-", "--to", "csv", "-q", "--filename", "f", "--where", "f == 'b.parquet' AND id < 301")
        #expect(named.code == 0 && named.out == "id,name,f\n300,row 300,b.parquet\n", "\(named.out) \(named.errors)")
        // Columns that a file lacks are null in its rows.
        try FirnRun(["convert", "-", "c.parquet", "-q", "--from", "ndjson"], input: "{\"id\":7,\"more\":1}\n", in: scratch.folder)
        let lacking = try scratch.firn("convert", "a.parquet", "b.parquet", "c.parquet", "-", "--to", "csv", "-q", "--where", "more > 0")
        #expect(lacking.code == 0 && lacking.out == "id,name,more\n7,,1\n", "\(lacking.out) \(lacking.errors)")
    }

    @Test func `a condition on partitions opens only the matching files`() throws {
        let scratch = try Scratch()
        for (i, folder) in ["year=2022/k=a", "year=2023/k=a", "year=2023/k=b", "year=2024/k=a"].enumerated() {
            try write(i * 10..<i * 10 + 2, "t/\(folder)/x.parquet", in: scratch)
        }
        // Files that are no Parquet files cannot be opened.
        for folder in ["year=2022/k=a", "year=2023/k=b"] { try Data("no parquet".utf8).write(to: scratch.file("t/\(folder)/x.parquet")) }
        #expect(try scratch.firn("convert", "t", "-", "--to", "csv", "-q").code != 0)
        let found = try scratch.firn("convert", "t", "o.firn", "--json", "--where", "year >= 2023 AND k == 'a'")
        #expect(found.code == 0 && found.out.contains("\"rows\":4"), "\(found.out) \(found.errors)")
        #expect(found.out.components(separatedBy: "\"file\":").count == 3, "\(found.out)")
        #expect(found.out.contains("the names of folders exclude 2 of 4 files"), "\(found.out)")
        let rows = try scratch.firn("convert", "o.firn", "-", "--to", "csv", "-q").out
        #expect(rows == "id,name,year,k\n10,row 10,2023,a\n11,row 11,2023,a\n30,row 30,2024,a\n31,row 31,2024,a\n")
        let query = try scratch.firn("query", "t", "year == 2024 AND id == 31", "--format", "csv")
        #expect(query.code == 0 && query.out == "id,name,year,k\n31,row 31,2024,a\n", "\(query.out) \(query.errors)")
        // Without a matching file, the first one supplies the columns, and is not read.
        try write(0..<2, "t/year=2022/k=a/x.parquet", in: scratch)
        try damage("t/year=2022/k=a/x.parquet", in: scratch)
        let none = try scratch.firn("query", "t", "year == 2024 AND k == 'z'", "--format", "csv")
        #expect(none.code == 1 && none.out == "id,name,year,k\n", "\(none.out) \(none.errors)")
    }

    @Test func `files that have the column of a folder's name are read, whatever the name says`() throws {
        let scratch = try Scratch()
        for (year, own) in [(2023, 2024), (2024, 2023)] {
            let folder = scratch.file("t/year=\(year)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let rows = "{\"id\":\(year),\"year\":\(own)}\n"
            try FirnRun(["convert", "-", "t/year=\(year)/x.parquet", "-q", "--from", "ndjson"], input: rows, in: scratch.folder)
        }
        let found = try scratch.firn("convert", "t", "-", "--to", "csv", "-q", "--where", "year == 2024")
        #expect(found.code == 0 && found.out == "id,year\n2023,2024\n", "\(found.out) \(found.errors)")
    }
}
