import Foundation
import Testing

/// The style of all text for readers. docs/glossary.md defines the terms.
@Suite struct WordsTests {
    /// Phrases that a reader has to decode, by what to write instead. They are compared as whole words in any case.
    private static let phrases: [String: [String]] = [
        "again": ["anew"], "name the subject": ["whoever", "nobody", "somebody"],
        "reports, states": ["is told", "are told", "be told", "was told", "were told", "tells"],
        "round trip": ["there and back"], "revert": ["the way back"], "prove": ["vouch", "vouches", "vouched"], "default": ["customary"],
        "immediately, together": ["at once"], "permanently": ["for good"], "also": ["besides"],
        "return, release": [
            "give back", "gives back", "given back", "giving back", "gave back", "let go of", "lets go of", "letting go of",
        ],
        "delete, remove": ["take away", "takes away", "taken away", "taking away", "took away"],
        "enforces, ensures": ["see to it", "sees to it"],
        "the package": ["the house", "this house"], "a notice": ["a word about", "with a word", "worth a word"],
        "is stored after, next to, before": [
            "lies behind", "lies beside", "lies in front of", "stands behind", "stands beside", "stands in front of",
        ],
        "is next in the queue": ["has the next turn"], "sorts descending": ["sorts downwards"],
    ]

    /// By the first word of a phrase: the words that follow it, and what to write instead.
    private let byFirstWord: [[UInt8]: [(rest: [[UInt8]], instead: String)]] = {
        var found: [[UInt8]: [(rest: [[UInt8]], instead: String)]] = [:]
        for (instead, phrases) in WordsTests.phrases {
            for phrase in phrases {
                let words = WordsTests.words(of: phrase)
                found[words[0], default: []].append((Array(words.dropFirst()), instead))
            }
        }
        return found
    }()

    private static func words(of text: String) -> [[UInt8]] {
        text.utf8.split { !($0 | 0x20 >= 97 && $0 | 0x20 <= 122 || $0 >= 0x80) }.map { $0.map { $0 < 0x80 ? $0 | 0x20 : $0 } }
    }

    private func check(_ text: String, at place: String) {
        // Names of symbols are not checked.
        let prose = text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 0 }
        let words = WordsTests.words(of: prose.map { String($0.element) }.joined(separator: "` `"))
        for (index, word) in words.enumerated() {
            for (rest, instead) in byFirstWord[word] ?? [] where words[(index + 1)...].starts(with: rest) {
                let phrase = ([word] + rest).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
                Issue.record("\(place): \"\(phrase)\": write \(instead)")
            }
        }
    }

    @Test func `the documentation is written in plain terms`() throws {
        for page in try pages() where page.path != "docs/cli.md" {
            for (number, line) in prose(of: page.text) { check(line, at: "\(page.path):\(number)") }
        }
    }

    @Test func `lines of prose have at most 120 columns`() throws {
        for page in try pages() where page.path != "docs/cli.md" {
            for (number, line) in prose(of: page.text) where line.count > 120 && !line.hasPrefix("|") && !line.hasPrefix("    ") {
                Issue.record("\(page.path):\(number): \(line.count) columns")
            }
        }
    }

    @Test func `the help of the command is written in plain terms`() throws {
        for (number, line) in prose(of: try contents("docs/cli.md")) { check(line, at: "docs/cli.md:\(number)") }
    }

    @Test func `messages are written in plain terms, with names and values in double quotes`() throws {
        for folder in ["Sources", "Formats", "Tools"] {
            for file in try swiftFiles(under: folder) where !file.path.hasPrefix("Tools/stress/") {
                // SQL and shell text have their own quotes.
                let isShellText = file.path.hasPrefix("Tools/SQL/") || file.path.hasPrefix("Tools/CommandLine/")
                for (number, literal) in literals(of: file.text) {
                    check(literal, at: "\(file.path):\(number)")
                    // Commands to type and messages worded by Realm are not changed.
                    if !isShellText, literal.utf8.contains(39), literal.contains(/(^|[ (:])'\\\(/), !literal.contains(/'firn [a-z]/),
                        !literal.hasPrefix("Property '")
                    {
                        Issue.record("\(file.path):\(number): a value in single quotes: \(literal.prefix(80))")
                    }
                }
            }
        }
    }

    @Test func `comments are written in plain terms`() throws {
        for folder in ["Sources", "Formats", "Tools"] {
            for file in try swiftFiles(under: folder) {
                for (number, line) in lines(of: file.text) {
                    guard let comment = line.range(of: "//") else { continue }
                    check(String(line[comment.upperBound...]), at: "\(file.path):\(number)")
                }
            }
        }
    }

    @Test func `each link and each cited path and heading of the documentation exists`() throws {
        var headings: [String: Set<String>] = [:]
        for page in try pages() {
            headings[page.path] = Set(
                prose(of: page.text).compactMap { _, line in line.firstMatch(of: /^#+ (.*)/).map { plain(String($0.1)) } })
        }
        for page in try pages() {
            let folder = page.path.split(separator: "/").dropLast().joined(separator: "/")
            for (number, line) in prose(of: page.text) {
                for link in line.matches(of: /\]\(([^)\s]+)\)/) where !link.1.contains("://") {
                    let parts = link.1.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                    let path = parts[0].isEmpty ? page.path : resolved(parts[0], in: folder)
                    #expect(exists(path), "\(page.path):\(number): no \(path)")
                    guard parts.count == 2, let known = headings[path] else { continue }
                    #expect(known.contains { anchor($0) == parts[1] }, "\(page.path):\(number): \(path) has no heading for #\(parts[1])")
                }
            }
        }
        for folder in ["Sources", "Formats", "Tools", "Tests"] {
            for file in try files(under: folder, ending: [".swift", ".c", ".h", ".py"]) {
                for (number, line) in lines(of: file.text) where line.contains("docs/") {
                    for cited in line.matches(of: /(docs\/[A-Za-z0-9_\/.-]+\.md)(?:[:,]? "([^"\\]+)")?/) {
                        let path = String(cited.1)
                        #expect(exists(path), "\(file.path):\(number): no \(path)")
                        guard let heading = cited.2, let known = headings[path] else { continue }
                        #expect(known.contains(plain(String(heading))), "\(file.path):\(number): \(path) has no heading \"\(heading)\"")
                    }
                }
            }
        }
    }

    // MARK: Reading

    private func pages() throws -> [SourceFile] {
        let top = try ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map { SourceFile(path: $0, text: try contents($0)) }
        return try top + ["docs", "Sources", "Formats", "Tools"].flatMap { try files(under: $0, ending: [".md"]) }
    }

    private func lines(of text: String) -> [(Int, String)] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { ($0.offset + 1, String($0.element)) }
    }

    /// Returns the lines outside code blocks.
    private func prose(of text: String) -> [(Int, String)] {
        var isCode = false
        return lines(of: text).filter { _, line in
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                isCode.toggle()
                return false
            }
            return !isCode
        }
    }

    /// Returns the string literals outside comments with their line numbers. A literal of several lines is returned line by line.
    private func literals(of text: String) -> [(Int, String)] {
        var found: [(Int, String)] = [], isLong = false
        for (number, line) in lines(of: text) {
            if line.contains("\"\"\"") {
                isLong.toggle()
            } else if isLong {
                found.append((number, line))
            } else if line.utf8.contains(34), !line.drop(while: { $0 == " " }).hasPrefix("//") {
                for literal in line.matches(of: /"((?:[^"\\]|\\.)*)"/) { found.append((number, String(literal.1))) }
            }
        }
        return found
    }

    private func plain(_ heading: String) -> String { heading.replacing("`", with: "") }

    /// Returns the anchor that GitHub makes from a heading.
    private func anchor(_ heading: String) -> String {
        String(heading.lowercased().compactMap { $0 == " " ? "-" : ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" ? $0 : nil) })
    }

    private func resolved(_ path: String, in folder: String) -> String {
        var parts = folder.split(separator: "/").map(String.init)
        for part in path.split(separator: "/") {
            if part == ".." { _ = parts.popLast() } else if part != "." { parts.append(String(part)) }
        }
        return parts.joined(separator: "/")
    }
}
