import FirnBytes
import Testing
@testable import FirnCommandLine

private func arguments(_ words: String...) throws -> Arguments {
    guard case .run(let arguments) = try Program.firn.parse(words) else { throw FirnError(.usage, "not a command to run: \(words)") }
    return arguments
}

private func refusal(_ words: String...) -> FirnError? {
    do {
        _ = try Program.firn.parse(words)
        return nil
    } catch {
        return error
    }
}

@Suite struct ParserTests {
    @Test func `values can be attached, separate, or after a short name`() throws {
        for words in [
            ["query", "a", "--limit=5"], ["query", "--limit", "5", "a"], ["query", "-n", "5", "a"], ["query", "a", "-n5"],
            ["query", "a", "-n=5"],
        ] {
            guard case .run(let arguments) = try Program.firn.parse(words) else { Issue.record("\(words)"); continue }
            #expect(try arguments.count("limit") == 5)
            #expect(arguments.operands == ["a"])
        }
    }

    @Test func `callers of the library pass flags without dashes, and none about the process`() throws {
        let given = try Program.firn.arguments(of: "convert", options: ["key=id", "null=-", "force"], operands: ["--a", "b"])
        #expect(given.names("key") == ["id"] && given.has("force") && given.operands == ["--a", "b"])
        for (options, words) in [
            (["nul=x"], "did you mean \"null\"?"), (["memory=1GB"], "no option \"memory\""), (["progress"], "no option"),
            (["--force"], "no option \"--force\""), (["force=1"], "takes no value"), (["key="], "is empty"), ([""], "no option \"\""),
        ] {
            #expect("\(words)") {
                try Program.firn.arguments(of: "convert", options: options, operands: ["a", "b"])
            } throws: { error in
                let error = error as? FirnError
                return error?.code == .usage && "\(error?.message ?? "") \(error?.advice ?? "")".contains(words)
            }
        }
        #expect(throws: FirnError.self) { try Program.firn.arguments(of: "convert", options: [], operands: ["a"]) }
        #expect(throws: FirnError.self) { try Program.firn.arguments(of: "none", options: [], operands: ["a"]) }
    }

    @Test func `an attached value may contain equals signs, and is empty only where an empty text has a meaning`() throws {
        #expect(try arguments("query", "a", "--where=x == 1").text("where") == "x == 1")
        #expect(try arguments("convert", "a", "b", "--rows=").text("rows") == "")
        for words in [
            ["convert", "a", "b", "--null="], ["convert", "a", "b", "--key", ""], ["query", "a", "-w", ""], ["query", "a", "-s,"],
        ] {
            #expect(throws: FirnError.self, "\(words)") { try Program.firn.parse(words) }
        }
    }

    @Test func `several short switches can follow one dash`() throws {
        let arguments = try arguments("convert", "-fq", "a", "b")
        #expect(arguments.has("force") && arguments.has("quiet") && !arguments.has("json"))
    }

    @Test func `a dash is an operand, and so is everything after two dashes`() throws {
        #expect(try arguments("convert", "-", "out.firn").operands == ["-", "out.firn"])
        #expect(try arguments("convert", "--", "-f", "--to").operands == ["-f", "--to"])
    }

    @Test func `names are split at commas, except escaped ones`() throws {
        #expect(try arguments("diff", "a", "b", "-k", "year, name", "-k", "sex").names("key") == ["year", "name", "sex"])
        #expect(try arguments("diff", "a", "b", "-k", #"a\,b,c"#).names("key") == ["a,b", "c"])
    }

    @Test func `unknown names are refused with the most similar known name`() {
        #expect(refusal("conver", "a", "b")?.advice == "did you mean 'firn convert'?")
        #expect(refusal("convert", "--lossles", "a", "b")?.advice == "did you mean --lossless?")
        #expect(refusal("query", "a", "--formatting", "csv")?.advice == "did you mean --format?")
        #expect(
            Suggestion.nearest(to: "--aggregate", among: ["--sort", "--agg"]) == "--agg"
                && Suggestion.nearest(to: "converter", among: ["convert"]) == "convert")
        #expect(
            Suggestion.nearest(to: "identity", among: ["id", "x"]) == nil
                && Suggestion.nearest(to: "--aggregate", among: ["-", "--", "--ag"]) == nil)
        #expect(refusal("query", "a", "--fromat", "csv")?.advice == "did you mean --format?")
        #expect(refusal("convert", "--profile", "smal", "a", "b")?.advice == "did you mean small?")
        #expect(refusal("convert", "--profile=smal", "a", "b")?.message == #"--profile takes fast, default or small, not "smal""#)
        #expect(refusal("--force", "convert")?.code == .usage)
    }

    @Test(arguments: [
        ("merge", "upsert"), ("update", "upsert"), ("import", "append"), ("insert", "append"), ("add", "append"), ("remove", "delete"),
        ("upsrt", "upsert"), ("conver", "convert"),
    ])
    func `the name of a command of another program, or a similar name, leads to the command`(word: String, command: String) {
        for words in [[word], ["help", word]] {
            let help = words.count > 1 ? "help " : ""
            do throws(FirnError) {
                _ = try Program.firn.parse(words)
                Issue.record("\(word) is no command")
            } catch { #expect(error.code == .usage && error.advice == "did you mean 'firn \(help)\(command)'?", "\(error)") }
        }
    }

    @Test func `missing and surplus operands and values are refused`() {
        #expect(refusal("convert", "a")?.code == .usage)
        #expect(refusal("info", "a", "b")?.message == "unexpected operand \"b\"")
        #expect(refusal("query", "a", "-n")?.message == "--limit needs a value: N")
        #expect(refusal("query", "a", "-n", "1", "--limit", "2")?.message == "--limit is given twice")
        #expect(refusal("query", "a", "--json=yes")?.message == "--json takes no value")
    }

    @Test func `an invalid number is refused when its value is read`() throws {
        let arguments = try arguments("query", "a", "--limit", "ten")
        #expect(throws: FirnError.self) { try arguments.count("limit") }
    }

    @Test func `help is recognised in any position, and missing operands are then allowed`() throws {
        for (words, long) in [
            (["convert", "-h"], false), (["convert", "--help"], true), (["help", "convert"], true), (["convert", "x", "-fh"], false),
        ] {
            guard case .help(let command, let isLong) = try Program.firn.parse(words) else { Issue.record("\(words)"); continue }
            #expect(command?.name == "convert" && isLong == long)
        }
        guard case .version = try Program.firn.parse(["--version"]) else { Issue.record("--version"); return }
    }
}
