import Foundation
import Testing

@Suite struct DiffTests {
    private func sample() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("old.csv", "id,day,score\n1,2024-01-01,1.50\n2,2024-01-02,2.25\n3,2024-01-03,3.75\n")
        try scratch.write("new.csv", "id,day,score\n1,2024-01-01,1.50\n2,2024-02-02,2.50\n4,2024-01-04,4.00\n5,2024-01-05,5.25\n")
        return scratch
    }

    @Test(arguments: ["added", "removed", "changed"])
    func `only chooses what is printed, not what is counted`(kind: String) throws {
        let scratch = try sample()
        func diff(_ words: String...) throws -> FirnRun { try FirnRun(["diff", "old.csv", "new.csv", "--key", "id"] + words, in: scratch.folder) }
        #expect(try diff("--only", kind, "--format", "summary").out == (try diff("--format", "summary").out))
        let all = try diff("--json").out.split(separator: "\n"), some = try diff("--json", "--only", kind)
        #expect(some.code == 1)
        #expect(some.out.split(separator: "\n") == all.filter { $0.contains("\"kind\":\"\(kind)\"") || $0.contains("\"kind\":\"summary\"") })
        let listing = try diff("--only", kind).out.split(separator: "\n").dropFirst(2)
        for (name, mark) in [("added", "+"), ("removed", "-"), ("changed", "~")] { #expect(listing.contains { $0.hasPrefix(mark) } == (name == kind)) }
        #expect(listing.last == "2 added, 1 removed, 1 changed, 1 unchanged")
    }

    @Test func `the exit code tells of the kinds asked for`() throws {
        let scratch = try sample()
        try scratch.write("more.csv", try scratch.read("old.csv") + "4,2024-01-04,4.00\n")
        for (kind, code) in [("added", 1), ("removed", 0), ("changed", 0)] as [(String, Int32)] {
            for format in ["table", "summary", "ndjson"] {
                let run = try scratch.firn("diff", "old.csv", "more.csv", "--key", "id", "--only", kind, "--format", format)
                #expect(run.code == code && run.out.contains("1"), "\(kind) \(format): \(run.code) \(run.out)")
            }
        }
    }

    @Test func `cells are written as their columns write them`() throws {
        let scratch = try sample()
        let table = try scratch.firn("diff", "old.csv", "new.csv", "--key", "id").out
        #expect(table.contains("day: 2024-01-02 → 2024-02-02") && table.contains("day=2024-01-04, score=4.00") && !table.contains("T00:00"), "\(table)")
        let lines = try scratch.firn("diff", "old.csv", "new.csv", "--key", "id", "--format", "ndjson").out
        #expect(lines.contains(#""day":{"old":"2024-01-02","new":"2024-02-02"}"#) && lines.contains(#""new":{"id":4,"day":"2024-01-04","score":4.00}"#), "\(lines)")
        let keyed = try scratch.firn("diff", "old.csv", "new.csv", "--key", "day").out
        #expect(keyed.contains("- day=2024-01-03") && !keyed.contains("T00:00"), "\(keyed)")
    }
}
