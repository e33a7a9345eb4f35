import FirnKit
import Foundation
import Testing

/// Versions that are addressed by a time.
@Suite struct TimedVersionTests {
    @Test func `FILE@TIME is the newest version that was committed by then`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,name\n1,Ada\n")
        #expect(try scratch.firn("convert", "--key", "id", "--type", "people", "a.csv", "db.firn").code == 0)
        func count(_ address: String) throws -> FirnRun { try scratch.firn("query", address, "-a", "count", "--format", "csv") }
        for time in ["2999-01-01", "2999-01-01T10:00", "2999-01-01T10:00:30", "2999-01-01T10:00:30.5Z", "2999-01-01T10:00:30+02:00"] {
            for address in ["db.firn@\(time)", "db.firn@\(time):people"] {
                let run = try count(address)
                #expect(run.out == "count\n1\n", "\(address): \(run.errors)")
            }
        }
        let early = try count("db.firn@1999-12-31T23:59")
        #expect(early.code != 0 && early.errors.contains("no version that is kept was committed by 1999-12-31T23:59"), "\(early.errors)")
        #expect(early.errors.contains("the oldest version that is kept is 1"), "\(early.errors)")
        // Times between two commits.
        let committed = Date()
        try scratch.write("b.csv", "id,name\n1,Ada\n2,Bob\n")
        Thread.sleep(forTimeInterval: 1.1)
        #expect(try scratch.firn("diff", "db.firn", "b.csv", "--changes", "c.firn").code == 1)
        #expect(try scratch.firn("patch", "db.firn", "c.firn").code == 0)
        let time = committed.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true))
        #expect(try count("db.firn@\(time)").out == "count\n1\n", "\(time)")
        #expect(try count("db.firn").out == "count\n2\n")
        #expect(try scratch.firn("diff", "db.firn@\(time)", "db.firn", "--format", "summary").out.hasPrefix("1 added"))
    }

    @Test func `a tag that looks like a time is the tag`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id\n1\n")
        #expect(try scratch.firn("convert", "--key", "id", "a.csv", "db.firn").code == 0)
        #expect(try scratch.firn("tag", "db.firn", "1999-01-01").code == 0)
        #expect(try scratch.firn("query", "db.firn@1999-01-01", "-a", "count", "--format", "csv").out == "count\n1\n")
    }

    @Test func `a version that only a tag keeps is found by its time`() throws {
        let scratch = try Scratch()
        func write(_ day: Int) throws { try scratch.write("d.csv", "id,v\n1,\(day)\n") }
        try write(1)
        #expect(try scratch.firn("convert", "--key", "id", "d.csv", "h.firn").code == 0)
        #expect(try scratch.firn("tag", "h.firn", "first@1").code == 0)
        Thread.sleep(forTimeInterval: 1.1)
        let later = Date()
        for day in 2...12 {
            try write(day)
            #expect(try scratch.firn("diff", "h.firn", "d.csv", "--changes", "c.firn", "--force").code == 1)
            #expect(try scratch.firn("patch", "h.firn", "c.firn").code == 0)
        }
        let time = later.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true))
        let run = try scratch.firn("query", "h.firn@\(time)", "--select", "v", "--format", "csv")
        #expect(run.out == "v\n1\n", "\(run.errors)")
    }
}
