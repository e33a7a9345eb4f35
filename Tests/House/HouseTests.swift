import Foundation
import Testing

@Suite struct HouseTests {
    @Test func `every module has a README`() throws {
        for parent in ["Sources", "Formats", "Tools"] {
            for folder in try folders(of: parent) where !folder.hasSuffix("CLibraries") && !folder.hasSuffix("bench") {
                #expect(exists("\(folder)/README.md"), "\(folder) has no README.md")
            }
        }
    }

    @Test func `every module has tests`() throws {
        for parent in ["Sources", "Formats", "Tools"] {
            for folder in try folders(of: parent)
            where !folder.hasSuffix("CLibraries")
                && !["Tools/firn", "Tools/start", "Tools/bench", "Tools/stress", "Tools/fuzz"].contains(folder)
            {
                let tests = "Tests/" + folder.split(separator: "/").last!
                #expect(exists(tests), "\(folder) has no \(tests)")
            }
        }
    }

    @Test func `the sanitizers run the tests of modules that exist, and the address sanitizer those of all modules`() throws {
        let script = try contents("Tools/sanitize"), helpers = ["Apps", "Fixtures", "House", "Kit", "Misuse", "Oracle"]
        let modules = Set(
            try folders(of: "Tests").map { String($0.dropFirst("Tests/".count)) }.filter { !helpers.contains($0) }.map {
                ["Firn", "RealmSwift", "RLM"].contains($0) ? $0 : "Firn" + $0
            })
        func rooms(_ kind: String) throws -> Set<String> {
            let start = try #require(script.range(of: "\n\(kind)) rooms=\"")).upperBound
            return Set(script[start...].prefix { $0 != "\"" }.split(separator: " ").map(String.init))
        }
        #expect(try rooms("thread").subtracting(modules).isEmpty)
        #expect(try rooms("address") == modules)
    }

    /// A longer file states the reason in a line that begins with "// Long because".
    @Test func `no file is longer than 500 lines without a reason`() throws {
        for folder in ["Sources", "Formats", "Tools", "Tests"] {
            for file in try files(under: folder, ending: [".swift", ".c", ".cpp", ".h"]) {
                let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false).count
                if lines > 500, !file.text.contains("// Long because") { Issue.record("\(file.path) has \(lines) lines") }
            }
        }
    }

    @Test func `the code has no marks for unfinished work`() throws {
        let marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X:", "not " + "implemented", "not yet " + "implemented"]
        for folder in ["Sources", "Formats", "Tools", "Tests"] {
            for file in try files(under: folder, ending: [".swift", ".c", ".cpp", ".h"]) {
                for (number, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                    for mark in marks where line.contains(mark) { Issue.record("\(file.path):\(number + 1): \(mark)") }
                }
            }
        }
    }

    /// `precondition` and its relatives print nothing in release builds.
    @Test func `programming errors stop the process through trap, which prints in release builds too`() throws {
        let mute = ["precondition(", "preconditionFailure(", "fatalError(", "assertionFailure(", " try! ", "(try! "]
        for folder in ["Sources", "Formats", "Tools"] {
            for file in try swiftFiles(under: folder)
            where file.path != "Sources/Bytes/Trap.swift" && mute.contains(where: file.text.contains) {
                for (number, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
                where mute.contains(where: line.contains) && !line.drop(while: { $0 == " " }).hasPrefix("//") {
                    Issue.record("\(file.path):\(number + 1): use trap(_:) or trap(unless:_:) of FirnBytes")
                }
            }
        }
    }

    @Test func `file names do not end in words without meaning`() throws {
        let empty = ["Utils", "Util", "Helper", "Helpers", "Manager", "Impl", "Common", "Misc"]
        for folder in ["Sources", "Formats", "Tools", "Tests"] {
            for file in try swiftFiles(under: folder) {
                let stem = file.name.dropLast(".swift".count)
                if empty.contains(where: stem.hasSuffix) { Issue.record("\(file.path) has a name without meaning") }
            }
        }
    }

    @Test func `columns are found through the index of their type, not by linear search`() throws {
        // A type may have a million columns, so a linear search for each of them takes quadratic time. Use `TypeSchema.index(of:)`,
        // `index(ofID:)` or `SegmentHeader.entryPosition(of:near:)`.
        let search = /(columns|header\.entries|layout\.entries)\.(firstIndex|first|contains)(\(where:)? ?\{[^}]*\$0\.(name|id|columnID) ==/
        let own: Set = ["Sources/Firn/Collections/QuerySyntax+Merging.swift"]
        for folder in ["Sources", "Formats", "Tools"] {
            for file in try swiftFiles(under: folder) where !own.contains(file.path) {
                for (number, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
                where line.contains(search) {
                    if line.contains("indexes.") || line.contains("$0.name == index") { continue }
                    Issue.record("\(file.path):\(number + 1): searches all columns")
                }
            }
        }
    }

    @Test func `modules with tests have no placeholder test`() throws {
        for file in try swiftFiles(under: "Tests") where file.name == "Placeholder.swift" {
            let module = file.path.split(separator: "/")[1]
            let others = try swiftFiles(under: "Tests/\(module)").count
            #expect(others == 1, "\(file.path) is not needed, because the module has tests")
        }
    }

    @Test func `the documents that the README links to exist`() throws {
        guard exists("README.md") else { Issue.record("no README.md"); return }
        let text = try contents("README.md")
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 250)
        for part in text.components(separatedBy: "](").dropFirst() {
            let target = part.prefix { $0 != ")" && $0 != "#" }
            if !target.isEmpty, !target.hasPrefix("http") { #expect(exists(String(target)), "README.md points to \(target)") }
        }
    }
}
