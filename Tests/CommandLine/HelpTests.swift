import FirnKit
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

    @Test func `the names and letters of flags are unique within each command`() {
        for command in Program.firn.commands {
            let flags = Program.firn.flags(of: command)
            #expect(Set(flags.map(\.name)).count == flags.count, "\(command.name)")
            let letters = flags.compactMap(\.short) + ["h"]
            #expect(Set(letters).count == letters.count, "\(command.name)")
        }
    }

    @Test func `docs cli md is generated from the table of commands`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/cli.md")
        #expect(try String(contentsOf: file, encoding: .utf8) == Program.firn.reference, "run: swift run firn reference > docs/cli.md")
    }

    @Test func `completions contain every flag`() throws {
        for shell in ["bash", "zsh", "fish"] {
            let text = try #require(Program.firn.completions(for: shell))
            for command in Program.firn.visibleCommands {
                for flag in command.flags { #expect(text.contains(flag.name), "\(shell) \(flag.name)") }
            }
        }
        #expect(Program.firn.completions(for: "tcsh") == nil)
    }

    @Test func `manual pages contain every flag, and groff renders them without a warning`() throws {
        let pages = Program.firn.manualPages
        #expect(pages.map(\.name).first == "firn" && pages.count == Program.firn.visibleCommands.count + 1)
        for (command, page) in zip(Program.firn.visibleCommands, pages.dropFirst()) {
            for flag in Program.firn.flags(of: command) {
                #expect(
                    page.text.contains("\\-\\-" + flag.name.split(separator: "-").joined(separator: "\\-")), "\(page.name) \(flag.name)")
            }
        }
        for page in pages {
            for line in page.text.split(separator: "\n") where line.hasPrefix("'") || !line.utf8.allSatisfy({ $0 < 0x80 }) {
                Issue.record("\(page.name): \(line)")
            }
        }
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/groff") else { return }
        let folder = TemporaryFolder()
        for page in pages {
            let file = URL(filePath: folder.file(page.name + ".1")), errors = URL(filePath: folder.file("errors"))
            try page.text.write(to: file, atomically: true, encoding: .utf8)
            _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
            let groff = Process()
            groff.executableURL = URL(filePath: "/usr/bin/groff")
            groff.arguments = ["-man", "-Tutf8", "-ww", file.path]
            (groff.standardOutput, groff.standardError) = (FileHandle.nullDevice, try FileHandle(forWritingTo: errors))
            try groff.run()
            groff.wait()
            let said = try String(contentsOf: errors, encoding: .utf8)
            #expect(groff.terminationStatus == 0 && said.isEmpty, "\(page.name): \(said)")
        }
    }

    /// Splits at spaces outside quotes.
    private func shellWords(_ line: String) -> [String] {
        var words: [String] = [], word = "", quote: Character?
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
            } else if character == " " {
                if !word.isEmpty { words.append(word) }; word = ""
            } else if character == ">" {
                break
            } else {
                word.append(character)
            }
        }
        return word.isEmpty ? words : words + [word]
    }
}
