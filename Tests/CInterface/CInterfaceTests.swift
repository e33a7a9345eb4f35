import FirnDatabase
import FirnKit
import FirnTable
import Foundation
import Testing

/// The C library, as a C program and the Python package use it.
@Suite struct CInterfaceTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    /// SwiftPM builds the library in the folder of the test bundle.
    static let library: String? = {
        var folders: [URL] = CommandLine.arguments.prefix(3).map { URL(filePath: $0).deletingLastPathComponent() }
        folders.append(root.appending(path: ".build/debug"))
        for var folder in folders {
            for _ in 0..<4 {
                let path = folder.appending(path: "libfirn_c.so").path
                if FileManager.default.fileExists(atPath: path) { return path }
                folder = folder.deletingLastPathComponent()
            }
        }
        return nil
    }()

    /// The library of a sanitizer, for programs that are not built with it: see `Tools/sanitize`.
    private static let preloaded: [String: String] =
        ProcessInfo.processInfo.environment["FIRN_SHELL_PRELOAD"].map { ["LD_PRELOAD": $0] } ?? [:]

    /// Returns the library; prints a notice and returns nil if it was not built.
    private func library() -> String? {
        if Self.library == nil { print("skipped: libfirn_c.so is not built here") }
        return Self.library
    }

    /// The Python that `Tools/setup-python` gave the libraries of PyPI; without it, that of the system.
    private static let python: String = {
        let folder = root.path + "/.build/python"
        return FileManager.default.fileExists(atPath: folder + "/complete") ? folder + "/bin/python" : "python3"
    }()

    private func run(_ words: [String], _ settings: [String: String] = [:]) throws -> (code: Int32, out: String) {
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.environment = ProcessInfo.processInfo.environment.merging(settings) { $1 }
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let out = pipe.fileHandleForReading.readDataToEndOfFile()
        process.wait()
        let code = process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
        return (code, String(decoding: out, as: UTF8.self))
    }

    /// Makes a file with two types and two versions. The first version has the tag "first".
    private func sample(_ path: String) throws {
        let person = TypeSchema(
            "Person",
            columns: [
                ColumnSchema("id", ColumnType(.int), id: 0), ColumnSchema("name", ColumnType(.string), id: 1),
                ColumnSchema("height", ColumnType(.double, optional: true), id: 2),
                ColumnSchema("tags", ColumnType(.string, collection: .list), id: 3),
            ], key: [0])
        let number = TypeSchema(
            "Number",
            columns: [
                ColumnSchema("n", ColumnType(.int), id: 0), ColumnSchema("half", ColumnType(.double), id: 1),
                ColumnSchema("name", ColumnType(.string), id: 2),
            ])
        let database = try Database.create(path: path)
        var transaction = try database.begin()
        try transaction.extendSchema([person, number])
        _ = try transaction.insert("Person", [.int(1), .string("Ada"), .double(1.5), .list([])])
        try transaction.commit()
        try database.tag("first", try database.snapshot())
        transaction = try database.begin()
        _ = try transaction.insert("Person", [.int(2), .string("Bo"), .null, .list([.string("a"), .string("b")])])
        var n = Column(ColumnType(.int)), half = Column(ColumnType(.double)), name = Column(ColumnType(.string))
        n.words = (0..<70_000).map { Int64($0) }
        half.reals = (0..<70_000).map { Double($0) / 2 }
        for i in 0..<70_000 { name.text.append("name \(i % 10)") }
        (n.count, half.count, name.count) = (70_000, 70_000, 70_000)
        let writer = try transaction.bulkWriter("Number")
        try writer.append(Batch(count: 70_000, columns: [n, half, name]))
        try writer.finish()
        try transaction.commit()
    }

    @Test func `pkg-config reports the flags of a program, and the version`() throws {
        guard let library = library() else { return }
        guard try run(["pkg-config", "--version"]).code == 0 else { return print("skipped: no pkg-config") }
        let folder = TemporaryFolder(), root = Self.root.path
        for file in ["Tools/firn.pc", "Sources/CLibraries/CFirn/firn.h"] {
            let name = file.split(separator: "/").last.map(String.init) ?? file
            try FileManager.default.copyItem(atPath: root + "/" + file, toPath: folder.file(name))
        }
        try FileManager.default.createSymbolicLink(atPath: folder.file("libfirn.so"), withDestinationPath: library)
        let place = URL(filePath: folder.file("firn.pc")).deletingLastPathComponent().path
        let program = "#include <firn.h>\n#include <stdio.h>\nint main(void) { return puts(firn_version()) < 0; }\n"
        try program.write(toFile: folder.file("version.c"), atomically: true, encoding: .utf8)
        let script = """
            cd "$1" && cc version.c -o version $(pkg-config --cflags --libs firn) -Wl,-rpath,"$1:$2" -Wl,--allow-shlib-undefined && LD_PRELOAD="$FIRN_SHELL_PRELOAD" ./version && pkg-config --modversion firn
            """
        let beside = URL(filePath: library).deletingLastPathComponent().path
        let built = try run(["sh", "-c", script, "sh", place, beside], ["PKG_CONFIG_PATH": place])
        let lines = built.out.split(separator: "\n")
        #expect(built.code == 0 && lines.count == 2 && lines[0] == lines[1], "\(built)")
    }

    @Test func `a C program can call every function of the header`() throws {
        guard let library = library() else { return }
        let folder = TemporaryFolder(), program = folder.file("program"), path = folder.file("sample.firn")
        let place = URL(filePath: library).deletingLastPathComponent().path
        guard try run(["cc", "--version"]).code == 0 else { return print("skipped: no C compiler") }
        let built = try run([
            "cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I", Self.root.path + "/Sources/CLibraries/CFirn",
            Self.root.path + "/Tests/CInterface/program.c", "-o", program, library, "-Wl,-rpath," + place, "-Wl,--allow-shlib-undefined",
        ])
        try #require(built.code == 0, "\(built.out)")
        try sample(path)
        let result = try run([program, path, folder.file("new.firn")], Self.preloaded)
        #expect(result.code == 0 && result.out == "done\n", "\(result)")
        let text = try String(contentsOfFile: Self.root.path + "/Tests/CInterface/program.c", encoding: .utf8)
        for name in try declared() { #expect(text.contains(name + "("), "the program does not call \(name)") }
    }

    /// The functions that the header declares.
    private func declared() throws -> Set<String> {
        let header = try String(contentsOfFile: Self.root.path + "/Sources/CLibraries/CFirn/firn.h", encoding: .utf8)
        let code = header.replacing(#/(?s)/\*.*?\*//#, with: "")
        return Set(code.matches(of: #/\b(firn_\w+)\(/#).map { String($0.1) })
    }

    @Test func `the library exports the functions of the header and no others`() throws {
        let map = try String(contentsOfFile: Self.root.path + "/Sources/CInterface/firn.map", encoding: .utf8)
        let listed = Set(map.matches(of: #/\b(firn_\w+);/#).map { String($0.1) })
        #expect(listed == (try declared()))
        guard let library = library() else { return }
        let symbols = try run(["nm", "-D", "--defined-only", library])
        guard symbols.code == 0 else { return print("skipped: no nm") }
        // Small letters are symbols that are not exported.
        let exported = symbols.out.matches(of: #/ [A-Z] (\S+)/#).map { String($0.1) }
        #expect(Set(exported) == listed)
    }

    @Test func `the Python package reads files, and its errors are exceptions`() throws {
        guard let library = library() else { return }
        guard try run([Self.python, "-c", "import sys; sys.exit(sys.version_info < (3, 10))"]).code == 0 else {
            return print("skipped: no Python 3.10")
        }
        if Self.preloaded["LD_PRELOAD"]?.contains("tsan-") == true {
            return print("skipped: Python does not run under the thread sanitizer")
        }
        let folder = TemporaryFolder(), path = folder.file("sample.firn")
        try sample(path)
        let result = try run(
            [Self.python, "-m", "unittest", "discover", "-q", "-s", Self.root.path + "/python/tests"],
            [
                "FIRN_LIBRARY": library, "PYTHONPATH": Self.root.path + "/python", "PYTHONDONTWRITEBYTECODE": "1", "FIRN_SAMPLE": path,
                "FIRN_FIXTURES": Self.root.path + "/Tests/Fixtures/firn",
            ].merging(Self.preloaded) { $1 })
        #expect(result.code == 0, "\(result.out)")
        for line in result.out.split(separator: "\n") where line.hasPrefix("skipped: ") { print(line) }
    }
}
