import FirnKit
import Foundation
import Testing

@Suite struct DeleteTests {
    private func people() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("people.csv", "id,name,age\n1,Ann,36\n2,Bo,\n3,Cy,7\n")
        #expect(try scratch.firn("convert", "people.csv", "people.firn", "--key", "id", "-q").code == 0)
        return scratch
    }

    @Test func `delete removes the rows that match, in one version`() throws {
        let scratch = try people()
        let run = try scratch.firn("delete", "people.firn", "age > 20 OR name == 'Bo'")
        #expect(run.code == 0 && run.out == "people.firn:people: version 2: 0 added, 2 removed, 0 changed\n", "\(run.out)\(run.errors)")
        #expect(try scratch.firn("query", "people.firn", "--format", "csv").out == "id,name,age\n3,Cy,7\n")
        #expect(try scratch.firn("query", "people.firn@1", "--format", "csv").out.contains("Ann"))
        #expect(try scratch.firn("verify", "--full", "people.firn").code == 0)
    }

    @Test func `no matching row is exit code 1 and makes no version`() throws {
        let scratch = try people(), before = try Data(contentsOf: scratch.file("people.firn"))
        let run = try scratch.firn("delete", "people.firn", "age > 120")
        #expect(run.code == 1 && run.out.contains("nothing to change, no new version"), "\(run.out)\(run.errors)")
        #expect(try Data(contentsOf: scratch.file("people.firn")) == before)
    }

    @Test func `--dry-run counts and changes nothing, and --json prints one object`() throws {
        let scratch = try people(), before = try Data(contentsOf: scratch.file("people.firn"))
        let run = try scratch.firn("delete", "--dry-run", "people.firn", "TRUEPREDICATE")
        #expect(run.code == 0 && run.out.contains("would be 0 added, 3 removed, 0 changed; nothing was written"), "\(run.out)\(run.errors)")
        #expect(try Data(contentsOf: scratch.file("people.firn")) == before)
        let lines = try scratch.firn("delete", "--json", "people.firn", "TRUEPREDICATE").out
        #expect(lines.contains(#""removed":3"#) && lines.contains(#""version":2"#), "\(lines)")
        #expect(try scratch.firn("query", "people.firn").code == 1)
    }

    @Test func `invalid predicates and files are refused, and nothing is written`() throws {
        let scratch = try people(), before = try Data(contentsOf: scratch.file("people.firn"))
        for predicate in ["", " ", "ages > 1", "age >", "age > 1 LIMIT(1)", "age > 1 SORT(age ASC)"] {
            let run = try scratch.firn("delete", "people.firn", predicate)
            #expect(run.code == 2 && run.out == "", "\(predicate): \(run.out)\(run.errors)")
        }
        #expect(try scratch.firn("delete", "people.firn").code == 2)
        #expect(try scratch.firn("delete", "people.csv", "age > 1").code == 4)
        #expect(try scratch.firn("delete", "people.firn@1", "age > 1").code == 2)
        #expect(try Data(contentsOf: scratch.file("people.firn")) == before)
    }
}
