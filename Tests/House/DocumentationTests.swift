import Foundation
import Testing

/// The documentation of the library's public symbols.
@Suite struct DocumentationTests {
    /// The start of a line that declares a public symbol. The first group is everything before the keyword of the declaration.
    private let declaration =
        #/
        (
            \s*(?:@[\w.]+(?:\([^)]*\))?\s+)*
            (?:(?:final|static|class|override|convenience|required|indirect|nonisolated|mutating|nonmutating|dynamic|weak|lazy
                |isolated|prefix|postfix|infix|borrowing|consuming)\s+)*
            (?:public|open)(?:\(set\))?\s+
            (?:(?:final|static|class(?=\s+(?:func|var|subscript))|override|convenience|required|indirect
                |nonisolated\(unsafe\)|nonisolated|mutating|nonmutating|dynamic|weak|lazy
                |private\(set\)|package\(set\)|internal\(set\)|fileprivate\(set\)
                |unowned|prefix|postfix|infix|borrowing|consuming)\s+)*
        )
        (?:func|var|let|init|subscript|class|struct|enum|protocol|typealias|actor|associatedtype|macro)\b
        /#

    /// Returns the numbers of the lines that declare a public symbol without a doc comment. Attributes, `#if` and plain comments can be
    /// between the comment and the declaration. Overrides are exempt, because the overridden member has the comment.
    private func undocumented(in lines: [String]) -> [Int] {
        var found: [Int] = []
        for (index, line) in lines.enumerated() where line.contains("public") || line.contains("open") {
            guard let match = line.prefixMatch(of: declaration), !match.1.contains("override") else { continue }
            var place = index - 1
            while place >= 0, isSkipped(lines[place]) { place -= 1 }
            if place < 0 || !endsDocComment(lines[place]) { found.append(index + 1) }
        }
        return found
    }

    /// Returns whether a line can be between a doc comment and its declaration.
    private func isSkipped(_ line: String) -> Bool {
        let code = line.drop(while: { $0.isWhitespace })
        return code.hasPrefix("@") || code.hasPrefix("#if") || code.hasPrefix("//") && !code.hasPrefix("///")
    }

    private func endsDocComment(_ line: String) -> Bool {
        let code = line.trimmingCharacters(in: .whitespaces)
        return code.hasPrefix("///") || code.hasSuffix("*/")
    }

    private func lines(of text: String) -> [String] { text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }

    @Test func `every public symbol has a doc comment`() throws {
        for folder in ["Sources/Firn", "Sources/RLM", "Sources/RealmSwift"] {
            for file in try swiftFiles(under: folder) {
                let text = lines(of: file.text)
                for number in undocumented(in: text) {
                    let symbol = text[number - 1].drop(while: { $0.isWhitespace }).prefix(110)
                    Issue.record("\(file.path):\(number): no doc comment: \(symbol)")
                }
            }
        }
    }

    @Test func `attributes, conditions and plain comments can follow a doc comment, and overrides need none`() {
        let text = """
            /// Documented.
            @available(*, unavailable)
            // A reason.
            #if os(Linux)
            public func a() {}
            public static var b: Int { 0 }
            @inlinable public init() {}
            override public func c() {}
            public override func d() {}
            /** Documented. */
            open class E {}
                public private(set) var f = 0
            func g() {}
            public extension Int {}
            """
        #expect(undocumented(in: lines(of: text)) == [6, 7, 12])
    }
}
