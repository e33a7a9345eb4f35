// swift-tools-version: 6.2
import PackageDescription

// Apps in the style of apps for Realm. The package uses Firn as any other package does, and `Tools/apps` builds and runs it.
// Each app is built from the same files in both language modes: `Swift5` has links to the folders of `Sources`.

/// The apps, and the product of Firn that they import.
let apps = ["Mail": "RealmSwift", "Feed": "Firn", "Habits": "RealmSwift"]

func app(_ name: String, _ product: String, _ number: Int, _ mode: SwiftLanguageMode, in folder: String) -> Target {
    .executableTarget(
        name: "\(name)\(number)", dependencies: [.product(name: product, package: "firn")], path: "\(folder)/\(name)",
        swiftSettings: [.swiftLanguageMode(mode)])
}

let package = Package(
    name: "apps",
    // A checkout can have any name: this one is given to it.
    dependencies: [.package(name: "firn", path: "../..")],
    targets: apps.sorted { $0.key < $1.key }.flatMap { name, product in
        [app(name, product, 5, .v5, in: "Swift5"), app(name, product, 6, .v6, in: "Sources")]
    }
)
