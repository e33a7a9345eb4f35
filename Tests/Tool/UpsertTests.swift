import FirnKit
import Foundation
import Testing

@Suite struct UpsertTests {
    private func people() throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write("people.csv", "id,name,age\n1,Ann,36\n2,Bo,\n3,Cy,7\n")
        #expect(try scratch.firn("convert", "people.csv", "people.firn", "--key", "id", "-q").code == 0)
        return scratch
    }

    private func rows(_ scratch: Scratch) throws -> String { try scratch.firn("query", "people.firn", "--format", "csv").out }

    @Test func `rows whose key exists get the values of the input, and others are added`() throws {
        let scratch = try people()
        try scratch.write("more.csv", "id,name,age\n2,Bob,40\n3,Cy,7\n4,Di,1\n")
        let run = try scratch.firn("upsert", "people.firn", "more.csv")
        #expect(run.code == 0 && run.out == "people.firn:people: version 2: 1 added, 0 removed, 1 changed\n", "\(run.out)\(run.errors)")
        #expect(try rows(scratch) == "id,name,age\n1,Ann,36\n2,Bob,40\n3,Cy,7\n4,Di,1\n")
        let again = try scratch.firn("upsert", "people.firn", "more.csv")
        #expect(again.code == 0 && again.out == "people.firn:people: nothing to change, no new version\n", "\(again.out)\(again.errors)")
        #expect(try scratch.firn("verify", "--full", "people.firn").code == 0)
    }

    @Test(arguments: ["csv", "ndjson", "parquet"])
    func `columns that the input lacks keep their values`(format: String) throws {
        let scratch = try people()
        try scratch.write("more.csv", "id,age\n1,37\n2,\n")
        try scratch.write("more.ndjson", "{\"id\":1,\"age\":37}\n{\"id\":2,\"age\":null}\n")
        if format == "parquet" { #expect(try scratch.firn("convert", "more.csv", "more.parquet", "-q").code == 0) }
        let run = try scratch.firn("upsert", "people.firn", "more.\(format)")
        #expect(run.code == 0 && run.out.contains("0 added, 0 removed, 1 changed"), "\(run.out)\(run.errors)")
        #expect(try rows(scratch) == "id,name,age\n1,Ann,37\n2,Bo,\n3,Cy,7\n")
    }

    @Test func `a new row needs the columns that cannot be null`() throws {
        let scratch = try people()
        for input in ["id,age\n1,37\n9,1\n", "{\"id\":9,\"age\":1}\n"] {
            let run = try scratch.firn("upsert", "people.firn", "-", input: input)
            #expect(run.code == 3 && run.errors.contains("\"name\""), "\(run.errors)")
        }
        let null = try scratch.firn("upsert", "people.firn", "-", input: "{\"id\":1,\"name\":null}\n")
        #expect(null.code == 3 && null.errors.contains("column \"name\" cannot be null"), "\(null.errors)")
        let key = try scratch.firn("upsert", "people.firn", "-", input: "name\nx\n")
        #expect(key.code == 3 && key.errors.contains("no column \"id\", which is in the key"), "\(key.errors)")
        #expect(try rows(scratch) == "id,name,age\n1,Ann,36\n2,Bo,\n3,Cy,7\n")
    }

    @Test func `the last of several rows with one key prevails`() throws {
        let scratch = try people()
        let run = try scratch.firn("upsert", "people.firn", "-", input: "id,name\n9,a\n1,b\n9,c\n1,d\n")
        #expect(run.code == 0 && run.out.contains("1 added, 0 removed, 1 changed"), "\(run.out)\(run.errors)")
        #expect(try rows(scratch) == "id,name,age\n1,d,36\n2,Bo,\n3,Cy,7\n9,c,\n")
    }

    @Test func `a type without a key is refused with the next step`() throws {
        let scratch = try Scratch()
        try scratch.write("a.csv", "id,name\n1,Ann\n")
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "-q").code == 0)
        let run = try scratch.firn("upsert", "a.firn", "a.csv")
        #expect(
            run.code == 2 && run.errors.contains("type \"a\" has no primary key") && run.errors.contains("firn convert --key"),
            "\(run.errors)")
    }

    @Test func `--dry-run counts and changes nothing`() throws {
        let scratch = try people(), before = try Data(contentsOf: scratch.file("people.firn"))
        let run = try scratch.firn("upsert", "--dry-run", "people.firn", "-", input: "id,name\n1,x\n9,y\n")
        #expect(run.code == 0 && run.out.contains("would be 1 added, 0 removed, 1 changed"), "\(run.out)\(run.errors)")
        #expect(try Data(contentsOf: scratch.file("people.firn")) == before)
    }

    @Test func `objects and lists are replaced as a whole, and equal ones are no change`() throws {
        let scratch = try Scratch()
        try scratch.write(
            "a.ndjson", "{\"id\":1,\"o\":{\"x\":1,\"y\":\"a\"},\"l\":[1,2]}\n{\"id\":2,\"o\":{\"x\":2,\"y\":\"b\"},\"l\":[]}\n")
        #expect(try scratch.firn("convert", "a.ndjson", "a.firn", "--key", "id", "-q").code == 0)
        let same = try scratch.firn("upsert", "a.firn", "a.ndjson")
        #expect(same.out.contains("nothing to change"), "\(same.out)\(same.errors)")
        let run = try scratch.firn("upsert", "a.firn", "-", input: "{\"id\":2,\"o\":{\"x\":3,\"y\":\"c\"},\"l\":[7]}\n")
        #expect(run.out.contains("0 added, 0 removed, 1 changed"), "\(run.out)\(run.errors)")
        #expect(
            try scratch.firn("query", "a.firn", "id == 2", "--format", "ndjson").out
                == "{\"id\":2,\"o\":{\"x\":3,\"y\":\"c\"},\"l\":[7]}\n")
        #expect(try scratch.firn("verify", "--full", "a.firn").code == 0)
    }

    @Test func `an encrypted file is changed with its key`() throws {
        let scratch = try Scratch()
        try scratch.write("key", (0..<64).map { String(format: "%02x", $0) }.joined())
        try scratch.write("a.csv", "id,name\n1,Ann\n2,Bo\n")
        #expect(try scratch.firn("convert", "a.csv", "a.firn", "--key", "id", "--new-key-file", "key", "-q").code == 0)
        let words = ["--key-file", "key"]
        #expect(try scratch.firn(["upsert", "a.firn", "-"], input: "id,name\n1,Anna\n").code == 4)
        #expect(try scratch.firn(["upsert", "a.firn", "-"] + words, input: "id,name\n1,Anna\n").out.contains("1 changed"))
        #expect(try scratch.firn(["delete", "a.firn", "id == 2"]).code == 4)
        #expect(try scratch.firn(["delete", "a.firn", "id == 2"] + words).out.contains("1 removed"))
        #expect(try scratch.firn(["query", "a.firn", "--format", "csv"] + words).out == "id,name\n1,Anna\n")
    }

    @Test func `--rejects leaves out rows that do not fit, and the exit code is 3`() throws {
        let scratch = try people()
        let run = try scratch.firn("upsert", "people.firn", "-", "--rejects", "bad", input: "id,age\n1,x\n2,5\n")
        #expect(run.code == 3 && run.out.contains("0 added, 0 removed, 1 changed, 1 rejected"), "\(run.out)\(run.errors)")
        let dry = try scratch.firn("upsert", "--dry-run", "people.firn", "-", "--rejects", "dry", input: "id,age\n1,x\n2,6\n")
        #expect(dry.code == 3 && !scratch.has("dry"), "\(dry.out)\(dry.errors)")
        #expect(try rows(scratch) == "id,name,age\n1,Ann,36\n2,Bo,5\n3,Cy,7\n")
    }
}
