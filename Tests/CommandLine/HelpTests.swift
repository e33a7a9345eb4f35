import Foundation
import Testing
@testable import FirnCommandLine

@Suite struct HelpTests {
    @Test func `no line of help is wider than 79 columns`() {
        for isLong in [false, true] {
            for command in [nil] + Program.firn.commands.map(Optional.some) {
                for line in Program.firn.help(command, isLong: isLong).split(separator: "\n") where line.count > 79 {
                    Issue.record("\(command?.name ?? "firn"): \(line.count) columns: \(line)")
                }
            }
        }
    }

    @Test func `every command has an example that parses`() throws {
        for command in Program.firn.visibleCommands {
            #expect(!command.examples.isEmpty, "\(command.name)")
            for example in command.examples {
                let line = example.line.split(separator: "|").last!.split(separator: ">").first!
                let text = example.line.contains("'") ? example.line[...] : line
                let words = shellWords(String(text))
                #expect(words.first == "firn")
                _ = try Program.firn.parse(Array(words.dropFirst()))
            }
        }
    }

    @Test func `flag names and letters are given out once for each command`() {
        for command in Program.firn.commands {
            let flags = Program.firn.flags(of: command)
            #expect(Set(flags.map(\.name)).count == flags.count, "\(command.name)")
            let letters = flags.compactMap(\.short) + ["h"]
            #expect(Set(letters).count == letters.count, "\(command.name)")
        }
    }

    @Test func `docs cli md is what the table says`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/cli.md")
        #expect(try String(contentsOf: file, encoding: .utf8) == Program.firn.reference, "run: swift run firn reference > docs/cli.md")
    }

    @Test func `completions name every flag`() throws {
        for shell in ["bash", "zsh", "fish"] {
            let text = try #require(Program.firn.completions(for: shell))
            for command in Program.firn.visibleCommands { for flag in command.flags { #expect(text.contains(flag.name), "\(shell) \(flag.name)") } }
        }
        #expect(Program.firn.completions(for: "tcsh") == nil)
    }

    /// Splits at spaces outside quotes.
    private func shellWords(_ line: String) -> [String] {
        var words: [String] = [], word = "", quote: Character?
        for character in line {
            if let open = quote { if character == open { quote = nil } else { word.append(character) } }
            else if character == "'" || character == "\"" { quote = character }
            else if character == " " { if !word.isEmpty { words.append(word) }; word = "" }
            else if character == ">" { break }
            else { word.append(character) }
        }
        return word.isEmpty ? words : words + [word]
    }
}
