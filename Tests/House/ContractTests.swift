import FirnKit
import Foundation
import Testing

/// Each rule of the contract of collections has a test with its id in the name.
@Suite struct ContractTests {
    private static let list = "Tests/Fixtures/collection-contract.txt"

    private func listed() throws -> [String] {
        try contents(ContractTests.list).split(separator: "\n").filter { !$0.hasPrefix("#") }.flatMap {
            $0.split(separator: " ").map(String.init)
        }
    }

    /// Words of the form `R07` in the names of all tests.
    private func named() throws -> Set<String> {
        var found: Set<String> = []
        for file in try swiftFiles(under: "Tests") {
            for part in file.text.components(separatedBy: "func `").dropFirst() {
                let name = part.prefix { $0 != "`" && $0 != "\n" }
                for word in name.split(whereSeparator: { !$0.isLetter && !$0.isNumber }) where word.first?.isUppercase ?? false {
                    found.insert(String(word))
                }
            }
        }
        return found
    }

    @Test func `each id of the contract is in the name of a test`() throws {
        let named = try named(), missing = try listed().filter { !named.contains($0) }
        #expect(missing.isEmpty, "no test is named after \(missing.joined(separator: ", "))")
    }

    @Test func `the listed ids are those of the contract`() throws {
        let listed = try listed()
        #expect(Set(listed).count == listed.count && listed.count == 168)
        guard let contract = SharedData.file("../contract/collection-api.md") else { return }
        // The rows of tables, and the numbered rules.
        let found = try String(contentsOf: contract, encoding: .utf8).split(separator: "\n").compactMap { line -> String? in
            let rest: Substring
            if line.hasPrefix("| ") {
                rest = line.dropFirst(2)
            } else if line.hasPrefix("* N") {
                rest = line.dropFirst(2)
            } else {
                return nil
            }
            let id = rest.prefix { $0.isLetter || $0.isNumber }
            guard let kind = id.first, "SXCRND".contains(kind), id.count > 1, id.dropFirst().allSatisfy(\.isNumber) else { return nil }
            return String(id)
        }
        #expect(Set(found) == Set(listed), "the ids differ: \(Set(found).symmetricDifference(listed).sorted())")
    }
}
