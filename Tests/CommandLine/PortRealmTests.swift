import FirnKit
import Foundation
import Testing

/// `Tools/port-realm`, which rewrites classes from before `@Persisted`.
@Suite struct PortRealmTests {
    private struct Run {
        let status: Int32
        let output: String
        let errors: String
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static let hasPython = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

    private func run(_ arguments: [String]) throws -> Run {
        let process = Process(), folder = TemporaryFolder()
        let output = URL(filePath: folder.file("out")), errors = URL(filePath: folder.file("errors"))
        for file in [output, errors] { try Data().write(to: file) }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [PortRealmTests.root.appendingPathComponent("Tools/port-realm").path] + arguments
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        process.wait()
        return Run(
            status: process.terminationStatus, output: try String(contentsOf: output, encoding: .utf8),
            errors: try String(contentsOf: errors, encoding: .utf8))
    }

    /// Calls `body` with a file of the text.
    private func withFile(_ text: String, _ body: (URL) throws -> Void) throws {
        let folder = TemporaryFolder(), file = URL(filePath: folder.file("Model.swift"))
        try Data(text.utf8).write(to: file)
        try body(file)
    }

    private func ported(_ text: String) throws -> String {
        var result = ""
        try withFile(text) { file in
            let run = try run(["--write", file.path])
            #expect(run.status == 0, "\(run.errors)")
            result = try String(contentsOf: file, encoding: .utf8)
        }
        return result
    }

    @Test(.enabled(if: hasPython)) func `dynamic properties, keys and indexes become declarations with Persisted`() throws {
        let old = """
            import RealmSwift

            // class Comment: Object { @objc dynamic var x = 0 }
            @objcMembers class Dog: Object {
                dynamic var id = "a { brace"
                @objc public dynamic var age: Int = 0
                @objc dynamic private(set) var tag: String? = nil
                @objc dynamic var cache = 0 // not stored
                @objc dynamic var owner: Person?
                var title: String { "\\(id) \\(age)" }

                /// The key.
                override static func primaryKey() -> String? {
                    return "id"
                }

                override class func indexedProperties() -> [String] { ["age", "tag"] }
                override static func ignoredProperties() -> [String] { return ["cache"] }

                func bark() { let list = List<Int>(); _ = list }
            }
            class Puppy: Dog { @objc dynamic var weeks = 1 }
            class Plain { @objc dynamic var x = 0 }
            @objc enum Mood: Int, RealmEnum { case calm }

            """
        let new = """
            import RealmSwift

            // class Comment: Object { @objc dynamic var x = 0 }
            class Dog: Object {
                @Persisted(primaryKey: true) var id = "a { brace"
                @Persisted(indexed: true) public var age: Int = 0
                @Persisted(indexed: true) private(set) var tag: String? = nil
                var cache = 0 // not stored
                @Persisted var owner: Person?
                var title: String { "\\(id) \\(age)" }

                func bark() { let list = List<Int>(); _ = list }
            }
            class Puppy: Dog { @Persisted var weeks = 1 }
            class Plain { @objc dynamic var x = 0 }
            enum Mood: Int, PersistableEnum { case calm }

            """
        let first = try ported(old)
        #expect(first == new)
        #expect(try ported(first) == new)
    }

    @Test(.enabled(if: hasPython)) func `collections, inverse links and optional boxes become declarations with Persisted`() throws {
        let old = """
            class Person: Object {
                let dogs = List<Dog>()
                let tags: MutableSet<String> = MutableSet<String>()
                public let scores = Map<String, Int>()
                let friends = LinkingObjects(fromType: Person.self, property: "best")
                let weight = RealmOptional<Double>()
                let height = RealmProperty<Double?>()
                let hidden = List<Int>()
                @Persisted var new = List<Int>()
                override static func ignoredProperties() -> [String] { ["hidden"] }
            }

            """
        let new = """
            class Person: Object {
                @Persisted var dogs: List<Dog>
                @Persisted var tags: MutableSet<String>
                @Persisted public var scores: Map<String, Int>
                @Persisted(originProperty: "best") var friends: LinkingObjects<Person>
                @Persisted var weight: Double?
                @Persisted var height: Double?
                let hidden = List<Int>()
                @Persisted var new = List<Int>()
            }

            """
        // A list that is not stored must stay named, because the class has stored properties now.
        #expect(
            try ported(old)
                == new.replacingOccurrences(
                    of: "List<Int>()\n}", with: "List<Int>()\n    override static func ignoredProperties() -> [String] { [\"hidden\"] }\n}")
        )
    }

    @Test(.enabled(if: hasPython)) func `without --write, the changes are shown and the file is not changed`() throws {
        let text = "class Dog: Object {\n    @objc dynamic var name = \"\"\n}\n"
        try withFile(text) { file in
            let shown = try run([file.path])
            #expect(
                shown.status == 0 && shown.output.contains("-    @objc dynamic var name")
                    && shown.output.contains("+    @Persisted var name"))
            #expect(shown.errors.contains("use --write to change them"))
            #expect(try String(contentsOf: file, encoding: .utf8) == text)
        }
    }

    @Test(.enabled(if: hasPython)) func `what cannot be ported is reported with file and line, and the file is not changed`() throws {
        let texts = [
            (
                "class A: Object {\n    @objc dynamic var a = 1\n    override class func primaryKey() -> String? {\n        key\n    }\n}\n",
                3, "primaryKey()"
            ),
            ("class A: Object {\n    let list: List<Int>\n    let other = List()\n}\n", 3, "does not name the type of its elements"),
            ("class A: Object {\n    override static func primaryKey() -> String? { \"id\" }\n}\n", 1, "does not declare"),
            ("class A: Object {\n    @objc dynamic var a: Int { 1 }\n}\n", 2, "computed"),
        ]
        for (text, line, message) in texts {
            try withFile(text) { file in
                let run = try run(["--write", file.path])
                #expect(run.status == 1 && run.errors.contains("\(file.path):\(line): ") && run.errors.contains(message), "\(run.errors)")
                #expect(try String(contentsOf: file, encoding: .utf8) == text)
            }
        }
    }

    @Test(.enabled(if: hasPython)) func `wrong arguments and unreadable files are reported`() throws {
        #expect(try run(["--help"]).output.hasPrefix("usage: port-realm"))
        let none = try run([]), unknown = try run(["--force", "x.swift"]), missing = try run(["/no/such/file.swift"])
        #expect(
            none.status == 2 && none.errors.contains("no file is named") && unknown.status == 2 && unknown.errors.contains("\"--force\""))
        #expect(missing.status == 1 && missing.errors.contains("/no/such/file.swift: No such file"))
    }
}
