import Foundation
import Testing

/// What the code may use only so often. Each budget is what the code uses today: lower it when the code uses less, and never raise it
/// without a reason in the commit.
private let budgets: [(folder: String, unsafe: Int, forced: Int, unchecked: Int, unlabelled: Int)] = [
    ("Formats/Arrow", 135, 1, 17, 13),
    ("Formats/CSV", 204, 19, 2, 14),
    ("Formats/Exchange", 189, 7, 3, 3),
    ("Formats/JSON", 139, 21, 6, 8),
    ("Formats/Parquet", 221, 0, 10, 16),
    ("Formats/RealmFile", 30, 26, 0, 10),
    ("Formats/SQLite", 17, 0, 2, 5),
    ("Sources/Bytes", 60, 5, 2, 0),
    ("Sources/CInterface", 212, 0, 7, 37),
    ("Sources/Change", 102, 50, 5, 42),
    ("Sources/Codecs", 542, 78, 28, 11),
    ("Sources/Crypto", 19, 2, 1, 0),
    ("Sources/Database", 159, 161, 5, 21),
    ("Sources/Disk", 69, 12, 1, 0),
    ("Sources/Firn", 104, 47, 15, 15),
    ("Sources/Query", 444, 64, 13, 54),
    ("Sources/RLM", 0, 1, 1, 0),
    ("Sources/RealmSwift", 0, 0, 0, 0),
    ("Sources/Store", 147, 46, 5, 7),
    ("Sources/Table", 59, 25, 1, 2),
    ("Sources/Threads", 9, 5, 6, 0),
    ("Tools/Attacks", 54, 16, 0, 1),
    ("Tools/CommandLine", 0, 1, 0, 1),
    ("Tools/SQL", 131, 21, 0, 7),
    ("Tools/bench", 12, 1, 1, 0),
    ("Tools/firn", 6, 7, 1, 15),
    ("Tools/fuzz", 10, 0, 0, 0),
    ("Tools/start", 1, 0, 0, 0),
    ("Tools/stress", 5, 3, 1, 0),
]

/// The maximum number of lines of a function.
private let longFunction = 60

@Suite struct BudgetTests {
    @Test(arguments: budgets.indices)
    func `unsafe memory, forced unwrapping, unchecked types and unlabelled parameters do not increase, and no function is long`(index: Int)
        throws
    {
        let budget = budgets[index]
        var found = (unsafe: 0, forced: 0, unchecked: 0, unlabelled: 0)
        for file in try swiftFiles(under: budget.folder) {
            let code = Code(file.text)
            found.unsafe += code.occurrences(of: "nsafe")
            found.forced += code.forced
            found.unchecked += code.occurrences(of: "@unchecked Sendable")
            for function in code.functions {
                if function.unlabelled > 3 { found.unlabelled += 1 }
                if function.lines > longFunction { Issue.record("\(file.path) has a function of \(function.lines) lines") }
            }
        }
        #expect(found.unsafe <= budget.unsafe, "\(budget.folder): uses of unsafe memory")
        #expect(found.forced <= budget.forced, "\(budget.folder): forced unwrapping with !")
        #expect(found.unchecked <= budget.unchecked, "\(budget.folder): types that are @unchecked Sendable")
        #expect(found.unlabelled <= budget.unlabelled, "\(budget.folder): functions with more than three parameters without labels")
        if ProcessInfo.processInfo.environment["FIRN_BUDGETS"] != nil {
            print("    (\"\(budget.folder)\", \(found.unsafe), \(found.forced), \(found.unchecked), \(found.unlabelled)),")
        }
    }

    @Test func `every folder of code has a budget`() throws {
        let folders = try ["Sources", "Formats", "Tools"].flatMap(folders)
            .filter { try !swiftFiles(under: $0).isEmpty }
        #expect(Set(folders) == Set(budgets.map(\.folder)))
    }

    @Test func `the scanner finds what it counts`() {
        let code = Code(
            """
            func one(_ a: Int, _ b: Int, _ c: [Int: (Int) -> Int], _ d: Int) -> Int { a! + b }  // x! unsafe
            let text = "y! \\(z!) unsafe", block = \"""
                unsafe!
                \"""
            init(_ a: Int, b: Int) { if a != b, !c, d! == e { } }
            """)
        #expect(code.forced == 2)
        #expect(code.occurrences(of: "unsafe") == 0)
        #expect(code.functions.map(\.unlabelled) == [4, 1])
        #expect(code.functions.map(\.lines) == [1, 1])
    }
}

/// Swift code whose comments and string literals are blank.
private struct Code {
    private var bytes: [UInt8]

    init(_ text: String) {
        bytes = Array(text.utf8)
        blank()
    }

    private mutating func blank() {
        var at = 0
        func isAt(_ word: StaticString) -> Bool {
            let count = word.utf8CodeUnitCount
            return at + count <= bytes.count && bytes.withUnsafeBufferPointer { memcmp($0.baseAddress! + at, word.utf8Start, count) == 0 }
        }
        func skip(_ count: Int) {
            for i in at..<min(at + count, bytes.count) where bytes[i] != UInt8(ascii: "\n") { bytes[i] = UInt8(ascii: " ") }
            at += count
        }
        while at < bytes.count {
            if isAt("//") {
                while at < bytes.count, bytes[at] != UInt8(ascii: "\n") { skip(1) }
            } else if isAt("\"\"\"") {
                skip(3)
                while at < bytes.count, !isAt("\"\"\"") { skip(isAt("\\") ? 2 : 1) }
                skip(3)
            } else if isAt("\"") {
                skip(1)
                // The expressions of an interpolation, with their own strings, belong to the literal.
                var depth = 0
                while at < bytes.count, depth > 0 || !isAt("\""), bytes[at] != UInt8(ascii: "\n") {
                    if isAt("\\(") {
                        depth += 1
                        skip(2)
                    } else if isAt("\\") {
                        skip(2)
                    } else {
                        if depth > 0, isAt("(") { depth += 1 }
                        if depth > 0, isAt(")") { depth -= 1 }
                        skip(1)
                    }
                }
                skip(1)
            } else {
                at += 1
            }
        }
    }

    func occurrences(of word: String) -> Int {
        let word = Array(word.utf8)
        var count = 0
        for i in bytes.indices where bytes[i] == word[0] && bytes[i...].starts(with: word) { count += 1 }
        return count
    }

    /// The number of values that are unwrapped with `!`.
    var forced: Int {
        var count = 0
        for i in bytes.indices.dropFirst().dropLast() where bytes[i] == UInt8(ascii: "!") {
            let before = bytes[i - 1], after = bytes[i + 1]
            let isValue = before == UInt8(ascii: ")") || before == UInt8(ascii: "]") || isWord(before)
            if isValue, after != UInt8(ascii: "=") || i + 2 < bytes.count && bytes[i + 2] == UInt8(ascii: "=") { count += 1 }
        }
        return count
    }

    private func isWord(_ byte: UInt8) -> Bool { byte | 32 >= 97 && byte | 32 <= 122 || byte >= 48 && byte <= 57 || byte == 95 }

    /// The functions and initializers with a body: parameters without a label, and lines from the first to the closing brace.
    var functions: [(unlabelled: Int, lines: Int)] {
        var found: [(unlabelled: Int, lines: Int)] = []
        for keyword in ["func ", "init(", "init?(", "subscript("] {
            let word = Array(keyword.utf8)
            for start in bytes.indices
            where bytes[start] == word[0] && bytes[start...].starts(with: word)
                && (start == 0 || !isWord(bytes[start - 1]) && bytes[start - 1] != UInt8(ascii: "."))
            {
                guard let open = bytes[start...].firstIndex(of: UInt8(ascii: "(")) else { continue }
                var depth = 0, at = open, unlabelled = 0
                repeat {
                    switch bytes[at] {
                    case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                    case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                    default:
                        if depth == 1, bytes[at...].starts(with: [UInt8(ascii: "_"), UInt8(ascii: " ")]), !isWord(bytes[at - 1]) {
                            unlabelled += 1
                        }
                    }
                    at += 1
                } while depth > 0 && at < bytes.count
                // A body begins before the next declaration or the end of the line's statement.
                var first = at
                while first < bytes.count, bytes[first] != UInt8(ascii: "{"), bytes[first] != UInt8(ascii: "\n") || isContinued(first) {
                    first += 1
                }
                guard first < bytes.count, bytes[first] == UInt8(ascii: "{") else { continue }
                var last = first, braces = 0
                repeat {
                    if bytes[last] == UInt8(ascii: "{") { braces += 1 }
                    if bytes[last] == UInt8(ascii: "}") { braces -= 1 }
                    last += 1
                } while braces > 0 && last < bytes.count
                found.append((unlabelled, 1 + bytes[start..<last].count { $0 == UInt8(ascii: "\n") }))
            }
        }
        return found
    }

    /// Whether the declaration goes on after this line break: `throws`, `where`, `->` or `{` on the next line.
    private func isContinued(_ newline: Int) -> Bool {
        var next = newline
        while next < bytes.count, bytes[next] == UInt8(ascii: "\n") || bytes[next] == UInt8(ascii: " ") { next += 1 }
        return ["throws", "where ", "->", "{", "async"].contains { bytes[next...].starts(with: Array($0.utf8)) }
    }
}
