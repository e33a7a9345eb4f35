import Foundation
import Testing

/// Commands that drop versions of a file.
@Suite struct LostHistoryTests {
    /// A file with five versions.
    private func history() throws -> Scratch {
        let scratch = try Scratch()
        for day in 1...5 { try scratch.write("d\(day).csv", "id,v\n" + (1...50).map { "\($0),\($0 * day)\n" }.joined()) }
        #expect(try scratch.firn("convert", "--key", "id", "d1.csv", "h.firn").code == 0)
        for day in 2...5 {
            #expect(try scratch.firn("diff", "h.firn", "d\(day).csv", "--changes", "c.firn", "--force").code == 1)
            #expect(try scratch.firn("patch", "h.firn", "c.firn").code == 0)
        }
        return scratch
    }

    private func versions(_ scratch: Scratch) throws -> Int {
        try scratch.firn("log", "h.firn").out.split(separator: "\n").count { $0.hasPrefix("version ") }
    }

    @Test func `compact keeps the versions that a recorded retention keeps, and reports those that it drops`() throws {
        let scratch = try history()
        #expect(try versions(scratch) == 5)
        #expect(try scratch.firn("log", "--keep", "100", "h.firn").code == 0)
        let before = try versions(scratch)
        let kept = try scratch.firn("compact", "h.firn")
        #expect(kept.code == 0 && !kept.errors.contains("dropping"), "\(kept.errors)")
        #expect(try versions(scratch) == before)
        #expect(try scratch.firn("query", "h.firn@1", "-a", "sum(v)", "--format", "csv").out == "sum(v)\n1275\n")
        let one = try scratch.firn("compact", "--keep", "1", "h.firn")
        #expect(one.errors.contains("dropping \(before - 1) older versions without a tag"), "\(one.errors)")
        #expect(try versions(scratch) == 1)
    }

    @Test func `without a recorded retention compact reports the versions that it drops`() throws {
        let scratch = try history(), before = try versions(scratch)
        #expect(try scratch.firn("tag", "h.firn", "monday@2").code == 0)
        let dry = try scratch.firn("compact", "--dry-run", "h.firn")
        #expect(dry.errors.contains("would drop") && dry.errors.contains("older versions without a tag"), "\(dry.errors)")
        #expect(try versions(scratch) >= before)
    }

    @Test func `convert reports the versions and tags of a file that it replaces`() throws {
        let scratch = try history()
        #expect(try scratch.firn("tag", "h.firn", "monday@2").code == 0)
        let refused = try scratch.firn("convert", "d1.csv", "h.firn")
        #expect(refused.code != 0)
        let run = try scratch.firn("convert", "--force", "h.firn", "h.firn", "--where", "id < 10")
        #expect(
            run.code == 0 && run.errors.contains("h.firn had ") && run.errors.contains(" and 1 tag (monday); the new file has one"),
            "\(run.errors)")
        #expect(try versions(scratch) == 1)
        #expect(try !scratch.firn("convert", "--force", "d1.csv", "h.firn").errors.contains("had"))
    }
}
