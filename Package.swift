// swift-tools-version: 6.2
import PackageDescription

/// One row a module: its folder, the modules and C libraries it may import, and whether it holds kernels
/// (compiled with optimisation in debug builds too, which takes four times as long: for the modules whose code the tests run most).
struct Module {
    var name: String, path: String, uses: [String], kernels = false, tested = true
}

let modules = [
    Module(name: "FirnBytes", path: "Sources/Bytes", uses: ["CXXHash"], kernels: true),
    Module(name: "FirnCodecs", path: "Sources/Codecs", uses: ["FirnBytes", "CZstd"], kernels: true),
    Module(name: "FirnThreads", path: "Sources/Threads", uses: ["FirnBytes"]),
    Module(name: "FirnDisk", path: "Sources/Disk", uses: ["FirnBytes", "FirnThreads"]),
    Module(name: "FirnCrypto", path: "Sources/Crypto", uses: ["FirnBytes", "CCrypto"], kernels: true),
    Module(
        name: "FirnStore", path: "Sources/Store", uses: ["FirnBytes", "FirnThreads", "FirnDisk", "FirnCodecs", "FirnCrypto"], kernels: true),
    Module(name: "FirnTable", path: "Sources/Table", uses: ["FirnBytes", "FirnCodecs", "FirnDisk", "CDecimal"], kernels: true),
    Module(
        name: "FirnDatabase", path: "Sources/Database",
        uses: ["FirnBytes", "FirnThreads", "FirnCodecs", "FirnDisk", "FirnStore", "FirnTable"], kernels: true),
    Module(name: "FirnQuery", path: "Sources/Query", uses: ["FirnBytes", "FirnThreads", "FirnTable"], kernels: true),
    Module(name: "FirnChange", path: "Sources/Change", uses: ["FirnBytes", "FirnThreads", "FirnTable"]),
    Module(
        name: "Firn", path: "Sources/Firn",
        uses: ["FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "FirnDatabase", "FirnQuery", "FirnChange"]),
    Module(name: "RealmSwift", path: "Sources/RealmSwift", uses: ["Firn"]),
    Module(name: "RLM", path: "Sources/RLM", uses: ["FirnBytes", "Firn"]),
    Module(
        name: "FirnExchange", path: "Formats/Exchange",
        uses: ["FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "CZstd", "CZlib", "CLZMA", "CBzip2"], kernels: true),
    Module(
        name: "FirnCSV", path: "Formats/CSV", uses: ["FirnBytes", "FirnThreads", "FirnTable", "FirnExchange", "CIconv", "CVectors"],
        kernels: true),
    Module(
        name: "FirnJSON", path: "Formats/JSON", uses: ["FirnBytes", "FirnThreads", "FirnTable", "FirnExchange", "CSimdJSON", "CJSON"]),
    Module(
        name: "FirnRealmFile", path: "Formats/RealmFile", uses: ["FirnBytes", "FirnDisk", "FirnCrypto", "FirnTable", "FirnExchange"]),
    Module(
        name: "FirnParquet", path: "Formats/Parquet",
        uses: ["FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "FirnExchange", "CZstd", "CZlib", "CSnappy", "CLZ4", "CBrotli"]),
    Module(
        name: "FirnSQLite", path: "Formats/SQLite",
        uses: ["FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "FirnExchange", "CSQLiteLibrary"]),
    Module(
        name: "FirnArrow", path: "Formats/Arrow",
        uses: ["FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "FirnExchange", "CArrow", "CZstd", "CLZ4"]),
    Module(
        name: "FirnSQL", path: "Tools/SQL",
        uses: ["FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "FirnDatabase", "FirnQuery", "FirnExchange", "CSQLite"],
        kernels: true),
    Module(
        name: "FirnAttacks", path: "Tools/Attacks",
        uses: [
            "FirnBytes", "FirnCodecs", "FirnDisk", "FirnStore", "FirnThreads", "FirnTable", "FirnDatabase", "FirnQuery", "FirnChange",
            "FirnExchange", "FirnCSV",
            "FirnJSON", "FirnRealmFile", "FirnParquet", "FirnArrow", "FirnSQLite", "Firn",
        ]),
    Module(name: "FirnCommandLine", path: "Tools/CommandLine", uses: ["FirnBytes"]),
    // The command without its start, so that the C library runs the same code.
    Module(
        name: "FirnTool", path: "Tools/firn",
        uses: [
            "FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "FirnDatabase", "FirnQuery", "FirnChange", "FirnExchange", "FirnCSV",
            "FirnJSON", "FirnRealmFile", "FirnParquet", "FirnArrow", "FirnSQLite", "FirnSQL", "CSQLiteLibrary", "FirnCommandLine",
        ], tested: false),
    Module(
        name: "FirnCInterface", path: "Sources/CInterface",
        uses: [
            "FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "FirnDatabase", "FirnQuery", "FirnChange", "FirnExchange", "FirnArrow",
            "FirnTool", "CFirn", "CArrow",
        ], tested: false),
]

/// `FIRN_ONLY=Store,Database`: these modules with their tests, and what they use; `Tool` stands for the command. For shorter builds while one
/// module is worked on.
let only: Set<String>? = Context.environment["FIRN_ONLY"].map { Set($0.split(separator: ",").map(String.init)) }
func isChosen(_ module: String) -> Bool { only.map { $0.contains(module) || $0.contains(String(module.dropFirst("Firn".count))) } ?? true }

let common: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
let kernel: [SwiftSetting] = common + [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// For `Tools/sanitize` and `Tools/fuzz/run`: what C leaves undefined ends the program.
let checks =
    Context.environment["FIRN_CHECKED"] == nil
    ? [] : ["-fsanitize=undefined", "-fno-sanitize=vptr,function", "-fno-sanitize-recover=undefined"]
let checkedC: [CSetting] = checks.isEmpty ? [] : [.unsafeFlags(checks)],
    checkedCXX: [CXXSetting] = checks.isEmpty ? [] : [.unsafeFlags(checks)]

/// The C library exports the functions of its header, and nothing of the libraries within it.
let exportsOfC: [LinkerSetting] = [
    .unsafeFlags(["-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/CInterface/firn.map"], .when(platforms: [.linux]))
]

let libraries: [Target] = [
    .systemLibrary(
        name: "CZstd", path: "Sources/CLibraries/CZstd", pkgConfig: "libzstd",
        providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    .systemLibrary(
        name: "CXXHash", path: "Sources/CLibraries/CXXHash", pkgConfig: "libxxhash",
        providers: [.apt(["libxxhash-dev"]), .brew(["xxhash"])]),
    .systemLibrary(
        name: "CJSON", path: "Sources/CLibraries/CJSON", pkgConfig: "json-c",
        providers: [.apt(["libjson-c-dev"]), .brew(["json-c"])]),
    .systemLibrary(
        name: "CZlib", path: "Sources/CLibraries/CZlib", pkgConfig: "zlib",
        providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .systemLibrary(
        name: "CLZMA", path: "Sources/CLibraries/CLZMA", pkgConfig: "liblzma",
        providers: [.apt(["liblzma-dev"]), .brew(["xz"])]),
    .systemLibrary(
        name: "CLZ4", path: "Sources/CLibraries/CLZ4", pkgConfig: "liblz4",
        providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
    .systemLibrary(
        name: "CBrotli", path: "Sources/CLibraries/CBrotli", pkgConfig: "libbrotlidec",
        providers: [.apt(["libbrotli-dev"]), .brew(["brotli"])]),
    // Headers alone.
    .systemLibrary(name: "CArrow", path: "Sources/CLibraries/CArrow"), .systemLibrary(name: "CFirn", path: "Sources/CLibraries/CFirn"),
    .systemLibrary(name: "CVectors", path: "Sources/CLibraries/CVectors"),
    // Debian's snappy and bzip2 have no pkg-config file.
    .systemLibrary(
        name: "CSnappy", path: "Sources/CLibraries/CSnappy", providers: [.apt(["libsnappy-dev"]), .brew(["snappy"])]),
    .systemLibrary(
        name: "CBzip2", path: "Sources/CLibraries/CBzip2", providers: [.apt(["libbz2-dev"]), .brew(["bzip2"])]),
    // The C library's own on Linux.
    .target(
        name: "CIconv", path: "Sources/CLibraries/CIconv", cSettings: checkedC,
        linkerSettings: [.linkedLibrary("iconv", .when(platforms: [.macOS]))]),
    // C++ behind a C header; no pkg-config, whose -D flag SwiftPM refuses.
    .target(
        name: "CSimdJSON", path: "Sources/CLibraries/CSimdJSON",
        cxxSettings: [.unsafeFlags(["-O3"], .when(configuration: .debug))] + checkedCXX, linkerSettings: [.linkedLibrary("simdjson")]),
    // SQLite's functions come through a table: from the library linked here into the command, or from the SQLite that loads the extension.
    .target(name: "CSQLite", path: "Sources/CLibraries/CSQLite", cSettings: checkedC),
    .target(
        name: "CSQLiteLibrary", path: "Sources/CLibraries/CSQLiteLibrary",
        cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))] + checkedC,
        linkerSettings: [
            .linkedLibrary(":libsqlite3.a", .when(platforms: [.linux])), .linkedLibrary("m", .when(platforms: [.linux])),
            .linkedLibrary("sqlite3", .when(platforms: [.macOS])),
        ]),
    // OpenSSL's libcrypto is loaded when an encrypted file is met: see its header.
    .target(
        name: "CCrypto", path: "Sources/CLibraries/CCrypto", cSettings: checkedC,
        linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(
        name: "CDecimal", path: "Sources/CLibraries/CDecimal", cSettings: checkedC,
        linkerSettings: [.linkedLibrary("bidgcc000"), .linkedLibrary("m", .when(platforms: [.linux]))]),
]

let tools: [Target] = [
    .executableTarget(
        name: "firn-tool", dependencies: ["FirnBytes", "FirnThreads", "FirnDisk", "FirnTool", "FirnCommandLine"], path: "Tools/start",
        exclude: ["README.md"], swiftSettings: common),
    .executableTarget(
        name: "firn-bench",
        dependencies: [
            "FirnBytes", "FirnCodecs", "FirnDisk", "FirnStore", "FirnThreads", "FirnTable", "FirnDatabase", "FirnQuery", "FirnExchange",
            "FirnCSV", "Firn",
        ],
        path: "Tools/bench",
        exclude: [
            "run", "busy.py", "commits.py", "compared.py", "compare-arrow.py", "compare-parquet.py", "compare-parquet-out.py", "curve.py",
            "engine-duckdb.py", "engines.py", "joins.py", "make-table.py", "make-wide.py", "plot.py", "pollute.py", "python.py",
            "python-commits.py", "scan-memory.py", "shapes.py", "tables.py", "touch.py",
        ],
        swiftSettings: common),
    .executableTarget(
        name: "firn-stress", dependencies: ["FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "FirnDatabase"], path: "Tools/stress",
        exclude: ["README.md"],
        swiftSettings: kernel),
]

/// For `Tools/fuzz/run` alone: the ordinary build knows nothing of it.
let fuzzing: [Target] =
    Context.environment["FIRN_LIBFUZZER"] == nil
    ? []
    : [
        .executableTarget(
            name: "firn-fuzz", dependencies: ["FirnBytes", "FirnAttacks"], path: "Tools/fuzz",
            exclude: ["README.md", "run", "corpus", "words", "survey-peers.py"],
            swiftSettings: common + [.unsafeFlags(["-parse-as-library"])])
    ]

/// For `Tools/misuse` alone.
let misuse: [Target] =
    Context.environment["FIRN_MISUSE"] == nil
    ? []
    : [
        .executableTarget(
            name: "firn-misuse", dependencies: ["FirnBytes", "FirnThreads", "Firn", "RLM"], path: "Tests/Misuse", swiftSettings: common)
    ]

/// The apps of `Tests/Apps`, each in both language modes. `Tests/Apps` is also a package of its own, which `Tools/apps` builds.
let apps: [Target] =
    !isChosen("RealmSwift")
    ? []
    : ["Mail": "RealmSwift", "Feed": "Firn", "Habits": "RealmSwift"].sorted { $0.key < $1.key }.flatMap { name, module in
        [(5, SwiftLanguageMode.v5, "Swift5"), (6, .v6, "Sources")].map { number, mode, folder in
            .executableTarget(
                name: "app-\(name)\(number)", dependencies: [.init(stringLiteral: module)], path: "Tests/Apps/\(folder)/\(name)",
                swiftSettings: [.swiftLanguageMode(mode)])
        }
    }

let tests: [Target] =
    modules.filter { $0.tested && isChosen($0.name) }.map { module in
        .testTarget(
            name: module.name + "Tests",
            dependencies: [.init(stringLiteral: module.name), "FirnKit"]
                + (([module.name] + module.uses).contains("FirnQuery") ? ["FirnOracle"] : [])
                + (module.uses + (module.name == "FirnSQL" ? ["CSQLiteLibrary"] : [])).map { .init(stringLiteral: $0) },
            path: "Tests/" + module.path.split(separator: "/").last!, swiftSettings: common)
    }
    + modules.filter { $0.name == "FirnQuery" }.map { query in
        .target(
            name: "FirnOracle", dependencies: ["FirnKit", "FirnBytes", "FirnTable", "FirnDatabase", .init(stringLiteral: query.name)],
            path: "Tests/Oracle",
            swiftSettings: kernel)
    }
    + modules.filter { $0.name == "FirnCInterface" && isChosen($0.name) }.map { interface in
        // The tests load the library: they must not be linked with the module, whose exports are limited.
        .testTarget(
            name: interface.name + "Tests", dependencies: ["FirnKit", "FirnTable", "FirnDatabase", "CFirn", "CArrow"],
            path: "Tests/CInterface", exclude: ["program.c"], swiftSettings: common)
    } + [
        .target(
            name: "FirnKit", dependencies: ["FirnBytes", "FirnThreads", "FirnDisk", "FirnTable", "FirnDatabase"], path: "Tests/Kit",
            swiftSettings: kernel),
        .testTarget(name: "HouseTests", dependencies: ["FirnKit"], path: "Tests/House", swiftSettings: common),
    ]
    + (isChosen("FirnTool")
        ? [
            .testTarget(
                name: "FirnToolTests", dependencies: ["FirnKit", "FirnBytes", "firn-tool", "firn-stress"], path: "Tests/Tool",
                swiftSettings: common)
        ] : [])
    + (apps.isEmpty
        ? []
        : [
            .testTarget(
                name: "FirnAppTests", dependencies: apps.map { .init(stringLiteral: $0.name) }, path: "Tests/Apps/Tests",
                swiftSettings: common)
        ])

/// The targets that the chosen modules and tests need: all of them, unless `FIRN_ONLY` says which.
func needed(_ all: [Target]) -> [Target] {
    guard only != nil else { return all }
    var names: Set<String> = Set(all.filter { isChosen($0.name) || $0.type == .test }.map(\.name)), size = 0
    while size != names.count {
        size = names.count
        for target in all where names.contains(target.name) {
            for dependency in target.dependencies {
                switch dependency {
                case .byNameItem(let name, _), .targetItem(let name, _): names.insert(name)
                default: break
                }
            }
        }
    }
    return all.filter { names.contains($0.name) }
}

/// libfirn. Its file must not have the name of the library Firn on file systems that ignore case.
let interfaceOfC = Product.library(name: "firn_c", type: .dynamic, targets: ["FirnCInterface"])

let package = Package(
    name: "firn",
    products: only != nil
        ? (isChosen("FirnCInterface") ? [interfaceOfC] : [])
        : [
            .executable(name: "firn", targets: ["firn-tool"]), .library(name: "Firn", targets: ["Firn"]),
            .library(name: "RealmSwift", targets: ["RealmSwift"]),
            .library(name: "RLM", targets: ["RLM"]), .library(name: "firn_sqlite", type: .dynamic, targets: ["FirnSQL"]),
            interfaceOfC,
        ],
    targets: needed(
        libraries
            + modules.map {
                .target(
                    name: $0.name, dependencies: $0.uses.map { .init(stringLiteral: $0) }, path: $0.path,
                    exclude: ["README.md"] + ($0.name == "FirnCInterface" ? ["firn.map"] : []),
                    swiftSettings: $0.kernels ? kernel : common, linkerSettings: $0.name == "FirnCInterface" ? exportsOfC : nil)
            }
            + tools + fuzzing + misuse + apps + tests),
    cxxLanguageStandard: .cxx17
)
