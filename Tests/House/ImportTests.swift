import Foundation
import Testing

/// The modules of docs/architecture.md, and the modules that each may import. SwiftPM's own check allows transitive imports; this test does
/// not.
private let modules: [(folder: String, module: String, imports: Set<String>)] = [
    ("Sources/Bytes", "FirnBytes", ["CXXHash"]),
    ("Sources/Codecs", "FirnCodecs", ["FirnBytes", "CZstd"]),
    ("Sources/Threads", "FirnThreads", ["FirnBytes", "Glibc", "Darwin"]),
    ("Sources/Disk", "FirnDisk", ["FirnBytes", "FirnThreads", "Glibc", "Darwin", "Musl"]),
    ("Sources/Crypto", "FirnCrypto", ["FirnBytes", "CCrypto"]),
    ("Sources/Store", "FirnStore", ["FirnBytes", "FirnThreads", "FirnDisk", "FirnCodecs", "FirnCrypto"]),
    ("Sources/Table", "FirnTable", ["FirnBytes", "FirnCodecs", "FirnDisk", "CDecimal"]),
    (
        "Sources/Database", "FirnDatabase",
        ["FirnBytes", "FirnThreads", "FirnCodecs", "FirnDisk", "FirnStore", "FirnTable"]
    ),
    ("Sources/Query", "FirnQuery", ["FirnBytes", "FirnThreads", "FirnTable"]),
    ("Sources/Change", "FirnChange", ["FirnBytes", "FirnThreads", "FirnTable"]),
    (
        "Sources/Firn", "Firn",
        [
            "FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "FirnDatabase", "FirnQuery", "FirnChange", "Foundation", "Dispatch",
        ]
    ),
    ("Sources/RealmSwift", "RealmSwift", ["Firn"]),
    ("Sources/RLM", "RLM", ["FirnBytes", "Firn", "Foundation"]),
    ("Formats/Exchange", "FirnExchange", ["FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "CZstd", "CZlib", "CLZMA", "CBzip2"]),
    ("Formats/CSV", "FirnCSV", ["FirnBytes", "FirnThreads", "FirnTable", "FirnExchange", "CIconv", "CVectors"]),
    ("Formats/JSON", "FirnJSON", ["FirnBytes", "FirnThreads", "FirnTable", "FirnExchange", "CSimdJSON", "CJSON"]),
    ("Formats/RealmFile", "FirnRealmFile", ["FirnBytes", "FirnDisk", "FirnCrypto", "FirnTable", "FirnExchange"]),
    (
        "Formats/Parquet", "FirnParquet",
        ["FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "FirnExchange", "CZstd", "CZlib", "CSnappy", "CLZ4", "CBrotli"]
    ),
    (
        "Formats/SQLite", "FirnSQLite", ["FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "FirnExchange", "CSQLiteLibrary"]
    ),
    (
        "Formats/Arrow", "FirnArrow",
        ["FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "FirnExchange", "CArrow", "CZstd", "CLZ4"]
    ),
    (
        "Tools/SQL", "FirnSQL",
        ["FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "FirnDatabase", "FirnQuery", "FirnExchange", "CSQLite"]
    ),
    (
        "Tools/Attacks", "FirnAttacks",
        [
            "FirnBytes", "FirnCodecs", "FirnDisk", "FirnStore", "FirnThreads", "FirnTable", "FirnDatabase", "FirnQuery", "FirnChange",
            "FirnExchange", "FirnCSV",
            "FirnJSON", "FirnRealmFile", "FirnParquet", "FirnArrow", "FirnSQLite", "Firn",
        ]
    ),
    ("Tools/CommandLine", "FirnCommandLine", ["FirnBytes"]),
    (
        "Tools/firn", "FirnTool",
        [
            "FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "FirnDatabase", "FirnQuery", "FirnChange", "FirnExchange", "FirnSQL",
            "CSQLiteLibrary", "FirnCommandLine",
        ]
    ),
    (
        "Sources/CInterface", "FirnCInterface",
        [
            "FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "FirnDatabase", "FirnQuery", "FirnChange", "FirnExchange", "FirnArrow",
            "FirnTool", "CFirn", "CArrow",
        ]
    ),
    ("Tools/start", "firn_tool", ["FirnBytes", "FirnThreads", "FirnDisk", "FirnTool", "FirnCommandLine"]),
]

/// The only files of the tool that may know the formats by name begin with this.
private let formatShelf = "FormatShelf"
private let formats: Set = ["FirnCSV", "FirnJSON", "FirnRealmFile", "FirnParquet", "FirnArrow", "FirnSQLite"]

/// The module of the standard library that every module may use for values that threads share.
private let synchronization = "Synchronization"
/// The system's C library. Disk uses it for files and processes, Threads for threads and clocks.
private let system: Set = ["Glibc", "Darwin", "Musl"]
/// The other files that use the C library, and the functions that they need from it.
private let systemExceptions = [
    "Sources/Store/Tree/TreeNode.swift": "memcmp, in the search of a node",
    "Sources/Store/Tree/TreeReader.swift": "memcmp, in the search of a node",
    "Sources/Store/VerifiedExtents.swift": "free, for memory that the system zeroed",
    "Sources/Query/Geo/GeoShape.swift": "sine, cosine and square root",
    "Sources/Firn/Realm/RealmExecutor.swift": "the number of the current thread",
    "Sources/Firn/Realm/ThreadToken.swift": "the values of a thread",
]
/// Modules that only the object layer may also use.
private let objectLayer: Set = ["Foundation", "Dispatch"]

@Suite struct ImportTests {
    @Test func `modules import only the modules that the architecture allows`() throws {
        for known in modules {
            for file in try swiftFiles(under: known.folder) {
                let allowed = known.imports.union(file.name.hasPrefix(formatShelf) ? formats : [])
                for (line, module) in imports(of: file.text)
                where module != "Swift" && module != synchronization && !allowed.contains(module) {
                    if system.contains(module), systemExceptions[file.path] != nil { continue }
                    Issue.record("\(file.path):\(line): \(known.module) may not import \(module)")
                }
            }
        }
    }

    @Test func `each file that may use the C library outside Disk and Threads uses it`() throws {
        for path in systemExceptions.keys {
            let uses = try imports(of: contents(path)).contains { system.contains($0.1) }
            #expect(uses, "\(path) does not import the C library: remove it from the list")
        }
    }

    @Test func `only the object layer imports Foundation`() throws {
        for folder in ["Sources", "Formats", "Tools/CommandLine", "Tools/SQL", "Tools/firn", "Tools/start"] {
            for file in try swiftFiles(under: folder) where !file.path.hasPrefix("Sources/Firn/") && !file.path.hasPrefix("Sources/RLM/") {
                for (line, module) in imports(of: file.text) where module.hasPrefix("Foundation") {
                    Issue.record("\(file.path):\(line): imports \(module)")
                }
            }
        }
    }

    @Test func `the package has the modules and dependencies that this test lists`() throws {
        let text = try contents("Package.swift")
        var listed: Set<String> = []
        for entry in text.components(separatedBy: "    Module(").dropFirst() {
            // Strings in quotes up to the closing parenthesis: the name, the folder and the imports.
            let words = entry.prefix { $0 != ")" }.split(separator: "\"").enumerated().filter { $0.offset % 2 == 1 }.map {
                String($0.element)
            }
            let name = words[0], folder = words[1], uses = Set(words.dropFirst(2))
            listed.insert(name)
            guard let known = modules.first(where: { $0.module == name }) else {
                Issue.record("\(name) is not in the table of this test"); continue
            }
            #expect(known.folder == folder)
            let shelf = name == "FirnTool" ? formats : []
            #expect(uses == known.imports.subtracting(system).subtracting(objectLayer).union(shelf), "\(name)")
        }
        #expect(listed == Set(modules.map(\.module)).subtracting(["firn_tool"]))
    }

    @Test func `the dependencies of modules have no cycle`() {
        var done: Set<String> = []
        for module in modules {
            let uses = module.imports.filter { $0.hasPrefix("Firn") }
            #expect(uses.isSubset(of: done), "\(module.module) is listed before a module that it uses")
            done.insert(module.module)
        }
    }

    /// Module names of `import` lines, with their line numbers.
    private func imports(of text: String) -> [(Int, String)] {
        var found: [(Int, String)] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split(separator: " ")
            guard let at = words.firstIndex(of: "import"),
                words[..<at].allSatisfy({ $0.hasPrefix("@") || ["package", "public", "internal", "private"].contains($0) })
            else { continue }
            let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
            guard let module = words[(at + 1)...].first(where: { !kinds.contains($0) }) else { continue }
            found.append((number + 1, String(module.prefix { $0 != "." })))
        }
        return found
    }
}
